"""The documents of a baseline that somebody changed, and of a run that returns documents twice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from raising import raises_code

from goldrank import evaluate, gate
from goldrank.base.errors import BaselineError, InputError
from goldrank.gating.top_documents import KeptDocuments, KeptRanking

SOUND: dict[str, Any] = {"depth": 3, "queries": {"q1": [7, ["a", "x", "b"], [[5, "z"]]], "q2": [2, ["w", "c"], []]}}


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    queries = {query: [kept[0], list(kept[1]), list(kept[2])] for query, kept in SOUND["queries"].items()}
    change(queries)
    return {**SOUND, "queries": queries}


def test_what_was_written_is_read():
    kept = KeptDocuments.from_dict(SOUND, "baseline.json")
    assert kept.to_dict() == SOUND
    assert kept.rankings["q1"].ranks() == {"a": 1, "x": 2, "b": 3, "z": 5}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda kept: kept["q1"].__setitem__(0, 10**30), id="more than any run returns"),
        pytest.param(lambda kept: kept["q1"].__setitem__(0, 2**31), id="more than fits into memory"),
        pytest.param(lambda kept: kept["q1"].__setitem__(0, -1), id="less than nothing"),
        pytest.param(lambda kept: kept["q1"].__setitem__(0, math.inf), id="infinitely many"),
        pytest.param(lambda kept: kept["q1"].__setitem__(0, 7.5), id="half a document"),
        pytest.param(lambda kept: kept["q1"].__setitem__(2, [[math.inf, "k"]]), id="at an infinite rank"),
        pytest.param(lambda kept: kept["q1"][1].__setitem__(0, None), id="a document without an id"),
        pytest.param(lambda kept: kept["q2"].__setitem__(0, 3), id="more than there are"),
        pytest.param(lambda kept: kept["q1"][1].pop(), id="a document is gone"),
        pytest.param(lambda kept: kept["q1"].__setitem__(2, [[2, "k"]]), id="below, and yet at the second rank"),
        pytest.param(lambda kept: kept["q1"].__setitem__(2, [[6, "k"], [5, "z"]]), id="ranks out of order"),
        pytest.param(lambda kept: kept["q1"].__setitem__(2, [[8, "k"]]), id="beyond the end"),
    ],
)
def test_what_no_ranking_can_be_is_refused(change):
    with raises_code(BaselineError, "damaged-file"):
        KeptDocuments.from_dict(changed(change), "baseline.json")


@pytest.mark.parametrize("depth", [0, -3, 10**9, math.inf, "3", None])
def test_depths_that_no_baseline_has_are_refused(depth):
    with raises_code(BaselineError, "damaged-file"):
        KeptDocuments.from_dict({**SOUND, "depth": depth}, "baseline.json")


def test_of_a_repeated_document_the_first_rank_counts():
    assert KeptRanking(5, ("a", "a", "b"), ((5, "b"),)).ranks() == {"a": 1, "b": 3}


def test_a_gate_asks_for_the_counts_that_it_needs():
    scores = evaluate({"q1": {"a": 1}, "q2": {"c": 1}}, {"q1": ["a", "x"], "q2": ["w", "c"]}, "AP")
    for rule, count in (("missing <= 1%", "no_results"), ("unjudged <= 99%", "retrieved")):
        data = scores.to_dict()
        del data["counts"][count]
        with pytest.raises(InputError, match=count):
            gate(type(scores).from_dict(data), rule)
