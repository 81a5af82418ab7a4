"""Step-down max-T tests of differences over collections: by queries within them, or by collections.

Both take the rows of all pairs at once and flip them together. A pair that lacks a collection has NaN there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from goldrank.comparison.paired import t_test

EXACT_UP_TO = 13
"""With this number of collections or fewer all flips are looked at."""
FEWEST = 6
"""With fewer collections no flip test can reach 5%: 2 / 2^5 is 0.063."""
SAMPLES = 9_999
BLOCK = 4_000_000
"""The number of signs that are drawn at a time."""
NOTHING = 1e-12


def by_queries(collections: Sequence[np.ndarray], samples: int, seed: int) -> np.ndarray:
    """Corrected p-values of macro differences, with signs flipped for each query within its collection.

    Each collection has a row per pair and a column per query. The statistic is the mean of the collections' means over
    its standard error, sqrt(sum of s_c^2 / n_c) / C: other questions, these collections.
    """
    pairs = len(collections[0])
    generator = np.random.default_rng(seed)
    most = max(1, BLOCK // max(1, sum(part.shape[1] for part in collections)))
    observed = _macro_t([part.mean(axis=1)[None] for part in collections], collections)[0]

    blocks = []
    for first in range(0, samples, most):
        draws = min(most, samples - first)
        means = []
        for part in collections:
            signs = generator.choice(np.array([-1.0, 1.0]), (draws, part.shape[1]))
            means.append(signs @ np.nan_to_num(part).T / part.shape[1])
        blocks.append(np.abs(_macro_t(means, collections)))

    flipped = np.concatenate([np.abs(observed)[None], *blocks])
    if pairs:
        return step_down(np.abs(observed), flipped)
    return np.zeros(0)


def _macro_t(means: Sequence[np.ndarray], collections: Sequence[np.ndarray]) -> np.ndarray:
    """The statistic of each draw (rows) and pair (columns), over the collections that the pair has."""
    total = np.zeros_like(means[0])
    variance = np.zeros_like(means[0])
    for mean, part in zip(means, collections, strict=True):
        n = part.shape[1]
        is_there = ~np.isnan(part).any(axis=1)
        squares = (np.nan_to_num(part) ** 2).sum(axis=1)
        total += np.where(is_there, np.nan_to_num(mean), 0.0)
        if n > 1:
            spread = np.maximum(squares - n * np.nan_to_num(mean) ** 2, 0.0) / (n - 1)
            variance += np.where(is_there, spread / n, 0.0)
    return _ratio(total, np.sqrt(variance))


def by_collections(differences: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Corrected p-values of mean differences, with signs flipped for each collection: other collections like these.

    A row per pair and a column per collection; NaN where a pair lacks one. There are at least `FEWEST` collections.
    """
    size = differences.shape[1]
    if size <= EXACT_UP_TO:
        signs = np.array(list(product((1.0, -1.0), repeat=size)))
    else:
        drawn = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (samples, size))
        signs = np.concatenate([np.ones((1, size)), drawn])

    present = ~np.isnan(differences)
    n = np.maximum(present.sum(axis=1), 1)
    filled = np.nan_to_num(differences)
    means = signs @ filled.T / n
    spread = np.maximum((filled**2).sum(axis=1) - n * means**2, 0.0) / np.maximum(n - 1, 1)
    t = np.abs(_ratio(means, np.sqrt(spread / n)))
    return step_down(t[0], t)


def by_t(differences: np.ndarray) -> np.ndarray:
    """Uncorrected p-values of paired t-tests over collections, which assume that differences are normal."""
    p_values = np.ones(len(differences))
    for i, row in enumerate(differences):
        present = row[~np.isnan(row)]
        if len(present) > 1:
            p_values[i] = t_test(present)
    return p_values


def _ratio(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """value / error; where nothing varies 0 for no difference, else infinite."""
    nothing = error < NOTHING
    alone = np.where(np.abs(value) < NOTHING, 0.0, np.copysign(np.inf, value))
    return np.where(nothing, alone, value / np.where(nothing, 1.0, error))


def step_down(observed: np.ndarray, flipped: np.ndarray) -> np.ndarray:
    """Corrected p-values by the joint maximum, from the largest statistic down; the first row of flips is the data."""
    order = np.argsort(-observed, kind="stable")
    # The largest of each statistic and all smaller ones, in each draw.
    maxima = np.maximum.accumulate(flipped[:, order][:, ::-1], axis=1)[:, ::-1]
    tolerance = 1e-9 * np.maximum(1.0, np.where(np.isinf(observed), 1.0, observed))[order]
    shares = (maxima >= observed[order] - tolerance).mean(axis=0)
    corrected = np.empty(len(observed))
    corrected[order] = np.maximum.accumulate(shares)
    return corrected
