"""Nuggets: the values of nuggetizer's and open-rag-eval's own code, and cases worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import places
import pytest

from goldrank import Answers, Convention, evaluate_texts, read_items
from goldrank.base.errors import InputError, MeasureError

CASES = json.loads((places.TESTS / "files" / "golden" / "answers.json").read_text(encoding="utf-8"))["cases"]
NUGGETIZER = [case for case in CASES if case["group"] == "nuggetizer" and case["inputs"]["records"]]
OPEN_RAG_EVAL = [case for case in CASES if case["group"] == "open_rag_eval" and "nuggets" in case["inputs"]]
OURS = {
    "strict_vital_score": "NuggetVital(strict=True)",
    "strict_all_score": "Nugget(strict=True)",
    "vital_score": "NuggetVital",
    "all_score": "Nugget",
}


@pytest.mark.parametrize("case", NUGGETIZER, ids=[case["id"] for case in NUGGETIZER])
def test_values_of_nuggetizer(case: dict[str, Any]) -> None:
    """Its lines are read as they are, and its names of measures are understood."""
    scores = evaluate_texts(case["inputs"]["records"], list(OURS))
    for theirs, ours in OURS.items():
        assert scores[ours] == pytest.approx(case["expected"]["all"][theirs], abs=1e-9)
        for expected in case["expected"]["per"]:
            by_query = dict(zip(scores.queries, scores.column(ours).values, strict=True))
            assert by_query[expected["qid"]] == pytest.approx(expected[theirs], abs=1e-9)


@pytest.mark.parametrize("case", OPEN_RAG_EVAL, ids=[case["id"] for case in OPEN_RAG_EVAL])
def test_values_of_open_rag_eval(case: dict[str, Any]) -> None:
    """V and O are at least 1 there."""
    names = {
        "All": "Nugget",
        "All Strict": "Nugget(strict=True)",
        "Vital": "NuggetVital",
        "Vital Strict": "NuggetVital(strict=True)",
        "Weighted": "NuggetWeighted(least=1)",
        "Weighted Strict": "NuggetWeighted(least=1, strict=True)",
    }
    other = {"id": "other", "nuggets": [{"text": "n", "importance": "vital", "assignment": "support"}]}
    scores = evaluate_texts([{"id": "q", "nuggets": case["inputs"]["nuggets"]}, other], list(names.values()))
    assert scores.queries[0] == "q"
    for theirs, column in zip(names, scores.columns.values(), strict=True):
        assert column.values[0] == pytest.approx(case["expected"][theirs], abs=1e-9)


def _nuggets(vital: str, okay: str) -> list[dict[str, str]]:
    words = {"S": "support", "P": "partial_support", "N": "not_support"}
    marked = [("vital", mark) for mark in vital] + [("okay", mark) for mark in okay]
    return [
        {"text": f"fact {i}", "importance": importance, "assignment": words[mark]}
        for i, (importance, mark) in enumerate(marked)
    ]


@pytest.mark.parametrize(
    ("vital", "okay", "weighted"),
    [
        ("SPN", "SPN", (1.5 + 0.5 * 1.5) / (3 + 1.5)),
        ("SS", "", 1.0),
        ("", "SN", 1 / 2),
        ("SN", "S", (1 + 0.5) / (2 + 0.5)),
    ],
)
def test_weighted_by_hand(vital: str, okay: str, weighted: float) -> None:
    scores = evaluate_texts([{"nuggets": _nuggets(vital, okay)}], "NuggetWeighted")
    assert scores["NuggetWeighted"] == pytest.approx(weighted)


def test_the_usual_measures_of_nuggets_and_questions_without_any() -> None:
    """As in nuggetizer they count as 0; they have no weighted value, and a convention may leave them out."""
    items = [{"id": "a", "nuggets": _nuggets("S", "")}, {"id": "b", "nuggets": []}]
    scores = evaluate_texts(items)
    assert scores.mean == {"Nugget": 0.5, "NuggetVital": 0.5, "NuggetWeighted": 1.0}
    assert "1 question has no nuggets: b" in [str(note).replace("'", "") for note in scores.notes]
    assert evaluate_texts(items, convention=Convention("trec_eval-10", empty="skip")).mean["Nugget"] == 1


def test_support_text_by_text_is_the_best_of_the_first_k() -> None:
    nuggets = [
        {"text": "a", "importance": "vital", "support": ["none", "partial", "full"]},
        {"text": "b", "importance": "okay", "support": ["partial", "none", "none"]},
    ]
    scores = evaluate_texts([{"retrieved": ["x", "y", "z"], "nuggets": nuggets}], [f"Nugget@{k}" for k in (1, 2, 3)])
    assert list(scores.mean.values()) == [0.25, 0.5, 0.75]


def test_nuggets_that_nobody_assigned_are_looked_for_in_the_texts() -> None:
    """Then the strict vital score is Cover of what is vital."""
    nuggets = [{"text": "one", "importance": "vital"}, {"text": "two", "importance": "vital"}, "three"]
    item = {"retrieved": ["three", "one"], "nuggets": nuggets}
    scores = evaluate_texts([item], ["NuggetVital", "NuggetVital@1", "Nugget"], matching="contains")
    assert list(scores.mean.values()) == pytest.approx([1 / 2, 0, 2 / 3])
    judged = Answers(judge=lambda text, claim: claim == "two")
    assert evaluate_texts([item], "NuggetVital", answers=judged)["NuggetVital"] == 0.5


def test_references_with_an_importance_are_nuggets() -> None:
    references = [{"text": "one", "importance": "vital"}, {"text": "two", "importance": "okay"}]
    scores = evaluate_texts([{"retrieved": ["one"], "references": references}], "NuggetWeighted", matching="contains")
    assert scores["NuggetWeighted"] == pytest.approx(1 / 1.5)


def test_gold_and_answers_of_two_files() -> None:
    gold = [{"id": "q", "nuggets": _nuggets("SN", "")}]
    items = read_items([{"id": "q", "retrieved": ["x"]}], gold=gold)
    assert evaluate_texts(items)["Nugget"] == 0.5


def test_labels_that_are_not_known_are_said() -> None:
    nuggets = [{"text": "a", "importance": "Vital", "assignment": "Support"}]
    scores = evaluate_texts([{"nuggets": nuggets}])
    assert any(note.code == "unknown-nugget-labels" and note.fact("count") == 2 for note in scores.notes)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(InputError, match="2 labels for 1 retrieved texts"):
        evaluate_texts([{"retrieved": ["x"], "nuggets": [{"text": "a", "support": ["full", "none"]}]}])
    with pytest.raises(InputError, match="not a nugget"):
        evaluate_texts([{"nuggets": [{"importance": "vital"}]}])
    with pytest.raises(InputError, match="no question has nuggets"):
        evaluate_texts([{"nuggets": []}], "Nugget")
    with pytest.raises(MeasureError, match="no budget"):
        evaluate_texts([{"nuggets": _nuggets("S", "")}], "Nugget(tokens=5)")
