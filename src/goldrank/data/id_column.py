"""Many ids as ranges of bytes: a column of a file, without a Python object for each id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from goldrank.core import core
from goldrank.core.hashing import pair_keys, words_of

PAD = 32
"""Zero bytes after the data, so that words may be read past its end."""
MANY = 1_000_000
"""Ids that are copied at a time."""
SORTED_AS_WORDS = 64
"""The most bytes of an id for sorting ids as words."""


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
        if not isinstance(texts, list):
            texts = list(texts)
        return cls.packed(b"".join(texts), np.fromiter(map(len, texts), np.int64, len(texts)))

    @classmethod
    def packed(cls, raw: bytes | np.ndarray, lengths: np.ndarray) -> IdColumn:
        """A column of ids that follow each other without a gap."""
        bounds = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        return cls(padded(raw), bounds[:-1], bounds[1:])

    @classmethod
    def joined(cls, columns: Sequence[IdColumn]) -> IdColumn:
        """Several columns as one."""
        if len(columns) == 1:
            return columns[0]
        return cls._joined(columns)

    @classmethod
    def _joined(cls, columns: Sequence[IdColumn]) -> IdColumn:
        bounds = np.zeros(1 + sum(map(len, columns)), np.int64)
        lengths = [bounds[:0], *(column.end - column.start for column in columns)]
        np.cumsum(np.concatenate(lengths), out=bounds[1:])

        data = np.empty(int(bounds[-1]) + PAD, np.uint8)
        offset = 0
        for column in columns:
            offset += column._write(data, offset)
        data[offset:] = 0
        return cls(data, bounds[:-1], bounds[1:])

    def _write(self, out: np.ndarray, offset: int) -> int:
        """Copy the bytes of all ids into an array, one after the other; return their number."""
        if self._is_packed:
            if len(self):
                raw = self.data[self.start[0] : self.end[-1]]
            else:
                raw = self.data[:0]
            out[offset : offset + len(raw)] = raw
            return len(raw)

        size = int((self.end - self.start).sum())
        core.pack(self.data, self.start, self.end, out[offset : offset + size])
        return size

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: int) -> bytes:
        return self.data[self.start[index] : self.end[index]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.to_list())

    def take(self, rows: np.ndarray) -> IdColumn:
        """Some of the ids."""
        return IdColumn(self.data, self.start[rows], self.end[rows])

    def part(self, low: int, high: int) -> IdColumn:
        """The ids from index `low` up to `high`."""
        return IdColumn(self.data, self.start[low:high], self.end[low:high])

    def to_list(self) -> list[bytes]:
        """The ids as objects."""
        raw = self.data.data
        return [raw[a:b].tobytes() for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def texts(self) -> tuple[str, ...]:
        """The ids as text."""
        return tuple(core.texts(self.data, self.start, self.end))

    def joined_bytes(self) -> bytes:
        """The bytes of all ids, one after the other."""
        if self._is_packed:
            if len(self):
                return self.data[self.start[0] : self.end[-1]].tobytes()
            return b""
        return self.copy().data[:-PAD].tobytes()

    @property
    def _is_packed(self) -> bool:
        return bool((self.start[1:] == self.end[:-1]).all())

    @property
    def is_compact(self) -> bool:
        """Whether `data` holds these ids and nothing else."""
        return self._is_packed and int((self.end - self.start).sum()) + PAD == len(self.data)

    def copy(self) -> IdColumn:
        """A column of these ids whose `data` has only their bytes."""
        return IdColumn._joined([self])

    def gathered(self, rows: np.ndarray) -> IdColumn:
        """Some of the ids in a column that has only their bytes; copied part by part, which needs little memory."""
        bounds = np.zeros(len(rows) + 1, np.int64)
        np.cumsum((self.end - self.start)[rows], out=bounds[1:])
        data = np.zeros(int(bounds[-1]) + PAD, np.uint8)
        for first in range(0, len(rows), MANY):
            self.take(rows[first : first + MANY])._write(data, int(bounds[first]))
        return IdColumn(data, bounds[:-1], bounds[1:])

    def order(self) -> np.ndarray:
        """The indices of the ids in byte order; equal ids keep their order."""
        length = self.end - self.start
        if int(length.max(initial=0)) > SORTED_AS_WORDS:
            texts = self.to_list()
            return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)

        words = words_of(self.data, self.start, self.end)
        return np.lexsort((length, *(word.byteswap() for word in reversed(words))))

    def hashes(self) -> np.ndarray:
        """A 64-bit hash of each id, equal for equal ids."""
        hashes = np.empty(len(self), np.uint64)
        core.hashes(self.data, self.start, self.end, hashes)
        return hashes

    def same(self, other: IdColumn) -> np.ndarray:
        """For each id, whether it equals the id of the same index in another column."""
        same = np.empty(len(self), bool)
        core.same(self.data, self.start, self.end, other.data, other.start, other.end, same)
        return same

    def ascend(self) -> bool:
        """Whether each id is above the previous id, by its bytes."""
        return core.ascend(self.data, self.start, self.end)

    def integers(self) -> tuple[np.ndarray, np.ndarray]:
        """The ids as whole numbers of up to eight digits, and the indices of all other ids."""
        numbers = np.empty(len(self), np.int64)
        other = np.empty(len(self), np.int64)
        count = core.integers(self.data, self.start, self.end, numbers, other)
        return numbers, other[:count].copy()

    def changes(self) -> np.ndarray:
        """The indices of ids that differ from the previous id; the first index is always among them."""
        differs = np.ones(len(self), bool)
        if len(self):
            differs[1:] = ~self.part(1, len(self)).same(self.part(0, len(self) - 1))
        return np.flatnonzero(differs)

    def numbered(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each id, by first occurrence of distinct ids, and the indices of these occurrences."""
        code = np.empty(len(self), np.int64)
        first = np.empty(len(self), np.int64)
        slots = np.empty(_slots(len(self)), np.uint64)
        count = core.number(self.data, self.start, self.end, slots, code, first)
        if count is not None:
            return code, first[:count].copy()

        known: dict[bytes, int] = {}
        code = np.fromiter((known.setdefault(text, len(known)) for text in self), np.int64, len(self))
        if not len(code):
            return code, first
        highest = np.maximum.accumulate(code)
        return code, np.concatenate(([0], np.flatnonzero(np.diff(highest)) + 1))

    def find(self, other: IdColumn) -> np.ndarray:
        """The index of each id of `other` in this column of distinct ids; -1 where it is not there."""
        if self._table is not None:
            indices = np.empty(len(other), np.int64)
            if core.find(other.data, other.start, other.end, self.data, self.start, self.end, self._table, indices):
                return indices

        index_of = self._index_by_id.get
        return np.fromiter((index_of(text, -1) for text in other), np.int64, len(other))

    def forget(self) -> None:
        """Free the tables of `find`, which makes them again if needed."""
        for name in ("_index_by_id", "_table"):
            vars(self).pop(name, None)

    @cached_property
    def _index_by_id(self) -> dict[bytes, int]:
        return {text: index for index, text in enumerate(self)}

    @cached_property
    def _table(self) -> np.ndarray | None:
        """The slots in which the core finds ids; None where the core cannot make them."""
        slots = np.empty(_slots(len(self)), np.uint64)
        unused = np.empty(len(self), np.int64)
        count = core.number(self.data, self.start, self.end, slots, unused, np.empty(len(self), np.int64))
        if count is None:
            return None
        return slots


def repeated_pairs(codes: np.ndarray, keys: np.ndarray, docs: IdsOf) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs of a row and the next row with an equal query and document; None where two hashes collide.

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
    """The number of slots of a hash table for `count` ids: a power of two, at most three quarters full."""
    return 1 << (count + count // 3 + 1).bit_length()
