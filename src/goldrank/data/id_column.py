"""Many ids as ranges of bytes: a column of a file as it stands, without an object for each id."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from goldrank import ids, native
from goldrank.native import core

PAD = 32
"""Zero bytes kept behind the data, so that words may be read past its end."""
SOME = 10_000
"""Ids that are made objects at a time, where all would take too much memory."""
MANY = 1_000_000
"""Ids whose places are looked up at a time."""
SORTED_AS_WORDS = 64
"""Bytes of the longest id up to which ids are sorted as words, of which there are then few."""
EIGHT = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], np.uint64)
"""Masks that keep the first n bytes of a word."""
_MIX, _MIX_WORD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def padded(raw: bytes | np.ndarray) -> np.ndarray:
    """Bytes with the padding that readers need."""
    data = np.empty(len(raw) + PAD, np.uint8)
    data[: len(raw)] = np.frombuffer(raw, np.uint8)
    data[len(raw) :] = 0
    return data


IdsOf: TypeAlias = "Callable[[np.ndarray], IdColumn]"


@dataclass(frozen=True, eq=False)
class IdColumn:
    """Ids in `data`, which is padded: number i is the bytes from `start[i]` to `end[i]`."""

    data: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> IdColumn:
        """A column of some ids, one after the other."""
        texts = texts if isinstance(texts, list) else list(texts)
        return cls.packed(b"".join(texts), np.fromiter(map(len, texts), np.int64, len(texts)))

    @classmethod
    def packed(cls, raw: bytes | np.ndarray, lengths: np.ndarray) -> IdColumn:
        """Ids that stand one after the other, with nothing between."""
        bounds = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        return cls(padded(raw), bounds[:-1], bounds[1:])

    @classmethod
    def joined(cls, columns: Sequence[IdColumn]) -> IdColumn:
        """Several columns as one."""
        return columns[0] if len(columns) == 1 else cls._joined(columns)

    @classmethod
    def _joined(cls, columns: Sequence[IdColumn]) -> IdColumn:
        bounds = np.zeros(1 + sum(map(len, columns)), np.int64)
        np.cumsum(np.concatenate([bounds[:0], *(column.end - column.start for column in columns)]), out=bounds[1:])
        data, at = np.empty(int(bounds[-1]) + PAD, np.uint8), 0
        for column in columns:
            at += column._write(data, at)
        data[at:] = 0
        return cls(data, bounds[:-1], bounds[1:])

    def _write(self, out: np.ndarray, at: int) -> int:
        """Put the bytes of all ids into an array, one after the other; how many there are."""
        if self._is_packed:
            raw = self.data[self.start[0] : self.end[-1]] if len(self) else self.data[:0]
        elif core is None:
            raw = np.frombuffer(b"".join(self.to_list()), np.uint8)
        else:
            size = int((self.end - self.start).sum())
            core.pack(self.data, self.start, self.end, out[at : at + size])
            return size
        out[at : at + len(raw)] = raw
        return len(raw)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, at: int) -> bytes:
        return self.data[self.start[at] : self.end[at]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.to_list())

    def take(self, rows: np.ndarray) -> IdColumn:
        """Some of the ids."""
        return IdColumn(self.data, self.start[rows], self.end[rows])

    def part(self, low: int, high: int) -> IdColumn:
        """The ids from one place to another."""
        return IdColumn(self.data, self.start[low:high], self.end[low:high])

    def to_list(self) -> list[bytes]:
        """The ids as objects."""
        raw = self.data.data
        return [raw[a:b].tobytes() for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def texts(self) -> tuple[str, ...]:
        """The ids as text. Some at a time: as bytes, all of them would take as much again."""
        if core is not None:
            return tuple(core.texts(self.data, self.start, self.end))
        parts = (self.part(at, at + SOME)._some_texts() for at in range(0, len(self), SOME))
        return tuple(itertools.chain.from_iterable(parts))

    def _some_texts(self) -> Sequence[str]:
        raw = self.joined_bytes()
        if not raw.isascii():
            return ids.decode_all(self.to_list())
        text = raw.decode("ascii")  # one object, of which the ids are parts
        bounds = [0, *np.cumsum(self.end - self.start).tolist()]
        return [text[a:b] for a, b in itertools.pairwise(bounds)]

    def joined_bytes(self) -> bytes:
        """The bytes of all ids, one after the other."""
        if self._is_packed:
            return self.data[self.start[0] : self.end[-1]].tobytes() if len(self) else b""
        return self.copy().data[:-PAD].tobytes()

    @property
    def _is_packed(self) -> bool:
        return bool((self.start[1:] == self.end[:-1]).all())

    @property
    def is_compact(self) -> bool:
        """Whether `data` holds these ids and nothing else."""
        return self._is_packed and int((self.end - self.start).sum()) + PAD == len(self.data)

    def copy(self) -> IdColumn:
        """The same ids, and only their bytes."""
        return IdColumn._joined([self])

    def gathered(self, rows: np.ndarray) -> IdColumn:
        """Some of the ids, and only their bytes; a part at a time, so that no more than these is made."""
        bounds = np.zeros(len(rows) + 1, np.int64)
        np.cumsum((self.end - self.start)[rows], out=bounds[1:])
        data = np.zeros(int(bounds[-1]) + PAD, np.uint8)
        for at in range(0, len(rows), MANY):
            self.take(rows[at : at + MANY])._write(data, int(bounds[at]))
        return IdColumn(data, bounds[:-1], bounds[1:])

    def order(self) -> np.ndarray:
        """The places of the ids in byte order; equal ones stay in theirs."""
        length = self.end - self.start
        if int(length.max(initial=0)) > SORTED_AS_WORDS:
            texts = self.to_list()
            return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        return np.lexsort((length, *(word.byteswap() for word in reversed(self.words()))))

    def words(self) -> list[np.ndarray]:
        """The ids as words of eight bytes, zeros behind the end of each: equal ids have equal words."""
        length = self.end - self.start
        longest = int(length.max(initial=0))
        words = [words_at(self.data, self.start) & EIGHT[np.minimum(length, 8)]] if longest else []
        for at in range(8, longest, 8):
            inside = np.clip(length - at, 0, 8)
            words.append(words_at(self.data, np.minimum(self.start + at, len(self.data) - 8)) & EIGHT[inside])
        return words

    def hashes(self) -> np.ndarray:
        """A 64-bit hash of each id, equal for equal ids."""
        if core is None:
            return hashed(self.words(), len(self))
        hashes = np.empty(len(self), np.uint64)
        core.hashes(self.data, self.start, self.end, hashes)
        return hashes

    def same(self, other: IdColumn) -> np.ndarray:
        """For each id, whether it is the one of the same place in another column."""
        if core is None:
            return np.fromiter((a == b for a, b in zip(self, other, strict=True)), bool, len(self))
        same = np.empty(len(self), bool)
        core.same(self.data, self.start, self.end, other.data, other.start, other.end, same)
        return same

    def ascend(self) -> bool:
        """Whether each id is above the one before, by its bytes."""
        if core is not None:
            is_ascending: bool = core.ascend(self.data, self.start, self.end)
            return is_ascending
        texts = self.to_list()
        return all(a < b for a, b in itertools.pairwise(texts))

    def numbered(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each id, in the order in which different ones first appear, and where that is."""
        if core is not None:
            code, first = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
            slots = np.empty(_slots(len(self)), np.uint64)
            count = core.number(self.data, self.start, self.end, slots, code, first)
            if count is not None:
                return code, first[:count].copy()
        known: dict[bytes, int] = {}
        code = np.fromiter((known.setdefault(text, len(known)) for text in self), np.int64, len(self))
        highest = np.maximum.accumulate(code) if len(code) else code
        return code, np.concatenate((np.zeros(min(1, len(code)), np.int64), np.flatnonzero(np.diff(highest)) + 1))

    def find(self, asked: IdColumn) -> np.ndarray:
        """The place of each asked id in this column of different ids, -1 where it is not in it."""
        if core is not None and self._table is not None:
            places = np.empty(len(asked), np.int64)
            if core.find(asked.data, asked.start, asked.end, self.data, self.start, self.end, self._table, places):
                return places
        place = self._places.get
        return np.fromiter((place(text, -1) for text in asked), np.int64, len(asked))

    def forget(self) -> None:
        """Give back what `find` made to find ids by; it is made again if need be."""
        for name in ("_places", "_table"):
            vars(self).pop(name, None)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {text: place for place, text in enumerate(self)}

    @cached_property
    def _table(self) -> np.ndarray | None:
        """The slots that the compiled core finds ids by; None where it declines."""
        slots, unused = np.empty(_slots(len(self)), np.uint64), np.empty(len(self), np.int64)
        assert core is not None
        count = core.number(self.data, self.start, self.end, slots, unused, np.empty(len(self), np.int64))
        return None if count is None else slots


