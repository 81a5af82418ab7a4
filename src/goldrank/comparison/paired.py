"""Two systems on the same queries: tests, intervals and effect sizes of their differences.

Everything here works on differences query by query. The resampling functions take all systems and measures
at once: a bootstrap sample, or a flip of signs, is drawn once and applied to every column, so the differences
of all pairs follow from the columns and cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from goldrank.comparison.intervals import UNKNOWN, Interval, t_quantile

TESTS = {
    "randomization": "Fisher's randomisation test: how often a coin per query gives as large a difference",
    "t": "paired t test: the differences are about normal",
    "wilcoxon": "Wilcoxon signed rank test: the ranks of the differences, not their sizes",
    "sign": "sign test: only which system was better on each query",
}

EXACT_UP_TO = 13
"""With at most so many queries that differ, all 2^n flips of signs are looked at, not a sample of them."""

CHUNK = 4_000_000
"""Numbers drawn at a time, which bounds the memory."""


# Tests. Each takes one difference per query and returns a two-sided p-value.


def t_test(differences: np.ndarray) -> float:
    """The paired t test; NaN for fewer than two queries or differences that are all the same."""
    n = len(differences)
    if n < 2 or is_constant(differences):
        return math.nan
    from scipy.special import stdtr

    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def wilcoxon_test(differences: np.ndarray) -> float:
    """The Wilcoxon signed rank test; queries without a difference are left out, and 1 if none has any."""
    changed = differences[differences != 0]
    if not len(changed):
        return 1.0
    from scipy.stats import wilcoxon

    return float(wilcoxon(changed).pvalue)


def sign_test(differences: np.ndarray) -> float:
    """The sign test; queries without a difference are left out, and 1 if none has any."""
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    if not wins + losses:
        return 1.0
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(wins, losses), wins + losses, 0.5)))


def randomization_test(differences: np.ndarray, samples: int = 10_000, seed: int = 0) -> tuple[float, bool]:
    """Fisher's randomisation test, and whether every flip of signs was looked at.

    A sampled p-value counts the observed difference as one more sample, so it is never 0.
    """
    changed = differences[differences != 0]
    if len(changed) <= EXACT_UP_TO:
        return exact_randomization(changed), True
    sums = sign_flips(differences[None, :], samples, np.random.default_rng(seed))[0]
    return share_as_large(sums, differences.sum(), slack(differences)), False


def exact_randomization(differences: np.ndarray) -> float:
    """The randomisation test by all 2^n flips of signs."""
    return float((np.abs(_all_flips(differences)) >= abs(differences.sum()) - slack(differences)).mean())


def _all_flips(differences: np.ndarray) -> np.ndarray:
    """The sums by all 2^n flips of signs."""
    sums = np.zeros(1)
    for value in differences:
        sums = np.concatenate((sums + value, sums - value))
    return sums


def loss_tests(differences: np.ndarray, samples: int = 10_000, seed: int = 0) -> np.ndarray:
    """One-sided randomisation tests: how often a coin per query gives as low a sum as observed.

    One row of `differences` per test, the same queries in all of them; a query that a test is not about has 0.
    Tests share their samples, and with few queries that differ every flip of signs is looked at.
    """
    p_values = np.ones(len(differences))
    sampled = []
    for i, row in enumerate(differences):
        changed = row[row != 0]
        if len(changed) > EXACT_UP_TO:
            sampled.append(i)
        elif len(changed):
            p_values[i] = (_all_flips(changed) <= changed.sum() + slack(changed)).mean()
    if sampled:
        rows = differences[sampled]
        rows = rows[:, (rows != 0).any(axis=0)]
        flips = sign_flips(rows, samples, np.random.default_rng(seed))
        for i, row, sums in zip(sampled, rows, flips, strict=True):
            p_values[i] = (int((sums <= row.sum() + slack(row)).sum()) + 1) / (samples + 1)
    return p_values


def t_loss_test(differences: np.ndarray) -> float:
    """The one-sided paired t test: small if the mean is surely below 0; NaN where `t_test` is."""
    two_sided = t_test(differences)
    return two_sided / 2 if differences.mean() < 0 else 1 - two_sided / 2


def share_as_large(sums: np.ndarray, observed: float, tolerance: float) -> float:
    """The share of sampled sums at least as far from 0 as the observed one, which is counted itself."""
    return (int((np.abs(sums) >= abs(observed) - tolerance).sum()) + 1) / (len(sums) + 1)


def slack(values: np.ndarray) -> float:
    """How far two sums of these values may differ by rounding alone."""
    return 1e-11 * float(np.abs(values).sum())


def is_constant(differences: np.ndarray) -> bool:
    """Whether all differences are the same, up to the rounding of values between 0 and 1."""
    return float(np.ptp(differences)) <= 1e-12 * max(1.0, float(np.abs(differences).max()))


# Resampling, for all systems and measures at once.


def sign_flips(columns: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Sums of each row of `columns` after flipping the sign of random queries: one column per sample."""

    def signs(size: int, n: int) -> np.ndarray:
        drawn = rng.integers(0, 256, (size, -(-n // 8)), dtype=np.uint8)
        weights = np.unpackbits(drawn, axis=1, count=n).astype(np.float64)
        weights *= 2
        weights -= 1
        return weights

    return _weighted_sums(columns, samples, signs)


def bootstrap_means(columns: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Means of each row of `columns` over queries drawn with replacement: one column per sample."""

    def times_drawn(size: int, n: int) -> np.ndarray:
        drawn = rng.integers(0, n, (size, n))
        drawn += np.arange(size)[:, None] * n
        return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)

    means = _weighted_sums(columns, samples, times_drawn)
    means /= columns.shape[1]
    return means


def _weighted_sums(columns: np.ndarray, samples: int, draw: Callable[[int, int], np.ndarray]) -> np.ndarray:
    """Sums of each row by random weights of queries; `draw` makes the weights of so many samples and queries."""
    n = columns.shape[1]
    matrix = np.ascontiguousarray(columns.T, np.float64)
    sums = np.empty((len(columns), samples))
    at_once = max(1, CHUNK // n)
    for low in range(0, samples, at_once):
        size = min(at_once, samples - low)
        sums[:, low : low + size] = (draw(size, n) @ matrix).T
    return sums


# Intervals.


def percentile_interval(resampled: np.ndarray, level: float = 0.95) -> Interval:
    """The middle part of the bootstrap's values, which must be sorted."""
    return Interval(_quantile(resampled, (1 - level) / 2), _quantile(resampled, (1 + level) / 2))


def bca_interval(resampled: np.ndarray, differences: np.ndarray, level: float = 0.95) -> Interval:
    """The bias-corrected and accelerated bootstrap interval (Efron 1987) of a mean difference.

    `resampled` is sorted. Where the correction is not defined it is NaN.
    """
    from scipy.special import ndtr, ndtri

    observed = differences.mean()
    below, upto = np.searchsorted(resampled, observed, "left"), np.searchsorted(resampled, observed, "right")
    share = (below + upto) / (2 * len(resampled))
    away = differences - observed
    spread = float((away**2).sum())
    if not 0 < share < 1 or spread <= 0:
        return UNKNOWN
    bias = float(ndtri(share))
    acceleration = float((away**3).sum()) / (6 * spread**1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + float(ndtri(tail))
        ends.append(_quantile(resampled, float(ndtr(bias + z / (1 - acceleration * z)))))
    return Interval(*ends)


def t_interval(values: np.ndarray, level: float = 0.95) -> Interval:
    """Student's interval of a mean."""
    n = len(values)
    if n < 2:
        return UNKNOWN
    half = t_quantile((1 + level) / 2, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    mean = float(values.mean())
    return Interval(mean - half, mean + half)


def _quantile(ascending: np.ndarray, share: float) -> float:
    """The value below which a share of the sorted values lies, interpolated as numpy does."""
    at = share * (len(ascending) - 1)
    low = int(at)
    high = min(low + 1, len(ascending) - 1)
    return float(ascending[low] + (ascending[high] - ascending[low]) * (at - low))


# How large is it?


def effect_size(differences: np.ndarray) -> float:
    """Cohen's d of paired differences: their mean in units of their standard deviation; NaN if that is 0."""
    if len(differences) < 2 or is_constant(differences):
        return math.nan
    return float(differences.mean() / differences.std(ddof=1))


def effect_word(effect: float) -> str:
    """An effect size in a word, by Cohen's usual steps."""
    size = abs(effect)
    return "tiny" if size < 0.2 else "small" if size < 0.5 else "medium" if size < 0.8 else "large"
