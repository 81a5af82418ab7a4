"""All fusion methods and normalisations, beside ranx after its compilation: CPU seconds, the least of some turns.

python benchmarks/fusion.py [queries] [method or normalisation ...]     # 1,000 queries and all unless given

Without ranx only goldrank is measured.

Runs are in memory, as each tool has them. Both fuse the same runs in turns, in one process; threads count with their
CPU time, and numba gets one unless NUMBA_NUM_THREADS is set. A row ends after three turns, or after two minutes of CPU
time with one turn at least. Of Condorcet's methods ranx gets 20 queries, as it takes a second for each, and its time is
scaled up.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import goldrank
from goldrank.fusion import NORMALISATIONS, all_methods
from goldrank.fusion.tuning import Search

RUNS, DEPTH, POOL = 10, 100, 300
FEW = 20
TURNS, LIMIT = 3, 120.0
PARAMETERS: dict[str, dict[str, Any]] = {
    **{name: {"weights": [0.1] * RUNS} for name in ("wsum", "wmnz", "mixed", "w_bordafuse", "w_condorcet")},
    "gmnz": {"gamma": 0.5}, "rbc": {"phi": 0.8}, "logn_isr": {"sigma": 0.2}, "rrf": {"k": 60},
}  # fmt: skip
THEIR_NORMS = {
    "min-max": "min-max", "inverted": "min-max-inverted", "max": "max", "sum": "sum", "zmuv": "zmuv", "rank": "rank",
    "borda": "borda", "none": None,
}  # fmt: skip
"""ranx's names of normalisations."""

Results = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Row:
    """What was measured."""

    what: str
    ours: float
    theirs: float | None
    equal: bool | None
    """Whether both gave the same values; None where they are known to differ or there is nothing to compare."""


def data(queries: int) -> tuple[dict[str, dict[str, int]], dict[str, Results]]:
    """Judgements and runs; each run returns a third of a query's documents."""
    rng = np.random.default_rng(0)
    names = np.array([f"doc{i}" for i in range(POOL)])
    qrels = {f"q{i}": dict.fromkeys(names[rng.choice(POOL, 5, replace=False)].tolist(), 1) for i in range(queries)}
    runs: dict[str, Results] = {f"r{run}": {query: _ranking(rng, names) for query in qrels} for run in range(RUNS)}
    return qrels, runs


def _ranking(rng: np.random.Generator, names: np.ndarray) -> dict[str, float]:
    scores = np.sort(rng.random(DEPTH))[::-1].tolist()
    return dict(zip(names[rng.permutation(POOL)[:DEPTH]].tolist(), scores, strict=True))


def parameters(name: str, qrels: dict[str, dict[str, int]], runs: Mapping[str, goldrank.Run]) -> dict[str, Any]:
    """The parameters of a method, learned where it learns them."""
    method = all_methods()[name]
    given = dict(PARAMETERS.get(name, {}))
    if method.learn is not None:
        given |= method.trained(Search(goldrank.Qrels(qrels), list(runs.values()), name, "nDCG@10").evidence(), {})
    return given | ({"w": 5} if name == "slidefuse" else {})


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returned."""
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, found


def measured(queries: int, only: Sequence[str] = (), turns: int = TURNS) -> Iterator[Row]:
    """A row for each method, and for each normalisation in front of `sum`."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    qrels, results = data(queries)
    ours = {name: goldrank.Run(run, name=name) for name, run in results.items()}
    try:
        import ranx
    except ImportError:
        ranx = None
    theirs = [] if ranx is None else [ranx.Run(run, name=name) for name, run in results.items()]
    few = [ranx.Run(dict(list(run.items())[:FEW])) for run in results.values()] if theirs else []
    asked = [(name, "min-max") for name in all_methods()]
    asked += [("sum", name) for name in NORMALISATIONS if name in THEIR_NORMS and name != "min-max"]
    for name, how in asked:
        if only and name not in only and how not in only:
            continue
        given = parameters(name, qrels, ours)
        slow = "condorcet" in name
        scale = queries / FEW if slow else 1
        fused, best, their_best, other = None, np.inf, np.inf, None
        begin = time.process_time()
        if theirs:
            ranx.fuse(few, THEIR_NORMS[how], name, given)  # for it to compile
        for _ in range(turns):
            spent, fused = cpu(partial(goldrank.fuse, ours, name, normalise=how, equal=0.0, **given))
            best = min(best, spent)
            if theirs:
                spent, other = cpu(partial(ranx.fuse, few if slow else theirs, THEIR_NORMS[how], name, given))
                their_best = min(their_best, spent * scale)
            if time.process_time() - begin > LIMIT:
                break
        equal = None if other is None or slow else _same(fused, other)
        yield Row(name if how == "min-max" else f"sum after {how}", best, their_best if theirs else None, equal)


def _same(fused: Any, other: Any) -> bool:
    sample = list(fused)[:10]
    return all(
        np.allclose([fused[query][doc] for doc in other[query]], list(other[query].values()), rtol=1e-9, atol=1e-12)
        for query in sample
    )


def main() -> None:
    """Print a Markdown table."""
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    sys.stdout.write(f"{RUNS} runs x {queries:,} queries x {DEPTH} documents, CPU seconds\n\n")
    sys.stdout.write("| method | goldrank | ranx | times | same values |\n|---|---:|---:|---:|---|\n")
    for row in measured(queries, sys.argv[2:]):
        compared = "| | " if row.theirs is None else f"{row.theirs:.2f} | {row.theirs / row.ours:.1f} "
        same = {True: "yes", False: "NO", None: ""}[row.equal]
        sys.stdout.write(f"| `{row.what}` | {row.ours:.2f} | {compared}| {same} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
