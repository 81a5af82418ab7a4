"""The hash of ids, and of pairs of query and document, for both makes of the core and their callers."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

EIGHT = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], np.uint64)
"""Masks that keep the first n bytes of a word."""
SEED = int.from_bytes(os.urandom(8), "little")
"""The start of hashes, different in each process, so that ids with equal hashes cannot be chosen. No value and no order
of results depends on it."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_WORD = np.uint64(0xD6E8FEB86659FD93)


def words_of(data: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    """Ids as words of eight bytes, with zeros after the end of each id: equal ids have equal words."""
    length = end - start
    longest = int(length.max(initial=0))

    words = []
    for offset in range(0, longest, 8):
        inside = np.clip(length - offset, 0, 8)
        begin = np.minimum(start + offset, len(data) - 8)
        words.append(_words_at(data, begin) & EIGHT[inside])
    return words


def _words_at(data: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Eight bytes from each position, the first byte lowest."""
    unaligned = np.ndarray((len(data) - 7,), "<u8", buffer=data, strides=(1,))
    words: np.ndarray = unaligned[begin]
    return words


def hashed(words: Sequence[np.ndarray], size: int) -> np.ndarray:
    """A 64-bit hash of ids as words; words of zeros change nothing.

    It begins with a secret number, into which the words are mixed one after the other.
    """
    value = np.full(size, SEED, np.uint64)
    for i, word in enumerate(words):
        mixed = ((value ^ word) + np.uint64(i)) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_WORD
        value = np.where(word != 0, mixed ^ (mixed >> np.uint64(29)), value)
    return value ^ (value >> np.uint64(32))


def pair_keys(doc_keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A hash of (query, document) pairs from the document's hash and the query's number."""
    mixed: np.ndarray = (doc_keys ^ (codes.view(np.uint64) + np.uint64(1)) * _MIX) * _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed
