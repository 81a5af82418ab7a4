"""Many comparisons at once: p-values corrected for how many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goldrank.base.packages import stats

CORRECTIONS = {
    "max-t": "max-t: the joint maximum over sign flips (Westfall and Young), which knows how alike measures are",
    "holm": "Holm: the chance of even one false finding stays below alpha",
    "bonferroni": "Bonferroni: as Holm, but simpler and stricter",
    "bh": "Benjamini-Hochberg: at most a share alpha of the findings is false",
    "tukey": "randomised Tukey HSD: all pairs of systems at once, permuting systems within each query",
    "none": "no correction",
}

OF_FLIPS = ("max-t", "tukey")
"""Corrections that are made from the data and not from p-values."""


def adjust(p_values: np.ndarray, method: str) -> np.ndarray:
    """Corrected p-values, in the order given; NaN stays NaN and is not counted."""
    if method in OF_FLIPS:
        raise ValueError(f"{method} does not correct p-values")

    p_values = np.asarray(p_values, np.float64)
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: np.count_nonzero(~np.isnan(p_values))]  # NaN is last
    ascending, n = p_values[order], len(order)
    if method == "bonferroni":
        ascending = ascending * n
    elif method == "holm":
        ascending = np.maximum.accumulate(ascending * np.arange(n, 0, -1))
    elif method == "bh":
        ascending = np.minimum.accumulate((ascending * n / np.arange(1, n + 1))[::-1])[::-1]

    corrected[order] = np.minimum(ascending, 1.0)
    return corrected


def randomized_tukey(values: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """P-values of all pairs of systems, corrected for the number of pairs, for one or more measures.

    `values` has measures, systems and queries as its axes. Within each query the systems are permuted, which
    is what the null hypothesis allows; the p-value of a pair is how often the best and the worst permuted
    system are at least as far apart as the pair (Carterette 2012). The observed values count as one sample
    more. Measures share the permutations but nothing else. Returns a symmetric matrix of systems per measure.
    """
    measures, systems, n = values.shape
    sums = values.sum(axis=2)
    distances = np.abs(sums[:, :, None] - sums[:, None, :])

    ranges = np.empty((samples, measures))
    rows = np.ascontiguousarray(values.transpose(2, 1, 0)).reshape(n * systems, measures)
    numbers = np.arange(n * systems).reshape(n, systems)
    for i in range(samples):
        order = rng.permuted(numbers, axis=1).ravel()
        permuted = np.take(rows, order, axis=0).reshape(n, systems * measures).sum(axis=0)
        ranges[i] = np.ptp(permuted.reshape(systems, measures), axis=0)

    p_values = np.empty((measures, systems, systems))
    for m in range(measures):
        tolerance = 1e-11 * float(np.abs(values[m]).sum())
        reached = samples - np.searchsorted(np.sort(ranges[:, m]), distances[m] - tolerance, "left")
        p_values[m] = (reached + 1) / (samples + 1)
        np.fill_diagonal(p_values[m], 1.0)
    return p_values


def tukey_hsd(columns: Sequence[np.ndarray]) -> np.ndarray:
    """The p-value of each pair of systems as if they were independent groups (Tukey 1949), for tools that do so.

    It does not know that values are of the same queries: paired tests find more.
    """
    return np.asarray(stats.tukey_hsd(*columns).pvalue)
