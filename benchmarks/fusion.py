"""All fusion methods and normalisations, beside ranx after its compilation: CPU seconds, the least of some turns.

python benchmarks/fusion.py [queries] [--into rows.md] [row ...]     # 1,000 queries and all rows unless given

A row is a method, after min-max, or `"sum after rank"`: 25 methods, and 7 normalisations beside min-max. With --into,
rows are also added to that file, and those that it has already are not measured again: what was stopped goes on.
Without ranx only goldrank is measured.

Runs are in memory, as each tool has them. Both fuse the same runs in turns, in one process; threads count with their
CPU time, and numba gets one unless NUMBA_NUM_THREADS is set. A row ends after three turns, or after two minutes of CPU
time with one turn at least. Of Condorcet's methods ranx gets 20 queries, as it takes a second for each, and its time is
scaled up.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import goldrank
from goldrank.fusion.methods import all_methods
from goldrank.fusion.tuning import SettingSearch

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

SAME = {True: "yes", False: "NO", None: ""}

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
        search = SettingSearch(
            goldrank.Qrels(qrels),
            list(runs.values()),
            goldrank.Fusion(name),
            "nDCG@10",
            goldrank.Convention("trec_eval-10"),
        )
        given |= method.trained(search.evidence(), {})
    return given | ({"w": 5} if name == "slidefuse" else {})


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returned."""
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, found


def rows() -> dict[str, tuple[str, str]]:
    """By name of a row, its method and normalisation."""
    found = {name: (name, "min-max") for name in all_methods()}
    return found | {f"sum after {how}": ("sum", how) for how in THEIR_NORMS if how != "min-max"}


def measured(queries: int, only: Sequence[str] = (), turns: int = TURNS) -> Iterator[Row]:
    """A row for each method, and for each normalisation in front of `sum`; those that are asked for, or all."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    qrels, results = data(queries)
    ours = {name: goldrank.Run(run, name=name) for name, run in results.items()}
    try:
        import ranx
    except ImportError:
        ranx = None
    theirs = [] if ranx is None else [ranx.Run(run, name=name) for name, run in results.items()]
    few = [ranx.Run(dict(list(run.items())[:FEW])) for run in results.values()] if theirs else []
    for what, (name, how) in rows().items():
        if only and what not in only:
            continue
        given = parameters(name, qrels, ours)
        slow = "condorcet" in name
        scale = queries / FEW if slow else 1
        fused, best, their_best, other = None, np.inf, np.inf, None
        begin = time.process_time()
        if theirs:
            ranx.fuse(few, THEIR_NORMS[how], name, given)  # for it to compile
        for _ in range(turns):
            spent, fused = cpu(partial(goldrank.fuse, ours, name, normalization=how, equal=0.0, **given))
            best = min(best, spent)
            if theirs:
                spent, other = cpu(partial(ranx.fuse, few if slow else theirs, THEIR_NORMS[how], name, given))
                their_best = min(their_best, spent * scale)
            if time.process_time() - begin > LIMIT:
                break
        equal = None if other is None or slow else _same(fused, other)
        yield Row(what, best, their_best if theirs else None, equal)


def _same(fused: Any, other: Any) -> bool:
    sample = list(fused)[:10]
    return all(
        np.allclose([fused[query][doc] for doc in other[query]], list(other[query].values()), rtol=1e-9, atol=1e-12)
        for query in sample
    )


def line(row: Row) -> str:
    """A row of the Markdown table."""
    compared = "| | " if row.theirs is None else f"{row.theirs:.2f} | {row.theirs / row.ours:.1f} "
    return f"| `{row.what}` | {row.ours:.2f} | {compared}| {SAME[row.equal]} |\n"


def main() -> None:
    """Print a Markdown table, and add its rows to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="?", type=int, default=1_000)
    parser.add_argument("--into", type=Path)
    parser.add_argument("rows", nargs="*", metavar="row")
    asked = parser.parse_intermixed_args()  # rows may follow --into
    if unknown := sorted(set(asked.rows) - set(rows())):
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(rows())}")
    there = asked.into.read_text().splitlines() if asked.into and asked.into.exists() else []
    wanted = [name for name in asked.rows or rows() if not any(known.startswith(f"| `{name}` |") for known in there)]
    head = f"{RUNS} runs x {asked.queries:,} queries x {DEPTH} documents, CPU seconds"
    if there and there[0] != head:
        parser.error(f"{asked.into} is of other runs: {there[0]}")
    title = [f"{head}\n\n| method | goldrank | ranx | times | same values |\n|---|---:|---:|---:|---|\n"]
    if not wanted:
        return
    for number, text in enumerate(chain(title, map(line, measured(asked.queries, wanted)))):
        sys.stdout.write(text)
        sys.stdout.flush()
        if asked.into and (number or not there):
            with asked.into.open("a") as file:
                file.write(text)


if __name__ == "__main__":
    main()
