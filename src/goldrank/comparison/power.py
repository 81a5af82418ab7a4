"""How many queries does it take? Power, smallest detectable difference, equivalence.

All of it is for the paired t test, which the randomisation test agrees with closely.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from goldrank.base.packages import special
from goldrank.comparison.flips import t_of_u, without_rounding
from goldrank.comparison.intervals import Estimate, estimate

MOST_QUERIES = 10_000_000
_PARTS = 64
"""How many equally likely deviations represent all that a pilot leaves open."""
_EXACT_UP_TO = 1_000
"""Up to this number of queries the noncentral t distribution is used; beyond, the normal one agrees to 3 digits."""


def power(effect: float, queries: float, alpha: float = 0.05, freedom: float = math.inf) -> float:
    """The chance that a true effect (Cohen's d of paired differences) is found with this number of queries.

    `freedom` is the freedom of the deviation which the effect is in: a pilot knows it roughly, and the chance is then
    the mean over what it may be in truth (assurance). Infinite if it is known.
    """
    if queries < 2:
        return math.nan
    away = abs(effect) * math.sqrt(queries) / true_deviations(freedom)
    limit = float(special.stdtrit(queries - 1, 1 - alpha / 2))
    normal = float(special.ndtri(1 - alpha / 2))
    chances = special.ndtr(away - normal) + special.ndtr(-away - normal)
    exact = away < 30
    if queries <= _EXACT_UP_TO and exact.any():
        wrong_side = np.nan_to_num(special.nctdtr(queries - 1, away[exact], -limit))  # NaN where it is too small
        chances[exact] = 1 - special.nctdtr(queries - 1, away[exact], limit) + wrong_side
    return float(chances.mean())


def freedom_of_deviation(values: np.ndarray) -> float:
    """How well the deviation of values is known, in degrees of freedom: n - 1 if they are normal, less with long tails.

    The variance of a sample varies by 2 / (n - 1) + kurtosis / n of its square. Where few queries differ, a pilot knows
    little of how much they differ.
    """
    n = len(values)
    if n < 4:
        return max(1.0, n - 1.0)
    deviations = values - values.mean()
    second = float((deviations**2).mean())
    excess = 0.0
    if second > 0:
        sample_excess = float((deviations**4).mean()) / second**2 - 3
        excess = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * sample_excess + 6)
    return max(1.0, 2 / (2 / (n - 1) + max(0.0, excess) / n))


@lru_cache(maxsize=64)
def true_deviations(freedom: float) -> np.ndarray:
    """What a deviation of 1 with these degrees of freedom may be in truth: numbers that are equally likely.

    The variance times freedom over the true one follows chi-square's distribution.
    """
    if math.isinf(freedom):
        return np.ones(1)
    middles = (np.arange(_PARTS) + 0.5) / _PARTS
    deviations = np.sqrt(freedom / special.chdtri(freedom, middles))
    deviations.flags.writeable = False
    return np.asarray(deviations)


def family_alpha(critical: float, queries: float) -> float:
    """The alpha of one test that is as hard to pass as the family's critical value of u (see `flips.max_t`)."""
    t = t_of_u(critical, queries)
    if math.isinf(t):
        return 0.0
    return float(2 * special.stdtr(queries - 1, -t))


def queries_needed(
    effect: float,
    power_wanted: float = 0.8,
    alpha: float = 0.05,
    critical: float | None = None,
    freedom: float = math.inf,
) -> int | None:
    """The smallest number of queries that finds an effect with the chance `power_wanted`.

    `critical` is the family's value of u, which replaces alpha; `freedom` is the freedom of the effect's deviation.
    None for an effect of 0 or one so small that more than ten million queries would be needed.
    """

    def is_enough(queries: int) -> bool:
        level = alpha
        if critical is not None:
            level = family_alpha(critical, queries)
        return level > 0 and power(effect, queries, level, freedom) >= power_wanted

    if math.isnan(effect) or effect == 0 or not is_enough(MOST_QUERIES):
        return None

    limit = critical
    if limit is None:
        limit = float(special.ndtri(1 - alpha / 2))
    rough_root = (limit + float(special.ndtri(power_wanted))) / abs(effect)
    low = high = max(2, int(rough_root * rough_root))
    step = 4
    while low > 1 and is_enough(low):
        low, high, step = max(1, low - step), low, 2 * step

    step = 4
    while high < 2 or not is_enough(high):
        low, high, step = high, high + step, 2 * step

    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=is_enough)


@lru_cache(maxsize=1024)
def detectable_effect(
    queries: float, power_wanted: float = 0.8, alpha: float = 0.05, freedom: float = math.inf
) -> float:
    """The smallest effect (Cohen's d) that is found with the chance `power_wanted`; `freedom` as for `power`."""
    if queries < 2 or alpha <= 0:
        return math.nan

    low, high = 0.0, 1.0
    while power(high, queries, alpha, freedom) < power_wanted:
        low, high = high, high * 2

    for _ in range(60):
        middle = (low + high) / 2
        if power(middle, queries, alpha, freedom) < power_wanted:
            low = middle
        else:
            high = middle

    return high


PRIOR = 0.03
"""The deviation of differences that are expected before any data, as a share of the measure's range."""


def probability_above_0(estimated: Estimate, reach: float = 1.0) -> float:
    """The probability that a mean is above 0: Student's, with a weak prior that large differences are rare.

    `reach` is the measure's range; without bounds nothing is expected beforehand. NaN if the variance is not known.
    """
    if math.isnan(estimated.variance):
        return math.nan
    if not estimated.variance > 0:
        return 0.5 + 0.5 * float(np.sign(estimated.mean))
    shrunk = 1.0
    if math.isfinite(reach):
        expected = (PRIOR * reach) ** 2
        shrunk = expected / (expected + estimated.variance)
    return float(special.stdtr(estimated.freedom, estimated.t * math.sqrt(shrunk)))


def added_size(differences: np.ndarray, reach: float) -> float:
    """The size of two pseudo-queries: the largest difference that there is.

    Where no query differs, what other queries would lose is not known: it is the width of the measure's scale then.
    """
    largest = float(np.abs(without_rounding(differences)).max(initial=0.0))
    if largest > 0 or not math.isfinite(reach):
        return largest
    return reach


def equivalence_t(
    differences: np.ndarray,
    margin: float,
    reach: float = 1.0,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """The smaller t of two one-sided tests (TOST) that the mean difference lies within the margin, and its freedom.

    Two pseudo-queries are always added, as large as the largest difference: a handful of queries with few differences
    do not show that systems are the same.
    """
    size = added_size(differences, reach)
    estimated = estimate(differences, units, weights, (size, -size))
    return t_within(estimated, margin), estimated.freedom


def t_within(estimated: Estimate, margin: float) -> float:
    """By how many standard errors an estimate lies within the margin."""
    nearest = margin - abs(estimated.mean)
    if estimated.variance > 0:
        return nearest / estimated.error
    return math.copysign(math.inf, nearest)
