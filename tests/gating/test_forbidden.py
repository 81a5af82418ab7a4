"""Forbidden documents: grades below 0, as measures, in a gate and in a note."""

from __future__ import annotations

import pytest

import goldrank

QRELS = {"q": {"a": 1, "spam": -1, "bad": -2}, "r": {"b": 1, "spam": -1}}
RUN = {"q": ["spam", "a", "bad"], "r": ["b", "x", "y", "spam"]}


@pytest.mark.parametrize(
    ("measure", "q", "r"),
    [("Forbidden@1", 1, 0), ("Forbidden@3", 1, 0), ("Forbidden@4", 1, 1), ("ForbiddenCount@3", 2, 0)],
)
def test_by_hand(measure, q, r):
    scores = goldrank.evaluate(QRELS, RUN, measure)
    assert scores.per_query[measure] == {"q": q, "r": r}
    assert scores[measure] == (q + r) / 2


def test_a_run_without_them_has_0():
    clean = {"q": ["a"], "r": ["b"]}
    assert goldrank.evaluate(QRELS, clean, "Forbidden@10")["Forbidden@10"] == 0


def test_a_gate_fails_on_one_hit_and_names_it():
    verdict = goldrank.gate(goldrank.evaluate(QRELS, RUN, "Forbidden@3"), ["Forbidden@3 <= 0"])
    assert verdict.status == "fail"
    (finding,) = verdict
    assert "'spam' at rank 1 for query 'q'" in finding.words
    assert "'bad' at rank 3 for query 'q'" in finding.words
    assert "'r'" not in finding.words


def test_a_gate_passes_without_a_hit():
    clean = {"q": ["a"], "r": ["b"]}
    assert goldrank.gate(goldrank.evaluate(QRELS, clean, "Forbidden@3"), ["Forbidden@3 <= 0"]).status == "pass"


def test_fall_out_says_that_it_takes_negative_grades_as_unjudged():
    scores = goldrank.evaluate({"q": {"a": 1, "spam": -1, "c": 0}}, {"q": ["spam", "a"]}, "FallOut@2")
    assert scores["FallOut@2"] == 0
    assert "negative-grades-unjudged" in [note.code for note in scores.notes]
    below = goldrank.evaluate({"q": {"a": 1, "spam": -1, "c": 0}}, {"q": ["a", "x", "spam"]}, "FallOut@2")
    assert "negative-grades-unjudged" not in [note.code for note in below.notes]
