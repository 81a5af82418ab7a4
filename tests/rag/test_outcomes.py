"""Retrieved x answered right: who is at fault for wrong answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldrank import find_causes, read_items
from goldrank.base.errors import InputError
from goldrank.rag import causes_report as report

RETRIEVED, MISSED = ["one two"], ["something else"]


def _item(number: int, retrieved: list[str], correct: object) -> dict[str, Any]:
    return {"id": str(number), "retrieved": retrieved, "references": ["one", "two"], "correct": correct}


ITEMS = [
    *(_item(number, RETRIEVED, True) for number in range(3)),
    _item(3, RETRIEVED, False),
    _item(4, MISSED, "wrong"),
    _item(5, ["one alone"], 0),
    _item(6, MISSED, "right"),
    _item(7, MISSED, None),
    {"id": "8", "retrieved": RETRIEVED, "answerable": False, "correct": True},
    {"id": "9", "retrieved": RETRIEVED, "answerable": False, "correct": False},
]


def _wilson(count: int, total: int) -> tuple[float, float]:
    stats = pytest.importorskip("scipy.stats")
    ends = stats.binomtest(count, total).proportion_ci(method="wilson")
    return ends.low, ends.high


def test_four_cells_with_wilsons_intervals() -> None:
    """Of seven answers whose outcome is known; half of what is needed is not all of it."""
    outcomes = find_causes(ITEMS, matching="contains").outcomes
    assert outcomes is not None
    cells = {(cell.retrieved, cell.right): cell for cell in outcomes.cells}
    counts = {(True, True): 3, (True, False): 1, (False, True): 1, (False, False): 2}
    assert {key: cell.questions for key, cell in cells.items()} == counts
    for key, count in counts.items():
        assert cells[key].share == pytest.approx(count / 7)
        assert tuple(cells[key].interval) == pytest.approx(_wilson(count, 7))
    assert cells[False, True].meaning == "known or guessed: no credit to retrieval"


def test_the_sentence_says_who_is_at_fault() -> None:
    causes = find_causes(ITEMS, matching="contains")
    assert causes.outcomes is not None
    low, high = _wilson(2, 3)
    expected = (
        f"The retriever is at fault for 2 of 3 wrong answers (95% interval of the share: {low:.3f} to {high:.3f})."
    )
    assert causes.outcomes.sentence == expected
    assert expected in str(causes)
    assert expected in report.page(causes)


def test_questions_without_an_answer_are_counted_apart() -> None:
    outcomes = find_causes(ITEMS, matching="contains").outcomes
    assert outcomes is not None
    assert outcomes.unanswerable == {True: 1, False: 1}
    assert outcomes.unknown == 1
    assert "Questions without an answer: 1 dealt with right, 1 wrong." in str(outcomes)
    assert json.loads(json.dumps(outcomes.to_dict()))["unanswerable"] == {"right": 1, "wrong": 1}


def test_what_is_retrieved_is_what_the_context_holds() -> None:
    """Beyond k, and beyond the budget, nothing was given to the model."""
    item = {"id": "q", "retrieved": ["x x x", "one"], "references": ["one"], "correct": False}
    for options in ({"k": 1}, {"k": None, "budget": 3}):
        outcomes = find_causes([item], matching="contains", **options).outcomes
        assert outcomes is not None
        assert outcomes.counts == {(False, False): 1}


def test_evidence_by_place_and_results_beside_gold() -> None:
    results = [{"id": "q", "retrieved": [{"text": "abc", "source": "doc", "start": 0, "end": 3}], "outcome": "pass"}]
    gold = [{"id": "q", "evidence": [{"source": "doc", "start": 0, "end": 3}]}]
    outcomes = find_causes(read_items(results, gold=gold)).outcomes
    assert outcomes is not None
    assert outcomes.counts == {(True, True): 1}
    assert outcomes.sentence == "No answer is wrong."


def test_nothing_is_said_where_nothing_is_known() -> None:
    causes = find_causes([{"retrieved": ["one"], "references": ["one"]}])
    assert causes.outcomes is None
    assert "Answers" not in report.page(causes)
    assert causes.to_dict()["outcomes"] is None


def test_another_meaning_of_the_field_is_an_error_with_a_way_out() -> None:
    with pytest.raises(InputError, match="not true or false") as error:
        find_causes([_item(0, RETRIEVED, "Paris")])
    assert "fields={'correct': None}" in str(error.value)
    assert find_causes(read_items([_item(0, RETRIEVED, "Paris")], fields={"correct": None})).outcomes is None
