"""Two systems on the same queries: tests of their differences that need no samples.

Flips of signs, which every comparison is decided by, are in `flips`, and intervals in `intervals`.
"""

from __future__ import annotations

import math

import numpy as np

from goldrank.comparison.flips import flip, raw_p
from goldrank.comparison.intervals import Interval, estimate, t_quantile

TESTS = {
    "randomization": "Fisher's randomisation test: how often a coin per query gives as large a difference",
    "t": "paired t test: the differences are about normal",
    "wilcoxon": "Wilcoxon signed rank test: the ranks of the differences, not their sizes",
    "sign": "sign test: only which system was better on each query",
}

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


def loss_tests(differences: np.ndarray, samples: int = 10_000, seed: int = 0) -> np.ndarray:
    """One-sided randomisation tests: how often a coin per query gives as low a sum as observed.

    One row of `differences` per test, the same queries in all of them; a query that a test is not about has 0.
    """
    flipped = flip(differences, samples=samples, seed=seed)
    return np.array([raw_p(flipped, i, "less").value for i in range(len(differences))])


def t_loss_test(differences: np.ndarray) -> float:
    """The one-sided paired t test: small if the mean is surely below 0; NaN where `t_test` is."""
    two_sided = t_test(differences)
    return two_sided / 2 if differences.mean() < 0 else 1 - two_sided / 2


def is_constant(differences: np.ndarray) -> bool:
    """Whether all differences are the same, up to the rounding of values between 0 and 1."""
    return float(np.ptp(differences)) <= 1e-12 * max(1.0, float(np.abs(differences).max()))


def t_interval(values: np.ndarray, level: float = 0.95) -> Interval:
    """Student's interval of a mean; NaN for fewer than two values."""
    found = estimate(values)
    return found.interval(t_quantile((1 + level) / 2, found.freedom))


def effect_word(effect: float) -> str:
    """An effect size in a word, by Cohen's usual steps."""
    size = abs(effect)
    return "tiny" if size < 0.2 else "small" if size < 0.5 else "medium" if size < 0.8 else "large"
