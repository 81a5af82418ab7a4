"""Columns of a text table from its bytes, by array operations on millions of lines at once.

A table here is lines of fields with blanks between them. Nothing is decoded: a field is a range of bytes.
What these functions cannot vouch for they decline (None), and `trec.py` reads it line by line.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.data.id_column import EIGHT, IdColumn, words_at
from goldrank.data.id_column import PAD as PAD
from goldrank.data.id_column import padded as padded
from goldrank.native import core

_LF = 10
_LARGEST = (1 << 31) - 64
"""Bytes of a table whose places the compiled core can tell with 32 bits."""
MOST_BLANKS = 64
"""Blanks at the begin of lines up to which array operations look for what is behind them."""
_TENS = np.array([10**n for n in range(20)], np.uint64)
_TENS_FLOAT = np.array([float(10**n) for n in range(23)])


def _u(number: int) -> np.uint64:
    return np.uint64(number)


@dataclass(frozen=True)
class FieldRanges:
    """Where the fields of a text table are: `ends[j][i]` in `data` is the end of field j of line i.

    Where `starts` is None, one byte separates a field from the one before, so that the ends tell the starts.
    """

    data: np.ndarray
    ends: Sequence[np.ndarray]
    starts: Sequence[np.ndarray] | None = None
    known: dict[tuple[str, int], Any] = field(default_factory=dict)
    """What the compiled core found on its way, by what it is and of which field."""

    @property
    def size(self) -> int:
        return len(self.ends[0])

    @property
    def width(self) -> int:
        return len(self.ends)

    def start(self, column: int) -> np.ndarray:
        """Where a field begins in each line."""
        if self.starts is not None:
            return self.starts[column]
        if column:
            return self.ends[column - 1] + 1
        first = np.zeros_like(self.ends[0])
        np.add(self.ends[-1][:-1], 1, out=first[1:])
        return first

    def words(self, begin: np.ndarray) -> np.ndarray:
        """Eight bytes from each position, the first byte lowest, read past the end as zeros."""
        return words_at(self.data, begin)

    def ids(self, column: int, lines: np.ndarray | None = None) -> IdColumn:
        """A field in some lines, or in all."""
        if lines is None:
            start, end = self.start(column), self.ends[column]
        elif self.starts is not None:
            start, end = self.starts[column][lines], self.ends[column][lines]
        else:
            before = self.ends[column - 1][lines] if column else np.where(lines > 0, self.ends[-1][lines - 1], -1)
            start, end = before + 1, self.ends[column][lines]
        return IdColumn(self.data, start.astype(np.int64, copy=False), end.astype(np.int64, copy=False))

    def texts(self, column: int, lines: np.ndarray | None = None) -> list[bytes]:
        """The bytes of a field in some lines."""
        return self.ids(column, lines).to_list()

    def columns(self, column: int) -> list[np.ndarray]:
        """A field as words of eight bytes, zeros behind its end: equal fields have equal words."""
        return self.ids(column).words()

    def hashes(self, column: int) -> np.ndarray:
        """The hash of a field in each line."""
        known: np.ndarray | None = self.known.get(("hash", column))
        return self.ids(column).hashes() if known is None else known

    def changes(self, column: int) -> np.ndarray:
        """The lines at which a field differs from the line before; line 0 is always one."""
        known: np.ndarray | None = self.known.get(("changes", column))
        return changes(self.columns(column), self.size) if known is None else known

    def decimals(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """A field as the doubles nearest to its decimal numbers, and the lines where that is not done."""
        known: tuple[np.ndarray, np.ndarray] | None = self.known.get(("decimals", column))
        return decimals(self, column) if known is None else known

    def copy(self, low: int, high: int) -> FieldRanges:
        """Some neighbouring lines, and only their bytes."""
        if self.starts is not None:
            begin = int(self.starts[0][low]) if high > low else 0
        else:
            begin = int(self.ends[-1][low - 1]) + 1 if low else 0
        end = int(self.ends[-1][high - 1]) if high > low else begin
        data = padded(self.data[begin:end])
        starts = None if self.starts is None else [column[low:high] - begin for column in self.starts]
        return FieldRanges(data, [column[low:high] - begin for column in self.ends], starts)


@dataclass(frozen=True)
class Wanted:
    """Which fields will be asked for, so that one pass can find all."""

    query: int
    """Where this one changes."""
    doc: int
    """The hashes of this one."""
    number: int = -1
    """This one as decimal numbers; -1 for none."""


def split(
    data: np.ndarray, *, exact: bool = False, wanted: Wanted | None = None, quickly: bool = False
) -> FieldRanges | None:
    """The fields of lines that all have the same number of them; None if any line differs.

    `data` is padded with `PAD` zero bytes. Blanks are the six of ASCII. Other control bytes count as
    blanks too, in which case the table is declined, unless `exact` says to look closely. `quickly` gives up what the
    compiled core declines, where there is one: it does the rest faster once it is `tidied`.
    """
    size = _end_line(data)
    if core is not None and wanted is not None and not exact:
        ranges = _split_compiled(core, data, size, wanted)
        if ranges is not None or quickly:
            return ranges
    text = data[:size]
    blank, mark = _masks(size)
    if exact:
        np.logical_or(text == 32, (text >= 9) & (text <= 13), out=blank)
    else:
        np.less_equal(text, 32, out=blank)
    if not blank[0] and not np.logical_and(blank[1:], blank[:-1], out=mark[1:]).any():
        end = np.flatnonzero(blank)
        lines = np.count_nonzero(np.less(text, 32, out=mark))
        if lines and len(end) % lines == 0:
            ends = np.ascontiguousarray(end.reshape(lines, -1).T)
            if (text[ends[-1]] == _LF).all():
                return FieldRanges(data, list(ends))
    return _split_any(data, text, blank, exact)


def _split_compiled(core: Any, data: np.ndarray, size: int, wanted: Wanted) -> FieldRanges | None:
    """`split` by the compiled core, which declines all but the most regular tables."""
    head = data[: min(size, 4 * ids.MAX_ID_BYTES)].tobytes()
    width = len(head[: head.find(b"\n") + 1].split())
    if size > _LARGEST or width <= max(wanted.query, wanted.doc, wanted.number):
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
    known: dict[tuple[str, int], Any] = {
        ("hash", wanted.doc): key,
        ("changes", wanted.query): begin[:stretches].copy(),
    }
    if wanted.number >= 0:
        known["decimals", wanted.number] = (score, left[:undone].copy())
    return FieldRanges(data, list(ends), known=known)


@dataclass(frozen=True)
class Tidied:
    """The lines of data of a table in which there are others too."""

    data: np.ndarray
    """Padded, like the data of `split`."""
    numbers: np.ndarray
    """The line of the input that each is, counted from 0."""
    counts: dict[str, int]
    """What was left out: codes of notes, with how often."""


def tidied(data: np.ndarray, width: int, extra: bool) -> Tidied | None:
    """A table without blank lines and comments; None where more is unusual than these.

    Lines have `width` fields, or more of them if `extra` says so. What the compiled core makes has only those fields,
    and one blank between two of them.
    """
    size = _end_line(data)
    room = int(core.lines(data, size)) if core is not None else 0
    if core is None or size > _LARGEST:
        return _without_remarks(data, size, width)
    out, numbers = np.empty(size + PAD, np.uint8), np.empty(room, np.int64)
    sizes = core.tidy(data, size, width, extra, ids.MAX_ID_BYTES, out[:size], numbers)
    if sizes is None:
        return None
    written, lines, *counts = sizes
    out[written:] = 0
    return Tidied(out[: written + PAD], numbers[:lines].copy(), dict(zip(REMARKS, counts, strict=True)))


REMARKS = ("blank-lines", "comment-lines", "comments-like-data", "extra-columns")


def _without_remarks(data: np.ndarray, size: int, width: int) -> Tidied | None:
    """`tidied` by array operations."""
    text = data[:size]
    if ((text < 9) | ((text > 13) & (text < 32))).any():
        return None
    line_end = np.flatnonzero(text == _LF)
    start = np.concatenate(([0], line_end[:-1] + 1))
    first = start.copy()
    # Where lines begin with blanks, what comes next; a line of blanks alone ends at its line end.
    for _ in range(MOST_BLANKS):
        blank = text[first]
        blank = ((blank == 32) | ((blank >= 9) & (blank <= 13))) & (first < line_end)
        if not blank.any():
            break
        first += blank
    else:
        return None
    empty, comment = first == line_end, text[first] == ord("#")
    shown = [text[a:b].tobytes().split() for a, b in zip(first[comment], line_end[comment], strict=True)]
    like_data = sum(len(cells) >= width and cells[0] != b"#" for cells in shown)
    keep = ~(empty | comment)
    counts = (int(empty.sum()), int(comment.sum()), like_data, 0)
    kept = text[np.repeat(keep, line_end - start + 1)]
    return Tidied(padded(kept), np.flatnonzero(keep), dict(zip(REMARKS, counts, strict=True)))


def _end_line(data: np.ndarray) -> int:
    """How many bytes of padded data are its lines, of which the last is ended if it was not."""
    size = len(data) - PAD
    if not size or data[size - 1] != _LF:
        data[size] = _LF
        size += 1
    return size


_scratch = threading.local()


def _masks(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two boolean arrays that this thread uses again and again: fresh memory costs more than the work."""
    kept: np.ndarray | None = getattr(_scratch, "masks", None)
    if kept is None or kept.shape[1] < size:
        kept = _scratch.masks = np.empty((2, size + size // 8), bool)
    return kept[0, :size], kept[1, :size]


def _split_any(data: np.ndarray, text: np.ndarray, blank: np.ndarray, exact: bool) -> FieldRanges | None:
    """`split` where blanks may repeat and control bytes be anywhere."""
    if not exact and ((text < 9) | ((text > 13) & (text < 32))).any():
        return None
    line_end = np.flatnonzero(text == _LF)
    end = np.flatnonzero(blank[1:] > blank[:-1]) + 1
    start = np.flatnonzero(blank[1:] < blank[:-1]) + 1
    if not blank[0]:
        start = np.concatenate(([0], start))
    if not len(end) or len(end) % len(line_end):
        return None
    ends = np.ascontiguousarray(end.reshape(len(line_end), -1).T)
    starts = np.ascontiguousarray(start.reshape(len(line_end), -1).T)
    if (ends[-1] > line_end).any() or (starts[0][1:] < line_end[:-1]).any():
        return None
    return FieldRanges(data, list(ends), list(starts))


def changes(columns: Sequence[np.ndarray], size: int) -> np.ndarray:
    """The lines at which a field differs from the line before; line 0 is always one."""
    differs = np.zeros(max(size - 1, 0), bool)
    for column in columns:
        differs |= column[1:] != column[:-1]
    return np.concatenate((np.zeros(min(size, 1), np.int64), np.flatnonzero(differs) + 1))


def digits(word: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number that the first `length` (0 to 8) bytes of each word spell, and whether all are digits."""
    shift = length.astype(np.uint64) << _u(3)
    # Right-align the digits and put "0" before them; a shift by 64 gives 0, as numpy defines it.
    value = (word << (_u(64) - shift)) | (_u(0x3030303030303030) >> shift)
    high = value & _u(0xF0F0F0F0F0F0F0F0)
    carry = (value + _u(0x0606060606060606)) & _u(0xF0F0F0F0F0F0F0F0)
    valid = (high | (carry >> _u(4))) == _u(0x3333333333333333)
    value &= _u(0x0F0F0F0F0F0F0F0F)
    value = (value * _u(2561)) >> _u(8)
    value = ((value & _u(0x00FF00FF00FF00FF)) * _u(6553601)) >> _u(16)
    value = ((value & _u(0x0000FFFF0000FFFF)) * _u(42949672960001)) >> _u(32)
    return value, valid


def integers(fields: FieldRanges, column: int, signs: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A field as integers of up to eight digits, and the lines where it is anything else."""
    start = fields.start(column)
    length = fields.ends[column] - start
    word = fields.words(start)
    first = word & _u(0xFF)
    negative = signs & (first == _u(45))
    signed = negative | (signs & (first == _u(43)))
    if signed.any():
        start, length = start + signed, length - signed
        word = fields.words(start)
    short = np.minimum(length, 8)
    value, valid = digits(word & EIGHT[short], short)
    whole = np.where(negative, -value.view(np.int64), value.view(np.int64))
    return whole, np.flatnonzero(~(valid & (length <= 8) & (length > 0)))


def decimals(fields: FieldRanges, column: int) -> tuple[np.ndarray, np.ndarray]:
    """A field as the doubles nearest to its decimal numbers, and the lines where that is not done.

    Done are numbers such as -12.345 of up to 19 digits, at most 8 of them before the point. Up to
    2**53 the quotient of two exact doubles is the nearest double; beyond, extended precision is used
    where it exists and where its rounding cannot hide the right answer.
    """
    start = fields.start(column)
    length = fields.ends[column] - start
    word = fields.words(start)
    signed = (word & _u(0xFF)) == _u(45)
    negative = bool(signed.any())
    if negative:
        start = start + signed
        length = length - signed
        word = fields.words(start)
    longest = int(length.max(initial=0))
    head = np.minimum(length, 8) if longest > 8 else length
    word &= EIGHT[head]
    zero = word ^ _u(0x2E2E2E2E2E2E2E2E)
    dots = (zero - _u(0x0101010101010101)) & ~zero & _u(0x8080808080808080)
    # Ones below the first point; all ones where there is none among the first eight bytes.
    below = ((dots & (~dots + _u(1))) >> _u(7)) - _u(1)
    point = (np.bitwise_count(below) >> np.uint8(3)).astype(np.int64)
    if longest <= 8:
        has_point = point < head
        joined = (word & below) | ((word >> _u(8)) & ~below)
        mantissa, done = digits(joined, head - has_point)
        done &= head > has_point
        fraction = np.where(has_point, head - point - 1, 0)
        value = mantissa.astype(np.float64) / _TENS_FLOAT[fraction]
    else:
        value, done = _long_decimals(fields, start, length, word, np.minimum(point, length))
    if negative:
        np.negative(value, out=value, where=signed)
    return value, np.flatnonzero(~done)


def _long_decimals(
    fields: FieldRanges, start: np.ndarray, length: np.ndarray, word: np.ndarray, point: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values of unsigned decimals that may have more than eight characters, and where they are right."""
    has_point = (point < length) & (fields.data[start + point] == 46)
    done = has_point | (point == length)
    fraction = np.where(has_point, length - point - 1, 0)
    whole, valid = digits(word & EIGHT[point], point)
    done &= valid & (point + fraction > 0) & (point + fraction <= 19) & (fraction <= 16)
    fraction = np.where(done, fraction, 0)
    after = np.minimum(start + point + 1, len(fields.data) - 8)
    left = np.minimum(fraction, 8)
    part, valid = digits(fields.words(after) & EIGHT[left], left)
    done &= valid
    mantissa = whole * _TENS[left] + part
    if (fraction > 8).any():
        right = fraction - left
        part, valid = digits(fields.words(np.minimum(after + 8, len(fields.data) - 8)) & EIGHT[right], right)
        done &= valid
        mantissa = mantissa * _TENS[right] + part
    value = mantissa.astype(np.float64) / _TENS_FLOAT[fraction]
    large = np.flatnonzero(done & (mantissa > _u(1 << 53)))
    if len(large):
        value[large], sure = _divide_exactly(mantissa[large], fraction[large])
        done[large[~sure]] = False
    return value, done


def _divide_exactly(mantissa: np.ndarray, tens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """mantissa / 10**tens to the nearest double, and where that is sure."""
    if np.finfo(np.longdouble).nmant != 63:
        return mantissa.astype(np.float64), np.zeros(len(mantissa), bool)
    quotient = mantissa.astype(np.longdouble) / _TENS[tens].astype(np.longdouble)
    # 64 bits were rounded once; rounding them to 53 is right unless they look like an exact half.
    low = quotient.view(np.uint64)[::2] & _u(0x7FF)
    return quotient.astype(np.float64), low != _u(0x400)
