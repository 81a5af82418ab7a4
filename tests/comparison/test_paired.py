"""Tests, intervals and effect sizes against scipy, full enumeration and simulation."""

import inspect
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from goldrank.comparison import paired


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


@pytest.mark.parametrize("n", range(1, 13))
def test_randomization_equals_full_enumeration(n):
    # Quarters, so that sums are exact and many flips tie with the observed one.
    d = np.random.default_rng(n).integers(-3, 5, n) / 4
    flips = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in itertools.product((1, -1), repeat=n)]
    expected = sum(flip >= abs(d.sum()) for flip in flips) / 2**n
    assert paired.randomization_test(d) == (expected, True)


def test_exact_randomization_equals_scipy():
    d = differences(5, 10)
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert paired.randomization_test(d)[0] == pytest.approx(expected, abs=1e-12)


def test_sampled_randomization_is_near_the_exact_one():
    d = differences(9, 17, 0.05)
    d[d == 0] = 0.01
    exact = paired.exact_randomization(d)
    sampled, is_exact = paired.randomization_test(d, samples=20_000, seed=1)
    assert not is_exact
    # Four standard errors of a share estimated from 20,000 samples.
    assert abs(sampled - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000) + 1 / 20_000


def test_sampled_p_value_is_never_zero():
    assert paired.randomization_test(np.linspace(1, 2, 60), samples=999)[0] == 1 / 1000


@pytest.mark.parametrize(("method", "ours"), [("percentile", "percentile"), ("BCa", "bca")])
def test_bootstrap_intervals_equal_scipy(method, ours):
    d = differences(3, 80)
    named = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"  # before scipy 1.15
    same = {named: np.random.default_rng(42)}
    theirs = stats.bootstrap((d,), np.mean, n_resamples=2_000, method=method, **same)
    resampled = np.sort(paired.bootstrap_means(d[None, :], 2_000, np.random.default_rng(42))[0])
    found = paired.percentile_interval(resampled) if ours == "percentile" else paired.bca_interval(resampled, d)
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)


def test_t_interval_equals_scipy():
    d = differences(4, 30)
    expected = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    found = paired.t_interval(d, 0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_samples_do_not_depend_on_the_chunk(monkeypatch):
    columns = np.random.default_rng(0).random((3, 50))
    whole = paired.bootstrap_means(columns, 100, np.random.default_rng(7))
    monkeypatch.setattr(paired, "CHUNK", 350)
    np.testing.assert_allclose(paired.bootstrap_means(columns, 100, np.random.default_rng(7)), whole, rtol=1e-14)


def test_shared_flips_give_the_differences_of_pairs():
    values = np.random.default_rng(1).random((2, 30))
    both = paired.sign_flips(values, 50, np.random.default_rng(3))
    alone = paired.sign_flips((values[1] - values[0])[None, :], 50, np.random.default_rng(3))
    np.testing.assert_allclose(both[1] - both[0], alone[0], atol=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca", "t"])
def test_intervals_cover_95_percent(method):
    rng = np.random.default_rng(11)
    covered, rounds = 0, 600
    for _ in range(rounds):
        # Skewed as differences of measures are: mostly small, sometimes large.
        d = rng.normal(0.03, 0.05, 60) + rng.choice([0.0, 0.3, -0.2], 60, p=[0.8, 0.1, 0.1])
        resampled = np.sort(paired.bootstrap_means(d[None, :], 800, rng)[0])
        found = {
            "percentile": lambda r, d: paired.percentile_interval(r),
            "bca": paired.bca_interval,
            "t": lambda r, d: paired.t_interval(d),
        }[method](resampled, d)
        covered += 0.04 in found  # 0.03 + 0.3 * 0.1 - 0.2 * 0.1
    assert 0.92 <= covered / rounds <= 0.98


def test_effect_size_by_hand():
    # Differences 1, 2, 3: mean 2, standard deviation 1.
    assert paired.effect_size(np.array([1.0, 2.0, 3.0])) == 2.0
    assert paired.effect_word(0.19) == "tiny"
    assert paired.effect_word(-0.2) == "small"
    assert paired.effect_word(0.79) == "medium"
    assert paired.effect_word(-0.8) == "large"


def test_constant_differences():
    d = np.full(10, 0.1)
    assert math.isnan(paired.t_test(d))
    assert math.isnan(paired.effect_size(d))
    assert paired.randomization_test(d)[0] == 2 / 2**10
    assert paired.sign_test(d) == 2 / 2**10


def test_no_differences():
    d = np.zeros(20)
    assert paired.randomization_test(d) == (1.0, True)
    assert paired.wilcoxon_test(d) == paired.sign_test(d) == 1.0
    assert math.isnan(paired.t_test(d))


def test_one_query():
    d = np.array([0.4])
    assert paired.randomization_test(d) == (1.0, True)  # +0.4 and -0.4 are equally far from 0
    assert math.isnan(paired.t_test(d))
    assert math.isnan(paired.t_interval(d).low)


@pytest.mark.parametrize("n", [2, 50, 200, 201, 202, 1_000, 100_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_t_interval_is_that_of_scipy(n, level):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    expected = stats.t.interval(level, n - 1, values.mean(), stats.sem(values))
    found = paired.t_interval(values, level)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-8)
