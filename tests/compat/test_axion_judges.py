"""Axion's metrics that ask a judge, whatever the judge does."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest
from raising import raises_code

from goldrank.base.errors import OptionError
from goldrank.compat.axion import (
    ContextualPrecision,
    ContextualRanking,
    ContextualRecall,
    DatasetItem,
    HitRateAtK,
    MetricRunner,
)

ITEM = DatasetItem(id="q", retrieved_content=["bad", "good"], expected_output="It is good. It is bad.")
ALL = (ContextualPrecision, ContextualRanking, ContextualRecall)


async def later(item: DatasetItem, text: str) -> bool:
    await asyncio.sleep(0)
    return "good" in text


async def always_no(item: DatasetItem, text: str) -> str:
    return "No."


class Judge:
    """A judge that is an object."""

    async def __call__(self, item: DatasetItem, text: str) -> float:
        return float("good" in text)


def at_once(item: DatasetItem, text: str) -> bool:
    return "good" in text


@pytest.mark.parametrize("judge", [at_once, later, Judge(), lambda item, text: later(item, text)])
def test_judges_may_be_asynchronous(judge: Any) -> None:
    # good stands second of two; one of two sentences is good
    expected = {ContextualPrecision: 0.5, ContextualRanking: 1 / math.log2(3), ContextualRecall: 0.5}
    for make, value in expected.items():
        assert make(judge=judge).score(ITEM).score == pytest.approx(value)
        assert asyncio.run(make(judge=judge).execute(ITEM)).score == pytest.approx(value)
        assert MetricRunner(metrics=[make(judge=judge)]).score([ITEM])[0].score == pytest.approx(value)


def test_asynchronous_judges_inside_an_event_loop() -> None:
    async def notebook() -> list[float]:
        metric = ContextualPrecision(judge=later)
        runner = MetricRunner(metrics=[metric, HitRateAtK()])
        return [
            metric.score(ITEM).score,
            (await metric.execute(ITEM)).score,
            runner.score([ITEM])[0].score,
            (await runner.run([ITEM]))[0].score,
        ]

    assert asyncio.run(notebook()) == [0.5] * 4


@pytest.mark.parametrize("judge", [always_no, lambda *_: "no", lambda *_: "Not relevant: it is Lyon.", lambda *_: 0])
def test_no_is_no(judge: Any) -> None:
    for make in ALL:
        assert make(judge=judge).score(ITEM).score == 0.0


@pytest.mark.parametrize("answer", [None, "maybe", "", -1, math.nan, [True], {"verdict": "yes"}])
def test_what_is_no_answer_gives_the_reason(answer: Any) -> None:
    async def asynchronous(item: DatasetItem, text: str) -> Any:
        return answer

    for judge in (lambda *_: answer, asynchronous):
        for make in ALL:
            found = make(judge=judge).score(ITEM)
            assert math.isnan(found.score)
            assert found.signals is None
            assert "the judge returned" in found.explanation
            assert "text 1 of item 'q'" in found.explanation


def test_a_judge_that_fails_gives_the_reason() -> None:
    async def asynchronous(item: DatasetItem, text: str) -> bool:
        raise ConnectionError("no line")

    def plain(item: DatasetItem, text: str) -> bool:
        raise ConnectionError("no line")

    for judge in (plain, asynchronous):
        metric = ContextualPrecision(judge=judge)
        for found in (metric.score(ITEM), asyncio.run(metric.execute(ITEM))):
            assert math.isnan(found.score)
            assert "the judge failed with ConnectionError: no line (text 1 of item 'q', 'bad')" in found.explanation


def test_interrupts_pass() -> None:
    def stops(item: DatasetItem, text: str) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ContextualPrecision(judge=stops).score(ITEM)


def test_numbers_mean_yes_from_half_on() -> None:
    judge = {"bad": 0.4, "good": 0.6}.__getitem__
    assert ContextualPrecision(judge=lambda _, text: judge(text)).score(ITEM).score == 0.5
    assert ContextualPrecision(judge=lambda _, text: judge(text), useful_from=0.3).score(ITEM).score == 1.0
    assert ContextualPrecision(judge=lambda _, text: judge(text), useful_from=0.7).score(ITEM).score == 0.0


def test_grades_order_the_context() -> None:
    grades = {"bad": 1, "good": 3}
    found = ContextualRanking(judge=lambda _, text: grades[text]).score(ITEM).score
    # (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert found == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_released_ranking_is_average_precision() -> None:
    released = ContextualRanking(judge=at_once, as_released=True)
    assert released.score(ITEM).score == 0.5
    assert ContextualRanking(judge=at_once).score(ITEM).score == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("judge", ["gpt-4o", None, 5])
def test_what_is_no_judge(judge: Any) -> None:
    with raises_code(OptionError, "not-a-function"):
        ContextualPrecision(judge=judge)


@pytest.mark.parametrize("make", ALL)
def test_without_a_judge_it_is_said_what_to_give(make: Any) -> None:
    """Axion's own come with a language model; these do not."""
    for options in ({}, {"model_name": "gpt-4o"}, {"llm": object()}):
        with pytest.raises(OptionError, match=r"judge=|language model"):
            make(**options)


