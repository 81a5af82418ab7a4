"""The plain make of the core: ordinary Python and NumPy, for machines without the compiled make, and to test that.

`goldrank.core.contract.Core` has the promises of each function. Where two ways are possible, this make has the simpler.
"""

from __future__ import annotations

import math
import operator
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, pairwise
from typing import Any, NamedTuple, get_args

import numpy as np

from goldrank.core.contract import CONTRACT as CONTRACT
from goldrank.core.contract import TIES_BY_INPUT, TIES_DESCENDING, Buffer, Rows, TieRule
from goldrank.core.hashing import hashed, pair_keys, words_of

MAKE = "without the compiled core"

_LF = 10
_BEHIND_TEXT = 16
_BEHIND_IDS = 8
"""Bytes that follow a text, and the last id of some ids."""

# ---- arguments ----


class _ReadOnlyError(BufferError, ValueError):
    """A read-only buffer that must be written to."""


def _do_not_fit() -> ValueError:
    return ValueError("the buffers do not fit each other")


def _changed() -> RuntimeError:
    return RuntimeError("a dict changed while it was read")


def _check_whole(*numbers: object) -> None:
    """Raise TypeError unless all are whole numbers."""
    for number in numbers:
        operator.index(number)  # type: ignore[arg-type]


def _array(buffer: Buffer, kind: str, *, writable: bool = False) -> np.ndarray:
    """A buffer as an array of numbers of a kind, which must have their size."""
    view = memoryview(buffer)  # type: ignore[arg-type]  # of an array too
    if not view.c_contiguous:
        raise ValueError("the buffer is not contiguous")
    if writable and view.readonly:
        raise _ReadOnlyError("the buffer is read-only")

    itemsize = np.dtype(kind).itemsize
    if view.itemsize != itemsize:
        raise TypeError(f"expected items of {itemsize} bytes, got {view.itemsize}")
    if isinstance(buffer, np.ndarray):
        return buffer.reshape(-1).view(kind)
    if not len(buffer):
        return np.zeros(0, kind)
    return np.frombuffer(buffer, kind)


def _out(buffer: Buffer, kind: str) -> np.ndarray:
    return _array(buffer, kind, writable=True)


