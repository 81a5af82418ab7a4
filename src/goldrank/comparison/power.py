"""How many queries does it take? Power, smallest detectable difference, equivalence.

All of it is for the paired t test, which the randomisation test agrees with closely.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from goldrank.comparison.paired import is_constant

MOST_QUERIES = 10_000_000
_EXACT_UP_TO = 1_000
"""Up to so many queries the noncentral t distribution is used; beyond, the normal one is the same to 3 digits."""


def power(effect: float, queries: int, alpha: float = 0.05) -> float:
    """The chance that a true effect (Cohen's d of paired differences) is found with so many queries."""
    if queries < 2:
        return math.nan
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    away = abs(effect) * math.sqrt(queries)
    if queries <= _EXACT_UP_TO and away < 30:
        limit = float(stdtrit(queries - 1, 1 - alpha / 2))
        wrong_side = float(nctdtr(queries - 1, away, -limit))  # NaN where it is too small to compute
        return float(1 - nctdtr(queries - 1, away, limit)) + (0.0 if math.isnan(wrong_side) else wrong_side)
    limit = float(ndtri(1 - alpha / 2))
    return float(ndtr(away - limit) + ndtr(-away - limit))


def queries_needed(effect: float, power_wanted: float = 0.8, alpha: float = 0.05) -> int | None:
    """The smallest number of queries that finds an effect with the wanted chance.

    None for an effect of 0 or one so small that more than ten million queries would be needed.
    """
    if math.isnan(effect) or effect == 0 or power(effect, MOST_QUERIES, alpha) < power_wanted:
        return None
    from scipy.special import ndtri

    about = float(ndtri(1 - alpha / 2) + ndtri(power_wanted)) / abs(effect)
    low = high = max(2, int(about * about))
    while low > 1 and power(effect, low, alpha) >= power_wanted:
        low, high = max(1, low - 4), low
    while high < 2 or power(effect, high, alpha) < power_wanted:
        low, high = high, high + 4
    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=lambda queries: power(effect, queries, alpha) >= power_wanted)


@lru_cache(maxsize=1024)
def detectable_effect(queries: int, power_wanted: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest effect (Cohen's d) that so many queries find with the wanted chance."""
    if queries < 2:
        return math.nan
    low, high = 0.0, 1.0
    while power(high, queries, alpha) < power_wanted:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if power(middle, queries, alpha) < power_wanted:
            low = middle
        else:
            high = middle
    return high


def detectable_difference(differences: np.ndarray, power_wanted: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest mean difference that these queries find with the wanted chance, given how the two vary."""
    n = len(differences)
    if n < 2 or is_constant(differences):
        return math.nan
    return detectable_effect(n, power_wanted, alpha) * float(differences.std(ddof=1))


def equivalence_test(differences: np.ndarray, margin: float) -> float:
    """The p-value of two one-sided t tests (TOST): small if the mean difference is surely within the margin."""
    n = len(differences)
    if n < 2:
        return math.nan
    mean = float(differences.mean())
    if is_constant(differences):
        return 0.0 if abs(mean) < margin else 1.0
    from scipy.special import stdtr

    error = float(differences.std(ddof=1)) / math.sqrt(n)
    return float(max(stdtr(n - 1, -(mean + margin) / error), stdtr(n - 1, (mean - margin) / error)))