def repeated_pairs(codes: np.ndarray, keys: np.ndarray, docs: IdsOf) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows that have a document of a query again, each with the next one that has it; None where hashes do not tell.

    `keys` are the hashes of the documents. Pairs of one document follow each other, in the order of rows.
    """
    pairs = pair_keys(keys, codes)
    order = np.argsort(pairs, kind="stable")
    same = np.flatnonzero(pairs[order[1:]] == pairs[order[:-1]])
    before, after = order[same], order[same + 1]
    if (codes[before] != codes[after]).any() or not docs(before).same(docs(after)).all():
        return None
    return before, after


def _slots(count: int) -> int:
    """Slots of a hash table for so many ids: a power of two, at most three quarters full."""
    return 1 << (count + count // 3 + 1).bit_length()


def words_at(data: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Eight bytes from each position of padded data, the first byte lowest."""
    unaligned = np.ndarray((len(data) - 7,), "<u8", buffer=data, strides=(1,))
    words: np.ndarray = unaligned[begin]
    return words


def hashed(columns: Sequence[np.ndarray], size: int) -> np.ndarray:
    """A 64-bit hash of ids given as words (see `IdColumn.words`); words of zeros change nothing.

    It begins with a secret number, and each word goes into the one before: nobody can choose ids that have one hash.
    """
    value = np.full(size, native.SEED, np.uint64)
    for i, column in enumerate(columns):
        mixed = ((value ^ column) + np.uint64(i)) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_WORD
        value = np.where(column != 0, mixed ^ (mixed >> np.uint64(29)), value)
    return value ^ (value >> np.uint64(32))


def pair_keys(doc_keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A hash of (query, document) pairs from the document's hash and the query's number."""
    mixed: np.ndarray = (doc_keys ^ (codes.view(np.uint64) + np.uint64(1)) * _MIX) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed
