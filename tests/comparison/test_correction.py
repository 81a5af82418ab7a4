"""Corrections against statsmodels; randomised Tukey HSD against enumeration and on null data."""

import itertools

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from goldrank.comparison import correction
from goldrank.comparison.flips import enumerated_p


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_corrections_equal_statsmodels(ours, theirs, n):
    p = np.random.default_rng(n).random(n) ** 3
    p[: n // 3] = p[0]
    np.testing.assert_allclose(correction.adjust(p, ours), multipletests(p, method=theirs)[1], rtol=1e-12)


def test_undefined_p_values_are_not_counted():
    # Two tests count: Bonferroni doubles.
    assert correction.adjust(np.array([0.01, np.nan, 0.2]), "bonferroni").tolist()[::2] == [0.02, 0.4]
    assert np.isnan(correction.adjust(np.array([0.01, np.nan, 0.2]), "holm")[1])


def test_tukey_is_near_full_enumeration():
    values = np.random.default_rng(2).random((3, 5)) + np.array([[0.0], [0.1], [0.5]])
    columns = values.T
    ranges = []
    for orders in itertools.product(list(itertools.permutations(range(3))), repeat=5):
        sums = sum(column[list(order)] for column, order in zip(columns, orders, strict=True))
        ranges.append(sums.max() - sums.min())
    ranges = np.array(ranges)
    sums = values.sum(axis=1)
    found = correction.randomized_tukey(values[None], 4_000, np.random.default_rng(0))[0]
    for i, j in itertools.combinations(range(3), 2):
        expected = (ranges >= abs(sums[i] - sums[j]) - 1e-9).mean()
        # Four standard errors of a share from 4,000 samples is at most 0.032.
        assert found[i, j] == found[j, i] == pytest.approx(expected, abs=0.033)


def test_tukey_of_two_systems_is_the_randomization_test():
    values = np.random.default_rng(4).random((2, 10))
    exact = enumerated_p(values[1] - values[0])
    found = correction.randomized_tukey(values[None], 8_000, np.random.default_rng(0))[0, 0, 1]
    assert found == pytest.approx(exact, abs=0.023)


@pytest.mark.slow
def test_tukey_keeps_its_error_rate_on_null_data():
    rng = np.random.default_rng(12)
    false, rounds = 0, 200
    for _ in range(rounds):
        difficulty = rng.random(30)
        values = np.clip(difficulty + rng.normal(0, 0.2, (5, 30)), 0, 1)
        p = correction.randomized_tukey(values[None], 199, rng)[0]
        false += p.min() <= 0.05
    # 200 rounds at 5 %: expected 10, and more than 20 happens by chance once in a thousand.
    assert 2 <= false <= 20
