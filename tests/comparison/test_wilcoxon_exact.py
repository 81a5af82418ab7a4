"""The Wilcoxon test with few differences against all signs, one by one."""

from itertools import product

import numpy as np
import pytest
import scipy
from scipy.stats import rankdata, wilcoxon

from goldrank.comparison.paired import wilcoxon_test


@pytest.mark.parametrize("size", [1, 2, 5, 8, 10])
def test_all_signs_with_ties_and_without(size):
    rng = np.random.default_rng(size)
    for values in (rng.normal(0.3, 1, size), rng.choice([-2, -1, 1, 2, 2, 3], size) / 4):
        ranks = rankdata(np.abs(values))
        observed = ranks[values > 0].sum()
        sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=size)])
        expected = min(1.0, 2 * min((sums <= observed).mean(), (sums >= observed).mean()))
        assert wilcoxon_test(values) == pytest.approx(expected, abs=1e-12)
    assert wilcoxon_test(np.arange(1.0, size + 1)) == pytest.approx(wilcoxon(np.arange(1.0, size + 1)).pvalue)


@pytest.mark.skipif(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15), reason="ties were taken for none")
@pytest.mark.parametrize("size", [14, 49, 50, 51, 300])
def test_more_differences_have_scipys_values(size):
    """Exact up to 50 without ties, else the normal curve with the correction for ties."""
    rng = np.random.default_rng(size)
    for values in (rng.normal(0.3, 1, size), rng.choice([-2, -1, 1, 2, 2, 3], size) / 4, np.full(size, 0.1)):
        assert wilcoxon_test(values) == pytest.approx(wilcoxon(values).pvalue, rel=1e-12)
