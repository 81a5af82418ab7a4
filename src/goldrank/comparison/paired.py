"""Two systems on the same queries: tests of their differences that need no samples.

Flips of signs, which every comparison is decided by, are in `flips`, and intervals in `intervals`.
"""

from __future__ import annotations

import math

import numpy as np

from goldrank.packages import needed

TESTS = {
    "randomization": "Fisher's randomisation test: how often a coin per query gives as large a difference",
    "t": "paired t test: the differences are about normal",
    "wilcoxon": "Wilcoxon signed rank test: the ranks of the differences, not their sizes",
    "sign": "sign test: only which system was better on each query",
}

ALL_SIGNS_UP_TO = 13
"""With at most so many differences the Wilcoxon test goes through all signs."""

# Tests. Each takes one difference per query and returns a two-sided p-value.


def t_test(differences: np.ndarray) -> float:
    """The paired t test; NaN for fewer than two queries or differences that are all the same."""
    n = len(differences)
    if n < 2 or is_constant(differences):
        return math.nan
    with needed("scipy"):
        from scipy.special import stdtr

    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def wilcoxon_test(differences: np.ndarray) -> float:
    """The Wilcoxon signed rank test; queries without a difference are left out, and 1 if none has any."""
    changed = differences[differences != 0]
    if not len(changed):
        return 1.0
    with needed("scipy"):
        from scipy.stats import rankdata, wilcoxon

    if len(changed) > ALL_SIGNS_UP_TO:
        return float(wilcoxon(changed).pvalue)
    # All signs, ties or not: how many of them give each sum of doubled ranks. With ties SciPy tries them one by one.
    ranks = (2 * rankdata(np.abs(changed))).astype(np.int64)
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1
    for rank in ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    at = int(ranks[changed > 0].sum())
    return float(min(1.0, 2 * min(ways[: at + 1].sum(), ways[at:].sum()) / 2 ** len(ranks)))


def sign_test(differences: np.ndarray) -> float:
    """The sign test; queries without a difference are left out, and 1 if none has any."""
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    if not wins + losses:
        return 1.0
    with needed("scipy"):
        from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(wins, losses), wins + losses, 0.5)))


def is_constant(differences: np.ndarray) -> bool:
    """Whether all differences are the same, up to the rounding of values between 0 and 1."""
    return float(np.ptp(differences)) <= 1e-12 * max(1.0, float(np.abs(differences).max()))


def effect_word(effect: float) -> str:
    """An effect size in a word, by Cohen's usual steps."""
    size = abs(effect)
    return "tiny" if size < 0.2 else "small" if size < 0.5 else "medium" if size < 0.8 else "large"
