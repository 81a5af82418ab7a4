"""Columns of a text table from its bytes.

A table here is lines of fields with blanks between them. Nothing is decoded: a field is a range of bytes.
Tables that are not regular are declined (None), and `trec.py` reads them line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.base import ids
from goldrank.core import core
from goldrank.data.id_column import PAD as PAD
from goldrank.data.id_column import IdColumn
from goldrank.data.id_column import padded as padded

_LF = 10


@dataclass(frozen=True)
class Wanted:
    """Which fields will be asked for, so that one pass can find all."""

    query: int
    """Where this one changes."""
    doc: int
    """The hashes of this one."""
    number: int = -1
    """This one as decimal numbers; -1 for none."""


@dataclass(frozen=True)
class Found:
    """What was found on the way, of the fields that were wanted."""

    wanted: Wanted
    changes: np.ndarray
    hashes: np.ndarray
    numbers: np.ndarray
    left: np.ndarray
    """The lines whose number is not done."""


@dataclass(frozen=True)
class FieldRanges:
    """Where the fields of a text table are: `ends[j][i]` in `data` is the end of field j of line i.

    One byte separates a field from the one before, so that the ends tell the starts.
    """

    data: np.ndarray
    ends: Sequence[np.ndarray]
    found: Found | None = None

    @classmethod
    def of_lines(cls, lines: Sequence[bytes], width: int) -> FieldRanges:
        """Lines of `width` fields with one blank between two; other control bytes are part of a field."""
        lengths = [len(field) for line in lines for field in line.split(b" ")]
        ends = (np.cumsum(np.array(lengths, np.int64) + 1) - 1).reshape(-1, width).T
        return cls(padded(b"\n".join(lines)), list(np.ascontiguousarray(ends)))

    @property
    def size(self) -> int:
        return len(self.ends[0])

    @property
    def width(self) -> int:
        return len(self.ends)

    def start(self, column: int) -> np.ndarray:
        """Where a field begins in each line."""
        if column:
            return self.ends[column - 1] + 1
        first = np.zeros_like(self.ends[0])
        np.add(self.ends[-1][:-1], 1, out=first[1:])
        return first

    def ids(self, column: int, lines: np.ndarray | None = None) -> IdColumn:
        """A field in some lines, or in all."""
        if lines is None:
            start, end = self.start(column), self.ends[column]
        else:
            if column:
                before = self.ends[column - 1][lines]
            else:
                before = np.where(lines > 0, self.ends[-1][lines - 1], -1)
            start, end = before + 1, self.ends[column][lines]
        return IdColumn(self.data, start.astype(np.int64, copy=False), end.astype(np.int64, copy=False))

    def texts(self, column: int, lines: np.ndarray | None = None) -> list[bytes]:
        """The bytes of a field in some lines."""
        return self.ids(column, lines).to_list()

    def hashes(self, column: int) -> np.ndarray:
        """The hash of a field in each line."""
        if self.found is not None and self.found.wanted.doc == column:
            return self.found.hashes
        return self.ids(column).hashes()

    def changes(self, column: int) -> np.ndarray:
        """The lines at which a field differs from the line before; line 0 is always one."""
        if self.found is not None and self.found.wanted.query == column:
            return self.found.changes
        return self.ids(column).changes()

    def decimals(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """A field as the doubles nearest to its decimal numbers, and the lines where that is not done."""
        if self.found is not None and self.found.wanted.number == column:
            return self.found.numbers, self.found.left
        return np.zeros(self.size), np.arange(self.size)

    def copy(self, low: int, high: int) -> FieldRanges:
        """Some neighbouring lines, and only their bytes."""
        if low:
            begin = int(self.ends[-1][low - 1]) + 1
        else:
            begin = 0
        if high > low:
            end = int(self.ends[-1][high - 1])
        else:
            end = begin
        data = padded(self.data[begin:end])
        return FieldRanges(data, [column[low:high] - begin for column in self.ends])


def split(data: np.ndarray, wanted: Wanted) -> FieldRanges | None:
    """The fields of lines that all have the same number of them; None if any line is not regular.

    `data` is padded with `PAD` zero bytes. A regular line has one blank or tab between two fields, no control bytes,
    and is no comment.
    """
    size = _end_line(data)
    head = data[: min(size, 4 * ids.MAX_ID_BYTES)].tobytes()
    width = len(head[: head.find(b"\n") + 1].split())
    if width <= max(wanted.query, wanted.doc, wanted.number):
        return None

    room = core.lines(data, size)
    ends = np.empty((width, room), np.int32)
    score, key = np.empty(room), np.empty(room, np.uint64)
    begin, left = np.empty(room, np.int64), np.empty(room, np.int64)
    places = (wanted.query, wanted.doc, wanted.number, ids.MAX_ID_BYTES)
    counts = core.columns(data, size, width, *places, ends, score, key, begin, left)
    if counts is None:
        return None
    _, stretches, undone = counts
    found = Found(wanted, begin[:stretches].copy(), key, score, left[:undone].copy())
    return FieldRanges(data, list(ends), found)


@dataclass(frozen=True)
class Tidied:
    """The lines of data of a table in which there are others too."""

    data: np.ndarray
    """Padded, like the data of `split`."""
    numbers: np.ndarray
    """The line of the input that each is, counted from 0."""
    counts: dict[str, int]
    """What was left out: codes of notes, with how often."""


REMARKS = ("blank-lines", "comment-lines", "comments-like-data", "extra-columns")


def tidied(data: np.ndarray, width: int, extra: bool) -> Tidied | None:
    """A table without blank lines and comments; None where more is unusual than these.

    Lines have `width` fields, or more of them if `extra` says so. What is made of them has only those fields, and one
    blank between two of them.
    """
    size = _end_line(data)
    out, numbers = np.empty(size + PAD, np.uint8), np.empty(core.lines(data, size), np.int64)
    sizes = core.tidy(data, size, width, extra, ids.MAX_ID_BYTES, out[:size], numbers)
    if sizes is None:
        return None
    written, lines, *counts = sizes
    out[written:] = 0
    return Tidied(out[: written + PAD], numbers[:lines].copy(), dict(zip(REMARKS, counts, strict=True)))


def _end_line(data: np.ndarray) -> int:
    """How many bytes of padded data are its lines, of which the last is ended if it was not."""
    size = len(data) - PAD
    if not size or data[size - 1] != _LF:
        data[size] = _LF
        size += 1
    return size
