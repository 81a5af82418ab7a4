"""Many comparisons at once: p-values corrected for how many there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CORRECTIONS = {
    "holm": "Holm: the chance of even one false finding stays below alpha",
    "bonferroni": "Bonferroni: as Holm, but simpler and stricter",
    "bh": "Benjamini-Hochberg: at most a share alpha of the findings is false",
    "tukey": "randomised Tukey HSD: all pairs of systems at once, permuting systems within each query",
    "none": "no correction",
}


def adjust(p_values: np.ndarray, method: str) -> np.ndarray:
    """Corrected p-values, in the order given; NaN stays NaN and is not counted."""
    p_values = np.asarray(p_values, np.float64)
    corrected = np.full(len(p_values), np.nan)
    defined = np.flatnonzero(~np.isnan(p_values))
    if len(defined):
        corrected[defined] = _METHODS[method](p_values[defined])
    return corrected


def _bonferroni(p_values: np.ndarray) -> np.ndarray:
    corrected: np.ndarray = np.minimum(p_values * len(p_values), 1.0)
    return corrected


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return _put_back(np.minimum(stepped, 1.0), order)


def _bh(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values, kind="stable")[::-1]
    n = len(p_values)
    stepped = np.minimum.accumulate(p_values[order] * n / np.arange(n, 0, -1))
    return _put_back(np.minimum(stepped, 1.0), order)


def _put_back(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    in_place = np.empty_like(values)
    in_place[order] = values
    return in_place


def _none(p_values: np.ndarray) -> np.ndarray:
    return p_values


_METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "bh": _bh,
    "none": _none,
}


def randomized_tukey(values: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """P-values of all pairs of systems, corrected for there being so many pairs, for one or more measures.

    `values` has measures, systems and queries as its axes. Within each query the systems are permuted, which
    is what the null hypothesis allows; the p-value of a pair is how often the best and the worst permuted
    system are at least as far apart as the pair (Carterette 2012). The observed values count as one sample
    more. Measures share the permutations but nothing else. Returns a symmetric matrix of systems per measure.
    """
    measures, systems, n = values.shape
    sums = values.sum(axis=2)
    apart = np.abs(sums[:, :, None] - sums[:, None, :])
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
        as_large = samples - np.searchsorted(np.sort(ranges[:, m]), apart[m] - tolerance, "left")
        p_values[m] = (as_large + 1) / (samples + 1)
        np.fill_diagonal(p_values[m], 1.0)
    return p_values
