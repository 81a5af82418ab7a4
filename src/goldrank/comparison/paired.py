"""Two systems on the same queries: tests of their differences that need no samples.

Flips of signs, which every comparison is decided by, are in `flips`, and intervals in `intervals`.
"""

from __future__ import annotations

import math

import numpy as np

from goldrank.base.packages import special

TESTS = {
    "randomization": "Fisher's randomisation test: how often a coin per query gives as large a difference",
    "t": "paired t test: the differences are about normal",
    "wilcoxon": "Wilcoxon signed rank test: the ranks of the differences, not their sizes",
    "sign": "sign test: only which system was better on each query",
}

ALL_SIGNS_UP_TO = 13
ALL_SIGNS_UNTIED_UP_TO = 50
"""Up to this number of differences the Wilcoxon test goes through all signs; beyond, it uses the normal curve."""

# Tests. Each takes one difference per query and returns a two-sided p-value.


def t_test(differences: np.ndarray) -> float:
    """The paired t test; NaN for fewer than two queries or differences that are all the same."""
    n = len(differences)
    if n < 2 or is_constant(differences):
        return math.nan
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
    return float(2 * special.stdtr(n - 1, -abs(t)))


def wilcoxon_test(differences: np.ndarray) -> float:
    """The Wilcoxon signed rank test; queries without a difference are left out, and 1 if none has any.

    The p-values are those of SciPy, whose function takes three times as long, and half a second to load.
    """
    changed = differences[differences != 0]
    size = len(changed)
    if not size:
        return 1.0

    _, group_of, counts = np.unique(np.abs(changed), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(counts) - counts + 1)[group_of]  # ranks, those of ties their mean
    above = int(doubled[changed > 0].sum())
    is_untied = len(counts) == size
    most_for_all_signs = ALL_SIGNS_UP_TO
    if is_untied:
        most_for_all_signs = ALL_SIGNS_UNTIED_UP_TO

    if size <= most_for_all_signs:
        ways = np.zeros(int(doubled.sum()) + 1)  # how many of all signs give each sum of doubled ranks
        ways[0] = 1
        for rank in doubled.tolist():
            ways[rank:] += ways[:-rank].copy()
        return float(min(1.0, 2 * min(ways[: above + 1].sum(), ways[above:].sum()) / 2**size))

    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    spread = math.sqrt((size * (size + 1) * (2 * size + 1) - ties / 2) / 24)
    return float(2 * special.ndtr(-abs(above / 2 - size * (size + 1) / 4) / spread))


def sign_test(differences: np.ndarray) -> float:
    """The sign test; queries without a difference are left out, and 1 if none has any."""
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    if not wins + losses:
        return 1.0
    return float(min(1.0, 2 * special.bdtr(min(wins, losses), wins + losses, 0.5)))


def is_constant(differences: np.ndarray) -> bool:
    """Whether all differences are the same, up to the rounding of values between 0 and 1."""
    return float(np.ptp(differences)) <= 1e-12 * max(1.0, float(np.abs(differences).max()))
