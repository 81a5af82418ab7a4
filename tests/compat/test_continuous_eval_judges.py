"""continuous-eval's metrics that ask a judge, whatever the judge does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError
from goldrank.compat.continuous_eval import (
    ContextCoverage,
    ContextPrecision,
    ExactChunkMatch,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
    MatchingStrategy,
    RankedRetrievalMetrics,
    RetrievalEvaluator,
    RougeChunkMatch,
)

QUESTION = "What is the capital of France?"
CONTEXTS = [
    "Paris is the capital of France and also the largest city in the country.",
    "Lyon is a major city in France.",
]
ANSWER = "Paris is the largest city in France. Marseille is the second largest."


def names_paris(question: str, context: str) -> bool:
    return "Paris" in context


async def names_paris_later(question: str, context: str) -> str:
    await asyncio.sleep(0)
    return "Yes, it does." if "Paris" in context else "No. Another city."


def is_supported(statement: str, contexts: str) -> bool:
    return statement.startswith("Paris") and "Paris" in contexts


@pytest.mark.parametrize("judge", [names_paris, names_paris_later])
def test_context_precision_as_its_page_shows_it(judge: Any) -> None:
    metric = LLMBasedContextPrecision(judge, use_few_shot=True, log_relevance_by_context=True)
    datum = {"question": QUESTION, "retrieved_contexts": CONTEXTS}
    expected = {
        "LLM_based_context_precision": 0.5,
        "LLM_based_context_average_precision": 1.0,
        "LLM_based_context_relevance_by_context": [True, False],
    }
    assert metric.calculate(**datum) == expected

    async def notebook() -> dict[str, Any]:
        return metric.calculate(**datum)

    assert asyncio.run(notebook()) == expected


def test_context_coverage_as_its_page_shows_it() -> None:
    metric = LLMBasedContextCoverage(judge=is_supported)
    found = metric.calculate(question=QUESTION, retrieved_contexts=CONTEXTS, ground_truths=[ANSWER])
    assert found == {
        "LLM_based_context_coverage": 0.5,
        "LLM_based_context_statements": [
            {"statement": "Paris is the largest city in France.", "Attributed": 1},
            {"statement": "Marseille is the second largest.", "Attributed": 0},
        ],
    }


def test_the_later_metrics() -> None:
    numbers = {"a": 0.25, "b": 0.75, "c": 1.0, "d": 0.5}
    metric = ContextPrecision(judge=lambda question, context: numbers[context], log_relevance_by_context=True)
    found = metric(retrieved_context=list("abcd"), question="?")
    assert found["percentage_relevant"] == 0.5  # b and c are above 0.5
    assert found["context_precision"] == 2.5 / 4
    assert found["context_mean_average_precision"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found["context_relevance_by_context"] == [0.25, 0.75, 1.0, 0.5]
    coverage = ContextCoverage(judge=is_supported)
    found = coverage(question=QUESTION, retrieved_context=CONTEXTS, ground_truth_answers=["Rome is big.", ANSWER])
    assert found["context_coverage"] == 0.5  # the better of two answers
    assert found["statements"] == ["Paris is the largest city in France.", "Marseille is the second largest."]


@pytest.mark.parametrize("name", ["ground_truths", "ground_truth_answers", "ground_truth_answer", "answer"])
@pytest.mark.parametrize("value", [ANSWER, [ANSWER]])
def test_names_of_the_answer(name: str, value: Any) -> None:
    metric = LLMBasedContextCoverage(judge=is_supported)
    datum = {"question": QUESTION, "retrieved_contexts": CONTEXTS, name: value}
    assert metric.calculate(**datum)["LLM_based_context_coverage"] == 0.5
    assert RetrievalEvaluator([datum], [metric]).run()[0]["LLM_based_context_coverage"] == 0.5
    assert metric.batch(retrieved_context=[CONTEXTS], **{name: [value]})[0]["LLM_based_context_coverage"] == 0.5


def test_the_released_code_judged_the_generated_answer() -> None:
    datum = {"question": QUESTION, "retrieved_contexts": CONTEXTS, "answer": "Rome is big.", "ground_truths": [ANSWER]}
    for as_released, value in ((False, 0.5), (True, 0.0)):
        metric = LLMBasedContextCoverage(judge=is_supported, as_released=as_released)
        assert metric.calculate(**datum)["LLM_based_context_coverage"] == value
        assert metric.batch_calculate([datum])[0]["LLM_based_context_coverage"] == value
    later = ContextCoverage(judge=is_supported, as_released=True)
    assert later(retrieved_context=CONTEXTS, ground_truth_answers=ANSWER)["context_coverage"] == 0.5


@pytest.mark.parametrize("answer", [None, "maybe", "", 2, -1, float("nan"), [True]])
@pytest.mark.parametrize("make", [LLMBasedContextPrecision, LLMBasedContextCoverage, ContextPrecision, ContextCoverage])
def test_what_is_no_answer(make: Any, answer: Any) -> None:
    async def later(*_: str) -> Any:
        return answer

    for judge in (lambda *_: answer, later):
        with raises_code(InputError, "bad-answer") as caught:
            make(judge=judge).calculate(question="?", retrieved_contexts=["a", "b"], ground_truths=["It is a."])
        assert "query 0" in str(caught.value.where)


def test_a_judge_that_fails() -> None:
    async def fails(*_: str) -> bool:
        raise ConnectionError("no line")

    data = [{"question": "?", "retrieved_contexts": ["a"]}]
    with pytest.raises(InputError, match="the judge failed with ConnectionError: no line") as caught:
        RetrievalEvaluator(data, [LLMBasedContextPrecision(judge=fails)]).run()
    assert "query 0, context 1, 'a'" in str(caught.value)


@pytest.mark.parametrize("judge", ["gpt-4-1106-preview", None])
def test_what_is_no_judge(judge: Any) -> None:
    with raises_code(OptionError, "not-a-function"):
        LLMBasedContextPrecision(judge)


@pytest.mark.parametrize("make", [LLMBasedContextPrecision, LLMBasedContextCoverage, ContextPrecision, ContextCoverage])
def test_without_a_judge_it_is_said_what_to_give(make: Any) -> None:
    """The pages show `ContextPrecision()` and `LLMBasedContextPrecision(model=...)`; here no model is asked."""
    for options in ({}, {"model": "gpt-4-1106-preview"}, {"model": object()}):
        with pytest.raises(OptionError, match="judge="):
            make(**options)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="LLMBasedContextCoverage needs ground_truths"):
        LLMBasedContextCoverage(judge=is_supported).calculate(retrieved_contexts=["a"])
    with pytest.raises(InputError, match="datum 0 has no 'question'"):
        RetrievalEvaluator([{"retrieved_contexts": ["a"]}], [LLMBasedContextPrecision(judge=names_paris)]).run()
    for answers in ("", [" "], []):
        with raises_code(InputError, "no-statements"):
            LLMBasedContextCoverage(judge=is_supported).calculate(retrieved_contexts=["a"], ground_truths=answers)


def test_nothing_retrieved_is_zero() -> None:
    found = LLMBasedContextPrecision(judge=names_paris).calculate(question="?", retrieved_contexts=[])
    assert found == {"LLM_based_context_precision": 0.0, "LLM_based_context_average_precision": 0.0}
    assert ContextPrecision(judge=names_paris)(question="?", retrieved_context=[])["context_precision"] == 0.0


# Strategies of one's own judge too.


@pytest.mark.parametrize(
    ("answers", "value"),
    [((True, False), 1.0), (("yes", "no"), 1.0), (("no", "Yes, it does."), 0.5), ((0, 1), 0.5), (("no", False), 0.0)],
)
@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_own_strategies_answer_in_many_ways(answers: tuple[Any, Any], value: float, is_asynchronous: bool) -> None:
    class Mine(MatchingStrategy):
        def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> Any:
            answer = answers[int(retrieved_component)]

            async def later() -> Any:
                return answer

            return later() if is_asynchronous else answer

    assert RankedRetrievalMetrics(Mine()).calculate(["0", "1"], ["a"])["reciprocal_rank"] == value

    async def notebook() -> dict[str, Any]:
        return RankedRetrievalMetrics(Mine()).calculate(["0", "1"], ["a"])

    assert asyncio.run(notebook())["reciprocal_rank"] == value


@pytest.mark.parametrize("answer", [None, "maybe", 0.5, [True]])
def test_own_strategies_that_give_no_answer(answer: Any) -> None:
    class Mine(MatchingStrategy):
        def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> Any:
            return answer

    with pytest.raises(InputError, match="own function is_relevant returned"):
        RankedRetrievalMetrics(Mine()).calculate(["x"], ["a"])


@pytest.mark.parametrize("base", [ExactChunkMatch, RougeChunkMatch])
@pytest.mark.parametrize("as_released", [False, True])
def test_own_strategies_from_given_ones(base: type[MatchingStrategy], as_released: bool) -> None:
    class Always(base):  # type: ignore[misc,valid-type]
        def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
            return True

    metric = RankedRetrievalMetrics(Always(), as_released=as_released)
    for found in (metric.calculate(["x"], ["a"]), metric(["x"], ["a"])):
        assert found["reciprocal_rank"] == 1.0


def test_an_asynchronous_judge_is_asked_several_times_at_once() -> None:
    """At most 16 at a time; values are in the order of the questions."""
    under_way, most = 0, 0

    async def judge(about: str, text: str) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02 if about == "a" else 0.001)
        under_way -= 1
        return about in text

    data = [{"question": one, "retrieved_contexts": ["a", "ab", "abc", "x"]} for one in ("a", "b", "c", "d", "x")]
    found = RetrievalEvaluator(data, [LLMBasedContextPrecision(judge=judge)]).run()
    assert [row["LLM_based_context_precision"] for row in found] == [3 / 4, 2 / 4, 1 / 4, 0, 1 / 4]
    assert most == 16
