"""Columns of a text table from its bytes.

A table here has lines of fields with blanks between them. Nothing is decoded: a field is a range of bytes.
For tables that are not regular the result is None, and `trec.py` reads them line by line.
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
class FieldRoles:
    """The fields that a reader needs, so that one pass can find all."""

    query: int
    """The field whose changes are needed."""
    doc: int
    """The field whose hashes are needed."""
    number: int = -1
    """The field with decimal numbers; -1 if there is none."""


@dataclass(frozen=True)
class FieldResults:
    """Results of one pass for the fields of certain roles."""

    roles: FieldRoles
    changes: np.ndarray
    hashes: np.ndarray
    numbers: np.ndarray
    unparsed: np.ndarray
    """The lines whose number was not parsed."""


@dataclass(frozen=True)
class FieldRanges:
    """The ranges of the fields of a text table: `ends[j][i]` in `data` is the end of field j of line i.

    One byte separates two fields, so the ends determine the starts.
    """

    data: np.ndarray
    ends: Sequence[np.ndarray]
    results: FieldResults | None = None

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
        """The start of a field in each line."""
        if column:
            return self.ends[column - 1] + 1
        first = np.zeros_like(self.ends[0])
        np.add(self.ends[-1][:-1], 1, out=first[1:])
        return first

    def ids(self, column: int, lines: np.ndarray | None = None) -> IdColumn:
        """A field in some lines, or in all."""
        if lines is None:
            start = self.start(column)
            end = self.ends[column]
        else:
            if column:
                before = self.ends[column - 1][lines]
            else:
                before = np.where(lines > 0, self.ends[-1][lines - 1], -1)
            start = before + 1
            end = self.ends[column][lines]
        return IdColumn(self.data, start.astype(np.int64, copy=False), end.astype(np.int64, copy=False))

    def texts(self, column: int, lines: np.ndarray | None = None) -> list[bytes]:
        """The bytes of a field in some lines."""
        return self.ids(column, lines).to_list()

    def hashes(self, column: int) -> np.ndarray:
        """The hash of a field in each line."""
        if self.results is not None and self.results.roles.doc == column:
            return self.results.hashes
        return self.ids(column).hashes()

    def changes(self, column: int) -> np.ndarray:
        """The lines in which a field differs from the previous line; line 0 is always among them."""
        if self.results is not None and self.results.roles.query == column:
            return self.results.changes
        return self.ids(column).changes()

    def decimals(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """A field as the doubles nearest to its decimal numbers, and the lines whose number was not parsed."""
        if self.results is not None and self.results.roles.number == column:
            return self.results.numbers, self.results.unparsed
        return np.zeros(self.size), np.arange(self.size)

    def copy(self, low: int, high: int) -> FieldRanges:
        """Some consecutive lines, with only their bytes."""
        begin = 0
        if low:
            begin = int(self.ends[-1][low - 1]) + 1
        end = begin
        if high > low:
            end = int(self.ends[-1][high - 1])
        data = padded(self.data[begin:end])
        return FieldRanges(data, [column[low:high] - begin for column in self.ends])


def split(data: np.ndarray, roles: FieldRoles) -> FieldRanges | None:
    """The fields of lines that all have the same number of fields; None if any line is not regular.

    `data` is padded with `PAD` zero bytes. A regular line has one blank or tab between two fields, no control bytes,
    and is not a comment.
    """
    size = _end_line(data)
    head = data[: min(size, 4 * ids.MAX_ID_BYTES)].tobytes()
    width = len(head[: head.find(b"\n") + 1].split())
    if width <= max(roles.query, roles.doc, roles.number):
        return None

    lines = core.lines(data, size)
    ends = np.empty((width, lines), np.int32)
    score = np.empty(lines)
    key = np.empty(lines, np.uint64)
    begin = np.empty(lines, np.int64)
    unparsed = np.empty(lines, np.int64)
    arguments = (roles.query, roles.doc, roles.number, ids.MAX_ID_BYTES)
    counts = core.columns(data, size, width, *arguments, ends, score, key, begin, unparsed)
    if counts is None:
        return None

    _, stretches, unparsed_count = counts
    results = FieldResults(roles, begin[:stretches].copy(), key, score, unparsed[:unparsed_count].copy())
    return FieldRanges(data, list(ends), results)


@dataclass(frozen=True)
class TidyLines:
    """The data lines of a table, without blank lines and comments."""

    data: np.ndarray
    """Padded, like the data of `split`."""
    numbers: np.ndarray
    """The number of each line in the input, counted from 0."""
    counts: dict[str, int]
    """How much was left out, by codes of notes."""


REMARKS = ("blank-lines", "comment-lines", "comments-like-data", "extra-columns")


def tidied(data: np.ndarray, width: int, extra: bool) -> TidyLines | None:
    """A table without blank lines and comments; None if something else is unusual, too.

    Lines have `width` fields, or more if `extra` is set. The result has only `width` fields, with one blank between two
    of them.
    """
    size = _end_line(data)
    out = np.empty(size + PAD, np.uint8)
    numbers = np.empty(core.lines(data, size), np.int64)
    sizes = core.tidy(data, size, width, extra, ids.MAX_ID_BYTES, out[:size], numbers)
    if sizes is None:
        return None
    written, lines, *counts = sizes
    out[written:] = 0
    return TidyLines(out[: written + PAD], numbers[:lines].copy(), dict(zip(REMARKS, counts, strict=True)))


def _end_line(data: np.ndarray) -> int:
    """The number of bytes of the lines in padded data; a line end is added to the last line if it has none."""
    size = len(data) - PAD
    if not size or data[size - 1] != _LF:
        data[size] = _LF
        size += 1
    return size
