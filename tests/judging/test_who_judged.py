"""Judgements of models that are mixed in are said wherever results are: scores, comparisons, gates, reports."""

from __future__ import annotations

import pytest

import goldrank
from goldrank.data.table import plain
from goldrank.gating import verdict_report as gate
from goldrank.judging.ask import judge
from goldrank.judging.pool_and_calls import Calls
from goldrank.report import comparison

RUNS = {"one": {f"q{i}": ["a", "b", "c"] for i in range(8)}, "two": {f"q{i}": ["c", "b", "a"] for i in range(8)}}
PEOPLE = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}


@pytest.fixture
def mixed(tmp_path):
    texts = {"documents": {name: name for name in "abc"}, "queries": {query: query for query in PEOPLE}}
    return judge(PEOPLE, RUNS, lambda question, text: 1, calls=Calls(tmp_path / "log.db"), **texts).qrels


def codes(notes):
    return [note.code for note in notes]


def said(notes):
    (note,) = [note for note in notes if note.code == "who-judged"]
    return dict(note.facts)


COUNTS = {"people": 0, "models": 8, "file": 16, "total": 24}


def test_scores_say_who_judged(mixed):
    found = goldrank.evaluate(mixed, RUNS["one"], "P@3")
    assert said(found.notes) == COUNTS
    assert said(goldrank.Scores.from_dict(found.to_dict()).notes) == COUNTS
    assert "models 8" in str(found)


def test_comparisons_say_who_judged(mixed):
    found = goldrank.compare(mixed, RUNS, "P@3")
    assert said(found.notes) == COUNTS
    assert "models 8" in plain(comparison.parts(found))


def test_gates_say_who_judged(mixed, tmp_path):
    verdict = goldrank.gate(goldrank.evaluate(mixed, RUNS["one"], "P@3"), "P@3 >= 0.1")
    assert said(verdict.notes) == COUNTS
    assert "models 8" in plain(gate.parts(verdict))


def test_people_alone_are_not_mentioned():
    assert "who-judged" not in codes(goldrank.evaluate(PEOPLE, RUNS["one"], "P@3").notes)
