"""What every engine promises, and how small it is to add one."""

from __future__ import annotations

import random
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import goldrank
from goldrank import Qrels, Run
from goldrank.conventions import Convention
from goldrank.data.run import Rankings
from goldrank.engine import ENGINES, Engine, engine_for

ROWS = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"b": 1.0, "c": 1.0}}


def test_a_new_engine_is_one_module_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Recorded(Rankings):
        engine = "recorded"

    class RecordingEngine:
        holds_runs = True

        def place(self, qrels, run, convention, plan=None):  # type: ignore[no-untyped-def]
            asked.append("place")
            return engine_for(Run(Rankings(run.results))).place(qrels, run, convention)

        def top_documents(self, run, queries, depth, convention):  # type: ignore[no-untyped-def]
            asked.append("top_documents")
            return engine_for(Run(Rankings(run.results))).top_documents(run, queries, depth, convention)

    module = types.ModuleType("recorded_engine")
    module.ENGINE = RecordingEngine()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "recorded_engine", module)
    monkeypatch.setitem(ENGINES, "recorded", "recorded_engine")
    qrels = {"q1": {"b": 1}, "q2": {"c": 1}}
    scores = goldrank.evaluate(qrels, Run(Recorded(ROWS)), ["RR", "Hole@2"])
    assert scores["RR"] == (1 / 3 + 1) / 2
    assert asked == ["place", "top_documents"]


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "spark"])
def test_engines_have_the_methods(name: str) -> None:
    from importlib import import_module

    engine: Engine = import_module(ENGINES[name]).ENGINE
    assert callable(engine.place)
    assert callable(engine.top_documents)


def random_case(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    docs = [f"d{i}" for i in range(40)]
    qrels = {}
    run = {}
    for q in range(rng.randint(1, 6)):
        judged = rng.sample(docs, rng.choice([1, 3, 14, 30]))
        qrels[f"q{q}"] = {doc: rng.choice([-1, 0, 1, 2]) for doc in judged}
        returned = rng.sample(docs, rng.choice([0, 1, 5, 40]))
        run[f"q{q}"] = {doc: rng.choice([0.5, 1.0, rng.random()]) for doc in returned}
    return qrels, run


@pytest.mark.parametrize("seed", range(40))
def test_labels_are_rows_of_the_judgements(seed: int, tmp_path: Path) -> None:
    """Each engine says of each placement which judgement it is about: its document is at its rank."""
    rng = random.Random(seed)
    table, results = random_case(rng)
    path = tmp_path / "run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, row in results.items() for d, s in row.items()))
    qrels = Qrels(table)
    rules = Convention()
    runs = [Run(results)] + ([goldrank.read_run(path)] if any(results.values()) else [])
    for run in runs:
        placed, _ = engine_for(run).place(qrels, run, rules)
        assert placed.label is not None
        assert len(np.unique(placed.label)) == len(placed.label)
        for query, rank, grade, label in zip(placed.query, placed.rank, placed.grade, placed.label, strict=True):
            name = placed.queries[query]
            assert run.ranking(name)[rank - 1] == qrels.docs[label]
            assert qrels[name][qrels.docs[label]] == grade
            assert qrels.arrays.start[query] <= label < qrels.arrays.start[query + 1]
        by_label = placed.by_label(placed.rank)
        for label, doc in enumerate(qrels.docs):
            query = placed.queries[int(np.searchsorted(qrels.arrays.start, label, "right")) - 1]
            order = run.ranking(query) if query in run else []
            assert by_label[label] == (order.index(doc) + 1 if doc in order else 0)
