"""Agreement of rankings, by hand and against scipy."""

import math
from fractions import Fraction

import pytest
from raising import raises_code
from scipy import stats

from goldrank import Statistics, compare, rank_agreement
from goldrank.base.errors import MismatchError, OptionError
from goldrank.comparison.agreement import jaccard, kendall_tau, measures_agree, rbo, tau_ap


def test_rbo_by_hand():
    # p = 0.5, overlap by depth of (a b c) and (b a d): 0, 2, 2. RBO_ext = sum (1-p) p^(d-1) X_d/d + X_3/3 p^3
    half = Fraction(1, 2)
    expected = half * (0 + half * Fraction(2, 2) + half**2 * Fraction(2, 3)) + Fraction(2, 3) * half**3
    assert rbo(["a", "b", "c"], ["b", "a", "d"], 0.5) == pytest.approx(float(expected))


def test_rbo_of_uneven_lists_by_hand():
    # Webber's equation 32 for (a) and (a b), s = 1, l = 2, p = 0.5: X_1 = X_2 = 1.
    # (1-p)/p * (1/1 * 0.5 + (1/2 + 1 * (2-1) / (1*2)) * 0.25) + ((1-1)/2 + 1/1) * 0.25 = 0.75 + 0.25
    assert rbo(["a"], ["a", "b"], 0.5) == pytest.approx(1.0)
    # (a) and (b a): X_1 = 0, X_2 = 1. (1/2 * 0.25) + (1 - 0) / 2 * 0.25 = 0.125 + 0.125
    assert rbo(["a"], ["b", "a"], 0.5) == pytest.approx(0.25)


def test_rbo_ends():
    assert rbo(list("abcde"), list("abcde")) == pytest.approx(1.0)
    assert rbo(list("abc"), list("xyz")) == 0.0
    assert rbo([], []) == 1.0
    assert rbo([], ["a"]) == 0.0
    with raises_code(OptionError, "bad-number"):
        rbo(["a"], ["a"], 1.0)


def test_kendall_tau_is_scipys():
    expected = stats.kendalltau([0, 1, 2, 3], [1, 0, 3, 2]).statistic
    assert kendall_tau(list("abcd"), list("badc")) == pytest.approx(expected)
    assert math.isnan(kendall_tau(["a"], ["a"]))


def test_tau_ap_by_hand():
    # Ranked b a c against a b c: at i = 1 (a): b is above it but should not be: 0/1; at i = 2 (c): 2/2.
    # tau_AP = 2 * (0 + 1) / 2 - 1 = 0; the other way round it is the same.
    assert tau_ap(list("bac"), list("abc")) == pytest.approx(0.0)
    # A swap at the end costs less: 1/1 and 1/2 give 2 * 1.5 / 2 - 1 = 0.5
    assert tau_ap(list("acb"), list("abc")) == pytest.approx(0.5)
    assert tau_ap(list("cba"), list("abc")) == -1.0


def test_jaccard_by_hand():
    assert jaccard(list("abc"), list("bcd"), 3) == 2 / 4
    assert jaccard(list("abc"), list("bcd"), 1) == 0.0


def test_agreement_of_runs():
    found = rank_agreement({"q": ["a", "b"], "only": ["x"]}, {"q": ["a", "c"]}, k=2)
    assert found.queries == ("q",)
    assert found.mean["jaccard"] == 1 / 3
    assert math.isnan(found.mean["tau"])
    with raises_code(MismatchError, "no-common-queries"):
        rank_agreement({"q": ["a"]}, {"z": ["a"]})


def test_measures_order_systems_alike(data):
    qrels, runs = data
    result = compare(qrels, runs, ["AP", "nDCG@10", "P@1"], statistics=Statistics(samples=200))
    found = measures_agree(result)
    means = [[result.summaries[m, run].mean for run in result.runs] for m in ("AP", "P@1")]
    assert found["AP", "P@1"] == pytest.approx(stats.kendalltau(*means).statistic)
