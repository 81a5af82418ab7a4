"""How many queries does it take? Power, smallest detectable difference, equivalence.

All of it is for the paired t test, which the randomisation test agrees with closely.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from goldrank.comparison.flips import t_of_u
from goldrank.comparison.intervals import Estimate, estimate
from goldrank.packages import special

MOST_QUERIES = 10_000_000
_EXACT_UP_TO = 1_000
"""Up to so many queries the noncentral t distribution is used; beyond, the normal one is the same to 3 digits."""


def power(effect: float, queries: float, alpha: float = 0.05) -> float:
    """The chance that a true effect (Cohen's d of paired differences) is found with so many queries."""
    if queries < 2:
        return math.nan
    away = abs(effect) * math.sqrt(queries)
    if queries <= _EXACT_UP_TO and away < 30:
        limit = float(special.stdtrit(queries - 1, 1 - alpha / 2))
        wrong_side = float(special.nctdtr(queries - 1, away, -limit))  # NaN where it is too small to compute
        return float(1 - special.nctdtr(queries - 1, away, limit)) + (0.0 if math.isnan(wrong_side) else wrong_side)
    limit = float(special.ndtri(1 - alpha / 2))
    return float(special.ndtr(away - limit) + special.ndtr(-away - limit))


def family_alpha(critical: float, queries: float) -> float:
    """The alpha of one test that is as hard to pass as the family's critical value of u (see `flips.max_t`)."""
    t = t_of_u(critical, queries)
    return 0.0 if math.isinf(t) else float(2 * special.stdtr(queries - 1, -t))


def queries_needed(
    effect: float, power_wanted: float = 0.8, alpha: float = 0.05, critical: float | None = None
) -> int | None:
    """The smallest number of queries that finds an effect with the wanted chance.

    `critical` is the family's value of u, which takes alpha's place. None for an effect of 0 or one so small that more
    than ten million queries would be needed.
    """

    def is_enough(queries: int) -> bool:
        level = alpha if critical is None else family_alpha(critical, queries)
        return level > 0 and power(effect, queries, level) >= power_wanted

    if math.isnan(effect) or effect == 0 or not is_enough(MOST_QUERIES):
        return None
    limit = float(special.ndtri(1 - alpha / 2)) if critical is None else critical
    about = (limit + float(special.ndtri(power_wanted))) / abs(effect)
    low = high = max(2, int(about * about))
    while low > 1 and is_enough(low):
        low, high = max(1, low - 4), low
    while high < 2 or not is_enough(high):
        low, high = high, high + 4
    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=is_enough)


@lru_cache(maxsize=1024)
def detectable_effect(queries: float, power_wanted: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest effect (Cohen's d) that so many queries find with the wanted chance."""
    if queries < 2 or alpha <= 0:
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


def equivalence_t(
    differences: np.ndarray,
    margin: float,
    reach: float = 1.0,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """The smaller t of two one-sided tests (TOST) that the mean difference lies within the margin, and its freedom.

    Pseudo-queries as far as the measure (or, if it has no bounds, the largest difference) reaches are always added: a
    handful of queries without any difference do not show that systems are the same.
    """
    most = reach if math.isfinite(reach) else float(np.abs(differences).max(initial=0.0))
    estimated = estimate(differences, units, weights, (most, -most))
    return t_within(estimated, margin), estimated.freedom


def t_within(found: Estimate, margin: float) -> float:
    """By how many standard errors an estimate lies within the margin."""
    nearest = margin - abs(found.mean)
    return nearest / found.error if found.variance > 0 else math.copysign(math.inf, nearest)
