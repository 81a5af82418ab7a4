"""Dicts that change while they are read: by another thread, or by code of the ids and numbers in them.

What comes of it is a number of one of their states, or an error, and never another number or a crash.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from raising import raises_code

from goldrank import Qrels, Run, evaluate
from goldrank.base.errors import GoldrankError
from goldrank.data.qrels import judged_rows
from tests.native.conftest import COMPILED, needs_core

ROUNDS = 150
SIZE = 200


@contextmanager
def changing(change: Callable[[], None]) -> Iterator[None]:
    """Another thread that makes a change again and again; threads take turns as often as they can."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            change()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(before)


def fresh() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    run = {f"q{i}": {f"d{j}": float(SIZE - j) for j in range(SIZE)} for i in range(5)}
    return {query: {"d0": 1, "d7": 1} for query in run}, run


def values(qrels: Any, run: Any) -> list[tuple[float, ...]]:
    """What is measured while they change; an error of ours, or Python's about dicts that change, is no value."""
    found = []
    for _ in range(ROUNDS):
        try:
            scores = evaluate(qrels, run, ["P@1", "AP", "RR"], overlap="allow")
            found.append(tuple(scores.mean.values()))
        except (GoldrankError, RuntimeError):
            continue
    return found


def test_a_run_that_grows_and_shrinks() -> None:
    """Documents come and go below the judged ones: no value moves."""
    qrels, run = fresh()

    def change() -> None:
        for row in run.values():
            row["low"] = -1.0
            for i in range(50):
                row[f"low{i}"] = -2.0
            for i in range(50):
                del row[f"low{i}"]
            del row["low"]

    # AP with relevant documents at ranks 1 and 8.
    with changing(change):
        assert {*values(qrels, run)} <= {(1.0, (1 + 2 / 8) / 2, 1.0)}


def test_a_run_whose_scores_change() -> None:
    """d0 is first or last, in one query: each value is that of a state."""
    judged, scores = {"q": {"d0": 1}}, {"q": {f"d{j}": float(SIZE - j) for j in range(SIZE)}}

    def change() -> None:
        scores["q"]["d0"] = -1.0
        scores["q"]["d0"] = float(SIZE)

    with changing(change):
        assert {*values(judged, scores)} <= {(1.0, 1.0, 1.0), (0.0, 1 / SIZE, 1 / SIZE)}


def test_judgements_that_change() -> None:
    """d0 is relevant or is not judged; d7 always is: AP is (1 + 2/8) / 2 or 1/8."""
    judged: dict[str, dict[str, int]] = {"q": {"d0": 1, "d7": 1}}
    scores = {"q": {f"d{j}": float(SIZE - j) for j in range(SIZE)}}

    def change() -> None:
        del judged["q"]["d0"]
        judged["q"]["d0"] = 1

    with changing(change):
        assert {*values(judged, scores)} <= {(1.0, (1 + 2 / 8) / 2, 1.0), (0.0, 1 / 8, 1 / 8)}


def test_queries_that_come_and_go() -> None:
    qrels, run = fresh()
    more = {f"d{j}": 1.0 for j in range(SIZE)}

    def change() -> None:
        for i in range(100):
            run[f"more{i}"] = more
        for i in range(100):
            del run[f"more{i}"]

    with changing(change):
        assert {*values(qrels, run)} <= {(1.0, (1 + 2 / 8) / 2, 1.0)}


class Changing:
    """A number whose value is asked for by code, which empties the run."""

    def __init__(self, value: float, rows: list[dict[Any, Any]]) -> None:
        self.value, self.rows = value, rows

    def __float__(self) -> float:
        for row in self.rows:
            row.clear()
        return self.value


class ChangingId(str):
    """An id whose code empties the run."""

    __slots__ = ("rows",)
    rows: list[dict[Any, Any]]

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        for row in getattr(self, "rows", ()):
            row.clear()
        return str.__eq__(self, other)


def test_numbers_that_change_the_run() -> None:
    """The run is what it was when it was given: b, c, a."""
    rows: list[dict[Any, Any]] = []
    run = {"q": {"a": Changing(1.0, rows), "b": Changing(3.0, rows), "c": 2.0}}
    rows.append(run["q"])
    assert evaluate({"q": {"a": 1}}, run, ["RR"])["RR"] == pytest.approx(1 / 3)
    assert run == {"q": {}}


def test_ids_that_change_the_run() -> None:
    for _ in range(20):
        doc = ChangingId("a")
        row: dict[Any, Any] = {"b": 3.0, doc: 1.0, **{f"d{j}": 2.0 for j in range(100)}}
        doc.rows = [row]
        try:
            value = evaluate({"q": {"a": 1, "b": 0}}, {"q": row}, ["RR"])["RR"]
        except (GoldrankError, RuntimeError):
            continue
        assert value == pytest.approx(1 / 102)


def placed(results: Any, scores: bytes, qrels: Qrels, judged: list[dict[str, Any]] | None = None) -> Any:
    """What the core makes of a run and of scores that may be another's."""
    queries, size = len(qrels), len(qrels.arrays.grade)
    out = (np.zeros(queries, np.int64), np.zeros(queries, bool), np.zeros((5, size), np.int64))
    rows = judged_rows(qrels) if judged is None else judged
    return COMPILED.place(results, scores, qrels.numbers, rows, qrels.arrays.start, 1, False, *out)


