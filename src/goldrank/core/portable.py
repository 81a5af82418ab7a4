"""The plain make of the core: ordinary Python and NumPy, for machines without the compiled one, and to check it by.

`goldrank.core.contract.Core` says what each function promises. Where two ways are possible, this one has the plainer.
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
"""Bytes that follow a text, and the last of some ids."""

# ---- arguments ----


class _ReadOnlyError(BufferError, ValueError):
    """A buffer that is to be written to, and cannot."""


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
    return np.frombuffer(buffer, kind) if len(buffer) else np.zeros(0, kind)


def _out(buffer: Buffer, kind: str) -> np.ndarray:
    return _array(buffer, kind, writable=True)


class _Ids(NamedTuple):
    """Ids as ranges of bytes."""

    data: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, data: Buffer, start: Buffer, end: Buffer) -> _Ids:
        """The ids of three buffers, each of which must be inside the data."""
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
        """One of them; None if there is none of this number, or it is not inside the data."""
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
"""Control bytes that are no blanks."""
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
    field_ends, scores, keys = _out(ends, "i4"), _out(score, "f8"), _out(key, "u8")
    stretches, undone = _out(begin, "i8"), _out(left, "i8")
    room = len(keys)
    if width < 1 or not 0 <= query < width or not 0 <= doc < width or number >= width or longest < 0:
        raise _do_not_fit()
    if not 1 <= size <= min(len(text) - _BEHIND_TEXT, (1 << 31) - 1):
        raise _do_not_fit()
    if min(len(field_ends) // width, len(scores), len(stretches), len(undone)) < room:
        raise _do_not_fit()

    raw = text[:size].tobytes()
    count = raw.count(b"\n")
    if count > room or not _is_regular(raw, count, width):
        return None
    queries: list[bytes] = []
    numbers: list[float] = []
    not_done: list[int] = []
    total_fields = 0
    for block in _blocks(raw):
        fields = block.split()
        total_fields += len(fields)
        queries += fields[query::width]
        if number >= 0:
            values, left_in_block = _decimals(fields[number::width])
            not_done += [len(numbers) + i for i in left_in_block]
            numbers += values
    if total_fields != count * width:  # one of them is empty
        return None

    # One byte follows each field, and is no part of any.
    end = np.flatnonzero(text[:size] <= ord(" "))
    start = np.append(0, end[:-1] + 1)
    if int((end - start).max()) > longest:
        return None
    field_ends[: len(field_ends) // width * width].reshape(width, -1)[:, :count] = end.reshape(count, width).T
    keys[:count] = _Ids(text, start[doc::width], end[doc::width]).hashes()

    is_other = np.fromiter(map(operator.ne, queries[1:], queries), bool, count - 1)
    changes = np.append(0, np.flatnonzero(is_other) + 1)
    stretches[: len(changes)] = changes

    scores[: len(numbers)] = numbers
    undone[: len(not_done)] = not_done
    return count, len(changes), len(not_done)


def _is_regular(raw: bytes, count: int, width: int) -> bool:
    """Whether each of so many lines has `width` fields, some perhaps empty, and none begins with #."""
    if raw[-1] != _LF or raw.startswith(b"#") or b"\n#" in raw:
        return False
    between = raw.translate(_TAB_IS_BLANK, _NO_BLANKS)
    return between == (b" " * (width - 1) + b"\n") * count


def _blocks(raw: bytes) -> Iterator[bytes]:
    """Lines in blocks that are small enough for a processor's cache."""
    at = 0
    while at < len(raw):
        line_end = raw.find(b"\n", at + _BLOCK)
        end = line_end + 1 if line_end >= 0 else len(raw)
        yield raw[at:end]
        at = end


def _decimals(texts: Sequence[bytes]) -> tuple[list[float], list[int]]:
    """The numbers that texts spell, and which of them are not done."""
    are_short = max(map(len, texts), default=0) <= _MOST_DIGITS
    if are_short and not b"".join(texts).translate(None, b"0123456789.+-"):
        try:
            return list(map(float, texts)), []
        except ValueError:  # 1-2, say
            pass

    numbers: list[float] = []
    left: list[int] = []
    for i, text in enumerate(texts):
        if _is_done(text):
            numbers.append(float(text))
        else:
            numbers.append(0.0)
            left.append(i)
    return numbers, left


