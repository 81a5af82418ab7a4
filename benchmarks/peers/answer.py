"""What the scripts beside this one share: the measures, the dicts, and how the answer is given."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")

REPEATS = 5
ENOUGH_SECONDS = 2.0
SHORT_SECONDS = 0.01
"""What takes less is called several times for one reading of the clock."""


def made_dicts(shape: str) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels and run of a shape such as 10x100x5: queries, documents and judged ones of each; the best comes first."""
    rng = random.Random(shape)
    queries, size, judged = map(int, shape.split("x"))
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for i in range(queries):
        docs = [f"D{number}" for number in rng.sample(range(10_000_000), size)]
        run[f"q{i}"] = {doc: 30 - 25 * rank / size - rng.random() / size for rank, doc in enumerate(docs)}
        qrels[f"q{i}"] = {doc: rng.choice((0, 1, 2)) if at else 1 for at, doc in enumerate(rng.sample(docs, judged))}
    return qrels, run


def read_dicts(qrels_path: str, run_path: str) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels and run as dicts of dicts, read outside the time that is measured."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    with open(qrels_path, encoding="ascii") as lines:
        for line in lines:
            query, _, document, grade = line.split()
            qrels.setdefault(query, {})[document] = int(grade)
    with open(run_path, encoding="ascii") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            run.setdefault(query, {})[document] = float(score)
    return qrels, run


def timed(call: Callable[[], Any]) -> dict[str, float]:
    """Wall and CPU seconds of a call: the median of a few, or of the first ones if it is slow.

    A short call is warmed up: the first ones load what is used, and say how many make one reading of the clock.
    """
    walls: list[float] = []
    cpus: list[float] = []
    calls = _calls_within(SHORT_SECONDS, call)
    while len(walls) < REPEATS and sum(walls) < ENOUGH_SECONDS:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            call()
        walls.append((time.perf_counter() - wall) / calls)
        cpus.append((time.process_time() - cpu) / calls)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}


def _calls_within(seconds: float, call: Callable[[], Any]) -> int:
    """How many calls take so long, after the first; at least one."""
    call()
    end = time.perf_counter() + seconds
    calls = 1
    while time.perf_counter() < end:
        call()
        calls += 1
    return calls


def give(means: dict[str, float], **more: Any) -> None:
    """Print the answer, one line of JSON, for run.py."""
    print(json.dumps({"means": {name: float(value) for name, value in means.items()}, **more}))
