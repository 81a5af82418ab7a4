"""How many queries a difference needs, and how sure a gate is."""

import math

import numpy as np
import pytest
from golden_statistics import case
from made_up_scores import make
from raising import raises_code
from scipy import integrate, stats

from goldrank import GoldrankError, Queries, Statistics, compare, plan
from goldrank.comparison.flips import flip, raw_p, u_of_t
from goldrank.comparison.intervals import estimate
from goldrank.comparison.planning import read_tolerance


def pilot(n=60, gain=0.03, spread=0.2, seed=0, **options):
    rng = np.random.default_rng(seed)
    old = np.clip(rng.normal(0.5, 0.2, n), 0, 1)
    new = np.clip(old + rng.normal(gain, spread, n), 0, 1)
    return compare([make(old, run="old"), make(new, run="new")], **options)


def test_needed_queries_are_the_reference():
    """`power-family` of tests/files/golden/statistics.json: statsmodels' TTestPower at the equivalent alpha.

    A deviation of 1 makes the difference the effect. Its critical value of u is 2.75: that of so many tests that
    Bonferroni's bound gives it.
    """
    inputs, expected = case("power-family")
    tests = round(0.05 / (2 * stats.norm.sf(inputs["critical_u"])))
    statistics = Statistics(power=inputs["wanted"])
    found = plan(deviation=1.0, difference=inputs["effect_for_needed"], tests=tests, statistics=statistics)
    critical = found.planned[0].critical
    assert critical == pytest.approx(inputs["critical_u"], abs=0.03)
    # The number of tests is a whole number, so that the critical value is near: 2 (c + z)^2 / effect^2 moves by 2%.
    assert found.planned[0].needed[0].queries == pytest.approx(expected["queries_needed"], rel=0.03)


def test_one_test_is_the_textbook():
    """statsmodels: TTestPower().solve_power(0.2, power=0.8, alpha=0.05) = 198.15."""
    assert plan(deviation=0.25, difference=0.05).planned[0].needed[0].queries == 199


def test_a_pilot_brings_its_deviation_and_its_family():
    one = pilot()
    (row,) = plan(one, difference=0.05, n_queries=[100]).planned
    delta = one.values["nDCG@10"][1] - one.values["nDCG@10"][0]
    assert row.deviation == pytest.approx(delta.std(ddof=1))
    assert row.critical == pytest.approx(u_of_t(one.pairs[0].critical, 60))
    (needed,) = row.needed
    freedom = 2 / (2 / 59 + max(0.0, stats.kurtosis(delta, bias=False)) / 60)
    assert assurance(0.05 / row.deviation, needed.queries, freedom) == pytest.approx(0.8, abs=0.01)
    (found,) = row.found
    assert assurance(found.detectable / row.deviation, 100, freedom) == pytest.approx(0.8, abs=0.005)
    surer = plan(one, n_queries=[100], statistics=Statistics(power=0.9))
    assert surer.detectable[100] > found.detectable


def test_more_tests_need_more_queries():
    alone, many = (plan(deviation=0.25, difference=0.05, tests=n).planned[0].needed[0].queries for n in (1, 15))
    assert many > 1.5 * alone


def test_the_plan_keeps_its_promise():
    """Simulated: with so many queries as planned the difference is found as often as was promised."""
    rng = np.random.default_rng(1)
    n = plan(deviation=0.2, difference=0.06).planned[0].needed[0].queries
    found = 0
    for _ in range(300):
        found += raw_p(flip(rng.normal(0.06, 0.2, (1, n)), samples=999), 0).value <= 0.05
    assert stats.binom.ppf(0.001, 300, 0.8) <= found <= stats.binom.ppf(0.999, 300, 0.8)


def assurance(effect, n, freedom):
    """The mean power of the t test over what the deviation may be in truth, by scipy's integral."""

    def part(chi2):
        away = effect * math.sqrt(n) * math.sqrt(chi2 / freedom)
        return stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, away) * stats.chi2.pdf(chi2, freedom)

    low, high = stats.chi2.ppf([1e-9, 1 - 1e-9], freedom)
    return integrate.quad(part, low, high, limit=200)[0]


@pytest.mark.parametrize("shape", ["normal", "few differ"])
def test_small_pilots_keep_the_promise(shape):
    """80% were promised by a pilot of 10 queries, and 75% given, or 63% where few queries differ."""
    rng = np.random.default_rng(3)

    def drawn(n):
        size = rng.normal(0, 0.2, n)
        return size if shape == "normal" else 2 * size * (rng.random(n) < 0.3)

    true = 0.2 if shape == "normal" else 0.4 * math.sqrt(0.3)
    given = []
    while len(given) < 80:
        old = np.full(10, 0.5)
        both = [make(old, run="a"), make(old + drawn(10), run="b")]
        needed = plan(compare(both), difference=0.05).needed[0.05]
        if needed is not None:
            given.append(stats.nct.sf(stats.t.ppf(0.975, needed - 1), needed - 1, 0.05 / true * math.sqrt(needed)))
    assert 0.72 <= np.mean(given) <= 0.88


