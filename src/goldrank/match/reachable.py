"""The most words that pairs of texts can have in common, by hashes: most pairs need not be cut into words.

A word's hash is made of its first eight bytes, and a text has a row of flags, one of which each of its words sets. A
word of a reference whose flag is not set is not in the text; one whose flag is set may be. So a bound is never too low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

BLOCK = 1 << 20
"""Characters, or words of references, that are worked on at once."""
FLAGS_PER_WORD = 8
_EIGHT_BLANKS, _ONES, _HIGHS = (np.uint64(int(byte * 8, 16)) for byte in ("20", "01", "80"))
_ONE, _MIX = np.uint64(1), np.uint64(0x9E3779B97F4A7C15)


class WordBounds(NamedTuple):
    """For each pair: the most words in common, and the words of both texts."""

    common: np.ndarray
    retrieved: np.ndarray
    reference: np.ndarray


class _Words(NamedTuple):
    """The hashes of the words of some texts, one after the other, and how many words each text has."""

    hashes: np.ndarray
    sizes: np.ndarray

    @property
    def first(self) -> np.ndarray:
        """The place of each text's first word."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)


def bounds(
    retrieved: Sequence[str],
    references: Sequence[str],
    left: np.ndarray,
    right: np.ndarray,
    line: Callable[[str], bytes],
) -> WordBounds:
    """The bounds of all pairs. `line` makes the words of a text, in UTF-8, with blanks between them."""
    wanted = _words_of(references, line)
    common, size = np.zeros((2, len(left)), np.int64)
    order = np.argsort(left, kind="stable")
    lengths = np.fromiter((len(text) + 1 for text in retrieved), np.int64, len(retrieved))
    for begin, end in blocks(lengths):
        pairs = order[np.searchsorted(left, begin, sorter=order) : np.searchsorted(left, end, sorter=order)]
        ours = _words_of(retrieved[begin:end], line)
        size[pairs] = ours.sizes[left[pairs] - begin]
        flags = _Flags(ours)
        for first, past in blocks(wanted.sizes[right[pairs]] + 1):
            some = pairs[first:past]
            common[some] = flags.most(left[some] - begin, wanted, right[some])

    return WordBounds(common, size, wanted.sizes[right])


def blocks(sizes: np.ndarray, size: int = BLOCK) -> list[tuple[int, int]]:
    """Stretches of things that are together about as large as a block."""
    return between(np.flatnonzero(np.diff(np.cumsum(sizes) // size)) + 1, len(sizes))


def between(inner: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The stretches that inner borders leave of so many things."""
    return [(begin, end) for begin, end in pairwise([0, *inner.tolist(), count]) if begin < end]


def _words_of(texts: Sequence[str], line: Callable[[str], bytes]) -> _Words:
    parts = list(map(line, texts))
    joined = b" ".join((b"", *parts, b" " * 8))
    inside = np.frombuffer(joined, np.uint8) != 32
    begins = np.flatnonzero(inside[1:] > inside[:-1]) + 1
    eight = np.ndarray((len(joined) - 7,), "<u8", joined, 0, (1,))[begins] ^ _EIGHT_BLANKS
    # A blank is a byte of zeros now. The lowest bit of `blanks` is the highest of the first such byte.
    blanks = (eight - _ONES) & ~eight & _HIGHS
    eight &= (blanks & (~blanks + _ONE)) - _ONE
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)) + 1) + 1
    return _Words(eight * _MIX, np.diff(np.searchsorted(begins, ends), prepend=0))


class _Flags:
    """Which hashes the words of each text have: a row of flags for each, as long as its words demand."""

    def __init__(self, words: _Words) -> None:
        bits = np.ceil(np.log2(FLAGS_PER_WORD * np.maximum(words.sizes, 1))).astype(np.int64)
        self._shift = (64 - bits).astype(np.uint64)
        self._first = np.cumsum(1 << bits) - (1 << bits)
        self._set = np.zeros(int((1 << bits).sum()), bool)
        self._set[self._places(words.hashes, np.arange(len(bits)), words.sizes)] = True

    def _places(self, hashes: np.ndarray, text: np.ndarray, times: np.ndarray) -> np.ndarray:
        shifted = (hashes >> np.repeat(self._shift[text], times)).astype(np.int64)
        return np.asarray(shifted + np.repeat(self._first[text], times))

    def most(self, text: np.ndarray, words: _Words, reference: np.ndarray) -> np.ndarray:
        """How many words of each reference may be in its text."""
        times = words.sizes[reference]
        past = np.cumsum(times)
        at = np.arange(times.sum()) + np.repeat(words.first[reference] - (past - times), times)
        seen = np.concatenate(([0], np.cumsum(self._set[self._places(words.hashes[at], text, times)])))
        return np.asarray(seen[past] - seen[past - times])
