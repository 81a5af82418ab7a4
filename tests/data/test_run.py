"""`Run`: what it is made from, and that it is its own."""

from __future__ import annotations

import numpy as np
import pytest
from raising import raises_code

import goldrank
from goldrank import Qrels, Run
from goldrank.base.errors import InputError

QRELS = {"q": {"a": 1, "b": 1}}


def test_a_run_keeps_a_copy() -> None:
    """AP: a at rank 1 and b at rank 3 give (1 + 2/3) / 2; were b at rank 1 too, it would be more."""
    given = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    run = Run(given)
    given["q"]["b"] = 9.0
    given["other"] = {"a": 1.0}
    assert goldrank.evaluate(QRELS, run, "AP")["AP"] == pytest.approx((1 + 2 / 3) / 2)
    assert list(run) == ["q"]
    assert run["q"]["b"] == 1.0


def test_judgements_are_kept_too() -> None:
    given = {"q": {"a": 1}}
    qrels = goldrank.Qrels(given)
    given["q"]["a"] = 0
    assert qrels["q"]["a"] == 1


def test_ids_of_other_kinds() -> None:
    run = Run({1: {10: 0.5}})
    assert run["1"] == {"10": 0.5}
    assert [note.code for note in run.notes] == ["integer-ids"]
    with raises_code(InputError, "wrong-type"):
        Run({"q": 3})  # type: ignore[dict-item]


def test_renamed_runs_share_their_source() -> None:
    run = Run({"q": {"a": 1.0}})
    assert run.renamed("other").source is run.source
    assert run.renamed("other").name == "other"
    assert run.renamed("other").digest == run.digest


def test_ranked_lists_are_a_run() -> None:
    run = Run({"q1": ["b", "a"], "q2": ("c",), "q3": np.array(["x", "y"])})
    assert [run.ranking(query) for query in run] == [["b", "a"], ["c"], ["x", "y"]]
    assert not run.has_scores
    assert not run.renamed("other").has_scores
    scored = Run({"q1": [("a", 0.5), ("b", 0.9)]})
    assert scored.ranking("q1") == ["b", "a"]
    assert scored.has_scores


def test_lists_of_documents_are_judgements() -> None:
    qrels = Qrels({"q1": ["b", "a"], "q2": {"c"}, "q3": {"d": 2}})
    assert {query: dict(docs) for query, docs in qrels.items()} == {
        "q1": {"b": 1, "a": 1},
        "q2": {"c": 1},
        "q3": {"d": 2},
    }