@pytest.mark.slow
def test_a_gate_says_what_was_promised():
    """Simulated rules: one-sided flips fail, Student's with pseudo-queries shows, as often as the plan says."""
    one = pilot(n=400, gain=0.0, spread=0.15)
    outcomes = plan(one, tolerance="5%", n_queries=[120]).gate
    assert [round(outcome.drop, 3) for outcome in outcomes] == [0.0, 0.025, 0.05, 0.075, 0.1, 0.15]
    old, new = one.values["nDCG@10"]
    rng = np.random.default_rng(2)
    for outcome in (outcomes[0], outcomes[2], outcomes[4]):
        fails = shown = 0
        for _ in range(300):
            at = rng.integers(0, 400, 120)
            d = (new - old - (new - old).mean())[at] - outcome.drop * old.mean()
            e = d + 0.05 * old[at]
            fails += raw_p(flip(e[None], samples=999), 0, "less").value <= 0.05
            largest = np.abs((new - old)[at]).max()
            known = estimate(e, added=(largest, -largest))
            shown += stats.t.sf(known.mean / known.error, known.freedom) <= 0.05
        for count, chance in ((fails, outcome.fails), (shown, outcome.shown)):
            assert count / 300 == pytest.approx(chance, abs=4 * math.sqrt(0.25 / 300) + 0.02)
        assert outcome.unclear == pytest.approx(1 - outcome.fails - outcome.shown)


def test_a_gate_looks_at_measures_where_less_is_better_the_other_way_round():
    rng = np.random.default_rng(3)
    old = rng.random(50)
    both = [make(old, run="old", higher_is_better=False), make(old + rng.normal(0, 0.1, 50), run="new",
                                                               higher_is_better=False)]  # fmt: skip
    outcomes = plan(compare(both), tolerance=0.02, n_queries=[200]).gate
    assert outcomes[0].fails < outcomes[-1].fails


def test_systems_that_do_not_differ_say_nothing():
    same = np.random.default_rng(4).random(30)
    (row,) = plan(compare([make(same, run="a"), make(same, run="b")])).planned
    assert [needed.queries for needed in row.needed] == [None] * 3
    assert math.isnan(row.found[0].detectable)


@pytest.mark.parametrize(
    ("queries", "low", "high", "words", "is_warned"),
    [  # chi-square's 2.5 % and 97.5 % points, from a table
        (5, 0.484, 11.143, "in truth 0.4 to 8.3 times as many", True),
        (16, 6.262, 27.488, "in truth 0.5 to 2.4 times as many", True),
        (101, 74.222, 129.561, "in truth 0.8 to 1.3 times as many", False),
    ],
)
def test_how_much_a_pilot_leaves_open(queries, low, high, words, is_warned):
    found = plan(pilot(n=queries), difference=0.02)
    assert found.times == pytest.approx(((queries - 1) / high, (queries - 1) / low), rel=1e-3)
    told = " ".join(str(found).split())
    assert words in told
    assert (f"! a pilot tells how much queries differ only roughly: {words}" in told) == is_warned


def test_without_a_pilot_nothing_is_left_open():
    assert plan(deviation=1.0, difference=0.1).times is None


def test_clusters_count():
    """Five paraphrases of one intent that differ alike are hardly more than one query."""
    rng = np.random.default_rng(5)
    old = rng.random(100)
    new = old + np.repeat(rng.normal(0, 0.1, 20), 5)
    both = [make(old, run="a"), make(new, run="b")]
    of = {f"q{i}": f"intent {i // 5}" for i in range(100)}
    alone, clustered = (
        plan(compare(both, **options), difference=0.05).planned[0].needed[0].queries
        for options in ({}, {"queries": Queries({}).with_column("cluster", of)})
    )
    assert clustered == pytest.approx(5 * alone, rel=0.25)


@pytest.mark.parametrize(
    ("given", "expected"), [("5%", (0.05, True)), ("-5 %", (0.05, True)), ("0.02", (0.02, False)), (0.1, (0.1, False))]
)
def test_tolerances(given, expected):
    assert read_tolerance(given) == expected


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: plan(), "no-pilot"),
        (lambda: plan(deviation=-1), "no-pilot"),
        (lambda: plan(deviation=1, difference=0), "bad-number"),
        (lambda: plan(deviation=1, statistics=Statistics(power=1)), "bad-number"),
        (lambda: plan(deviation=1, statistics=Statistics(alpha=0.7)), "bad-number"),
        (lambda: plan(deviation=1, tests=0), "bad-number"),
        (lambda: plan(deviation=1, n_queries=[1]), "bad-number"),
        (lambda: plan(deviation=1, tolerance="5%"), "no-pilot"),
        (lambda: plan(pilot(), tolerance="much"), "bad-tolerance"),
        (lambda: plan(pilot(), tolerance="nan"), "bad-tolerance"),
        (lambda: plan(pilot(), deviation=0.2), "options-conflict"),
        (lambda: plan(pilot(), statistics=Statistics(alpha=0.01)), "options-conflict"),
        (lambda: plan(deviation=1, queries=[100]), "unknown-argument"),
    ],
)
def test_mistakes_are_explained(ask, code):
    with raises_code(GoldrankError, code):
        ask()
