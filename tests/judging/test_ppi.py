"""Values corrected by human judgements, held to the reference file, to plain loops, and to simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_judges import CASES

from goldrank.base.errors import InputError
from goldrank.judging import ppi


def arrays(case):
    given = CASES[case]["inputs"]
    return [np.array(given[name]) for name in ("human", "model_on_human", "model_elsewhere")]


def near(value):
    return pytest.approx(value, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("case", ["ppi-goldrank", "ppi-paired"])
def test_reference_values(case):
    y, f, rest = arrays(case)
    expected = CASES[case]["expected"]
    weight = ppi.tuned_weight(y, f, rest)
    assert weight == near(expected["lam"])
    assert math.sqrt(ppi._variance(y, f, rest, weight)) == near(expected["se"])
    found = ppi.corrected_mean(y, f, rest)
    assert found.method == expected["used"]
    assert (found.human, found.human_low, found.human_high) == (
        near(expected["human_estimate"]), near(expected["human_low"]), near(expected["human_high"])
    )  # fmt: skip
    ends = (
        ("estimate", "low", "high")
        if expected["used"] == "corrected"
        else ("human_estimate", "human_low", "human_high")
    )
    assert (found.estimate, found.low, found.high) == tuple(near(expected[name]) for name in ends)


def cluster_means(values, cluster):
    """The units of the reference file: clusters that count alike."""
    return np.array([values[cluster == name].mean() for name in np.unique(cluster)])


def test_clusters():
    given, expected = CASES["ppi-clusters"]["inputs"], CASES["ppi-clusters"]["expected"]
    y, f, rest = arrays("ppi-clusters")
    judged, elsewhere = np.array(given["cluster_of_human"]), np.array(given["cluster_elsewhere"])
    means = [cluster_means(*both) for both in ((y, judged), (f, judged), (rest, elsewhere))]
    found = ppi.corrected_mean(*means)
    assert found.weight == near(expected["lam"])
    assert (found.estimate, found.low, found.high) == tuple(
        near(expected[name]) for name in ("estimate", "low", "high")
    )


@pytest.mark.parametrize("case", ["ppi-constant-model", "ppi-negative"])
def test_a_model_that_tells_nothing_leaves_the_human_values(case):
    expected = CASES[case]["expected"]
    found = ppi.corrected_mean(*arrays(case))
    assert (found.method, found.weight) == ("human", 0.0)
    assert found.estimate == near(expected["estimate"])
    assert found.high - found.estimate == near(expected["se"] * 2.200985160083)  # t of 11 degrees
    assert found.why


def test_effective_units():
    given = CASES["ppi-effective-n"]
    found = [ppi.effective_units(50, 950, rho) for rho in given["inputs"]["rho"]]
    assert found == [near(value) for value in given["expected"]]


def test_wilson():
    given = CASES["injection-odds"]
    found = [ppi.wilson(k, 20) for k in given["inputs"]["k"]]
    assert found == [(near(low), near(high)) for low, high in given["expected"]]


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_leaving_one_out_is_that(n):
    rng = np.random.default_rng(n)
    f, rest = rng.random(n) + 5, rng.random(30) + 5
    y = 0.5 * f + rng.random(n)
    plain = []
    for i in range(n):
        left, model = np.delete(y, i), np.delete(f, i)
        weight = 0.0
        if n > 2:
            weight = np.cov(left, model)[0, 1] / ((1 + (n - 1) / 30) * np.var(np.concatenate((f, rest)), ddof=1))
        plain.append(left.mean() + min(1.0, max(0.0, weight)) * (rest.mean() - model.mean()))
    found = ppi.leave_one_out(y, f, rest)
    assert found - found.mean() == pytest.approx(np.array(plain) - np.mean(plain), abs=1e-10)


def test_two_valued_measures_take_people_alone_below_100():
    rng = np.random.default_rng(1)
    y, f, rest = rng.integers(0, 2, 99) * 1.0, rng.integers(0, 2, 99) * 1.0, rng.integers(0, 2, 500) * 1.0
    found = ppi.corrected_mean(y, f, rest)
    assert found.method == "wilson"
    assert (found.low, found.high) == ppi.wilson(y.sum(), 99)
    y = np.tile([0.0, 1.0], 60)
    same = y.copy()
    same[:4] = 1 - same[:4]
    assert ppi.corrected_mean(y, same, rest).method == "wilson", "fewer than five disagreements"
    same[4] = 1 - same[4]
    assert ppi.corrected_mean(y, same, rest).method == "corrected"


def test_people_judged_all():
    y = np.arange(30) / 30
    found = ppi.corrected_mean(y, y, np.array([]))
    assert (found.method, found.estimate) == ("human", near(y.mean()))


@pytest.mark.parametrize(
    ("y", "f", "rest"),
    [([1], [1], [1]), ([1, 2], [1], [1]), ([1, math.nan], [1, 2], [1]), ([1, 2], [1, 2], [math.inf])],
)
def test_what_cannot_be_corrected(y, f, rest):
    with pytest.raises(InputError):
        ppi.corrected_mean(*map(np.array, (y, f, rest)))


def test_it_does_not_depend_on_order_or_scale():
    y, f, rest = arrays("ppi-goldrank")
    found = ppi.corrected_mean(y, f, rest)
    order = np.random.default_rng(0).permutation(len(y))
    other = ppi.corrected_mean(10 * y[order] + 3, 10 * f[order] + 3, 10 * rest[::-1] + 3)
    assert (other.low, other.high) == (near(10 * found.low + 3), near(10 * found.high + 3))


@pytest.mark.slow
def test_it_covers():
    """1,000 draws of 20 of 200: a model that is lenient by 0.2; the bound is three standard errors under 95 %."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(1_000):
        truth = rng.beta(2, 2, 200)
        model = np.clip(0.6 * truth + 0.3 + rng.normal(0, 0.12, 200), 0, 1)
        found = ppi.corrected_mean(truth[:20], model[:20], model[20:])
        hits += found.low <= 0.5 <= found.high
    assert hits >= 950 - 3 * math.sqrt(1_000 * 0.95 * 0.05)
