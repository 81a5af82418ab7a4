"""Runs and judgements hand out views that cannot be written to, and keep copies of what they are made from."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from goldrank import Qrels, Run, evaluate, read_qrels, read_run

RESULTS = {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}
JUDGED = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "by its name": lambda held: held["q"],
    "get": lambda held: held.get("q"),
    "items": lambda held: dict(held.items())["q"],
    "values": lambda held: next(iter(held.values())),
}
KINDS = ["Run", "Qrels", "results", "text", "raw", "run of a file", "judgements of a file", "text of a file", "a shard"]


def made(kind: str, folder: Path) -> Any:
    """What is looked at, by its name."""
    run, qrels = Run(RESULTS), Qrels(JUDGED)
    (folder / "run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 c 1 1 t\n")
    (folder / "qrels").write_text("q 0 a 1\nq 0 b 0\nr 0 c 2\n")
    return {
        "Run": run,
        "Qrels": qrels,
        "results": run.results,
        "text": qrels.text,
        "raw": {query.decode(): row for query, row in qrels.raw.items()},
        "run of a file": read_run(folder / "run"),
        "judgements of a file": read_qrels(folder / "qrels"),
        "text of a file": read_qrels(folder / "qrels").text,
        "a shard": qrels.shard(1, 1),
    }[kind]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_cannot_be_written_to(kind: str, view: str, tmp_path: Path) -> None:
    row = VIEWS[view](made(kind, tmp_path))
    before = dict(row)
    assert len(before) > 0
    with pytest.raises(TypeError):
        row["a"] = 10
    with pytest.raises(TypeError):
        del row[next(iter(row))]
    with pytest.raises(TypeError):
        row |= {"z": 1}
    for method in ("clear", "pop", "popitem", "setdefault", "update"):
        assert not hasattr(row, method)
    assert dict(row) == before


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "raw"])
def test_neither_can_what_holds_them(kind: str, tmp_path: Path) -> None:
    held = made(kind, tmp_path)
    with pytest.raises(TypeError):
        held["z"] = {}
    with pytest.raises(TypeError):
        del held["q"]
    for method in ("clear", "pop", "popitem", "setdefault", "update"):
        assert not hasattr(held, method)


@pytest.mark.parametrize("numbers", [float, int, str])
def test_what_callers_change_later_has_no_effect(numbers: Any) -> None:
    """With plain ids and numbers, and with others: a is second of two, and stays it."""
    ids = (1, 2) if numbers is str else ("a", "b")
    given: Any = {"q": dict(zip(ids, (1.0, 2.0) if numbers is float else (1, 2), strict=True))}
    judged: Any = {"q": {ids[0]: 1}}
    run, qrels = Run(given), Qrels(judged)
    given["q"][ids[0]] = 10.0
    given["q"][ids[1] * 2] = 20.0
    given["z"] = {}
    judged["q"].clear()
    assert evaluate(qrels, run, ["P@1", "AP"]).mean == {"P@1": 0.0, "AP": 0.5}
    assert (len(run), len(run["q"]), len(qrels["q"])) == (1, 2, 1)


def test_scores_keep_what_they_were_made_from() -> None:
    """What is read of a run later, such as its first documents, is what was measured."""
    given = {"q": {"x": 3.0, "a": 2.0}}
    scores = evaluate({"q": {"a": 1}}, given, ["RR"])
    given["q"]["a"] = 9.0
    assert scores.placed is not None
    assert scores.placed.top_documents(2) == [["x", "a"]]


def test_views_are_equal_to_what_they_show_and_can_be_copied(tmp_path: Path) -> None:
    run, qrels = Run(RESULTS), Qrels(JUDGED)
    assert run.results == RESULTS
    assert run == RESULTS
    assert dict(run["q"]) == RESULTS["q"]
    assert qrels.text == JUDGED
    assert qrels == JUDGED
    for held in (run, qrels):
        assert pickle.loads(pickle.dumps(held)) == held
        assert copy.deepcopy(held) == held
        assert Run(held) == held


@pytest.mark.parametrize("kind", ["Qrels", "judgements of a file", "a shard"])
def test_arrays_of_judgements_cannot_be_written_to(kind: str, tmp_path: Path) -> None:
    """Grades that were written into them gave an nDCG of 653,805."""
    qrels = made(kind, tmp_path)
    arrays = [qrels.arrays.start, qrels.arrays.grade, qrels.arrays.descending, qrels.columns.start, qrels.columns.grade]
    for array in arrays:
        assert len(array)
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 10**6


def test_arrays_of_the_user_stay_writable() -> None:
    grades = np.array([1, 2])
    evaluate(pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "grade": grades}), {"q": ["a", "b"]}, "nDCG")
    grades[0] = 3
    assert grades.tolist() == [3, 2]
