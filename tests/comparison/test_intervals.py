"""Intervals: against golden values, by hand, and how often they hold the truth."""

import math

import numpy as np
import pytest
from golden_statistics import case
from scipy import stats

from goldrank.comparison import flips, intervals
from goldrank.comparison.intervals import difference_interval, estimate, mean_interval

CLOSE = {"rel": 1e-10, "abs": 1e-12}


@pytest.mark.parametrize("name", ["k9", "k40", "few", "all-zero"])
def test_differences_are_golden(name):
    given, expected = case(f"interval-difference-{name}")
    d = np.array(given["differences"])
    assert difference_interval(d, level=given["level"]) == pytest.approx((expected["low"], expected["high"]), **CLOSE)
    if "hall_low" in expected:
        hall = intervals.hall_interval(d, stats.t.ppf(0.975, len(d) - 1))
        assert hall == pytest.approx((expected["hall_low"], expected["hall_high"]), **CLOSE)
    if "differing" in expected:
        assert intervals.differing(d) == expected["differing"]


@pytest.mark.parametrize("name", ["plus-two", "all-ones"])
def test_means_are_golden(name):
    given, expected = case(f"interval-mean-{name}")
    low, high = given["bounds"]
    found = mean_interval(np.array(given["values"]), level=given["level"], low=low, high=high)
    assert found == pytest.approx((expected["low"], expected["high"]), **CLOSE)


def test_clusters_and_weights_are_golden():
    given, expected = case("clusters-equal")
    found = estimate(np.array(given["differences"]), np.array(given["cluster"]))
    assert found == pytest.approx((expected["mean"], expected["standard_error"] ** 2, expected["freedom"]), **CLOSE)
    interval = found.interval(intervals.t_quantile(0.975, found.freedom))
    assert interval == pytest.approx((expected["low"], expected["high"]), **CLOSE)
    given, expected = case("clusters-weights")
    found = estimate(np.array(given["differences"]), np.array(given["cluster"]), np.array(given["weights"]))
    assert found == pytest.approx((expected["mean"], expected["variance"], expected["freedom"]), **CLOSE)
    interval = found.interval(intervals.t_quantile(0.975, found.freedom))
    assert interval == pytest.approx((expected["low"], expected["high"]), **CLOSE)


def test_replicates_are_golden():
    given, expected = case("replicates")
    found = intervals.replicated(np.array(given["a"]), np.array(given["b"]))
    names = ("mean", "variance", "freedom")
    assert found == pytest.approx(tuple(expected[name] for name in names), **CLOSE)
    assert (found.t, found.p) == pytest.approx((expected["t"], expected["p"]), **CLOSE)


def test_simultaneous_ends_without_pseudo_queries_are_golden():
    given, expected = case("maxT-exact")
    for row, low, high in zip(given["rows"], expected["t_low"], expected["t_high"], strict=True):
        found = estimate(np.array(row)).interval(expected["critical_t"])
        assert found == pytest.approx((low, high), **CLOSE)


def test_equal_weights_and_queries_as_units_change_nothing():
    d = np.random.default_rng(0).normal(0.1, 0.2, 30)
    plain = estimate(d, added=(0.5, -0.5))
    assert estimate(d, np.arange(30), np.full(30, 3.0), added=(0.5, -0.5)) == pytest.approx(plain)


def test_a_pseudo_unit_weighs_the_sum_of_squared_weights():
    # Weights 1/2, 1/4, 1/4: squares sum to 3/8, so two pseudo-units of 3/8 make the whole 7/4.
    found = estimate(np.array([1.0, 0.0, 0.0]), None, np.array([2.0, 1.0, 1.0]), (1.0, -1.0))
    assert found.mean == pytest.approx(0.5 / 1.75)
    shares = np.array([2, 1, 1, 1.5, 1.5]) / 7
    assert found.freedom == pytest.approx(1 / (shares**2).sum() - 1)


def test_unbounded_measures():
    d = np.array([3.0, -1.0, 2.0, 5.0])
    found = difference_interval(d, reach=math.inf)
    expected = stats.t.interval(0.95, 5, *[f(np.append(d, [5, -5])) for f in (np.mean, stats.sem)])
    assert found == pytest.approx(expected)
    assert math.isnan(difference_interval(np.zeros(5), reach=math.inf).low)
    plain = mean_interval(d, low=0.0, high=math.inf)
    assert plain.high == pytest.approx(stats.t.interval(0.95, 3, d.mean(), stats.sem(d))[1])
    assert math.isnan(mean_interval(d[:1], low=0.0, high=math.inf).low)


def test_one_query_and_none():
    assert difference_interval(np.array([0.5])) == (-1.0, 1.0)
    assert math.isnan(difference_interval(np.array([])).low)
    # 0.5, 0 and 1: mean 0.5, standard deviation 0.5; t(0.975, 2) = 4.303 takes it beyond both bounds.
    assert mean_interval(np.array([0.5])) == (0.0, 1.0)


