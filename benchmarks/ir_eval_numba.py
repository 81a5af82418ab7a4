"""goldrank.compat.ir_eval_numba beside ir_eval_numba and ir_evaluation, its twin in pure Python.

python benchmarks/ir_eval_numba.py [queries]     # 5,000 unless given; originals that are not installed are left out

Rankings of 100 integer ids, 20 relevant ids, k = 10. One call is measured over one query, the means over all queries at
once. All work on the same data in turns, in one process; the least of five turns counts, after the first call of each,
which is shown by itself: numba compiles then, or reads what it compiled. Every value is compared with goldrank's.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from goldrank.compat import ir_eval_numba as goldrank_module

DEPTH, RELEVANT, POOL, K = 100, 20, 1_000, 10
TURNS, CALLS = 5, 2_000
ONE = ("recall", "precision", "f1_score", "average_precision", "ndcg", "reciprocal_rank")
MEANS = ("mean_average_precision", "mean_reciprocal_rank")


@dataclass(frozen=True)
class Data:
    """Relevant and predicted ids of each query, in the form that a library wants."""

    actual: list[Any]
    predicted: list[Any]

    @property
    def as_lists(self) -> Data:
        """The same with Python's lists."""
        return Data([ids.tolist() for ids in self.actual], [ids.tolist() for ids in self.predicted])


@dataclass(frozen=True)
class Timing:
    """Seconds of the first call, and the least of the later ones."""

    first: float
    later: float


def made_up(queries: int) -> Data:
    """Data in which every query has a hit: without one, the originals divide by zero."""
    rng = np.random.default_rng(0)
    data = Data([], [])
    while len(data.actual) < queries:
        actual, predicted = (rng.choice(POOL, size, replace=False) for size in (RELEVANT, DEPTH))
        if np.isin(predicted[:K], actual).any():
            data.actual.append(actual)
            data.predicted.append(predicted)
    return data


def libraries() -> dict[str, Any]:
    """The modules by their names; originals only if they are installed."""
    here = Path(__file__).parent
    sys.path[:] = [
        folder for folder in sys.path if Path(folder).resolve() != here.resolve()
    ]  # this file has their name
    listed = {"goldrank": goldrank_module}
    for name in ("ir_eval_numba.metrics", "ir_evaluation.metrics"):
        try:
            listed[name.partition(".")[0]] = import_module(name)
        except ImportError:
            continue
    return listed


def timed(call: Callable[[], float], calls: int) -> tuple[float, float]:
    """The value, and the CPU seconds of one call."""
    begin = time.process_time()
    for _ in range(calls):
        value = call()
    return value, (time.process_time() - begin) / calls


def measured(calls: dict[str, Callable[[], float]], repeats: int) -> dict[str, Timing]:
    """By library, what a call takes; an error where values differ."""
    firsts = {name: timed(call, 1) for name, call in calls.items()}
    expected, _ = firsts["goldrank"]
    best = dict.fromkeys(calls, math.inf)
    for _ in range(TURNS):
        for name, call in calls.items():
            value, seconds = timed(call, repeats)
            best[name] = min(best[name], seconds)
            if not math.isclose(value, expected, rel_tol=1e-12):
                raise SystemExit(f"{name} has another value: {value}, not {expected}")
    return {name: Timing(firsts[name][1], best[name]) for name in calls}


def calls_of(function: str, data: Data, many: bool) -> dict[str, Callable[[], float]]:
    """By library, a call of one function."""
    lists = data.as_lists
    calls: dict[str, Callable[[], float]] = {}
    for name, module in libraries().items():
        given = lists if name == "ir_evaluation" else data
        actual, predicted = (given.actual, given.predicted) if many else (given.actual[0], given.predicted[0])
        called = getattr(module, function, None)
        if called is not None:
            calls[name] = lambda called=called, a=actual, p=predicted: float(called(a, p, K))  # type: ignore[misc]
    return calls


def main() -> None:
    """Print a Markdown table."""
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    data = made_up(queries)
    names = list(libraries())
    print(f"| CPU time of a call | {' | '.join(names)} | first call of each |")
    print(f"|---|{'---:|' * len(names)}---|")
    for function in (*ONE, *MEANS):
        many = function in MEANS
        found = measured(calls_of(function, data, many), 1 if many else CALLS)
        scale, unit = (1e3, "ms") if many else (1e6, "us")
        title = f"{function}, {queries:,} queries" if many else function
        cells = [f"{scale * found[name].later:.1f} {unit}" if name in found else "" for name in names]
        firsts = ", ".join(f"{1e3 * found[name].first:.2f} ms" for name in names if name in found)
        print(f"| {title} | {' | '.join(cells)} | {firsts} |")


if __name__ == "__main__":
    main()