ROW = {"a": 3.0, "b": 2.0, "c": 1.0}


@needs_core
@pytest.mark.parametrize(
    "row",
    [{}, {"a": 3.0}, {**ROW, "d": 0.0}, {"a": 9.0, "b": 2.0, "c": 1.0}, {f"x{i}": 1.0 for i in range(10_000)}],
    ids=["emptied", "shorter", "longer", "another score", "much longer"],
)
def test_the_core_refuses_scores_of_another_run(row: dict[str, float]) -> None:
    _, scores = COMPILED.copied({"q": ROW}, 99)
    assert placed({"q": ROW}, scores, Qrels({"q": {"a": 1}}))[0] == 1
    with pytest.raises(RuntimeError, match="changed while it was read"):
        placed({"q": row}, scores, Qrels({"q": {"a": 1}}))


@needs_core
def test_a_run_whose_own_rows_are_changed_is_refused() -> None:
    """Only who looks for them gets at them; it is an error all the same."""
    run = Run({"q": {"a": 1.0, "b": 2.0}})
    held: Any = run.source.results()
    held["q"]["c"] = 10.0
    with raises_code(GoldrankError, "changed", match="changed while it was read"):
        evaluate({"q": {"a": 1}}, run, ["P@1", "AP"])


@needs_core
def test_the_core_refuses_queries_that_trade_their_lengths() -> None:
    """As many scores as before, but others: the first row has grown by what the second lost."""
    _, scores = COMPILED.copied({"q": dict(ROW), "r": dict(ROW)}, 99)
    longer, shorter = {"x": 4.0, **ROW}, {"b": 2.0, "c": 1.0}
    with pytest.raises(RuntimeError, match="changed while it was read"):
        placed({"q": longer, "r": shorter}, scores, Qrels({"q": {"x": 1}, "r": {"c": 1}}))


@needs_core
@pytest.mark.parametrize("judged", [[{"a": 1, "b": 1, "c": 1}], [{}]], ids=["more", "none"])
def test_the_core_refuses_judgements_of_another_size(judged: list[dict[str, int]]) -> None:
    _, scores = COMPILED.copied({"q": ROW}, 99)
    with pytest.raises(RuntimeError, match="changed while it was read"):
        placed({"q": ROW}, scores, Qrels({"q": {"a": 1}}), judged)


@needs_core
@pytest.mark.parametrize("what", ["row", "judged", "results"])
def test_the_core_survives_ids_that_change_what_it_reads(what: str) -> None:
    """A key whose code runs when another of the same hash is looked up, and which the scores were not copied with."""
    for size in (1, 30):
        key = ChangingId("a")
        row: dict[Any, Any] = {key: 1.0, **{f"d{i}": 1.0 for i in range(size)}}
        judged = {f"{word}": 1 for word in ["a", *(f"d{i}" for i in range(size))]}
        results = {"q": row}
        key.rows = [{"row": row, "judged": judged, "results": results}[what]]
        plain = {"q": {str(doc): score for doc, score in row.items()}}
        qrels = Qrels({"q": judged})
        _, scores = COMPILED.copied(plain, 99)
        try:
            placed(results, scores, qrels, [judged])
        except (RuntimeError, ValueError):
            continue


class Cycle:
    """What is only found by the collection of garbage, and then empties the run."""

    def __init__(self, rows: list[dict[Any, Any]]) -> None:
        self.rows, self.me = rows, self

    def __del__(self) -> None:
        for row in self.rows:
            row.clear()


@needs_core
@pytest.mark.parametrize("kind", ["run", "judgements"])
def test_garbage_that_changes_what_is_copied(kind: str) -> None:
    """Collection is most likely where memory is taken; the copy is whole, or what is left of it."""
    before = gc.get_threshold()
    try:
        for _ in range(50):
            number: Any = 1.0 if kind == "run" else 1
            rows = {f"q{i}": {f"d{j}": number for j in range(20)} for i in range(20)}
            gc.collect()
            gc.set_threshold(5)
            Cycle([rows, *rows.values()])
            if kind == "run":
                copy, scores = COMPILED.copied(rows, 99)
                assert len(scores) == 8 * sum(map(len, copy.values()))
            else:
                copy = COMPILED.judgements(rows, 99, 10)
            assert {len(row) for row in copy.values()} <= {20}
            gc.set_threshold(*before)
            assert gc.isenabled()
    finally:
        gc.set_threshold(*before)


@needs_core
def test_candidates_of_dicts_that_change() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        COMPILED.candidates([{"a": 1.0}], 0, np.zeros(2, np.int64))


def test_runs_are_evaluated_by_many_threads_at_once() -> None:
    """One run, of which the scores are gathered when they are first asked for."""
    qrels, rows = fresh()
    run = Run(rows)
    found: list[float] = []

    def work() -> None:
        found.extend(evaluate(qrels, run, ["AP"])["AP"] for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {*found} == {(1 + 2 / 8) / 2}
    assert len(found) == 80
