"""Texts of documents for reports, in any form; what is not a text of a judged document is refused or left out."""

import json

import polars
import pytest
from raising import raises_code

from goldrank import Document, Scores, Statistics, compare
from goldrank.base.errors import InputError

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
RUNS = {"a": {"q1": ["d1", "x"], "q2": ["x", "d3"]}, "b": {"q1": ["d2", "d1"], "q2": ["d3"]}}
ROWS = [
    {"_id": "d1", "title": "One", "text": "first\ntext"},
    {"_id": "d3", "text": "third"},
    {"_id": "y", "text": "no"},
]
FOUND = {"d1": "One. first text", "d3": "third"}


def documents(given):
    """The first line of each document that a comparison knows."""
    comparison = compare(QRELS, RUNS, "RR", statistics=Statistics(samples=100)).with_documents(given)
    return {doc: document.line() for doc, document in comparison.documents.items()}


def test_every_form_gives_the_same(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    assert documents(path) == FOUND
    assert documents({row["_id"]: row for row in ROWS}) == FOUND
    assert documents(polars.DataFrame([{"title": "", **row} for row in ROWS])) == FOUND
    assert documents({"d1": "One. first text", "d3": "third", "d2": None}.get) == FOUND


def test_long_texts_are_cut():
    assert documents({"d1": "word " * 1_000})["d1"].startswith("word word")
    assert len(documents({"d1": "word " * 1_000})["d1"]) == 300


@pytest.mark.parametrize(
    "given", [{"z": "text"}, 3, polars.DataFrame({"name": ["d1"]}), polars.DataFrame({"_id": ["d1"]})]
)
def test_what_is_no_text_is_refused(given):
    with pytest.raises(InputError, match="document"):
        documents(given)


def test_scores_have_no_documents():
    scores = compare(QRELS, RUNS, "RR", statistics=Statistics(samples=100)).scores
    assert compare(scores).with_documents({"d1": "x"}).documents == {"d1": Document("x")}
    saved = {name: Scores.from_dict(one.to_dict()) for name, one in scores.items()}
    with raises_code(InputError, "no-meaning-for-scores", match="documents"):
        compare(saved).with_documents({"d1": "x"})