def _is_done(text: bytes) -> bool:
    """Whether a text is a decimal number that the core does."""
    matched = _DECIMAL.fullmatch(text)
    if matched is None:
        return False
    whole, fraction, exponent = matched[1], matched[2] or b"", matched[3] or b"0"
    digits = whole + fraction
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
    text, written, numbers = _array(data, "u1"), _out(out, "u1"), _out(number, "i8")
    if width < 1 or longest < 0 or not 1 <= size <= len(text) - _BEHIND_TEXT or len(written) < size:
        raise _do_not_fit()
    raw = text[:size].tobytes()
    if raw[-1] != _LF:
        return None

    kept: list[bytes] = []
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

        if len(kept) == len(numbers) or _CONTROL.search(line) or max(map(len, fields)) > longest:
            return None
        if len(fields) < width or (len(fields) > width and not extra):
            return None
        extra_columns += len(fields) > width
        numbers[len(kept)] = i
        kept.append(b" ".join(fields[:width]) + b"\n")

    whole = b"".join(kept)
    written[: len(whole)] = np.frombuffer(whole, np.uint8)
    return len(whole), len(kept), blank_lines, comments, comments_like_data, extra_columns


# ---- many ids ----


def hashes(data: Buffer, start: Buffer, end: Buffer, out: Buffer) -> None:
    ids, keys = _Ids.of(data, start, end), _out(out, "u8")
    if len(keys) < len(ids.start):
        raise _do_not_fit()
    keys[: len(ids.start)] = ids.hashes()


def integers(data: Buffer, start: Buffer, end: Buffer, out: Buffer, left: Buffer) -> int:
    texts = _Ids.of(data, start, end).texts()
    numbers, undone = _out(out, "i8"), _out(left, "i8")
    if min(len(numbers), len(undone)) < len(texts):
        raise _do_not_fit()

    lengths = set(map(len, texts))
    if lengths <= set(range(1, 9)) and b"".join(texts).isdigit():
        numbers[: len(texts)] = list(map(int, texts))
        return 0

    not_done = [i for i, text in enumerate(texts) if not _is_whole(text)]
    undone[: len(not_done)] = not_done
    numbers[: len(texts)] = [int(text) if _is_whole(text) else 0 for text in texts]
    return len(not_done)


def _is_whole(text: bytes) -> bool:
    """Whether a text is one to eight digits, perhaps with a sign before them."""
    digits = text[1:] if text.startswith((b"+", b"-")) else text
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
    ids, others = _Ids.of(data, start, end), _Ids.of(other_data, other_start, other_end)
    are_same = _out(out, "u1")
    count = len(ids.start)
    if len(others.start) != count or len(are_same) < count:
        raise _do_not_fit()

    are_same[:count] = list(map(operator.eq, ids.texts(), others.texts()))


def pack(data: Buffer, start: Buffer, end: Buffer, out: Buffer) -> None:
    ids, packed = _Ids.of(data, start, end), _out(out, "u1")
    if int((ids.end - ids.start).sum()) != len(packed):
        raise _do_not_fit()
    packed[:] = np.frombuffer(b"".join(ids.texts()), np.uint8)


def texts(data: Buffer, start: Buffer, end: Buffer) -> list[str]:
    return [text.decode("utf-8", "surrogateescape") for text in _Ids.of(data, start, end).texts()]


def rankings(data: Buffer, start: Buffer, end: Buffer, score: Buffer, begin: Buffer) -> list[dict[str, float]]:
    docs, scores = texts(data, start, end), _array(score, "f8").tolist()
    bounds = _bounds(begin, len(docs))
    if len(scores) != len(docs) or bounds[0] != 0 or bounds[-1] != len(docs):
        raise _do_not_fit()
    return [dict(zip(docs[low:high], scores[low:high], strict=True)) for low, high in pairwise(bounds.tolist())]


def _bounds(begin: Buffer, size: int) -> np.ndarray:
    """Where stretches of `size` lines begin, and the last one ends."""
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
    """The slot of an id, or the free one where it would go; None where too many are in the way, or slots are wrong.

    A slot holds the number of an id, counted from 1, below the higher half of its hash; 0 is free. `first` is where
    each number stands among those known, if that is not the number itself.
    """
    for tried in range(min(len(slots), _MOST_IN_THE_WAY)):
        slot = (key + tried) % len(slots)
        held = int(slots[slot])
        if held == 0:
            return slot
        if held & _TAG != key & _TAG:
            continue

        number = (held & ~_TAG) - 1
        if first is not None and 0 <= number < len(first):
            number = int(first[number])
        there = known.text(number)
        if there is None:
            return None
        if there == text:
            return slot
    return None


