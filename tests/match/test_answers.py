"""What judges answer: numbers, words, nothing, later."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Awaitable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import InputError
from goldrank.base.waiting import finished
from goldrank.match.answers import NO, YES, as_number
from goldrank.match.own import Own

ITEMS = [{"retrieved": ["red car", "blue car"], "references": ["blue"]}]


def meaning(answer: object, most: float = 1.0) -> float:
    return as_number(answer, "the judge", "text 1", most=most)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        *((word, 1.0) for word in YES),
        *((word, 0.0) for word in NO),
        *((word.upper(), 0.0) for word in NO),
        ("Yes.", 1.0),
        (" **No** ", 0.0),
        ('"yes"', 1.0),
        ("No, because it is about Lyon.", 0.0),
        ("Yes\n\nThe text names Paris. No other does.", 1.0),
        ("No - nothing is said of it", 0.0),
        ("Relevant (it names the city)", 1.0),
        ("not  relevant: another city", 0.0),
        ("No. Not relevant.", 0.0),
        ("0", 0.0),
        ("1.", 1.0),
        ("0.25", 0.25),
        (True, 1.0),
        (np.False_, 0.0),
        (np.float32(0.5), 0.5),
        (Fraction(1, 4), 0.25),
    ],
)
def test_what_is_understood(answer: object, value: float) -> None:
    assert meaning(answer) == value


@pytest.mark.parametrize(
    "answer",
    [None, "", "maybe", "yes and no", "Yes, no", "yes/no", "Not sure", "no doubt it is relevant", "partially relevant",
     "no relevant text? yes", ".5", "-1", "2", "nan", "1e0", b"yes", [True], {"verdict": "yes"}, 2, -0.5,
     float("nan"), float("inf"), 1j, object()],
)  # fmt: skip
def test_what_is_refused(answer: object) -> None:
    with raises_code(InputError, "bad-answer") as caught:
        meaning(answer)
    assert caught.value.where == "text 1"


def test_nothing_returned_is_explained() -> None:
    with pytest.raises(InputError, match="return statement"):
        meaning(None)


def test_grades_may_be_above_one() -> None:
    assert meaning(3, most=float("inf")) == 3.0
    with pytest.raises(InputError, match="from 0 up"):
        meaning(float("inf"), most=float("inf"))


def test_a_long_answer_is_read_once() -> None:
    assert meaning("yes, " * 100_000) == 1.0


# Answers that come later.


async def says_no(retrieved: str, reference: str) -> bool:
    await asyncio.sleep(0)
    return False


async def holds(retrieved: str, reference: str) -> str:
    await asyncio.sleep(0)
    return "yes" if reference in retrieved else "no"


def rank(function: Any) -> float:
    return float(goldrank.evaluate_texts(ITEMS, "RR", matching=goldrank.Matching(function))["RR"])


def test_asynchronous_functions_are_awaited() -> None:
    assert rank(says_no) == 0.0
    assert rank(holds) == 0.5
    assert rank(lambda *pair: holds(*pair)) == 0.5


def test_asynchronous_functions_inside_an_event_loop() -> None:
    async def notebook() -> tuple[float, float]:
        return rank(says_no), rank(holds)

    assert asyncio.run(notebook()) == (0.0, 0.5)


def test_asynchronous_batches() -> None:
    async def together(ours: list[str], theirs: list[str]) -> list[str]:
        return ["yes" if reference in retrieved else "no" for retrieved, reference in zip(ours, theirs, strict=True)]

    def one_by_one(ours: list[str], theirs: list[str]) -> list[Awaitable[str]]:
        return [holds(*pair) for pair in zip(ours, theirs, strict=True)]

    assert rank(Own.batched(together)) == 0.5  # type: ignore[arg-type]
    assert rank(Own.batched(one_by_one)) == 0.5


def test_an_asynchronous_failure_names_the_pair() -> None:
    async def fails(retrieved: str, reference: str) -> bool:
        raise ConnectionError("no line")

    with pytest.raises(InputError, match="fails failed with ConnectionError: no line") as caught:
        rank(fails)
    assert "retrieved 'red car'" in str(caught.value)


def test_a_task_of_the_running_loop_is_refused() -> None:
    async def notebook() -> float:
        return rank(lambda *pair: asyncio.ensure_future(holds(*pair)))

    with pytest.raises(InputError, match="return the coroutine itself"):
        asyncio.run(notebook())


def test_one_loop_serves_all() -> None:
    """Clients of usual libraries belong to the loop in which they were first used."""

    async def here() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert finished(here()) is finished(here())


def test_waiting_inside_what_is_waited_for() -> None:
    async def outer(retrieved: str, reference: str) -> bool:
        return rank(holds) == 0.5

    assert rank(outer) == 1.0


def test_work_that_ends_the_program_does_not_hang() -> None:
    async def leaves(retrieved: str, reference: str) -> bool:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        rank(leaves)
    assert rank(holds) == 0.5


def _in_a_child(answers: Any) -> None:
    answers.put(rank(holds))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_have_their_own_loop() -> None:
    rank(holds)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == 0.5
    child.join(60)
