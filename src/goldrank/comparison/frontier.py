"""Which settings are worth their cost: those that no other one beats in both, and how sure that is."""

from __future__ import annotations

import numpy as np

FIRM, LIKELY = 0.9, 0.5
"""The support from which on a setting is surely, or likely, on the frontier."""
DECIMALS = 12
"""What differs by less is equal: the last bits of a mean are the rounding of the machine that made it."""


def frontier(cost: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Which points no other one dominates: one that costs no more and gains no less, one of the two strictly.

    >>> frontier(np.array([1, 2, 2, 3]), np.array([0.5, 0.5, 0.7, 0.7])).tolist()
    [True, False, True, False]
    >>> frontier(np.array([1.0, 1.0]), np.array([0.3, 0.1 + 0.2])).tolist()
    [True, True]
    """
    cost, gain = np.round(cost, DECIMALS), np.round(gain, DECIMALS)
    order = np.lexsort((-gain, cost))
    kept = np.zeros(len(cost), bool)
    best = -np.inf
    best_cost = np.nan
    for i in order.tolist():
        # Equal points do not dominate each other.
        if gain[i] > best or (gain[i] == best and cost[i] == best_cost):
            kept[i] = True
            best, best_cost = gain[i], cost[i]
    return kept


def support(costs: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """For each point, in which share of resamples (one per line) it is on the frontier."""
    times = np.zeros(costs.shape[1])
    for cost, gain in zip(costs, gains, strict=True):
        times += frontier(cost, gain)
    return np.asarray(times / max(len(costs), 1))
