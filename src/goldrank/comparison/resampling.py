"""Bootstrap over questions: the same resamples for many rows, so that rows are compared on equal terms."""

from __future__ import annotations

import numpy as np

from goldrank.comparison.intervals import UNKNOWN, Interval

SAMPLES = 1_000
BLOCK = 4_000_000
"""Numbers that are drawn at a time."""


def resampled_means(rows: np.ndarray, samples: int = SAMPLES, seed: int = 0) -> np.ndarray:
    """Means of rows over questions drawn anew: one line per resample, one column per row.

    >>> resampled_means(np.array([[1.0, 1.0], [0.0, 1.0]]), 2, seed=1).shape
    (2, 2)
    """
    rows = np.atleast_2d(np.asarray(rows, np.float64))
    size = rows.shape[1]
    generator = np.random.default_rng(seed)
    means = np.empty((samples, len(rows)))
    step = max(1, BLOCK // max(size, 1))
    for first in range(0, samples, step):
        last = min(first + step, samples)
        drawn = generator.integers(0, size, (last - first, size))
        drawn += np.arange(last - first)[:, None] * size
        times = np.bincount(drawn.ravel(), minlength=(last - first) * size).reshape(last - first, size)
        means[first:last] = times @ rows.T / size
    return means


def percentiles(values: np.ndarray, level: float) -> Interval:
    """The percentile interval of one number's values in resamples; those that are not defined are left out."""
    defined = values[~np.isnan(values)]
    if len(defined):
        return Interval(*np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist())
    return UNKNOWN
