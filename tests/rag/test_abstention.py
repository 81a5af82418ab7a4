"""Questions without an answer: what they count for, and how well scores tell them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from rag_cases import cases

from goldrank import Answers, abstention_curve, evaluate_texts
from goldrank.base.errors import InputError, MeasureError, NoRelevantError
from goldrank.conventions import Convention

ANSWERED = {"id": "a", "retrieved": [["gold", 0.9]], "references": ["gold"]}
JUNK = {"id": "b", "retrieved": [["junk", 0.4]], "answerable": False}
SILENT = {"id": "c", "retrieved": [], "no_answer": True}
ITEMS = [ANSWERED, JUNK, SILENT]


def golden_items(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """Questions whose Cover is that of the case: by halves."""
    items = []
    for score, answerable, cover in zip(inputs["confidence"], inputs["answerable"], inputs["cover"], strict=True):
        texts = ["one two" if cover == 1 else "one"]
        item: dict[str, Any] = {"retrieved": [{"text": text, "score": score} for text in texts]}
        item |= {"references": ["one", "two"]} if answerable else {"answerable": False}
        items.append(item)
    return items


@pytest.mark.parametrize("case", cases("abstention"), ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    expected = dict(case["expected"])
    at = expected.pop("at 0.5")
    items = golden_items(case["inputs"])
    found = evaluate_texts(items, [*expected, *at], matching="contains-words", answers=Answers(abstain_below=0.5))
    for measure, value in {**expected, **at}.items():
        assert found[measure] == pytest.approx(value, abs=1e-12), measure


def test_no_value_in_coverage() -> None:
    scores = evaluate_texts(ITEMS, ["Cover@5", "RR", "nDCG", "P@1"], matching="contains")
    assert scores.mean == {"Cover@5": 1.0, "RR": 1.0, "nDCG": 1.0, "P@1": 1.0}
    assert scores.n["Cover@5"] == 1
    assert [note.code for note in scores.notes if note.code == "no-references"] == []
    assert "unanswerable" in [note.code for note in scores.notes]


@pytest.mark.parametrize("extra", [{}, {"answerable": False}])
def test_empty_does_not_reward_junk(extra: dict[str, Any]) -> None:
    items = [ANSWERED, {"retrieved": ["junk"], "references": [], **extra}, {"retrieved": [], "references": [], **extra}]
    values = (
        evaluate_texts(items, "Cover", matching="contains", convention=Convention("trec_eval-10", empty="one"))
        .columns["Cover"]
        .values
    )
    assert values.tolist() == [1.0, 0.0, 1.0]


def test_missing_references_stay_a_note() -> None:
    scores = evaluate_texts([ANSWERED, {"retrieved": ["x"], "references": []}], "Cover", matching="contains")
    assert scores["Cover"] == 0.5
    assert "no-references" in [note.code for note in scores.notes]


def test_empty_is_no_error_for_the_unanswerable() -> None:
    assert (
        evaluate_texts(ITEMS, "Cover", matching="contains", convention=Convention("trec_eval-10", empty="error"))[
            "Cover"
        ]
        == 1.0
    )
    with pytest.raises(NoRelevantError):
        evaluate_texts(
            [*ITEMS, {"retrieved": ["x"], "references": []}],
            "Cover",
            matching="contains",
            convention=Convention("trec_eval-10", empty="error"),
        )


def test_by_place_too() -> None:
    items = [
        {
            "retrieved": [{"text": "gold", "source": "s", "start": 0}],
            "evidence": [{"source": "s", "start": 0, "end": 4}],
        },
        {"retrieved": [{"text": "gold", "source": "s", "start": 0}], "answerable": False},
    ]
    scores = evaluate_texts(items, "SpanRecall@5")
    assert scores["SpanRecall@5"] == 1.0
    assert scores.n["SpanRecall@5"] == 1


def test_abstaining() -> None:
    scores = evaluate_texts(ITEMS, ["AbstainRight", "AbstainWrong", "SelectiveCover@1"], matching="contains")
    assert scores.mean == {"AbstainRight": 0.5, "AbstainWrong": 0.0, "SelectiveCover@1": 2 / 3}
    (ends,) = [note for note in scores.notes if note.code == "selective-ends"]
    assert (ends.fact("answering"), ends.fact("abstaining")) == (1 / 3, 2 / 3)
    strict = evaluate_texts(ITEMS, "SelectiveCover@1", matching="contains", answers=Answers(abstain_below=0.95))
    assert strict["SelectiveCover@1"] == 2 / 3


def test_all_may_be_unanswerable() -> None:
    assert evaluate_texts([JUNK, SILENT], ["AbstainRight"])["AbstainRight"] == 0.5
    assert math.isnan(evaluate_texts([JUNK, SILENT], ["Cover"])["Cover"])


def test_scores_are_needed_where_they_count() -> None:
    items = [ANSWERED, {"retrieved": ["x"], "answerable": False, "id": "bare"}]
    for measure in ("AUROC", "AURC", "AbstainRight(abstain_below=0.5)"):
        with pytest.raises(MeasureError, match="bare"):
            evaluate_texts(items, measure, matching="contains")
    assert evaluate_texts(items, "AbstainRight")["AbstainRight"] == 0.0


def test_scores_beside_texts() -> None:
    items = [
        {"retrieved": ["gold", "x"], "scores": [0.9, 0.1], "references": ["gold"]},
        {"retrieved": ["y"], "scores": [0.3], "answerable": False},
    ]
    assert evaluate_texts(items, "AUROC", matching="contains")["AUROC"] == 1.0
    with pytest.raises(InputError):
        evaluate_texts([{"retrieved": ["gold", "x"], "scores": [0.9], "references": ["gold"]}], "Cover")


@pytest.mark.parametrize("said", [{"answerable": "maybe"}, {"answerable": True, "no_answer": True}])
def test_what_is_not_understood(said: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        evaluate_texts([{"retrieved": ["x"], "references": ["x"], **said}], "Cover")


def test_references_of_the_unanswerable_are_left_out_and_told() -> None:
    scores = evaluate_texts([ANSWERED, {**JUNK, "references": ["junk"]}], "Cover", matching="contains")
    assert scores["Cover"] == 1.0
    assert "unanswerable-references" in [note.code for note in scores.notes]


def test_from_files(tmp_path: Path) -> None:
    lines = tmp_path / "items.jsonl"
    lines.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    table = tmp_path / "items.csv"
    table.write_text('id,retrieved,references,answerable\na,"[""gold""]","[""gold""]",\nb,"[""junk""]",,false\n')
    for file, right in ((lines, 0.5), (table, 0.0)):
        assert evaluate_texts(str(file), "AbstainRight", matching="contains")["AbstainRight"] == right


def many(count: int) -> list[dict[str, Any]]:
    """Answerable questions score above 0.5, unanswerable ones below."""
    items: list[dict[str, Any]] = []
    for i in range(count):
        score = (i % 50) / 100
        if i % 2:
            items.append({"id": f"q{i}", "retrieved": [["gold", 0.5 + score]], "references": ["gold"]})
        else:
            items.append({"id": f"q{i}", "retrieved": [["gold", score]], "answerable": False})
    return items


def test_a_threshold_is_chosen_on_one_half_and_reported_on_the_other() -> None:
    curve = abstention_curve(many(200), matching="contains")
    assert curve.chosen is not None
    assert 0.48 < curve.chosen.threshold <= 0.51
    assert curve.chosen.chosen_on == curve.chosen.reported_on == 100
    assert curve.chosen.value == 1.0
    assert curve.chosen.answering == curve.chosen.abstaining == 0.5
    assert [point.wrong for point in curve.points] == sorted(point.wrong for point in curve.points)
    assert curve.points[0].right == 0.0
    assert curve.points[-1].wrong == 1.0
    assert "SelectiveCover" in str(curve)


def test_too_few_to_choose() -> None:
    assert abstention_curve(ITEMS, matching="contains").chosen is None
