"""Arithmetic of intervals, as two arrays of starts and ends."""

from __future__ import annotations

import numpy as np


def merge(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join intervals that overlap or touch; the result is ascending.

    >>> [column.tolist() for column in merge(np.array([5, 0, 3, 9]), np.array([7, 4, 5, 9]))]
    [[0], [7]]
    """
    full = start < end
    order = np.argsort(start[full], kind="stable")
    start = start[full][order]
    end = np.maximum.accumulate(end[full][order])

    begins_new = np.ones(len(start), bool)
    begins_new[1:] = start[1:] > end[:-1]
    is_last = np.concatenate((begins_new[1:], np.ones(min(len(start), 1), bool)))
    return start[begins_new], end[is_last]


def length_within(start: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """For each interval from `low` to `high`, the length of its overlap with merged intervals."""
    before = np.concatenate(([0], np.cumsum(end - start)))

    def up_to(position: np.ndarray) -> np.ndarray:
        if not len(start):
            return np.zeros(len(position), np.int64)
        following = np.searchsorted(start, position, side="right")
        last = following - 1
        in_last = np.minimum(position, end[last]) - start[last]
        return np.where(following > 0, before[last] + in_last, 0)

    overlap: np.ndarray = up_to(high) - up_to(low)
    return overlap


def expand(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All whole numbers from each `first` up to, not including, `last`: the row of each, and the number."""
    size = last - first
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(size) - size - first, size)


def in_tokens(tokens: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of characters as intervals of tokens. A token is inside if any of its characters is."""
    first = np.searchsorted(tokens[:, 1], start, side="right")
    last = np.searchsorted(tokens[:, 0], end, side="left")
    return first, np.where(start < end, np.maximum(first, last), first)
