"""`evaluate`'s arguments beyond data and measures: depth, and options that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import codes, words
from raising import raises_code

from goldrank import GoldrankError, Runs, evaluate
from goldrank.base.errors import MeasureError, OptionError

QRELS = {"q": {"a": 1, "b": 1}}
RUN = {"q": ["a", "x", "b"]}


def test_depth_cuts_rankings_and_says_so():
    scores = evaluate(QRELS, RUN, ["AP", "NumRet"], depth=2)
    assert scores["AP"] == (1 / 1) / 2
    assert scores["NumRet"] == 2
    assert scores.provenance["depth"] == 2
    assert "rankings were cut after 2 documents" in words(scores)


def test_no_depth_is_said_too():
    scores = evaluate(QRELS, RUN, "AP")
    assert scores["AP"] == (1 / 1 + 2 / 3) / 2
    assert scores.provenance["depth"] is None
    assert "cut-rankings" not in codes(scores)


def test_depth_of_several_runs():
    scores = evaluate(QRELS, Runs(one=RUN, two={"q": ["x", "y", "a"]}), "R", depth=np.int64(2))
    assert {name: one["R"] for name, one in scores.items()} == {"one": 1 / 2, "two": 0.0}


def test_ids_that_meet_below_the_depth_are_no_mismatch():
    """Whether run and judgements fit together is asked of whole rankings."""
    assert evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "RR", depth=1)["RR"] == 0.0


@pytest.mark.parametrize("depth", [0, -1, 2.0, "2", True, float("inf")])
def test_depth_must_be_a_whole_number(depth):
    with pytest.raises(OptionError, match="depth is"):
        evaluate(QRELS, RUN, "AP", depth=depth)


@pytest.mark.parametrize(
    "measure",
    [
        "nDCG(gain=(1, 2))@5",
        "nDCG(gain={1: 1e999})@5",
        "nDCG(gain={1e999: 1})@5",
        "nDCG(gain={1.5: 1})@5",
        'nDCG(gain={"a": 1})@5',
        "nDCG(gain=[1])@5",
        "ERR(max_grade=1e999)@5",
        "ERR(max_grade=2.5)@5",
        "P(rel=1e999)@5",
        'P(rel="1")@5',
        "P(rel=True)@5",
    ],
)
def test_options_that_cannot_be(measure):
    with raises_code(MeasureError, "bad-option") as error:
        evaluate(QRELS, RUN, measure)
    assert isinstance(error.value, GoldrankError)