def number(data: Buffer, start: Buffer, end: Buffer, slots: Buffer, code: Buffer, first: Buffer) -> int | None:
    ids = _Ids.of(data, start, end)
    table, codes, firsts = _out(slots, "u8"), _out(code, "i8"), _out(first, "i8")
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
    ids, known = _Ids.of(data, start, end), _Ids.unchecked(known_data, known_start, known_end)
    table, codes = _array(slots, "u8"), _out(code, "i8")
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
    codes, scores = _array(code, "i8"), _array(score, "f8")
    starts, ordered = _out(begin, "i8"), _out(order, "i8")
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
    codes, scores, keys, bits = _array(code, "i8"), _array(score, "f8"), _array(key, "u8"), _array(judged, "u1")
    bounds = _bounds(begin, len(scores))
    found = [_out(buffer, "i8") for buffer in (line, stretch, first, last)]
    infinities = _out(infinite, "i8")
    room = len(found[0])
    if len(bounds) != len(codes) + 1 or len(keys) != len(scores) or len(infinities) < len(codes):
        raise _do_not_fit()
    if not len(bits) or len(bits) & (len(bits) - 1) or min(map(len, found)) < room:
        raise _do_not_fit()

    # The lines that are asked for, and of which stretch each is.
    owner = np.repeat(np.arange(len(codes)), np.diff(bounds))
    asked = np.flatnonzero(codes[owner] >= 0)
    owner, at = owner[asked], asked + bounds[0]
    scores, keys = scores[at], keys[at]
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

    is_new = np.ones(len(at), bool)
    is_new[1:] = ~(same_stretch & (scores[1:] == scores[:-1]))
    tie_start = np.flatnonzero(is_new)
    tie_end = np.append(tie_start[1:], len(at))
    tie = np.searchsorted(tie_start, hits, "right") - 1
    before = bounds[owner[hits]]  # where its stretch begins
    columns = (at[hits], owner[hits], at[tie_start[tie]] - before + 1, at[tie_end[tie] - 1] - before + 1)
    for buffer, column in zip(found, columns, strict=True):
        buffer[: len(hits)] = column
    infinities[: len(codes)] = np.bincount(owner[np.isinf(scores)], minlength=len(codes))
    return len(hits)


def among(docs: Buffer, wanted: Buffer, rank: Buffer, label: Buffer) -> tuple[int, int, bool]:
    listed, asked = _array(docs, "i8").tolist(), _array(wanted, "i8").tolist()
    ranks, labels = _out(rank, "i8"), _out(label, "i8")
    if min(len(ranks), len(labels)) < len(listed):
        raise _do_not_fit()

    first = {doc: i for i, doc in reversed([*enumerate(asked)])}
    found = [(at, first[doc]) for at, doc in enumerate(listed, 1) if doc in first]
    ranks[: len(found)] = [at for at, _ in found]
    labels[: len(found)] = [number for _, number in found]
    return len(found), len(first), len({number for _, number in found}) < len(found)


# ---- runs and judgements in dicts: copied before anything is looked at, as another thread may change them ----


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
    own = results.copy()
    if not _are_ids(own, longest):
        return None

    scores = array("d")
    for query, row in own.items():
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
        own[query] = row if types <= {float} else dict(zip(row, numbers.tolist(), strict=True))
        scores += numbers
    if np.isnan(scores).any():
        return None
    return own, scores.tobytes()


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

    number = {doc: at for at, doc in enumerate(dict.fromkeys(docs), first)}
    numbers[:] = [number[doc] for doc in docs]
    return list(number)


def judgements(given: object, longest: int, highest: int) -> dict[str, dict[str, Any]] | None:
    _check_whole(longest, highest)
    if type(given) is not dict:
        return None
    own = given.copy()
    if not _are_ids(own, longest):
        return None

    for query, row in own.items():
        if type(row) is not dict:
            return None
        row = row.copy()
        if not _are_ids(row, longest) or not set(map(type, row.values())) <= {int}:
            return None
        if row and not -highest <= min(row.values()) <= max(row.values()) <= highest:
            return None
        own[query] = row
    return own


def grades(rows: object, out: Buffer) -> bool:
    numbers = _out(out, "i8")
    if not isinstance(rows, list) or not all(type(row) is dict for row in rows):
        return False
    given = [grade for row in rows for grade in row.values()]
    if len(given) != len(numbers) or not set(map(type, given)) <= {int}:
        return False
    try:
        numbers[:] = np.array(given, np.int64)
    except OverflowError:
        return False
    return True


