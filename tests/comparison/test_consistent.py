"""A row never contradicts itself: verdict, p-value, interval, caveats and power of made-up scores of many shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lanes import many
from made_up_scores import make

from goldrank import Queries, Statistics, compare


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


def test_an_interval_that_leaves_out_0_beside_an_open_test_is_said():
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(many(400, 200)):
        row = pair(rng.normal(0.026, 0.09, 50), samples=200)
        said = "interval-excludes-zero" in codes(row)
        assert said == (row.verdict == "unclear" and 0 not in row.interval)
        found += said
    assert found


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
