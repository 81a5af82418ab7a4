"""What the scripts beside this one share: the measures, the dicts, and how the answer is given."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")

REPEATS = 5
ENOUGH_SECONDS = 2.0


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
    """Wall and CPU seconds of a call: the median of a few, or of the first ones if it is slow."""
    walls: list[float] = []
    cpus: list[float] = []
    while len(walls) < REPEATS and sum(walls) < ENOUGH_SECONDS:
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}


def give(means: dict[str, float], **more: Any) -> None:
    """Print the answer, one line of JSON, for run.py."""
    print(json.dumps({"means": {name: float(value) for name, value in means.items()}, **more}))
