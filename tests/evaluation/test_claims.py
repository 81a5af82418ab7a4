"""Measures against a reference answer, and the names that people type."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from rag_cases import cases
from raising import raises_code

from goldrank import Answers, Scores, evaluate, evaluate_texts
from goldrank.base.errors import GoldrankError, InputError, MeasureError
from goldrank.measures import parse

RAGAS = {
    "user_input": "When was the tower built?",
    "retrieved_contexts": ["Paris is large.", "The tower was built in 1889.", "Eiffel was an engineer."],
    "reference": "The tower was built in 1889. Eiffel's firm designed it.",
}


@pytest.mark.parametrize("case", cases("ragas"), ids=lambda case: case["id"])
def test_golden_without_a_model(case: dict[str, Any]) -> None:
    found = evaluate_texts([case["inputs"]], list(case["expected"]))
    assert dict(found) == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("case", cases("ragas_entities"), ids=lambda case: case["id"])
def test_golden_entities(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    item = {"retrieved": ["; ".join(inputs["context_entities"])], "reference": "the answer"}
    found = evaluate_texts([item], "EntityRecall", answers=Answers(entities=lambda text: inputs["reference_entities"]))
    assert found["EntityRecall"] == pytest.approx(case["expected"]["EntityRecall"], abs=1e-12)


@pytest.mark.parametrize("case", cases("ragas_noise"), ids=lambda case: case["id"])
def test_golden_noise(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    of_reference, of_answer = inputs["reference_claims_by_context"], inputs["answer_claims_by_context"]
    supports = {
        **{(f"t{t}", f"r{c}"): yes for c, row in enumerate(of_reference) for t, yes in enumerate(row)},
        **{(f"t{t}", f"a{c}"): yes for c, row in enumerate(of_answer) for t, yes in enumerate(row)},
        **{("reference", f"a{c}"): yes for c, yes in enumerate(inputs["answer_claim_correct"])},
    }
    cuts = {
        "reference": [f"r{c}" for c in range(len(of_reference))],
        "answer": [f"a{c}" for c in range(len(of_answer))],
    }
    item = {
        "retrieved": [f"t{t}" for t in range(len(of_reference[0]))],
        "reference": "reference",
        "response": "answer",
    }
    measures = ["noise_sensitivity", 'noise_sensitivity(mode="irrelevant")']
    found = evaluate_texts(
        [item],
        measures,
        answers=Answers(judge=lambda text, claim: bool(supports[text, claim]), claims=cuts.__getitem__),
    )
    expected = case["expected"]
    assert list(found.mean.values()) == pytest.approx([expected["relevant"], expected["irrelevant"]], abs=1e-12)


def test_claims_are_sentences() -> None:
    scores = evaluate_texts([RAGAS], ["context_recall", "context_precision", "context_recall@1"])
    # The second text holds the first of two claims: precision 1/2 at the only useful text.
    assert dict(scores) == {"context_recall": 0.5, "context_precision": 0.5, "context_recall@1": 0.0}
    assert scores.counts["references"] == 2
    assert "misses-cost-nothing" in [note.code for note in scores.notes]
    shown = scores.explain("1")
    assert [reference.texts[0] for reference in shown.references] == [
        "The tower was built in 1889.",
        "Eiffel's firm designed it.",
    ]


def test_a_function_cuts_claims() -> None:
    scores = evaluate_texts(
        [RAGAS], "context_recall", answers=Answers(claims=lambda text: ["Paris is large.", "x", "y", "z"])
    )
    assert scores["context_recall"] == 0.25
    with pytest.raises(InputError):
        evaluate_texts([RAGAS], "context_recall", answers=Answers(claims=lambda text: text))


def test_a_judge_decides() -> None:
    asked: list[tuple[str, str]] = []

    def judge(text: str, claim: str) -> bool:
        asked.append((text, claim))
        return "Eiffel" in text and "Eiffel" in claim

    scores = evaluate_texts([RAGAS], ["context_recall", 'context_recall(by="matcher")'], answers=Answers(judge=judge))
    assert dict(scores) == {"context_recall": 0.5, 'context_recall(by="matcher")': 0.5}
    assert len(asked) == 6
    assert scores.explain("1").matched.tolist() == [[False, False], [False, False], [False, True]]
    with raises_code(MeasureError, "needs-judge"):
        evaluate_texts([RAGAS], 'context_recall(by="judge")')


def test_judges_are_asked_together() -> None:
    """Twenty questions wait at the same time, not one after the other, and never too many at once."""
    running = most = 0

    async def judge(text: str, claim: str) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return claim in text

    items = [{**RAGAS, "id": f"q{i}", "retrieved_contexts": [f"{i} a. b.", str(i)]} for i in range(30)]
    scores = evaluate_texts(items, "context_recall", answers=Answers(judge=judge, claims=lambda text: ["a.", "c."]))
    assert scores["context_recall"] == 0.5
    assert 8 <= most <= 16


def test_a_judge_that_fails_names_the_pair() -> None:
    async def judge(text: str, claim: str) -> bool:
        raise ValueError("no credit")

    with pytest.raises(InputError, match="no credit") as caught:
        evaluate_texts([RAGAS], "context_recall", answers=Answers(judge=judge))
    assert "Paris" in str(caught.value)


def test_without_an_answer_references_are_the_claims() -> None:
    scores = evaluate_texts([{"retrieved": ["a"], "references": ["a", "b"]}], "context_recall", matching="contains")
    assert scores["context_recall"] == 0.5
    assert "claims-are-references" in [note.code for note in scores.notes]


def test_entities_by_rules() -> None:
    scores = evaluate_texts([RAGAS], ["context_entity_recall", "EntityRecall@2"])
    # Of 1889 and Eiffel both are in the texts, the second of them in the third alone.
    assert dict(scores) == {"context_entity_recall": 1.0, "EntityRecall@2": 0.5}


def test_no_entities_have_no_value() -> None:
    items = [RAGAS, {"retrieved_contexts": ["x"], "reference": "it rains"}]
    assert evaluate_texts(items, "EntityRecall").n["EntityRecall"] == 1


def test_noise() -> None:
    items = [{"retrieved": ["a", "x", "y", "z"], "references": ["a"]}]
    scores = evaluate_texts(items, ["NoiseShare@2", "P@2"], matching="contains")
    assert scores["NoiseShare@2"] == 1 - scores["P@2"] == 0.5
    with raises_code(MeasureError, "needs-judge"):
        evaluate_texts(items, "noise_sensitivity")


def test_nothing_retrieved_is_zero() -> None:
    scores = evaluate_texts([{**RAGAS, "retrieved_contexts": []}], ["context_recall", "context_precision"])
    assert list(scores.mean.values()) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("hit_rate@5", "Success@5"),
        ("hit_rate_at_5", "Success@5"),
        ("mrr", "RR"),
        ("MRR@10", "RR@10"),
        ("context_recall", "ContextRecall"),
        ("context_precision@3", "ContextPrecision@3"),
        ("non_llm_context_recall", "AlikeCover"),
        ("id_based_context_recall", "SetR"),
        ("id_based_context_precision", "IdPrecision"),
        ("context_entity_recall", "EntityRecall"),
    ],
)
def test_columns_keep_the_name_that_was_typed(typed: str, means: str) -> None:
    kept = typed.replace("_at_", "@")
    scores = evaluate_texts([RAGAS], [typed])
    assert list(scores) == [kept]
    assert scores[means] == scores[typed] == scores[kept]
    assert parse(str(parse(typed))) == parse(typed)
    again = Scores.from_dict(json.loads(scores.to_json()))
    assert again[means] == scores[typed]


def test_both_names_are_two_columns() -> None:
    scores = evaluate({"q": {"d": 1}}, {"q": ["d"]}, ["hit_rate@5", "Success@5"])
    assert dict(scores) == {"hit_rate@5": 1.0, "Success@5": 1.0}


@pytest.mark.parametrize("name", ["answer_relevancy", "answer_correctness@5"])
def test_measures_of_answers_are_named_as_such(name: str) -> None:
    with raises_code(MeasureError, "not-of-rankings"):
        parse(name)


def test_grades_by_importance() -> None:
    nuggets = [{"text": "a", "importance": "vital"}, {"text": "b", "importance": "Okay"}, {"text": "c", "grade": 2}]
    scores = evaluate_texts(
        [{"retrieved": ["a"], "references": nuggets}], ["Cover(rel=2)", "Cover"], matching="contains"
    )
    assert dict(scores) == {"Cover(rel=2)": 1 / 2, "Cover": 1 / 3}


@pytest.mark.parametrize("wrong", [{"importance": "nice"}, {"importance": 2}, {"importance": "vital", "grade": 1}])
def test_importance_that_is_not_understood(wrong: dict[str, Any]) -> None:
    with pytest.raises(GoldrankError):
        evaluate_texts([{"retrieved": ["a"], "references": [{"text": "a", **wrong}]}], "Cover")


@pytest.mark.parametrize(("lost", "warns"), [(1, False), (2, True)])
def test_texts_that_cannot_be_located_warn_under_95_percent(lost: int, warns: bool) -> None:
    sources = {"s": " ".join(f"Sentence number {i} of the source is about topic {i * 7}." for i in range(40))}
    texts = [part + "." for part in sources["s"].split(".")[:20]]
    texts[:lost] = ["Nothing of this stands in any source at all, not even nearly."] * lost
    items = [{"retrieved": texts, "evidence": [{"source": "s", "quote": "about topic 21"}]}]
    notes = evaluate_texts(items, "SpanRecall", evidence=sources).notes
    unplaced = [note for note in notes if "unplaced" in note.code]
    assert [note.is_warning for note in unplaced] == [warns]


@pytest.mark.parametrize(
    "response",
    ["The tower was built in 1889 [1].", "The tower was built in 1889.[^1]", "1. The tower was built in 1889.",
     "The tower was built in 1889 [1, 2].\n\n[1] https://example.org/7"],
)  # fmt: skip
def test_citations_are_no_facts(response: str) -> None:
    items = [{"retrieved": ["The tower was built in 1889 by a company."], "response": response, "references": ["?"]}]
    assert evaluate_texts(items, "Faithfulness")["Faithfulness"] == 1
    cited = [{"retrieved": ["The tower was built in 1889 by a company."], "references": [response.split("\n")[0]]}]
    assert evaluate_texts(cited, "Cover")["Cover"] == 1


@pytest.mark.parametrize(
    ("retrieved", "expected", "precision", "recall"),
    [
        ([4, 4, 4, 4, 7], [4], 1 / 2, 1.0),
        ([4, 7], [4, 4, 5], 1 / 2, 1 / 2),
        ([1, 2, 2, 3], [2, 3, 3], 2 / 3, 1.0),
    ],
)
def test_ids_are_sets_as_in_ragas(retrieved: list[int], expected: list[int], precision: float, recall: float) -> None:
    """Ragas 0.4.3: len(retrieved & reference) / len(retrieved), and / len(reference), of sets of ids."""
    items = [{"user_input": "?", "retrieved_context_ids": retrieved, "reference_context_ids": expected}]
    scores = evaluate_texts(items, ["id_based_context_precision", "id_based_context_recall"])
    assert list(scores.mean.values()) == pytest.approx([precision, recall])
    once = evaluate(
        {"q": dict.fromkeys(map(str, expected), 1)}, {"q": list(dict.fromkeys(map(str, retrieved)))},
        ["id_based_context_precision", "id_based_context_recall"],
    )  # fmt: skip
    assert list(once.mean.values()) == pytest.approx([precision, recall])


@pytest.mark.parametrize(
    ("reference", "languages"),
    [
        ("Der Turm wurde 1889 von der Firma in Paris gebaut.", "German"),
        ("这座塔建于1889年。", "Chinese and Japanese"),
        ("بُني البرج في باريس عام 1889.", "Arabic"),
        ("The tower was built in Paris in 1889.", ""),
        ("La tour fut bâtie à Paris en 1889.", ""),
        ("Башня построена в Париже в 1889 году.", ""),
    ],
)
def test_entities_by_capitals_are_said_to_tell_nothing(reference: str, languages: str) -> None:
    items = [{"retrieved": [reference], "reference": reference} for _ in range(2)]
    notes = [
        note for note in evaluate_texts(items, "context_entity_recall").notes if note.code == "entities-by-capitals"
    ]
    assert [note.fact("languages") for note in notes] == ([languages] if languages else [])
    own = evaluate_texts(items, "context_entity_recall", answers=Answers(entities=str.split))
    assert "entities-by-capitals" not in [note.code for note in own.notes]
