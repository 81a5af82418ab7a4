"""A row never contradicts itself: verdict, p-value, interval, caveats and power of made-up scores of many shapes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from lanes import many
from made_up_scores import make
from scipy import stats

from goldrank import Queries, ScoresByRun, Statistics, compare
from goldrank.comparison.pair import format_interval, format_p
from goldrank.report.numbers import p_value


def pair(differences, measure="nDCG@10", **options):
    differences = np.asarray(differences, float)
    before = np.full(len(differences), 0.4)
    runs = [make(values, measure=measure, run=run) for run, values in (("a", before), ("b", before + differences))]
    return compare(runs, statistics=Statistics(**options)).pairs[0]


def codes(row):
    return {note.code for note in row.caveats}


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG"])
def test_no_difference_has_words_with_and_without_bounds(measure):
    row = pair(np.zeros(20), measure)
    assert row.verdict == "same"
    assert "nan" not in row.words
    assert ("none-differs" in codes(row)) is (measure == "nDCG@10")


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG"])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_where_no_test_can_decide_the_interval_holds_0(measure, count):
    row = pair(np.full(count, 0.25), measure)
    assert "too-few-differ" in codes(row)
    assert row.verdict == "unclear"
    assert math.isnan(row.interval.low) or 0 in row.interval


def test_too_few_that_differ_are_not_decided_by_t_either():
    """Five of 60 queries won: t alone says p = 0.024, and 2^-4 is the least that flips can say."""
    row = pair([0.7] * 5 + [0.0] * 55, test="t")
    assert row.p_by_test["t"] < 0.05
    assert row.verdict == "unclear"
    assert "too-few-differ" in codes(row)


def test_the_same_gain_everywhere_is_found_by_t_too():
    """t has no answer where all differences are the same; all 2^30 flips have one."""
    row = pair([0.125] * 30, test="t")
    assert math.isnan(row.p_by_test["t"])
    assert row.p_adjusted == pytest.approx(2.0**-29)
    assert row.verdict == "better"


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_tests_of_directions_and_ranks_say_nothing_of_mean_differences_found(test):
    row = pair([0.01] * 9 + [-0.01] * 7 + [0.3] * 2, test=test)
    assert math.isnan(row.detectable)
    assert row.queries_needed is None
    assert not math.isnan(row.effect)


def test_needed_queries_of_clusters_agree_with_what_is_detectable():
    """What would be found with these queries does not need more of them."""
    rng = np.random.default_rng(4)
    count = 0
    for _ in range(40):
        differences = rng.normal(0.02, 0.05, 24)
        groups = {f"q{i}": str(i // 3) for i in range(24)}
        others = [make(np.clip(0.4 + rng.normal(0, 0.05, 24), 0, 1), run=f"s{i}") for i in range(3)]
        runs = [make(np.full(24, 0.4), run="a"), make(0.4 + differences, run="b"), *others]
        for row in compare(
            runs, queries=Queries({}).with_column("cluster", groups), statistics=Statistics(samples=500)
        ).pairs:
            if row.queries_needed is not None and not math.isnan(row.detectable):
                count += 1
                is_enough = row.queries_needed <= row.n
                assert is_enough == (abs(row.difference) >= row.detectable) or row.queries_needed - row.n <= 3
    assert count > 100


def test_a_corrected_p_value_is_never_below_the_row_s_own():
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = 40
        runs = [make((rng.random(n) < 0.5).astype(float), run=run) for run in ("a", "b", "c")]
        for row in compare(runs, statistics=Statistics(samples=200)).pairs:
            assert row.p_adjusted >= row.p_by_test["randomization"] - 1e-12


SHAPES = {
    "normal": lambda rng, n: rng.normal(0.03, 0.09, n),
    "rare losses": lambda rng, n: np.where(rng.random(n) < 0.06, -rng.uniform(0.2, 0.4, n), rng.exponential(0.04, n)),
    "few differ": lambda rng, n: np.where(rng.random(n) < 0.25, rng.normal(0.1, 0.1, n), 0.0),
    "halves": lambda rng, n: rng.choice([-0.25, 0.0, 0.25, 0.25], n),
    "tiny": lambda rng, n: rng.normal(1e-5, 3e-5, n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options", [{}, {"correction": "holm"}, {"correction": "bh"}, {"test": "t"}, {"test": "sign"}, {"alpha": 0.01}],
    ids=lambda options: "-".join(map(str, options.values())) or "usual",
)  # fmt: skip
def test_word_p_value_and_interval_come_from_one_decision(shape, options):
    """As numbers and as they are printed, for families of several rows and for one."""
    rng = np.random.default_rng(len(shape))
    statistics = Statistics(samples=200, **options)
    decided = 0
    for _ in range(many(12, 6)):
        n = int(rng.choice([12, 25, 60]))
        base = np.full(n, 0.5)
        shift = rng.choice([0.0, 0.05, 0.15])
        runs = [make(base, run="a"), *(make(base + shift + SHAPES[shape](rng, n), run=run) for run in "bc")]
        for row in [*compare(runs, statistics=statistics), *compare(runs[:2], statistics=statistics)]:
            clear = row.verdict in ("better", "worse")
            decided += clear
            assert clear == (row.p_adjusted <= statistics.alpha)
            assert clear == (0 not in row.interval)
            assert clear == (max(row.probability, 1 - row.probability) >= 1 - statistics.alpha / 2)
            low, high = map(float, format_interval(row.interval).split(" to "))
            assert clear == (low > 0 or high < 0)
            printed = format_p(row.p_adjusted, row.at_most, statistics.alpha).split()[-1]
            assert clear == (float(printed) <= statistics.alpha)
            assert row.difference in row.interval
    assert decided


def designed(kind, rng, n):
    """Systems that are compared in another way than query by query, and with what."""
    base = np.full(n, 0.5)
    shift = rng.choice([0.0, 0.03, 0.1, 0.3])

    def one(run):
        values = base + shift * (run != "a") + rng.normal(0, 0.1, n) * (rng.random(n) < 0.7)
        return make(np.clip(values, 0, 1), run=run)

    systems = [one(run) for run in "abc"]
    queries = systems[0].queries
    if kind == "weights":
        weights = dict(zip(queries, rng.lognormal(0, 1, n).tolist(), strict=True))
        return systems, {"queries": Queries({}).with_column("weight", weights)}
    if kind == "clusters":
        clusters = {query: f"c{i // 2}" for i, query in enumerate(queries)}
        return systems, {"queries": Queries({}).with_column("cluster", clusters)}
    if kind == "bounded":
        return systems, {"statistics": Statistics(samples=300, interval="bounded")}
    return ScoresByRun([(run, one(run)) for run in "abc" for _ in range(3)]), {}


@pytest.mark.parametrize("kind", ["weights", "clusters", "bounded", "several runs"])
def test_one_decision_with_clusters_weights_and_runs(kind):
    rng = np.random.default_rng(9)
    decided = 0
    for _ in range(many(30, 8)):
        systems, options = designed(kind, rng, int(rng.choice([12, 25, 60])))
        for row in compare(systems, **{"statistics": Statistics(samples=300), **options}):
            clear = row.verdict in ("better", "worse")
            decided += clear
            assert clear == (row.p_adjusted <= 0.05)
            assert clear == (0 not in row.interval)
            assert clear == (max(row.probability, 1 - row.probability) >= 0.975)
    assert decided


def contradicts_itself(row):
    """Whether a row that is held back has the p-value, interval or probability of one that is decided."""
    is_likely = max(row.probability, 1 - row.probability) >= 1 - row.statistics.alpha / 2
    return row.p_adjusted <= row.statistics.alpha or 0 not in row.interval or is_likely


def test_secondary_rows_that_wait_for_the_primary_one_do_not_contradict_themselves():
    """nDCG@10 is surely better, P@1 is not: its p-value counts for both, as in any fixed sequence of tests."""
    rng = np.random.default_rng(2)
    gains = rng.normal(0.05, 0.03, 40)
    primary = rng.normal(0.0, 0.05, 40)

    def both(run, more):
        columns = {"nDCG@10": 0.4 + more * gains, "P@1": 0.5 + more * primary}
        made = [make(values, measure=measure, run=run) for measure, values in columns.items()]
        return dataclasses.replace(made[0], columns=made[0].columns | made[1].columns)

    result = compare([both("a", 0), both("b", 1)], primary="P@1", statistics=Statistics(samples=500))
    decisive, secondary = result["P@1", "a", "b"], result["nDCG@10", "a", "b"]
    assert (decisive.verdict, secondary.verdict) == ("unclear", "unclear")
    assert secondary.p < 0.001
    assert secondary.p_adjusted == decisive.p_adjusted
    assert not contradicts_itself(secondary)


def test_a_secondary_row_that_goes_the_other_way_has_no_p_value():
    rng = np.random.default_rng(2)
    gains = rng.normal(0.05, 0.03, 40)

    def both(run, more):
        columns = {"nDCG@10": 0.4 - more * gains, "P@1": 0.5 + more * gains}
        made = [make(values, measure=measure, run=run) for measure, values in columns.items()]
        return dataclasses.replace(made[0], columns=made[0].columns | made[1].columns)

    secondary = compare([both("a", 0), both("b", 1)], primary="P@1")["nDCG@10", "a", "b"]
    assert secondary.verdict == "unclear"
    assert math.isnan(secondary.p_adjusted)
    assert not contradicts_itself(secondary)


@pytest.mark.parametrize("options", [{"test": "t"}, {"alpha": 0.1}], ids=["t", "alpha"])
def test_too_few_clusters_have_no_p_value_that_decides(options):
    """Five clusters: no verdict, so no p-value at most alpha, and no interval without 0."""
    values = 0.4 + np.random.default_rng(1).normal(0.2, 0.01, 50)
    runs = [make(np.full(50, 0.4), run="a"), make(values, run="b")]
    groups = {f"q{i}": str(i // 10) for i in range(50)}
    queries = Queries({}).with_column("cluster", groups)
    (row,) = compare(runs, queries=queries, statistics=Statistics(**options))
    assert (row.verdict, row.withheld) == ("unclear", True)
    assert not contradicts_itself(row)


def test_too_few_that_differ_have_the_p_value_of_flips():
    """Five of 60 queries won: the rarest of 2^5 flips has 2^-4, whatever t says."""
    row = pair([0.7] * 5 + [0.0] * 55, test="t")
    assert row.p_adjusted == 2.0**-4
    assert not contradicts_itself(row)


def test_a_p_value_just_above_alpha_shows_it():
    assert (p_value(0.0500004), p_value(0.0123)) == ("0.0500004", "0.012")
    assert format_p(0.0500004) == "= 0.0500004"
    assert format_p(0.05) == "= 0.050"
    assert format_p(0.04996) == "= 0.050"
    assert format_p(0.0104, alpha=0.01) == "= 0.0104"


def test_skewed_differences_need_an_interval_that_knows_skew():
    """Five losses among fifty queries: the larger they are, the more the next fifty may have of them."""
    small = pair([0.02] * 45 + [-0.04] * 5)
    assert small.verdict == "better"
    differences = np.array([0.06] * 45 + [-0.25] * 5)
    large = pair(differences)
    assert large.p_by_test["randomization"] < 0.03
    # Hall's interval reaches 0 at this quantile of Student's t.
    a = stats.skew(differences, bias=False) / (3 * math.sqrt(50))
    t = stats.ttest_1samp(differences, 0).statistic
    quantile = ((1 + a * t) ** 3 - 1) / (3 * a) + a / 2
    assert large.p == large.p_adjusted == pytest.approx(2 * stats.t.sf(quantile, 49))
    assert (large.verdict, large.how) == ("unclear", "hall")
    assert 0 in large.interval
    assert "interval-reaches-zero" in codes(large)


def test_what_is_unclear_says_how_likely_and_how_many_queries():
    rng = np.random.default_rng(3)
    row = pair(np.append(rng.normal(0.02, 0.1, 80), []))
    assert row.verdict == "unclear"
    assert 0.5 < row.probability < 0.975
    assert f"b is probably better than a ({row.probability:.0%}), not shown: " in row.words
    assert f"about {row.queries_needed:,} queries (80 now)" in row.words


def test_effects_have_no_adjectives():
    row = pair(np.random.default_rng(4).normal(0.1, 0.1, 60))
    assert row.verdict == "better"
    assert f"(d = {row.effect:.2f}, p" in row.words
    assert not {"tiny", "small", "medium", "large"} & set(row.words.split())
    assert row.moved == 1.0
    assert pair([0.5] * 15 + [0.0] * 45).moved == 0.25


def test_so_few_queries_that_no_flip_passes_the_correction_find_nothing():
    """Six queries that all won: 2^-5 in six rows is 0.19 at least, however large the gain. Eight would do: 6 x 2^-7."""
    rng = np.random.default_rng(7)
    runs = [make(0.4 + shift + rng.normal(0, 0.01, 6), run=run) for run, shift in (("a", 0), ("b", 0.1))]
    others = [make(rng.random(6), run=run) for run in ("c", "d")]
    row = compare([*runs, *others], statistics=Statistics(correction="bonferroni"))["nDCG@10", "a", "b"]
    assert row.p_adjusted == pytest.approx(6 * 2.0**-5)
    assert math.isnan(row.detectable)
    assert row.queries_needed == 8


def test_equal_values_on_few_queries_exclude_little():
    """Whatever the family: two queries without a difference do not show that there is none."""
    widths = []
    for n in (2, 10, 100):
        qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(n)}
        run = {query: ["b", "a"] for query in qrels}
        found = compare(qrels, {"old": run, "new": run}, ["RR", "AP", "nDCG@10"])
        assert {pair.verdict for pair in found.pairs} == {"same"}
        for pair in found.pairs:
            assert pair.interval.high == -pair.interval.low
        widths.append(found.pairs[0].interval.high)
    assert widths[0] == 1.0, "nothing is excluded by two queries"
    assert widths[0] > widths[1] > widths[2] > 0.01