@pytest.mark.parametrize("number", [0, -1, "x", math.nan, True])
def test_useful_from_is_checked(number: Any) -> None:
    with pytest.raises(OptionError, match="useful_from"):
        ContextualPrecision(judge=at_once, useful_from=number)


def test_plain_judges_are_asked_in_the_callers_thread() -> None:
    asked: list[threading.Thread] = []

    def judge(item: DatasetItem, text: str) -> bool:
        asked.append(threading.current_thread())
        return True

    ContextualPrecision(judge=judge).score(ITEM)
    assert set(asked) == {threading.current_thread()}


def test_texts_that_are_none() -> None:
    for item, reason in (
        (DatasetItem(retrieved_content=["a", 5]), "not a list of texts"),  # type: ignore[list-item]
        (DatasetItem(), "`retrieved_content` field is missing"),
        ("text", "a str is not a DatasetItem"),
    ):
        found = ContextualPrecision(judge=at_once).score(item)
        assert math.isnan(found.score)
        assert reason in found.explanation
    blank = DatasetItem(retrieved_content=["a"], expected_output=" ")
    assert "has no sentence" in ContextualRecall(judge=at_once).score(blank).explanation


def test_fields_can_be_mapped() -> None:
    item = DatasetItem(additional_output={"texts": ["bad", "good"]})
    metric = ContextualPrecision(judge=at_once, field_mapping={"retrieved_content": "additional_output.texts"})
    assert metric.score(item).score == 0.5


def test_what_the_judge_said_is_kept_text_by_text() -> None:
    item = DatasetItem(retrieved_content=["bad", "good", "good"])
    found = ContextualPrecision(judge=at_once).score(item).signals
    assert [(one.chunk_text, one.verdict, one.is_useful) for one in found.judged_chunks] == [
        ("bad", 0.0, False),
        ("good", 1.0, True),
        ("good", 1.0, True),
    ]
    assert (found.total_chunks, found.useful_chunks, found.first_useful_position) == (3, 2, 2)
    assert ContextualPrecision(judge=always_no).score(item).signals.first_useful_position is None


def test_an_asynchronous_judge_is_asked_about_several_texts_at_once() -> None:
    """At most 16 at a time, whichever item they belong to; results are in the order of the items."""
    under_way, most = 0, 0

    async def judge(item: DatasetItem, text: str) -> float:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02 if text == "a" else 0.001)
        under_way -= 1
        return float(text in (item.query or ""))

    items = [DatasetItem(query=query, retrieved_content=["a", "b", "c", "d"]) for query in ("a", "b", "c", "d", "x")]
    found = ContextualPrecision(judge=judge).score_all(items)
    assert [one.score for one in found[:4]] == [1.0, 1 / 2, 1 / 3, 1 / 4]
    assert found[4].score == 0.0
    assert most == 16


def test_the_first_text_that_fails_is_named_whatever_is_faster() -> None:
    asked: list[str] = []

    async def judge(item: DatasetItem, text: str) -> bool:
        asked.append(text)
        await asyncio.sleep(0.02 if text == "slow" else 0)
        raise ConnectionError(text)

    texts = ["slow", "fast", *(f"later {i}" for i in range(40))]
    bad, good = ContextualPrecision(judge=judge).score_all([DatasetItem(id="q", retrieved_content=texts), "no item"])
    assert "the judge failed with ConnectionError: slow (text 1 of item 'q', 'slow')" in (bad.explanation or "")
    assert math.isnan(good.score)
    assert len(asked) <= 16  # nothing is begun after a failure
