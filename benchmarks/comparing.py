"""What a large comparison takes: python benchmarks/comparing.py [--queries N]

Ten systems, ten measures and 7,000 queries, with the joint correction: from files as the command line has them, and
from scores; with unjudged documents looked at, as is usual, and ignored; and with slices by four attributes. Prints the
least CPU time of three rounds, on one core if OPENBLAS_NUM_THREADS=1; what is usual may take six seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from goldrank import Comparison, Queries, Runs, Statistics, compare, evaluate

SYSTEMS = 10
MEASURES = ("nDCG@10", "nDCG@5", "AP", "AP@10", "RR@10", "P@10", "P@5", "R@10", "Success@1", "RBP")
DOCUMENTS, DEPTH = 60, 20
LIMIT, ROUNDS, SEED = 6.0, 3, 15


def write(folder: Path, queries: int) -> tuple[str, dict[str, str]]:
    """Judgements and runs: 3 to 14 of 60 documents are judged, so that every run returns unjudged ones."""
    rng = np.random.default_rng(SEED)
    judged = rng.permuted(np.arange(DOCUMENTS) < rng.integers(3, 15, queries)[:, None], axis=1)
    grades = np.where(judged, rng.integers(0, 4, judged.shape), 0)
    lines = [f"q{q} 0 d{q}-{d} {grades[q, d]}\n" for q, d in np.argwhere(judged).tolist()]
    (folder / "judged.qrels").write_text("".join(lines))
    runs = {}
    for system in range(SYSTEMS):
        scores = grades * (0.5 + 0.02 * system) + rng.normal(0, 1.2, grades.shape)
        top = np.argsort(-scores, axis=1)[:, :DEPTH].tolist()
        path = folder / f"s{system}.run"
        path.write_text(
            "".join(f"q{q} Q0 d{q}-{d} {r} {-r} s\n" for q, row in enumerate(top) for r, d in enumerate(row))
        )
        runs[path.stem] = str(path)
    return str(folder / "judged.qrels"), runs


def least_cpu(work: Callable[[], Comparison]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; 1 if what is usual takes too long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=7_000)
    queries = parser.parse_args(arguments).queries
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = write(Path(folder), queries)
        scores = evaluate(qrels, Runs(runs), MEASURES)
        attributes = {f"by {n}": n for n in (3, 4, 5, 7)}
        asked = Queries({f"q{q}": {name: q % n for name, n in attributes.items()} for q in range(queries)})
        ignoring = Statistics(unjudged="ignore")
        works: dict[str, Callable[[], Comparison]] = {
            "from files": lambda: compare(qrels, runs, MEASURES),
            "from files, unjudged documents ignored": lambda: compare(qrels, runs, MEASURES, statistics=ignoring),
            "from scores": lambda: compare(scores),
            "from scores, four attributes": lambda: compare(scores, queries=asked, slice_by=list(attributes)),
        }
        print(f"{SYSTEMS} systems, {len(MEASURES)} measures, {queries:,} queries\n\n| comparison | CPU s |\n|---|---:|")
        late = False
        for name, work in works.items():
            took = least_cpu(work)
            late |= name == "from files" and took > LIMIT
            print(f"| {name} | {took:.1f} |", flush=True)
    return int(late)


if __name__ == "__main__":
    raise SystemExit(main())
