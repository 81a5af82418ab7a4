"""Intervals of one run's measures, on all queries and on slices."""

import math

import numpy as np
import pytest
from golden_statistics import case
from made_up_scores import make
from raising import raises_code

from goldrank import GoldrankError, Queries, Statistics, evaluate, score_intervals
from goldrank.data.scores import Column, Scores


@pytest.mark.parametrize("name", ["interval-mean-plus-two", "interval-mean-all-ones"])
def test_intervals_are_the_reference(name):
    """tests/files/golden/statistics.json: statsmodels, with the bounds added as two more queries."""
    inputs, expected = case(name)
    found = score_intervals(make(inputs["values"]), statistics=Statistics(alpha=1 - inputs["level"]))
    assert found.of[0].mean == pytest.approx(expected["mean"], abs=1e-11)
    assert found["nDCG@10"] == pytest.approx((expected["low"], expected["high"]), abs=1e-10)
    assert found.notes == ()


def test_slices_are_intervals_of_their_queries():
    values = np.random.default_rng(0).random(40)
    of = {f"q{i}": "long" if i % 4 else "short" for i in range(40)}
    found = score_intervals(
        make(values), slice_by=["length class"], queries=Queries({}).with_column("length class", of)
    )
    by_value = {part.value: part for part in found.of if part.attribute}
    assert set(by_value) == {"long", "short"}
    for value, which in (("long", np.arange(40) % 4 > 0), ("short", np.arange(40) % 4 == 0)):
        alone = score_intervals(make(values[which])).of[0]
        assert by_value[value].interval == pytest.approx(alone.interval)
        assert (by_value[value].n, by_value[value].mean) == (which.sum(), pytest.approx(values[which].mean()))
    assert [row["attribute"] for row in found.rows()] == ["", "length class", "length class"]


def test_automatic_slices_need_what_they_are_made_of():
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(1 + i % 2)} for i in range(20)}
    scores = evaluate(qrels, {query: ["d0"] for query in qrels}, ["P@1", "Judged@10"])
    found = score_intervals(scores, slice_by=["relevant"])
    assert {part.value for part in found.of if part.attribute} == {"1", "2"}
    texts = {query: "one two" if query < "q5" else "one" for query in qrels}
    assert score_intervals(scores, slice_by=["length"], queries=texts).attributes == ("length",)
    saved = Scores.from_dict(scores.to_dict())
    assert score_intervals(saved, slice_by="relevant").rows() == found.rows()
    for name, code in (("length", "slice-needs-input"), ("lang", "no-slice-values")):
        with raises_code(GoldrankError, code):
            score_intervals(saved, slice_by=[name])


def test_what_has_no_interval_says_so():
    values = np.array([1.0, 2.0, 4.0])
    columns = {
        "NumRet": Column("NumRet", values, 7.0, "sum", True),
        "DCG@10": Column("DCG@10", values, float(values.mean()), "mean", True),
        "GMAP": Column("GMAP", values / 8, 0.25, "geometric", True),
    }
    found = score_intervals(Scores("run", ("a", "b", "c"), columns))
    assert math.isnan(found["NumRet"].low)
    # Student's: mean 7/3, deviation sqrt(7/3), quantile 4.302652729911275.
    half = 4.302652729911275 * math.sqrt(7 / 3) / math.sqrt(3)
    assert found["DCG@10"] == pytest.approx((max(0.0, 7 / 3 - half), 7 / 3 + half))
    # Logarithms of 1/8, 1/4, 1/2 and of the bounds 0.00001 and 1; Student's with four degrees of freedom.
    logarithms = np.log([1 / 8, 1 / 4, 1 / 2, 1e-5, 1])
    half = 2.7764451051977987 * logarithms.std(ddof=1) / math.sqrt(5)
    assert found["GMAP"].low == pytest.approx(math.exp(logarithms.mean() - half))
    assert found["GMAP"].high == pytest.approx(min(1.0, math.exp(logarithms.mean() + half)))
    assert [part.mean for part in found.of] == [7.0, pytest.approx(7 / 3), 0.25]
    codes = {note.fact("measure"): note.code for note in found.notes}
    assert codes["NumRet"] == "sum-without-interval"
    assert codes["DCG@10"] == "unbounded-interval"


def test_queries_that_do_not_count_are_left_out():
    found = score_intervals(make([0.2, math.nan, 0.6, 0.4]))
    assert found.of[0].n == 3
    assert found["nDCG@10"] == score_intervals(make([0.2, 0.6, 0.4]))["nDCG@10"]


def test_mistakes_are_explained():
    scores = make([0.1, 0.2])
    with raises_code(GoldrankError, "bad-number"):
        score_intervals(scores, statistics=Statistics(alpha=1 - 95))
    with pytest.raises(GoldrankError, match=r"there is no interval of AP"):
        score_intervals(scores)["AP"]
