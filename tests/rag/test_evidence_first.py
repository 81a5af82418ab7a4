"""Where questions have evidence by place, everything goes by it; a reference answer serves claims alone."""

from __future__ import annotations

import numpy as np
import pytest

import goldrank
from goldrank import Evidence, abstention_curve, evaluate_texts, find_causes, read_items, sweep
from goldrank.base.errors import InputError

TEXT = "The first fact. The second fact. The third fact."


def _chunk(start: int, end: int, score: float = 0.5) -> dict[str, object]:
    return {"text": TEXT[start:end], "source": "doc", "start": start, "end": end, "score": score}


def _evidence(start: int, end: int) -> dict[str, object]:
    return {"source": "doc", "start": start, "end": end}


FOUND = {"id": "found", "retrieved": [_chunk(0, 15, 0.9)], "evidence": [_evidence(4, 14)]}
HALF = {"id": "half", "retrieved": [_chunk(0, 15, 0.8)], "evidence": [_evidence(0, 15), _evidence(16, 32)]}
MISSED = {"id": "missed", "retrieved": [_chunk(33, 48, 0.3)], "evidence": [_evidence(0, 15)]}
NONE = {"id": "none", "retrieved": [_chunk(33, 48, 0.2)], "answerable": False}
TOGETHER = {"all_of": [_evidence(0, 15), _evidence(16, 32)]}
ITEMS = [FOUND, HALF, MISSED, NONE]


def _with_answer(item: dict[str, object]) -> dict[str, object]:
    return {**item, "reference": "Nothing of this is in a text."}


@pytest.mark.parametrize("items", [ITEMS, ITEMS[:3], [_with_answer(item) for item in ITEMS]])
def test_the_usual_measures_are_of_evidence(items: list[dict[str, object]]) -> None:
    """Recall: 1, 1/2 and 0 of the pieces; all: 1, 0, 0. A question without an answer has no value."""
    scores = evaluate_texts(items)
    assert list(scores.mean) == ["EvidenceRecall@5", "EvidenceAll@5", "SpanRecall@5", "SpanPrecision@5"]
    assert scores["EvidenceRecall@5"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert scores["EvidenceAll@5"] == pytest.approx(1 / 3)
    assert scores["SpanRecall@5"] == pytest.approx((1 + 15 / 31 + 0) / 3)
    assert scores["SpanPrecision@5"] == pytest.approx((10 / 15 + 1 + 0) / 3)


def test_evidence_of_gold_beside_sources() -> None:
    """The same where texts are looked for in the sources, and what is needed stands in another file."""
    results = [{"id": item["id"], "retrieved": [text["text"] for text in item["retrieved"]]} for item in ITEMS]  # type: ignore[attr-defined]
    gold = [{key: value for key, value in item.items() if key != "retrieved"} for item in map(_with_answer, ITEMS)]
    scores = evaluate_texts(read_items(results, gold=gold), evidence=Evidence({"doc": TEXT}))
    assert scores["EvidenceRecall@5"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("measure", ["Cover@5", "nDCG@10", "AP", "RR", "P@5"])
def test_measures_of_references_are_refused_where_there_is_evidence_alone(measure: str) -> None:
    with pytest.raises(InputError, match="no question has a reference text") as error:
        evaluate_texts(ITEMS, measure)
    assert "EvidenceRecall@5" in str(error.value)


def test_claims_of_the_answer_are_still_measured() -> None:
    item = {**FOUND, "reference": "The first fact. Another one."}
    scores = evaluate_texts([item], ["context_recall", "EvidenceRecall@5"], matching="contains")
    assert scores.mean == {"context_recall": 0.5, "EvidenceRecall@5": 1.0}


def test_references_of_their_own_stay_beside_evidence() -> None:
    item = {**FOUND, "references": ["The first fact"]}
    assert evaluate_texts([item], "Cover@5", matching="contains")["Cover@5"] == 1
    assert "EvidenceRecall@5" in evaluate_texts([item]).mean


def test_causes_go_by_evidence() -> None:
    causes = find_causes([_with_answer(item) for item in ITEMS], evidence=Evidence({"doc": TEXT}))
    assert causes.of_questions["found"] == "covered"
    assert "none" not in causes.of_questions
    both = find_causes([{**FOUND, "references": ["not in any text"]}])
    assert dict(both) == {"covered": 1}


def test_sweeps_go_by_evidence() -> None:
    swept = sweep({"a": [_with_answer(item) for item in ITEMS]}, k=[1])
    assert swept.measure == "EvidenceRecall"
    assert [row.mean for row in swept.values()] == pytest.approx([1 / 2])


def test_abstention_goes_by_evidence() -> None:
    """Scores 0.9, 0.8 and 0.3 of questions with an answer stand above 0.2, that of the one without.

    Abstaining below 0.25: (1 + 1/2 + 0 + 1) / 4; AURC: losses 0, 1/2, 1, 1 in order of scores, so the mean of
    0, 1/4, 1/2 and 5/8.
    """
    measures = ["AbstainAUROC", "AbstainRight", "AbstainWrong", "SelectiveCover@5", "AURC@5"]
    scores = evaluate_texts(ITEMS, measures, answers=goldrank.Answers(abstain_below=0.25))
    assert list(scores.mean.values()) == pytest.approx([1, 1, 0, 2.5 / 4, (0 + 1 / 4 + 1 / 2 + 5 / 8) / 4])
    cautious = evaluate_texts(ITEMS, "SelectiveCover@5", answers=goldrank.Answers(abstain_below=1.0))
    assert next(iter(cautious.mean.values())) == pytest.approx(1 / 4)


def test_a_budget_of_tokens_of_selective_cover_is_that_of_evidence() -> None:
    """Two texts of three words are needed together: six words hold both, and five only the first."""
    item = {"id": "q", "retrieved": [_chunk(0, 15), _chunk(16, 32)], "evidence": [TOGETHER]}
    for pack in ("prefix", "skip", "truncate"):
        measures = [f'SelectiveCover(tokens={budget}, pack="{pack}")' for budget in (5, 6)]
        assert list(evaluate_texts([item, NONE], measures).mean.values()) == [0.0, 0.5]


def test_thresholds_go_by_evidence() -> None:
    points = abstention_curve(ITEMS, "SelectiveCover@5").points
    assert [(point.threshold, point.right, point.wrong) for point in points] == [
        (0.2, 0, 0), (0.3, 1, 0), (0.8, 1, pytest.approx(1 / 3)), (0.9, 1, pytest.approx(2 / 3)), (np.inf, 1, 1)
    ]  # fmt: skip
    assert [point.selective for point in points] == pytest.approx([1.5 / 4, 2.5 / 4, 2.5 / 4, 2 / 4, 1 / 4])


def test_tokens_of_texts_with_evidence() -> None:
    assert evaluate_texts(ITEMS, "Tokens@5")["Tokens@5"] == 3


def test_bare_texts_are_no_evidence_by_place() -> None:
    """Data sets of questions have fields called evidence that say no place."""
    item = {"retrieved": ["It rains."], "references": ["It rains."], "evidence": ["It rains."]}
    assert evaluate_texts([item])["Cover@5"] == 1
