"""How often the gate is wrong, by simulation, against rates that are stated elsewhere.

Stated: if nothing but chance is at work, the probability that any tested drop of a gate fails is at most alpha = 5%,
over all rules and slices together; a real loss is found as often as the power of a one-sided paired t test says,
which is computed here by statsmodels. Simulations have fixed seeds, and bounds that a right gate misses once in 10,000.
"""

import made_up
import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.power import TTestPower

from goldrank import Rules, Scores, evaluate, gate
from goldrank.comparison.settings import Statistics
from goldrank.data.scores import Column, Remarks

RARE = 1e-4


def scores(columns, run):
    queries = tuple(f"q{i:04d}" for i in range(len(next(iter(columns.values())))))
    made = {name: Column(name, values, float(values.mean()), "mean") for name, values in columns.items()}
    return Scores(run, queries, made, Remarks({"retrieved": 1}))


def failures(rules, pairs, **more):
    """How many of the pairs (before, after) the gate fails."""
    return sum(bool(gate(scores(b, "after"), rules, scores(a, "before"), **more).failed) for a, b in pairs)


def swapped(times, seed):
    """Pairs that differ by chance alone: for each query a coin says which of two real systems is before and after."""
    qrels, runs = made_up.make_runs(60, systems=("a", "b"))
    found = [evaluate(qrels, runs[name], ["nDCG@10", "AP", "P@5"]) for name in ("a", "b")]
    rng = np.random.default_rng(seed)
    for _ in range(times):
        coin = rng.random(60) < 0.5
        yield tuple(
            {m: np.where(coin == side, found[0].columns[m].values, found[1].columns[m].values)
             for m in found[0].measures}
            for side in (True, False)
        )  # fmt: skip


@pytest.mark.slow
def test_family_of_nine_fails_no_more_often_than_stated():
    """Three measures, each on all queries and on two slices, and no tolerance at all."""
    measures = ("nDCG@10", "AP", "P@5")
    rules = [f"{m}{where}: -0" for m in measures for where in ("", " [kind]")]
    kinds = {f"q{i:04d}": {"kind": "ab"[i % 2]} for i in range(60)}
    times = 300
    corrected = Rules(rules, statistics=Statistics(samples=1_000))
    count = failures(corrected, swapped(times, 1), queries=kinds)
    assert count <= binom.ppf(1 - RARE, times, 0.05)
    # Without the correction the same pairs fail too often: the bound above is one that can be missed.
    loose = Rules(rules, statistics=Statistics(samples=1_000, correction="none"))
    assert failures(loose, swapped(times, 1), queries=kinds) > binom.ppf(1 - RARE, times, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomization", "t"])
def test_single_rule_fails_as_often_as_stated(test):
    """Neither more nor less than 5%: a gate that never fails would pass the upper bound alone."""
    times = 400
    count = failures(Rules("nDCG@10: -0", statistics=Statistics(test=test, samples=1_000)), swapped(times, 2))
    assert binom.ppf(RARE, times, 0.05) <= count <= binom.ppf(1 - RARE, times, 0.05)


def test_tolerance_makes_it_rarer():
    times = 300
    assert failures(Rules("nDCG@10: -50%", statistics=Statistics(samples=1_000)), swapped(times, 3)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomization", "t"])
def test_planted_drop_of_six_percent_is_found_with_the_stated_power(test):
    """500 queries; one of three measures falls by 6% of 0.5, with a spread of 0.18 over queries.

    What is tested is what it fell more than the tolerance, 1%. The first step of Holm asks p <= 0.05 / 3, and the joint
    maximum of three measures that have nothing to do with each other hardly less.
    """
    n, drop, spread, times = 500, 0.06 * 0.5, 0.18, 200
    stated = TTestPower().power(effect_size=(drop - 0.005) / spread, nobs=n, alpha=0.05 / 3, alternative="larger")
    assert 0.8 < stated < 0.9
    rng = np.random.default_rng(4)

    def pair():
        before = {name: 0.5 + rng.normal(0, 0.2, n) for name in ("AP", "RR", "P@5")}
        after = {name: values + rng.normal(0, spread, n) for name, values in before.items()}
        after["AP"] = after["AP"] - drop
        return before, after

    held_to = Rules(["AP: -1%", "RR: -1%", "P@5: -1%"], statistics=Statistics(test=test, samples=1_000))
    found = 0
    for before, after in (pair() for _ in range(times)):
        found += gate(scores(after, "after"), held_to, scores(before, "before"))[0].failed
    # Holm's later steps find a little more than its first one, which is what the power is stated for.
    assert binom.ppf(RARE, times, stated - 0.01) <= found <= binom.ppf(1 - RARE, times, stated + 0.02)


@pytest.mark.parametrize("rules", [["AP: -1%"], ["AP: -1%", "RR: -1%", "P@5: -1%"]])
def test_stated_detectable_drop_is_that_of_statsmodels(rules):
    rng = np.random.default_rng(5)
    n = 200
    before = {name: 0.5 + rng.normal(0, 0.2, n) for name in ("AP", "RR", "P@5")}
    noise = rng.normal(0, 0.3, n)
    change = noise - noise.mean() - 0.01
    after = {name: values + change for name, values in before.items()}
    found = gate(scores(after, "after"), rules, scores(before, "before"))[0]
    assert (found.status, found.shown) == ("pass", False)
    # The joint maximum of three measures that lose alike is that of one.
    effect = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8, alternative="larger")
    stated = 0.01 * before["AP"].mean() + effect * (change + 0.01 * before["AP"]).std(ddof=1)
    assert found.detectable == pytest.approx(stated, rel=1e-3 if len(rules) == 1 else 0.02)


def test_no_drop_below_the_scale_is_said_to_be_found():
    """From 0.75 nothing falls by 0.85, which is what these queries would show beside a tolerance of 0.5."""
    before, after = np.repeat([1.0, 0.0], [12, 4]), np.repeat([1.0, 0.0], [8, 8])
    found = gate(scores({"P@1": after}, "after"), "P@1: -0.5", scores({"P@1": before}, "before"))
    assert (found[0].status, found[0].shown) == ("pass", False)
    assert np.isnan(found[0].detectable)
    assert "would show" not in found[0].words
    # Of 16 queries that are all right, there is as much to lose.
    found = gate(scores({"P@1": after}, "after"), "P@1: -0.5", scores({"P@1": np.ones(16)}, "before"))
    assert 0.5 < found[0].detectable < 1
