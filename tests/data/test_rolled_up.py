"""Chunks to documents: `rolled_up` of runs and judgements, and the error that offers it."""

from __future__ import annotations

import re

import pytest

from goldrank import MismatchError, OptionError, Qrels, Run, Runs, evaluate

CHUNKS = {"q": {"a#2": 0.9, "b#1": 0.8, "a#1": 0.7, "c#9": 0.1}}
DOCUMENTS = {"a": 0.9, "b": 0.8, "c": 0.1}


def test_a_document_stands_where_its_first_part_stood():
    rolled = Run(CHUNKS).rolled_up("#")
    assert dict(rolled["q"]) == DOCUMENTS
    assert rolled.ranking("q") == ["a", "b", "c"]


def test_values_are_those_of_documents():
    """b is at rank 2 of documents, and at rank 2 of chunks; c at 3 of documents and at 4 of chunks."""
    qrels = {"q": {"b": 1, "c": 1}}
    scores = evaluate(qrels, Run(CHUNKS).rolled_up("#"), ["AP", "P@2"])
    assert scores["AP"] == (1 / 2 + 2 / 3) / 2
    assert scores["P@2"] == 1 / 2


def test_a_note_says_how_many_collapsed():
    note = next(note for note in Run(CHUNKS).rolled_up("#").notes if note.code == "rolled-up")
    assert (note.fact("count"), note.fact("documents")) == (4, 3)


@pytest.mark.parametrize(
    "rule",
    ["#", r"(\w)#\d+", re.compile(r"(\w)#\d+"), {"a#2": "a", "a#1": "a", "b#1": "b", "c#9": "c"}, lambda part: part[0]],
)
def test_the_document_is_told_in_many_ways(rule):
    assert dict(Run(CHUNKS).rolled_up(rule)["q"]) == DOCUMENTS


@pytest.mark.parametrize(
    "text", ["a#2\ta\na#1\ta\nb#1\tb\nc#9\tc\n", "a#2,a\n\na#1,a\nb#1,b\nc#9,c", "a#2 a\na#1 a\nb#1 b\nc#9 c\n"]
)
def test_the_document_is_told_by_a_file(text, tmp_path):
    (tmp_path / "parts").write_text(text)
    for path in (tmp_path / "parts", str(tmp_path / "parts")):
        assert dict(Run(CHUNKS).rolled_up(path)["q"]) == DOCUMENTS


def test_ids_that_are_no_parts_stay():
    assert dict(Run({"q": {"a": 1.0, "#b": 0.5}}).rolled_up("#")["q"]) == {"a": 1.0, "#b": 0.5}


def test_the_last_separator_counts():
    assert dict(Run({"q": {"a#x#1": 1.0}}).rolled_up("#")["q"]) == {"a#x": 1.0}


def test_judgements_have_the_highest_grade_of_the_parts():
    qrels = Qrels({"q": {"a#1": 0, "a#2": 2, "b#1": 1, "c#1": -1}})
    assert dict(qrels.rolled_up("#")["q"]) == {"a": 2, "b": 1, "c": -1}


def test_runs_are_rolled_up_together():
    runs = Runs({"one": CHUNKS, "two": CHUNKS}).rolled_up("#")
    assert [dict(runs[name]["q"]) for name in runs] == [DOCUMENTS, DOCUMENTS]


@pytest.mark.parametrize("rule", ["", None, 3, "(unclosed", "(a)(b)", r"a(?:b)"])
def test_what_tells_no_document_is_refused(rule):
    with pytest.raises(OptionError):
        Run(CHUNKS).rolled_up(rule)


def test_a_part_with_two_documents_is_an_error(tmp_path):
    (tmp_path / "parts").write_text("a#1,a\na#1,b\n")
    with pytest.raises(ValueError, match="belongs to 'b' here and to 'a' above"):
        Run(CHUNKS).rolled_up(tmp_path / "parts")


@pytest.mark.parametrize("separator", ["#", "::", ":", "@", "|", "_", "-", "/"])
def test_the_error_offers_it_and_doing_it_works(separator):
    run = Run({"q": {f"a{separator}2": 0.9, f"x{separator}1": 0.8}})
    with pytest.raises(MismatchError) as error:
        evaluate({"q": {"x": 1}}, run, "RR")

    offered = re.search(r"rolled_up\('(.+?)'\)", error.value.hint)
    assert offered is not None, error.value.hint
    assert evaluate({"q": {"x": 1}}, run.rolled_up(offered[1]), "RR")["RR"] == 1 / 2


def test_judged_chunks_are_told_from_judged_documents():
    qrels = Qrels({"q": {"x#1": 1, "x#7": 1}})
    with pytest.raises(MismatchError, match="no document id") as error:
        evaluate(qrels, {"q": ["a", "x"]}, "RR")
    assert "qrels.rolled_up('#')" in error.value.hint
    assert evaluate(qrels.rolled_up("#"), {"q": ["a", "x"]}, "RR")["RR"] == 1 / 2
