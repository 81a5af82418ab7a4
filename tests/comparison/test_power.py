"""Power against statsmodels and simulation; equivalence against statsmodels."""

import math

import numpy as np
import pytest
from golden_statistics import case
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from goldrank.comparison import power
from goldrank.comparison.flips import u_of_t
from goldrank.comparison.intervals import Estimate, estimate


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
    smallest = power.detectable_effect(50) * base.std(ddof=1)
    samples = rng.normal(smallest, base.std(ddof=1), (4_000, 50))
    found = (stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.026)


def p_of_equivalence(differences, margin, reach=1.0):
    t, freedom = power.equivalence_t(differences, margin, reach)
    return stats.t.sf(t, freedom)


def test_equivalence_equals_statsmodels():
    """Two queries as large as the largest difference are added; those of the golden file are of size 1."""
    d = np.random.default_rng(6).normal(0.002, 0.03, 100)
    largest = np.abs(d).max()
    expected = DescrStatsW(np.append(d, [largest, -largest])).ttost_mean(-0.01, 0.01)[0]
    assert p_of_equivalence(d, 0.01) == pytest.approx(expected, rel=1e-9)
    given, golden = case("equivalence")
    estimated = estimate(np.array(given["differences"]), added=(1.0, -1.0))
    found = stats.t.sf(power.t_within(estimated, given["margin"]), estimated.freedom)
    assert found == pytest.approx(golden["p_equivalent"], rel=1e-10)


def test_small_differences_show_equivalence():
    """Margin 0.02, deviation 0.05, 50 queries: shown in most cases, on the margin in one of 20."""
    rng = np.random.default_rng(8)
    shares = []
    for truth in (0.0, 0.02):
        rows = rng.normal(truth, 0.05, (1_000, 50))
        shares.append(np.mean([p_of_equivalence(row, 0.02) <= 0.05 for row in rows]))
    assert shares[0] > 0.6  # 0 where the two queries were at the ends of the scale
    assert shares[1] <= stats.binom.ppf(0.9999, 1_000, 0.05) / 1_000


def test_equivalence_without_bounds_adds_the_largest_difference():
    d = np.array([0.5, -2.0, 1.0])
    expected = DescrStatsW(np.append(d, [2.0, -2.0])).ttost_mean(-3, 3)[0]
    assert p_of_equivalence(d, 3.0, math.inf) == pytest.approx(expected, rel=1e-9)


def test_five_queries_without_a_difference_do_not_show_equivalence():
    # Five zeros, 1 and -1: standard deviation sqrt(1/3), so the margin is 0.01 / 0.218 errors away.
    assert p_of_equivalence(np.zeros(5), 0.01) == pytest.approx(stats.t.sf(0.01 / math.sqrt(1 / 21), 6))


def test_probability_of_a_mean_above_0():
    """Student's t by hand, with and without the prior: 0.03^2 / (0.03^2 + 0.03^2) is a half."""
    found = Estimate(0.03, 0.03**2, 49.0)
    assert power.probability_above_0(found) == pytest.approx(stats.t.cdf(1 / math.sqrt(2), 49))
    assert power.probability_above_0(found, math.inf) == pytest.approx(stats.t.cdf(1, 49))
    assert power.probability_above_0(Estimate(0.1, 0.0, 9.0)) == 1.0
    assert math.isnan(power.probability_above_0(Estimate(0.1, math.nan, 0.0)))


def test_power_of_a_family_is_golden():
    given, expected = case("power-family")
    alpha = 2 * stats.t.sf(given["critical_t"], given["queries"] - 1)
    assert alpha == pytest.approx(expected["alpha_equivalent"], rel=1e-10)
    # The same from u: t_of_u is inverted by u_of_t.
    assert power.family_alpha(u_of_t(given["critical_t"], 50), 50) == pytest.approx(alpha, rel=1e-10)
    assert power.power(given["effect"], 50, alpha) == pytest.approx(expected["power"], rel=1e-6)
    assert power.detectable_effect(50, given["wanted"], alpha) == pytest.approx(expected["detectable_effect"], rel=1e-6)
    needed = power.queries_needed(given["effect_for_needed"], given["wanted"], critical=given["critical_u"])
    assert needed == expected["queries_needed"]