def test_a_family_widens_the_interval_and_too_few_units_leave_all_open():
    d = np.random.default_rng(2).normal(0.05, 0.2, 50)
    plain, wide = difference_interval(d), difference_interval(d, critical=3.0)
    assert wide.low < plain.low < plain.high < wide.high
    assert difference_interval(d, critical=flips.t_of_u(8.0, 50)) == (-1.0, 1.0)


def test_caveats():
    assert intervals.caveats(0, 20) == ("none-differs",)
    assert intervals.caveats(5, 20) == ("too-few-differ",)
    assert intervals.caveats(6, 20) == intervals.caveats(19, 20) == ("few-differ",)
    assert intervals.caveats(20, 20) == ()
    assert intervals.caveats(20, 9, clustered=True) == ("few-clusters",)
    assert intervals.caveats(5, 5, clustered=True) == ("too-few-clusters", "too-few-differ")


def test_bounded_intervals_of_few_values_by_hand():
    # One value 0 and the bound 1: the weight of the bound is uniform, so the 97.5 % point is 0.975.
    found = intervals.bounded_intervals(np.array([[0.0, np.nan]]), np.array([1.0]), np.array([0.05]))
    assert found[0] == pytest.approx((-0.975, 0.975), abs=0.006)
    assert math.isnan(intervals.bounded_intervals(np.zeros((1, 3)), np.array([math.inf]), np.array([0.05]))[0].low)


SHAPES = {
    "normal": (lambda rng, size: rng.normal(0.03, 0.15, size), 0.03),
    "4 % win": (lambda rng, size: np.where(rng.random(size) < 0.04, rng.uniform(0.2, 1.0, size), 0.0), 0.024),
    "many tiny": (
        lambda rng, size: np.where(rng.random(size) < 0.2, 0.01 * rng.exponential(1.0, size), 0.0), 0.002),
    "tied": (lambda rng, size: rng.choice([-1.0, 0.0, 1.0], size, p=[0.04, 0.87, 0.09]), 0.05),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [25, 50])
def test_intervals_hold_the_truth(shape, n):
    draw, truth = SHAPES[shape]
    samples = draw(np.random.default_rng(n), (800, n))
    held = sum(truth in difference_interval(d) for d in samples)
    # At least 93 %, and three standard errors of 800 rounds are 2.7 points.
    assert held / 800 >= 0.93 - 0.027


def test_bounded_intervals_hold_where_nothing_else_does():
    """Small wins, and 1 % of queries lose everything: most samples do not have such a query."""
    rng = np.random.default_rng(1)
    samples = np.where(rng.random((200, 50)) < 0.01, -1.0, rng.uniform(0.0, 0.04, (200, 50)))
    truth = 0.99 * 0.02 - 0.01
    assert sum(truth in difference_interval(d) for d in samples) < 150
    held = 0
    for d in samples:
        held += truth in intervals.bounded_intervals(d[None], np.ones(1), np.array([0.05]), samples=1_000)[0]
    assert held >= 186


@pytest.mark.parametrize("value", [0.5, 0.1 + 0.2, -0.4, 1.0])
@pytest.mark.parametrize("count", [6, 20, 57, 1_000])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_equal_differences_have_an_interval_with_a_width_that_holds_their_mean(value, count, level):
    differences = np.full(count, value)
    clusters = np.arange(count) // 2
    for options in ({}, {"units": clusters}, {"weights": np.arange(1.0, count + 1)}, {"critical": 0.1}):
        low, high = difference_interval(differences, level=level, **options)
        assert high - low > 1e-4
        mean = estimate(differences, options.get("units"), options.get("weights")).mean
        assert low - 1e-12 <= mean <= high + 1e-12


def test_rounding_is_no_spread():
    differences = np.array([0.7 - 0.3, 0.4, 0.5 - 0.1, 0.9 - 0.5] * 10)
    low, high = difference_interval(differences)
    assert high - low > 0.01
    assert low < 0.4 < high


def test_equal_differences_by_hand():
    # 50 of 0.5 with 0.5 and -0.5 beside them: mean 0.5 * 50 / 52, variance 4 * 0.25 / 52, standard error 1 / 52.
    low, high = difference_interval(np.full(50, 0.5))
    middle, half = 25 / 52, stats.t.ppf(0.975, 51) / 52
    assert (low, high) == pytest.approx((middle - half, middle + half), **CLOSE)


def test_equal_values_of_an_unbounded_measure_have_an_interval_with_a_width():
    low, high = mean_interval(np.full(30, 226.0), low=0.0, high=math.inf)
    assert low < 226 < high
    assert math.isnan(mean_interval(np.zeros(30), low=0.0, high=math.inf).low)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_wins_of_nearly_all_units_are_covered(size):
    """Shares of 97 % of 50 units: with intervals of width 0 for samples without a loss, 78 % were covered."""
    rng = np.random.default_rng(5)
    options = {}
    if size > 1:
        options = {"units": np.repeat(np.arange(50), size)}
    covered = 0
    for _ in range(400):
        wins = np.repeat(np.where(rng.random(50) < 0.97, 0.5, -0.5), size)
        covered += 0.47 in difference_interval(wins, **options)
    assert covered >= 0.93 * 400
