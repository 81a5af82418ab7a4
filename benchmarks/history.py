"""How long the history takes, and how much room: python benchmarks/history.py [--records N] [--queries N]

Records ten measures of a run with judgements as in the benchmark's data (generate.py), then reads a history of many
records as `goldrank history` does. Nothing is written beside what is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import generate
import numpy as np

from goldrank import History, Scores, evaluate
from goldrank.data.scores import Column

MEASURES = ["nDCG@10", "nDCG@100", "nDCG", "AP", "RR@10", "R@10", "R@100", "P@10", "ERR@10", "bpref"]
ROUNDS = 9


def moved(scores: Scores, rng: np.random.Generator) -> Scores:
    """The scores after a small change: each query has, with a probability of 3%, the values of another one."""
    order = np.arange(len(scores.queries))
    which = np.flatnonzero(rng.random(len(order)) < 0.03)
    order[which] = rng.permutation(order)[: len(which)]
    columns = {}
    for name, column in scores.columns.items():
        values = column.values[order]
        columns[name] = Column(name, values, float(values.mean()), column.average, column.higher_is_better)
    facts = scores.query_facts.made()
    return replace(scores, columns=columns, origin=partial(dict, scores.provenance), facts=facts, placed=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=7_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        shape = generate.Shape(queries=options.queries, depth=100, corpus=1_000_000, more_relevant=1, not_relevant=4)
        qrels, run, path = (Path(folder) / name for name in ("qrels", "run", "history.db"))
        generate.write(shape, qrels, run)
        scores = evaluate(str(qrels), str(run), MEASURES)
        _ = scores.provenance
        print(f"{options.queries:,} queries, {len(MEASURES)} measures, load {os.getloadavg()[0]:.1f}")
        times, sizes = [], [0]
        for _ in range(ROUNDS):
            one = moved(scores, rng)
            began = time.perf_counter()
            with History(path) as history:
                history.record(one, label="main")
            times.append(time.perf_counter() - began)
            sizes.append(path.stat().st_size)
        print(
            f"open, record, close: median {statistics.median(times) * 1000:.0f} ms, slowest {max(times) * 1000:.0f} ms"
        )
        later = (sizes[-1] - sizes[1]) / (ROUNDS - 1)
        print(f"file after the first record {sizes[1] / 1000:.0f} KB, each later one {later / 1000:.0f} KB")
        with History(path) as history:
            for _ in range(options.records - ROUNDS):
                history.record(moved(scores, rng), label="main")
            began = time.perf_counter()
            history.records()
            print(f"list {options.records:,} records: {(time.perf_counter() - began) * 1000:.0f} ms")
            began = time.perf_counter()
            history.scores(options.records // 2)
            print(f"read one with every query's values: {(time.perf_counter() - began) * 1000:.0f} ms")
        times = []
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "goldrank", "history", "--db", str(path)], check=True, stdout=subprocess.DEVNULL
            )
            times.append(time.perf_counter() - began)
        print(f"`goldrank history` over {options.records:,} records: {min(times):.2f} s (best of 3)")
        print(f"file {path.stat().st_size / 1e6:.1f} MB, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
