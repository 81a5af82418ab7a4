"""The most words that pairs of texts can have in common, by hashes: most pairs need not be cut into words.

A word's hash is made of its first eight bytes, and a text has a row of flags; each of its words sets one of them. A
word of a reference whose flag is not set is not in the text; a word whose flag is set may be. So a bound is never too
low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

BLOCK = 1 << 20
"""The number of characters, or words of references, that are worked on at once."""
FLAGS_PER_WORD = 8
_EIGHT_BLANKS = np.uint64(0x2020202020202020)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
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
        """The index of each text's first word."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)


def bounds(
    retrieved: Sequence[str],
    references: Sequence[str],
    left: np.ndarray,
    right: np.ndarray,
    line: Callable[[str], bytes],
) -> WordBounds:
    """The bounds of all pairs. `line` makes the words of a text, in UTF-8, with blanks between them."""
    reference_words = _words_of(references, line)
    common, size = np.zeros((2, len(left)), np.int64)
    order = np.argsort(left, kind="stable")
    lengths = np.fromiter((len(text) + 1 for text in retrieved), np.int64, len(retrieved))
    for begin, end in blocks(lengths):
        pairs = order[np.searchsorted(left, begin, sorter=order) : np.searchsorted(left, end, sorter=order)]
        text_words = _words_of(retrieved[begin:end], line)
        size[pairs] = text_words.sizes[left[pairs] - begin]
        flags = _Flags(text_words)
        for first, past in blocks(reference_words.sizes[right[pairs]] + 1):
            block = pairs[first:past]
            common[block] = flags.most(left[block] - begin, reference_words, right[block])

    return WordBounds(common, size, reference_words.sizes[right])


def blocks(sizes: np.ndarray, size: int = BLOCK) -> list[tuple[int, int]]:
    """Ranges of things that are together about as large as a block."""
    return between(np.flatnonzero(np.diff(np.cumsum(sizes) // size)) + 1, len(sizes))


def between(inner: np.ndarray, count: int) -> list[tuple[int, int]]:
    """The ranges between inner borders of a number of things."""
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
    """Which hashes the words of each text have: a row of flags for each text, as long as its number of words needs."""

    def __init__(self, words: _Words) -> None:
        bits = np.ceil(np.log2(FLAGS_PER_WORD * np.maximum(words.sizes, 1))).astype(np.int64)
        self._shift = (64 - bits).astype(np.uint64)
        self._first = np.cumsum(1 << bits) - (1 << bits)
        self._set = np.zeros(int((1 << bits).sum()), bool)
        self._set[self._flag_of(words.hashes, np.arange(len(bits)), words.sizes)] = True

    def _flag_of(self, hashes: np.ndarray, text: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The index of the flag of each hash in the row of its text."""
        shifted = (hashes >> np.repeat(self._shift[text], times)).astype(np.int64)
        return np.asarray(shifted + np.repeat(self._first[text], times))

    def most(self, text: np.ndarray, words: _Words, reference: np.ndarray) -> np.ndarray:
        """How many words of each reference may be in its text."""
        times = words.sizes[reference]
        past = np.cumsum(times)
        word = np.arange(times.sum()) + np.repeat(words.first[reference] - (past - times), times)
        is_set = self._set[self._flag_of(words.hashes[word], text, times)]
        seen = np.concatenate(([0], np.cumsum(is_set)))
        return np.asarray(seen[past] - seen[past - times])