class _Ids(NamedTuple):
    """Ids as ranges of bytes."""

    data: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, data: Buffer, start: Buffer, end: Buffer) -> _Ids:
        """The ids of three buffers; each id must be inside the data."""
        ids = cls.unchecked(data, start, end)
        last = len(ids.data) - _BEHIND_IDS
        is_inside = (ids.start >= 0) & (ids.start <= ids.end) & (ids.end <= last)
        if not is_inside.all():
            raise _do_not_fit()
        return ids

    @classmethod
    def unchecked(cls, data: Buffer, start: Buffer, end: Buffer) -> _Ids:
        ids = cls(_array(data, "u1"), _array(start, "i8"), _array(end, "i8"))
        if len(ids.start) != len(ids.end):
            raise _do_not_fit()
        return ids

    def texts(self) -> list[bytes]:
        raw = self.data.tobytes()
        return [raw[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def text(self, number: int) -> bytes | None:
        """The id of a number; None if there is no such id, or it is not inside the data."""
        if not 0 <= number < len(self.start):
            return None
        start, end = int(self.start[number]), int(self.end[number])
        if not 0 <= start <= end <= len(self.data) - _BEHIND_IDS:
            return None
        return self.data[start:end].tobytes()

    def hashes(self) -> np.ndarray:
        return hashed(words_of(self.data, self.start, self.end), len(self.start))


# ---- text to columns ----

_NO_BLANKS = bytes(range(33, 256))
"""All bytes but blanks and control bytes."""
_TAB_IS_BLANK = bytes.maketrans(b"\t", b" ")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""Control bytes that are not blanks."""
_DECIMAL = re.compile(rb"[+-]?([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,2}))?")
_BLOCK = 1 << 16
"""Bytes of text that are split at a time."""
_MOST_DIGITS = 19
_MOST_TENS = 22
_EXACT = 1 << 53


def lines(data: Buffer, size: int) -> int:
    text = _array(data, "u1")
    if not 0 <= size <= len(text):
        raise _do_not_fit()
    return text[:size].tobytes().count(b"\n")


def columns(
    data: Buffer,
    size: int,
    width: int,
    query: int,
    doc: int,
    number: int,
    longest: int,
    ends: Buffer,
    score: Buffer,
    key: Buffer,
    begin: Buffer,
    left: Buffer,
) -> tuple[int, int, int] | None:
    _check_whole(size, width, query, doc, number, longest)
    text = _array(data, "u1")
    field_ends = _out(ends, "i4")
    scores = _out(score, "f8")
    keys = _out(key, "u8")
    stretches = _out(begin, "i8")
    unparsed = _out(left, "i8")
    room = len(keys)
    if width < 1 or not 0 <= query < width or not 0 <= doc < width or number >= width or longest < 0:
        raise _do_not_fit()
    if not 1 <= size <= min(len(text) - _BEHIND_TEXT, (1 << 31) - 1):
        raise _do_not_fit()
    if min(len(field_ends) // width, len(scores), len(stretches), len(unparsed)) < room:
        raise _do_not_fit()

    raw = text[:size].tobytes()
    count = raw.count(b"\n")
    if count > room or not _is_regular(raw, count, width):
        return None

    queries: list[bytes] = []
    numbers: list[float] = []
    unparsed_lines: list[int] = []
    total_fields = 0
    for block in _blocks(raw):
        fields = block.split()
        total_fields += len(fields)
        queries += fields[query::width]
        if number >= 0:
            values, unparsed_in_block = _decimals(fields[number::width])
            unparsed_lines += [len(numbers) + i for i in unparsed_in_block]
            numbers += values
    if total_fields != count * width:  # a field is empty
        return None

    # One byte follows each field, and belongs to no field.
    end = np.flatnonzero(text[:size] <= ord(" "))
    start = np.append(0, end[:-1] + 1)
    if int((end - start).max()) > longest:
        return None
    field_ends[: len(field_ends) // width * width].reshape(width, -1)[:, :count] = end.reshape(count, width).T
    keys[:count] = _Ids(text, start[doc::width], end[doc::width]).hashes()

    is_change = np.fromiter(map(operator.ne, queries[1:], queries), bool, count - 1)
    changes = np.append(0, np.flatnonzero(is_change) + 1)
    stretches[: len(changes)] = changes

    scores[: len(numbers)] = numbers
    unparsed[: len(unparsed_lines)] = unparsed_lines
    return count, len(changes), len(unparsed_lines)


def _is_regular(raw: bytes, count: int, width: int) -> bool:
    """Whether each of `count` lines has `width` fields, some perhaps empty, and no line begins with #."""
    if raw[-1] != _LF or raw.startswith(b"#") or b"\n#" in raw:
        return False
    between = raw.translate(_TAB_IS_BLANK, _NO_BLANKS)
    return between == (b" " * (width - 1) + b"\n") * count


def _blocks(raw: bytes) -> Iterator[bytes]:
    """Lines in blocks that are small enough for a processor's cache."""
    start = 0
    while start < len(raw):
        line_end = raw.find(b"\n", start + _BLOCK)
        end = len(raw)
        if line_end >= 0:
            end = line_end + 1
        yield raw[start:end]
        start = end


def _decimals(texts: Sequence[bytes]) -> tuple[list[float], list[int]]:
    """The numbers in texts, and the indices of texts that were not parsed."""
    are_short = max(map(len, texts), default=0) <= _MOST_DIGITS
    if are_short and not b"".join(texts).translate(None, b"0123456789.+-"):
        try:
            return list(map(float, texts)), []
        except ValueError:  # for example 1-2
            pass

    numbers: list[float] = []
    unparsed: list[int] = []
    for i, text in enumerate(texts):
        if _is_parsed(text):
            numbers.append(float(text))
        else:
            numbers.append(0.0)
            unparsed.append(i)
    return numbers, unparsed


def _is_parsed(text: bytes) -> bool:
    """Whether a text is a decimal number that the core parses."""
    matched = _DECIMAL.fullmatch(text)
    if matched is None:
        return False

    fraction = matched[2] or b""
    exponent = matched[3] or b"0"
    digits = matched[1] + fraction
    if not 1 <= len(digits) <= _MOST_DIGITS:
        return False

    tens = len(fraction) - int(exponent)
    if int(digits) <= _EXACT:
        return abs(tens) <= _MOST_TENS
    return 0 <= tens <= _MOST_DIGITS


def tidy(
    data: Buffer, size: int, width: int, extra: bool, longest: int, out: Buffer, number: Buffer
) -> tuple[int, int, int, int, int, int] | None:
    _check_whole(size, width, longest)
    text = _array(data, "u1")
    written = _out(out, "u1")
    numbers = _out(number, "i8")
    if width < 1 or longest < 0 or not 1 <= size <= len(text) - _BEHIND_TEXT or len(written) < size:
        raise _do_not_fit()
    raw = text[:size].tobytes()
    if raw[-1] != _LF:
        return None

    data_lines: list[bytes] = []
    blank_lines = comments = comments_like_data = extra_columns = 0
    for i, line in enumerate(raw[:-1].split(b"\n")):
        fields = line.split()  # at the six blanks of ASCII
        if not fields:
            blank_lines += 1
            continue
        if fields[0].startswith(b"#"):
            comments += 1
            comments_like_data += len(fields) >= width and fields[0] != b"#"
            continue

        if len(data_lines) == len(numbers) or _CONTROL.search(line) or max(map(len, fields)) > longest:
            return None
        if len(fields) < width or (len(fields) > width and not extra):
            return None
        extra_columns += len(fields) > width
        numbers[len(data_lines)] = i
        data_lines.append(b" ".join(fields[:width]) + b"\n")

    tidied = b"".join(data_lines)
    written[: len(tidied)] = np.frombuffer(tidied, np.uint8)
    return len(tidied), len(data_lines), blank_lines, comments, comments_like_data, extra_columns


# ---- many ids ----


def hashes(data: Buffer, start: Buffer, end: Buffer, out: Buffer) -> None:
    ids = _Ids.of(data, start, end)
    keys = _out(out, "u8")
    if len(keys) < len(ids.start):
        raise _do_not_fit()
    keys[: len(ids.start)] = ids.hashes()


def integers(data: Buffer, start: Buffer, end: Buffer, out: Buffer, left: Buffer) -> int:
    texts = _Ids.of(data, start, end).texts()
    numbers = _out(out, "i8")
    others = _out(left, "i8")
    if min(len(numbers), len(others)) < len(texts):
        raise _do_not_fit()

    lengths = set(map(len, texts))
    if lengths <= set(range(1, 9)) and b"".join(texts).isdigit():
        numbers[: len(texts)] = list(map(int, texts))
        return 0

    numbers[: len(texts)] = 0
    count = 0
    for i, text in enumerate(texts):
        if _is_whole(text):
            numbers[i] = int(text)
        else:
            others[count] = i
            count += 1
    return count


def _is_whole(text: bytes) -> bool:
    """Whether a text is one to eight digits, perhaps with a sign before them."""
    digits = text
    if text.startswith((b"+", b"-")):
        digits = text[1:]
    return digits.isdigit() and len(digits) <= 8


def same(
    data: Buffer,
    start: Buffer,
    end: Buffer,
    other_data: Buffer,
    other_start: Buffer,
    other_end: Buffer,
    out: Buffer,
) -> None:
    ids = _Ids.of(data, start, end)
    others = _Ids.of(other_data, other_start, other_end)
    are_same = _out(out, "u1")
    count = len(ids.start)
    if len(others.start) != count or len(are_same) < count:
        raise _do_not_fit()

    are_same[:count] = list(map(operator.eq, ids.texts(), others.texts()))


def pack(data: Buffer, start: Buffer, end: Buffer, out: Buffer) -> None:
    ids = _Ids.of(data, start, end)
    packed = _out(out, "u1")
    if int((ids.end - ids.start).sum()) != len(packed):
        raise _do_not_fit()
    packed[:] = np.frombuffer(b"".join(ids.texts()), np.uint8)


def texts(data: Buffer, start: Buffer, end: Buffer) -> list[str]:
    return [text.decode("utf-8", "surrogateescape") for text in _Ids.of(data, start, end).texts()]


def rankings(data: Buffer, start: Buffer, end: Buffer, score: Buffer, begin: Buffer) -> list[dict[str, float]]:
    docs = texts(data, start, end)
    scores = _array(score, "f8").tolist()
    bounds = _bounds(begin, len(docs))
    if len(scores) != len(docs) or bounds[0] != 0 or bounds[-1] != len(docs):
        raise _do_not_fit()
    return [dict(zip(docs[low:high], scores[low:high], strict=True)) for low, high in pairwise(bounds.tolist())]


def _bounds(begin: Buffer, size: int) -> np.ndarray:
    """The first line of each stretch of `size` lines, and the end of the last stretch."""
    bounds = _array(begin, "i8")
    if not len(bounds) or bounds[0] < 0 or bounds[-1] > size or (bounds[1:] < bounds[:-1]).any():
        raise _do_not_fit()
    return bounds


_TAG = 0xFFFFFFFF00000000
_MOST_IN_THE_WAY = 1024


def _check_table(slots: np.ndarray, ids: int) -> None:
    size = len(slots)
    if size <= ids or size & (size - 1) or ids >= 0xFFFFFFFF:
        raise _do_not_fit()


def _slot_of(text: bytes, key: int, slots: np.ndarray, known: _Ids, first: np.ndarray | None = None) -> int | None:
    """The slot of an id, or the free slot for it; None if too many other ids are in the way, or slots are wrong.

    A slot holds the number of an id, counted from 1, and above it the higher half of its hash; 0 is free. `first` has
    the index of each number among the known ids, if that is not the number itself.
    """
    for distance in range(min(len(slots), _MOST_IN_THE_WAY)):
        slot = (key + distance) % len(slots)
        content = int(slots[slot])
        if content == 0:
            return slot
        if content & _TAG != key & _TAG:
            continue

        number = (content & ~_TAG) - 1
        if first is not None and 0 <= number < len(first):
            number = int(first[number])
        known_text = known.text(number)
        if known_text is None:
            return None
        if known_text == text:
            return slot
    return None


def number(data: Buffer, start: Buffer, end: Buffer, slots: Buffer, code: Buffer, first: Buffer) -> int | None:
    ids = _Ids.of(data, start, end)
    table = _out(slots, "u8")
    codes = _out(code, "i8")
    firsts = _out(first, "i8")
    count = len(ids.start)
    _check_table(table, count)
    if len(codes) < count or len(firsts) < count:
        raise _do_not_fit()

    table[:] = 0
    different = 0
    for i, (text, key) in enumerate(zip(ids.texts(), ids.hashes().tolist(), strict=True)):
        slot = _slot_of(text, key, table, ids, firsts)
        if slot is None:
            return None
        if not table[slot]:
            firsts[different] = i
            different += 1
            table[slot] = (key & _TAG) | different
        codes[i] = (int(table[slot]) & ~_TAG) - 1
    return different


def find(
    data: Buffer,
    start: Buffer,
    end: Buffer,
    known_data: Buffer,
    known_start: Buffer,
    known_end: Buffer,
    slots: Buffer,
    code: Buffer,
) -> bool:
    ids = _Ids.of(data, start, end)
    known = _Ids.unchecked(known_data, known_start, known_end)
    table = _array(slots, "u8")
    codes = _out(code, "i8")
    _check_table(table, len(known.start))
    if len(codes) < len(ids.start):
        raise _do_not_fit()

    for i, (text, key) in enumerate(zip(ids.texts(), ids.hashes().tolist(), strict=True)):
        slot = _slot_of(text, key, table, known)
        if slot is None:
            return False
        codes[i] = (int(table[slot]) & ~_TAG) - 1
    return True


def ascend(data: Buffer, start: Buffer, end: Buffer) -> bool:
    return all(a < b for a, b in pairwise(_Ids.of(data, start, end).texts()))


# ---- lines of a run ----


def arrange(code: Buffer, score: Buffer, begin: Buffer, order: Buffer) -> None:
    codes = _array(code, "i8")
    scores = _array(score, "f8")
    starts = _out(begin, "i8")
    ordered = _out(order, "i8")
    count = len(codes)
    if len(scores) != count or len(ordered) < count or not len(starts) or not _are_below(codes, len(starts) - 1):
        raise _do_not_fit()

    starts[0] = 0
    np.cumsum(np.bincount(codes, minlength=len(starts) - 1), out=starts[1:])
    ordered[:count] = np.lexsort((-scores, codes))


def _are_below(numbers: np.ndarray, size: int) -> bool:
    return bool(((numbers >= 0) & (numbers < size)).all())


def repeated(begin: Buffer, key: Buffer) -> bool:
    keys = _array(key, "u8")
    bounds = _bounds(begin, len(keys))
    owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return _has_repeats(keys[bounds[0] : bounds[-1]], owner)


def _has_repeats(keys: np.ndarray, owner: np.ndarray) -> bool:
    """Whether an owner has a key twice."""
    pairs = np.sort(pair_keys(keys, owner))
    if not (pairs[1:] == pairs[:-1]).any():
        return False

    order = np.lexsort((keys, owner))  # to be sure: two pairs may have one hash
    keys, owner = keys[order], owner[order]
    return bool(((keys[1:] == keys[:-1]) & (owner[1:] == owner[:-1])).any())


def survey(
    begin: Buffer,
    code: Buffer,
    score: Buffer,
    key: Buffer,
    judged: Buffer,
    repeats: bool,
    line: Buffer,
    stretch: Buffer,
    first: Buffer,
    last: Buffer,
    infinite: Buffer,
) -> int | None:
    codes = _array(code, "i8")
    scores = _array(score, "f8")
    keys = _array(key, "u8")
    bits = _array(judged, "u1")
    bounds = _bounds(begin, len(scores))
    outputs = [_out(buffer, "i8") for buffer in (line, stretch, first, last)]
    infinities = _out(infinite, "i8")
    room = len(outputs[0])
    if len(bounds) != len(codes) + 1 or len(keys) != len(scores) or len(infinities) < len(codes):
        raise _do_not_fit()
    if not len(bits) or len(bits) & (len(bits) - 1) or min(map(len, outputs)) < room:
        raise _do_not_fit()

    # The lines of stretches with a code, and the stretch of each.
    owner = np.repeat(np.arange(len(codes)), np.diff(bounds))
    has_code = np.flatnonzero(codes[owner] >= 0)
    owner = owner[has_code]
    lines_of_code = has_code + bounds[0]
    scores = scores[lines_of_code]
    keys = keys[lines_of_code]
    same_stretch = owner[1:] == owner[:-1]
    if (same_stretch & (scores[1:] > scores[:-1])).any():
        return None
    if repeats and _has_repeats(keys, owner):
        return None

    shift = 64 - 3 - (len(bits) - 1).bit_length()
    bit = (pair_keys(keys, codes[owner]) >> np.uint64(shift)).view(np.int64)
    hits = np.flatnonzero(bits[bit >> 3] >> (bit & 7) & 1)
    if len(hits) > room:
        return None

    begins_tie = np.ones(len(lines_of_code), bool)
    begins_tie[1:] = ~(same_stretch & (scores[1:] == scores[:-1]))
    tie_start = np.flatnonzero(begins_tie)
    tie_end = np.append(tie_start[1:], len(lines_of_code))
    tie = np.searchsorted(tie_start, hits, "right") - 1
    stretch_start = bounds[owner[hits]]
    first_rank = lines_of_code[tie_start[tie]] - stretch_start + 1
    last_rank = lines_of_code[tie_end[tie] - 1] - stretch_start + 1

    columns = (lines_of_code[hits], owner[hits], first_rank, last_rank)
    for buffer, column in zip(outputs, columns, strict=True):
        buffer[: len(hits)] = column
    infinities[: len(codes)] = np.bincount(owner[np.isinf(scores)], minlength=len(codes))
    return len(hits)


def among(docs: Buffer, wanted: Buffer, rank: Buffer, label: Buffer) -> tuple[int, int, bool]:
    doc_ids = _array(docs, "i8").tolist()
    wanted_ids = _array(wanted, "i8").tolist()
    ranks = _out(rank, "i8")
    labels = _out(label, "i8")
    if min(len(ranks), len(labels)) < len(doc_ids):
        raise _do_not_fit()

    label_of = {doc: i for i, doc in reversed([*enumerate(wanted_ids)])}
    hit_ranks = [i for i, doc in enumerate(doc_ids, 1) if doc in label_of]
    hit_labels = [label_of[doc] for doc in doc_ids if doc in label_of]
    ranks[: len(hit_ranks)] = hit_ranks
    labels[: len(hit_labels)] = hit_labels
    return len(hit_ranks), len(label_of), len(set(hit_labels)) < len(hit_labels)


# ---- runs and judgements in dicts: copied before they are read, because another thread may change them ----


def _are_ids(names: Collection[object], longest: int) -> bool:
    """Whether all are exact text of 1 to `longest` bytes of UTF-8."""
    if not names:
        return True
    if set(map(type, names)) != {str}:
        return False

    texts: Collection[Any] = names
    if "" in texts:
        return False
    if "".join(texts).isascii():
        return max(map(len, texts)) <= longest

    try:
        return max(len(text.encode()) for text in texts) <= longest
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def copied(results: object, longest: int) -> tuple[dict[str, dict[str, float]], bytes] | None:
    _check_whole(longest)
    if type(results) is not dict:
        return None
    copy = results.copy()
    if not _are_ids(copy, longest):
        return None

    scores = array("d")
    for query, row in copy.items():
        if type(row) is not dict:
            return None

        row = row.copy()
        types = set(map(type, row.values()))
        if not _are_ids(row, longest) or not all(kind is int or issubclass(kind, float) for kind in types):
            return None
        try:
            numbers = array("d", row.values())
        except OverflowError:
            return None

        if not types <= {float}:
            row = dict(zip(row, numbers.tolist(), strict=True))
        copy[query] = row
        scores += numbers

    if np.isnan(scores).any():
        return None
    return copy, scores.tobytes()


def candidates(rows: object, first: int, out: Buffer) -> list[str] | None:
    _check_whole(first)
    numbers = _out(out, "i8")
    if type(rows) is not list or not all(type(row) is dict for row in rows):
        return None
    docs = list(chain.from_iterable(rows))
    if len(docs) != len(numbers):
        raise _do_not_fit()
    if not set(map(type, docs)) <= {str}:
        return None

    number_of = {doc: i for i, doc in enumerate(dict.fromkeys(docs), first)}
    numbers[:] = [number_of[doc] for doc in docs]
    return list(number_of)


def judgements(given: object, longest: int, highest: int) -> dict[str, dict[str, Any]] | None:
    _check_whole(longest, highest)
    if type(given) is not dict:
        return None
    copy = given.copy()
    if not _are_ids(copy, longest):
        return None

    for query, row in copy.items():
        if type(row) is not dict:
            return None
        row = row.copy()
        if not _are_ids(row, longest) or not set(map(type, row.values())) <= {int}:
            return None
        if row and not -highest <= min(row.values()) <= max(row.values()) <= highest:
            return None
        copy[query] = row
    return copy


def grades(rows: object, out: Buffer) -> bool:
    numbers = _out(out, "i8")
    if not isinstance(rows, list) or not all(type(row) is dict for row in rows):
        return False
    all_grades = [grade for row in rows for grade in row.values()]
    if len(all_grades) != len(numbers) or not set(map(type, all_grades)) <= {int}:
        return False
    try:
        numbers[:] = np.array(all_grades, np.int64)
    except OverflowError:
        return False
    return True


class _Placed(NamedTuple):
    """A judged document in a ranking."""

    rank: int
    first: int
    """First and last rank of the documents with an equal score."""
    last: int
    label: int


def place(
    results: object,
    scores: bytes,
    numbers: Mapping[str, int],
    judged: Rows,
    start: Buffer,
    ties: int,
    single: bool,
    retrieved: Buffer,
    answered: Buffer,
    found: Buffer,
) -> tuple[int, int, int, list[int], list[str], int, int] | None:
    starts = _array(start, "i8")
    sizes = _out(retrieved, "i8")
    has_row = _out(answered, "u1")
    out = _out(found, "i8")
    packed = _array(scores, "u1")
    _check_whole(ties)
    count = len(sizes)
    if type(numbers) is not dict or not isinstance(judged, list) or ties not in get_args(TieRule):
        raise _do_not_fit()
    if len(packed) % 8 or len(judged) != count or len(starts) != count + 1 or len(has_row) != count:
        raise _do_not_fit()
    if len(out) % 5 or starts[0] != 0 or starts[-1] != len(out) // 5:
        raise _do_not_fit()
    if type(results) is not dict:
        return None

    # The row of each judged query, and the offset of its scores.
    rows: list[dict[str, float] | None] = [None] * count
    begins = [0] * count
    unjudged = []
    offset = 0
    for query, row in results.items():
        if type(query) is not str or type(row) is not dict:
            return None
        number = numbers.get(query)
        if number is None:
            unjudged.append(query)
        elif not 0 <= number < count or rows[number] is not None:
            raise _do_not_fit()
        else:
            rows[number] = row
            begins[number] = offset
        offset += len(row)
    if offset != len(packed) // 8:
        raise _changed()

    compared = _rounded(packed.view(np.float64), single).tolist()
    hits: list[tuple[int, _Placed]] = []
    declined: list[int] = []
    infinite = constant = 0
    for i, (row, begin) in enumerate(zip(rows, begins, strict=True)):
        has_row[i] = row is not None
        sizes[i] = len(row or ())
        if not row:
            continue
        if type(judged[i]) is not dict:
            declined.append(i)
            continue
        if len(judged[i]) != starts[i + 1] - starts[i]:
            raise _changed()

        of_row = compared[begin : begin + len(row)]
        placed = _place_row(row, of_row, judged[i], int(starts[i]), ties, single)
        if placed is None:
            declined.append(i)
            continue
        hits += [(i, hit) for hit in placed]
        infinite += sum(map(math.isinf, of_row))
        constant += len(row) > 1 and min(of_row) == max(of_row)

    table = out.reshape(5, -1)
    table[:, : len(hits)] = np.array([(i, *hit) for i, hit in hits], np.int64).reshape(-1, 5).T
    tied = sum(hit.first < hit.last for _, hit in hits)
    return len(hits), tied, int(sizes.sum()), declined, unjudged, infinite, constant


@np.errstate(over="ignore")  # numbers beyond single precision become infinite
def _rounded(scores: np.ndarray, single: bool) -> np.ndarray:
    """Scores for comparisons, in single precision if `single`."""
    if single:
        return scores.astype(np.float32).astype(np.float64)
    return scores


def _place_row(
    row: Mapping[str, float], scores: Sequence[float], judged: Mapping[str, Any], label: int, ties: int, single: bool
) -> list[_Placed] | None:
    """The judged documents in a ranking, by rank; None if the ranking is declined."""
    ascending = sorted(scores)
    size = len(scores)
    positions: dict[float, dict[str, int]] = {}  # by score: the order of tied documents

    placed = []
    for label_of_doc, doc in enumerate(judged, label):
        if type(doc) is not str:
            return None
        if doc not in row:
            continue
        if not isinstance(row[doc], float) or math.isnan(row[doc]):
            return None

        score = float(_rounded(np.array(row[doc]), single))
        first = size - bisect_right(ascending, score) + 1
        last = size - bisect_left(ascending, score)
        if first > last:  # the score is not in the row
            raise _changed()

        rank = first
        if first < last:
            if score not in positions:
                tied = [tied_doc for tied_doc, tied_score in zip(row, scores, strict=True) if tied_score == score]
                try:
                    positions[score] = {doc: i for i, doc in enumerate(_in_order(tied, ties))}
                except (TypeError, UnicodeEncodeError):
                    return None
            rank += positions[score][doc]
        placed.append(_Placed(rank, first, last, label_of_doc))
    return sorted(placed)


def _in_order(docs: list[str], ties: int) -> list[str]:
    """Documents of one score in the order of a tie rule; TypeError or UnicodeEncodeError if one cannot be encoded."""
    by_bytes = sorted(docs, key=str.encode, reverse=ties == TIES_DESCENDING)
    if ties == TIES_BY_INPUT:
        return docs
    return by_bytes


# ---- rows of placements ----


def _row_arrays(*buffers: tuple[Buffer, str], out: Buffer, kind: str = "i8") -> list[np.ndarray] | None:
    """Buffers as arrays, `out` as the last; None if a buffer is not valid."""
    try:
        arrays = [_array(buffer, of_kind) for buffer, of_kind in buffers]
        return [*arrays, _out(out, kind)]
    except (TypeError, ValueError):
        return None


def count(query: Buffer, which: Buffer, out: Buffer) -> bool:
    arrays = _row_arrays((query, "i8"), (which, "u1"), out=out)
    if arrays is None:
        return False
    queries, marks, counts = arrays
    if len(marks) != len(queries) or not _are_below(queries, len(counts)):
        return False
    counts += np.bincount(queries[marks != 0], minlength=len(counts))
    return True


def cumulate(query: Buffer, which: Buffer, out: Buffer) -> bool:
    arrays = _row_arrays((query, "i8"), (which, "u1"), out=out)
    if arrays is None:
        return False
    queries, marks, counts = arrays
    if len(marks) != len(queries) or len(counts) != len(queries):
        return False

    running = np.cumsum(marks != 0)
    before = running - (marks != 0)
    is_first = np.ones(len(queries), bool)
    is_first[1:] = queries[1:] != queries[:-1]
    start = np.flatnonzero(is_first)
    counts[:] = running - before[start][np.cumsum(is_first) - 1]
    return True


def first(query: Buffer, which: Buffer, rank: Buffer, out: Buffer) -> bool:
    arrays = _row_arrays((query, "i8"), (which, "u1"), (rank, "i8"), out=out)
    if arrays is None:
        return False
    queries, marks, ranks, firsts = arrays
    if len(marks) != len(queries) or len(ranks) != len(queries) or not _are_below(queries, len(firsts)):
        return False
    rows = np.flatnonzero((marks != 0) & (firsts[queries] == 0))[::-1]  # the first row of a query is written last
    firsts[queries[rows]] = ranks[rows]
    return True


def _is_number(buffer: Buffer, *kinds: type) -> bool:
    """Whether a buffer has numbers of one of some kinds, in this machine's order of bytes."""
    return isinstance(buffer, np.ndarray) and buffer.dtype in [np.dtype(kind) for kind in kinds]


@np.errstate(all="ignore")  # quotients may be infinite or NaN
def divide(part: Buffer, whole: Buffer, out: Buffer) -> bool:
    if not _is_number(part, np.float64, np.int64) or not _is_number(whole, np.float64, np.int64):
        return False
    arrays = _row_arrays((part, part.dtype.str), (whole, whole.dtype.str), out=out, kind="f8")  # type: ignore[union-attr]
    if arrays is None:
        return False
    above, below, shares = arrays
    if len(above) != len(shares) or len(below) != len(shares):
        return False
    np.divide(above, below, out=shares, where=below != 0)
    return True


def total(values: Buffer) -> float | None:
    if not _is_number(values, np.float64):
        return None
    try:
        numbers = _array(values, "f8").tolist()
    except ValueError:
        return None
    if not numbers:
        return 0.0
    return float(reduce(operator.add, numbers))
