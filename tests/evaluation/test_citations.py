"""Citations of answers: by ids as BrowseComp-Plus counts them, by support as worked out by hand; files of TREC."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import places
import pytest

from goldrank import evaluate_texts, read_items
from goldrank.base.errors import InputError

CASES = json.loads((places.FILES / "golden" / "answers.json").read_text(encoding="utf-8"))["cases"]
ANSWERS = [
    (case["id"], case["inputs"]["qrels"], each)
    for case in CASES
    if case["group"] == "browsecomp_plus"
    for each in case["expected"].get("per_file", [])
    if each["citations"] is not None
]
MEASURES = ["CitationPrecision", "CitationRecall", "CitationInvented", "CitationUsed"]


@pytest.mark.parametrize(
    ("case", "qrels", "answer"), ANSWERS, ids=[f"{name}-{each['query_id']}" for name, _, each in ANSWERS]
)
def test_values_of_browsecomp_plus(case: str, qrels: dict[str, list[str]], answer: dict[str, Any]) -> None:
    """It has 0 for an answer that cites nothing, and leaves that out of its means: here it has no value."""
    query, citations = answer["query_id"], answer["citations"]
    item = {
        "id": query,
        "retrieved_ids": answer["retrieved"],
        "expected_ids": qrels[query],
        "cited_ids": citations["cited"],
    }
    scores = evaluate_texts([item], MEASURES[:2])
    values = [column.values[0] for column in scores.columns.values()]
    if citations["cited"]:
        assert values == pytest.approx([citations["precision"], citations["recall"]], abs=1e-9)
    else:
        assert np.isnan(values).all()
        assert any(note.code == "nothing-cited" for note in scores.notes)


def test_invented_and_used_by_hand() -> None:
    """Cited are a, b, x: x was not retrieved. Of the relevant a, b, c and d, a, b, c were; a and b are used."""
    item = {
        "id": "q",
        "retrieved_ids": ["a", "b", "c", "y"],
        "expected_ids": ["a", "b", "c", "d"],
        "cited_ids": ["a", "b", "x"],
    }
    assert list(evaluate_texts([item], MEASURES).mean.values()) == pytest.approx([2 / 3, 2 / 4, 1 / 3, 2 / 3])


def test_support_by_hand() -> None:
    """Sentence 1 cites d1 (full); 2 cites d1 (none) and d2 (partial); 3 cites nothing: (1 + 0 + .5) / 3 for both."""
    sentences = [
        {"text": "One.", "citations": ["d1"], "support": ["full"]},
        {"text": "Two.", "citations": ["d1", "d2"], "support": {"d1": "none", "d2": "partial"}},
        {"text": "Three.", "citations": []},
    ]
    measures = ['CitationPrecision(of="support")', 'CitationRecall(of="support")']
    scores = evaluate_texts([{"id": "q", "sentences": sentences}], measures)
    assert list(scores.mean.values()) == pytest.approx([0.5, 0.5])


def test_a_document_that_a_sentence_cites_twice_is_one_pair() -> None:
    sentences = [{"text": "One.", "citations": ["d1", "d1"], "support": ["partial", "partial"]}]
    scores = evaluate_texts([{"id": "q", "sentences": sentences}], 'CitationPrecision(of="support")')
    assert next(iter(scores.mean.values())) == 0.5


TREC_2024 = {
    "run_id": "r", "topic_id": "1", "topic": "why?", "references": ["d1", "d2", "d9"], "response_length": 4,
    "answer": [{"text": "So.", "citations": [0, 1]}, {"text": "Thus.", "citations": [2]}],
}  # fmt: skip
TREC_2025 = {
    "metadata": {"team_id": "t", "run_id": "r", "type": "auto", "narrative_id": 1, "narrative": "why?"},
    "references": ["d1", "d2", "d9"],
    "answer": [{"text": "So.", "citations": ["d1", 1]}, {"text": "Thus.", "citations": ["d9"]}],
}
RAGTIME = {
    "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"},
    "responses": [{"text": "So.", "citations": {"d1": 0.9, "d2": 0.1}}, {"text": "Thus.", "citations": ["d9"]}],
    "references": ["d1", "d2", "d9"],
}


@pytest.mark.parametrize("answer", [TREC_2024, TREC_2025, RAGTIME])
def test_answers_of_trec_beside_judgements(answer: dict[str, Any]) -> None:
    """Cited are d1, d2 and d9; relevant are d1, d2, d3 and d4."""
    gold = [{"id": "1", "expected_ids": ["d1", "d2", "d3", "d4"]}]
    scores = evaluate_texts(read_items([answer], gold=gold), MEASURES[:2])
    assert list(scores.mean.values()) == pytest.approx([2 / 3, 2 / 4])


def test_what_was_retrieved_is_not_made_up() -> None:
    """Where nobody says what was retrieved, nothing is said of invented citations."""
    scores = evaluate_texts([{"id": "q", "cited_ids": ["a"], "expected_ids": ["a"]}], MEASURES[2:])
    assert np.isnan(list(scores.mean.values())).all()


def test_texts_with_ids_beside_ids_that_are_relevant() -> None:
    item = {"id": "q", "retrieved": [{"text": "one", "id": "a"}], "references": ["one"], "expected_ids": ["a", "b"],
            "cited_ids": ["a", "z"]}  # fmt: skip
    scores = evaluate_texts([item], ["Cover@5", *MEASURES])
    assert list(scores.mean.values()) == pytest.approx([1, 1 / 2, 1 / 2, 1 / 2, 1])


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(InputError, match="cites 7, and there are 3 references"):
        evaluate_texts([{**TREC_2024, "answer": [{"text": "So.", "citations": [7]}]}], "CitationPrecision")
    with pytest.raises(InputError, match="1 labels of support for 2 citations"):
        evaluate_texts([{"id": "q", "sentences": [{"citations": ["a", "b"], "support": ["full"]}]}], "CitationRecall")
    with pytest.raises(InputError, match="no question has an answer with citations"):
        evaluate_texts([{"id": "q", "retrieved_ids": ["a"], "expected_ids": ["a"]}], "CitationRecall")