class _Placed(NamedTuple):
    """A judged document in a ranking."""

    rank: int
    first: int
    """First and last rank of those that share its score."""
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
    starts, sizes, has_row, out = _array(start, "i8"), _out(retrieved, "i8"), _out(answered, "u1"), _out(found, "i8")
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

    # The row of each judged query, and where its scores begin.
    rows: list[dict[str, float] | None] = [None] * count
    begins = [0] * count
    unjudged = []
    at = 0
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
            begins[number] = at
        at += len(row)
    if at != len(packed) // 8:
        raise _changed()

    compared = _rounded(packed.view(np.float64), single).tolist()
    hits: list[tuple[int, _Placed]] = []
    left: list[int] = []
    infinite = constant = 0
    for i, (row, begin) in enumerate(zip(rows, begins, strict=True)):
        has_row[i] = row is not None
        sizes[i] = len(row or ())
        if not row:
            continue
        if type(judged[i]) is not dict:
            left.append(i)
            continue
        if len(judged[i]) != starts[i + 1] - starts[i]:
            raise _changed()

        of_row = compared[begin : begin + len(row)]
        placed = _place_row(row, of_row, judged[i], int(starts[i]), ties, single)
        if placed is None:
            left.append(i)
            continue
        hits += [(i, hit) for hit in placed]
        infinite += sum(map(math.isinf, of_row))
        constant += len(row) > 1 and min(of_row) == max(of_row)

    table = out.reshape(5, -1)
    table[:, : len(hits)] = np.array([(i, *hit) for i, hit in hits], np.int64).reshape(-1, 5).T
    tied = sum(hit.first < hit.last for _, hit in hits)
    return len(hits), tied, int(sizes.sum()), left, unjudged, infinite, constant


@np.errstate(over="ignore")  # beyond single precision lies infinity
def _rounded(scores: np.ndarray, single: bool) -> np.ndarray:
    """Scores as they are compared."""
    return scores.astype(np.float32).astype(np.float64) if single else scores


def _place_row(
    row: Mapping[str, float], scores: Sequence[float], judged: Mapping[str, Any], label: int, ties: int, single: bool
) -> list[_Placed] | None:
    """The judged documents that a ranking has, by rank; None if it is declined."""
    ascending = sorted(scores)
    size = len(scores)
    positions: dict[float, dict[str, int]] = {}  # of documents that share their score

    placed = []
    for label_of_doc, doc in enumerate(judged, label):
        if type(doc) is not str:
            return None
        if doc not in row:
            continue
        given = row[doc]
        if not isinstance(given, float) or math.isnan(given):
            return None
        score = float(_rounded(np.array(given), single))
        first = size - bisect_right(ascending, score) + 1
        last = size - bisect_left(ascending, score)
        if first > last:  # its score is not among those of the row
            raise _changed()

        rank = first
        if first < last:
            if score not in positions:
                tied = [doc for doc, other in zip(row, scores, strict=True) if other == score]
                try:
                    positions[score] = {doc: i for i, doc in enumerate(_in_order(tied, ties))}
                except (TypeError, UnicodeEncodeError):
                    return None
            rank += positions[score][doc]
        placed.append(_Placed(rank, first, last, label_of_doc))
    return sorted(placed)


def _in_order(docs: list[str], ties: int) -> list[str]:
    """Documents of one score in the order of a tie rule; TypeError or UnicodeEncodeError if one has no bytes."""
    by_bytes = sorted(docs, key=str.encode, reverse=ties == TIES_DESCENDING)
    return docs if ties == TIES_BY_INPUT else by_bytes


# ---- rows of placements ----


def _row_arrays(*buffers: tuple[Buffer, str], out: Buffer, kind: str = "i8") -> list[np.ndarray] | None:
    """Buffers as arrays, of which the last is written to; None if one is not what it should be."""
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
    queries, marks, counted = arrays
    if len(marks) != len(queries) or len(counted) != len(queries):
        return False

    running = np.cumsum(marks != 0)
    before = running - (marks != 0)
    is_first = np.ones(len(queries), bool)
    is_first[1:] = queries[1:] != queries[:-1]
    start = np.flatnonzero(is_first)
    counted[:] = running - before[start][np.cumsum(is_first) - 1]
    return True


def first(query: Buffer, which: Buffer, rank: Buffer, out: Buffer) -> bool:
    arrays = _row_arrays((query, "i8"), (which, "u1"), (rank, "i8"), out=out)
    if arrays is None:
        return False
    queries, marks, ranks, firsts = arrays
    if len(marks) != len(queries) or len(ranks) != len(queries) or not _are_below(queries, len(firsts)):
        return False
    rows = np.flatnonzero((marks != 0) & (firsts[queries] == 0))[::-1]  # the first of a query is written last
    firsts[queries[rows]] = ranks[rows]
    return True


def _is_number(buffer: Buffer, *kinds: type) -> bool:
    """Whether a buffer has numbers of one of some kinds, in this machine's order of bytes."""
    return isinstance(buffer, np.ndarray) and buffer.dtype in [np.dtype(kind) for kind in kinds]


@np.errstate(all="ignore")  # quotients may be infinite, or none
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
    return reduce(operator.add, numbers) if numbers else 0.0
