"""Tests that take systems for independent groups, for comparison with tools that do so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goldrank.packages import stats


def tukey_hsd(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Tukey's honestly significant differences: the p-value of each pair of columns (Tukey 1949).

    It does not know that the values of a row are of the same query: paired tests find more.
    """
    return np.asarray(stats.tukey_hsd(*columns).pvalue)
