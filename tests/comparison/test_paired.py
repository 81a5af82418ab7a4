"""Tests, intervals and effect sizes against scipy, full enumeration and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from goldrank.comparison import paired
from goldrank.comparison.intervals import estimate, t_quantile


def t_interval(values, level=0.95):
    found = estimate(values)
    return found.interval(t_quantile((1 + level) / 2, found.freedom))


def differences(seed: int, n: int, shift: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(shift, 0.1, n)
    values[rng.random(n) < 0.2] = 0
    return values


@pytest.mark.parametrize("n", [3, 12, 40, 200])
def test_p_values_equal_scipy(n):
    d = differences(n, n)
    assert paired.t_test(d) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-12)
    changed = d[d != 0]
    assert paired.wilcoxon_test(d) == pytest.approx(stats.wilcoxon(changed).pvalue, rel=1e-12)
    wins = int((d > 0).sum())
    assert paired.sign_test(d) == pytest.approx(stats.binomtest(wins, len(changed)).pvalue, rel=1e-12)


def test_t_interval_equals_scipy():
    d = differences(4, 30)
    expected = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    found = t_interval(d, 0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_constant_differences():
    d = np.full(10, 0.1)
    assert math.isnan(paired.t_test(d))
    assert paired.sign_test(d) == 2 / 2**10


def test_no_differences():
    d = np.zeros(20)
    assert paired.wilcoxon_test(d) == paired.sign_test(d) == 1.0
    assert math.isnan(paired.t_test(d))


def test_one_query():
    d = np.array([0.4])
    assert math.isnan(paired.t_test(d))
    assert math.isnan(t_interval(d).low)


@pytest.mark.parametrize("n", [2, 50, 200, 201, 202, 1_000, 100_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_t_interval_is_that_of_scipy(n, level):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    expected = stats.t.interval(level, n - 1, values.mean(), stats.sem(values))
    found = t_interval(values, level)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-8)
