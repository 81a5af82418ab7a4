"""Arithmetic of intervals, as two arrays of starts and ends."""

from __future__ import annotations

import numpy as np


def merge(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same positions as intervals that do not overlap or touch, ascending.

    >>> [column.tolist() for column in merge(np.array([5, 0, 3, 9]), np.array([7, 4, 5, 9]))]
    [[0], [7]]
    """
    full = start < end
    order = np.argsort(start[full], kind="stable")
    start, end = start[full][order], np.maximum.accumulate(end[full][order])
    fresh = np.ones(len(start), bool)
    fresh[1:] = start[1:] > end[:-1]
    last = np.concatenate((fresh[1:], np.ones(min(len(start), 1), bool)))
    return start[fresh], end[last]


def length_within(start: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """For each interval from `low` to `high`, how much of it merged intervals hold."""
    before = np.concatenate(([0], np.cumsum(end - start)))

    def up_to(position: np.ndarray) -> np.ndarray:
        at = np.searchsorted(start, position, side="right")
        if len(start):
            into = np.minimum(position, end[at - 1]) - start[at - 1]
        else:
            into = 0
        counted: np.ndarray = np.where(at > 0, before[at - 1] + into, 0)
        return counted

    held: np.ndarray = up_to(high) - up_to(low)
    return held


def expand(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All whole numbers from each `first` up to, not including, `last`: the row of each, and the number."""
    size = last - first
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(size) - size - first, size)


def in_tokens(tokens: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of characters as intervals of tokens. A token of which any character is inside is inside."""
    first = np.searchsorted(tokens[:, 1], start, side="right")
    last = np.searchsorted(tokens[:, 0], end, side="left")
    return first, np.where(start < end, np.maximum(first, last), first)
