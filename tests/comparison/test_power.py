"""Power against statsmodels and simulation; equivalence against statsmodels."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from goldrank.comparison import power


@pytest.mark.parametrize(("effect", "n"), [(0.2, 200), (0.5, 20), (0.05, 900), (1.2, 5), (0.0, 30)])
def test_power_equals_statsmodels(effect, n):
    expected = TTestPower().power(effect, n, 0.05) if effect else 0.05
    assert power.power(effect, n) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("effect", [0.1, 0.2, 0.5, 1.0])
def test_queries_needed_equals_statsmodels(effect):
    expected = TTestPower().solve_power(effect, power=0.8, alpha=0.05)
    assert power.queries_needed(effect) == math.ceil(expected)


def test_queries_needed_of_small_effects():
    # Normal approximation: (1.959964 + 0.841621)^2 / 0.01^2 = 78488.8
    assert power.queries_needed(0.01) == pytest.approx(78_489, abs=2)
    assert power.queries_needed(0.0) is None
    assert power.queries_needed(math.nan) is None
    assert power.queries_needed(1e-9) is None


@pytest.mark.parametrize("n", [2, 5, 50, 400, 5_000])
def test_detectable_effect_has_the_wanted_power(n):
    effect = power.detectable_effect(n)
    assert power.power(effect, n) == pytest.approx(0.8, abs=1e-6)


def test_power_matches_simulation():
    rng = np.random.default_rng(3)
    samples = rng.normal(0.3, 1.0, (4_000, 60))
    found = (stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05).mean()
    # Four standard errors of a share from 4,000 samples: 4 * sqrt(0.62 * 0.38 / 4000) = 0.031
    assert power.power(0.3, 60) == pytest.approx(found, abs=0.031)


def test_smallest_detectable_difference_matches_simulation():
    rng = np.random.default_rng(5)
    base = rng.normal(0, 0.2, 50)
    smallest = power.detectable_difference(base)
    samples = rng.normal(smallest, base.std(ddof=1), (4_000, 50))
    found = (stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.026)


def test_equivalence_equals_statsmodels():
    d = np.random.default_rng(6).normal(0.002, 0.03, 100)
    expected = DescrStatsW(d).ttost_mean(-0.01, 0.01)[0]
    assert power.equivalence_test(d, 0.01) == pytest.approx(expected, rel=1e-9)


def test_equivalence_of_constant_differences():
    assert power.equivalence_test(np.full(5, 0.001), 0.01) == 0.0
    assert power.equivalence_test(np.full(5, 0.1), 0.01) == 1.0
