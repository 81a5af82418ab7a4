"""What the estimates of memory stand for, measured: python benchmarks/memory.py [--items 200000]

Before something is held whole, `goldrank.base.machine.fits` asks whether there is room for it, by bytes for each
judgement, line, tag and so on. Each row here is one of these constants: the work of a process with so many items and
with twice as
many, and the difference of their highest memory for each item. A constant must not be far above what is measured, or
what would fit is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from goldrank.data.qrels import JUDGEMENT, TEXT_JUDGEMENT
from goldrank.engine.external_sort import SCATTERED_LINE
from goldrank.engine.streaming import RANKED_LINE, RUN
from goldrank.io.json.json_records import ROW

CODE = """
import json, os, sys
import goldrank

what, folder = sys.argv[1:]

def highest():
    text = open("/proc/self/status").read()
    return 1024 * int(text.partition("VmHWM:")[2].split()[0])

def evaluated(qrels, run):
    goldrank.evaluate(qrels, run, ["AP", "nDCG@10"], overlap="allow")

small, run = f"{folder}/small.qrels", f"{folder}/small.run"
evaluated(small, run)
given = next(f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.startswith("given"))
work = {
    "qrels": lambda: goldrank.read_qrels(given).columns,
    "run": lambda: evaluated(small, goldrank.read_run(given)),
    "tags": lambda: goldrank.evaluate(small, goldrank.read_runs(given), "AP", overlap="allow"),
}[what]
goldrank.read_qrels(f"{folder}/warm{os.path.splitext(given)[1]}") if what == "qrels" else None
open("/proc/self/clear_refs", "w").write("5")  # the highest begins anew
before = highest()
work()
print(json.dumps(highest() - before))
"""


def trec(rows: Iterator[tuple[str, str, int]]) -> str:
    return "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows)


def judged(items: int, per_query: int = 10) -> Iterator[tuple[str, str, int]]:
    return ((f"q{i // per_query:07}", f"doc{i:07}", i % 3) for i in range(items))


def qrels_file(suffix: str) -> Callable[[Path, int], None]:
    """Judgements of nine-byte ids as TREC text, CSV, Parquet or JSON."""

    def make(folder: Path, items: int) -> None:
        for name, count in (("given", items), ("warm", 20)):
            path = folder / f"{name}{suffix}"
            if suffix == ".txt":
                path.write_text(trec(judged(count)))
            elif suffix == ".json":
                table: dict[str, dict[str, int]] = {}
                for query, doc, grade in judged(count):
                    table.setdefault(query, {})[doc] = grade
                path.write_text(json.dumps(table))
            else:
                import polars as pl

                frame = pl.DataFrame(list(judged(count)), schema=["query", "doc", "grade"], orient="row")
                frame.write_parquet(path) if suffix == ".parquet" else frame.write_csv(path)

    return make


def lines(line: Callable[[int], str]) -> Callable[[Path, int], None]:
    """A run of made-up lines."""

    def make(folder: Path, items: int) -> None:
        (folder / "given.run").write_text("".join(map(line, range(items))))

    return make


def scattered(i: int) -> str:
    """A line of one query, or now and then of another."""
    return f"q{1 + (i % 1000 == 0)} Q0 document{i:07} 1 {-i}.5 t\n"


def record(i: int) -> str:
    """A line of JSON."""
    return json.dumps({"query": f"q{i // 10:07}", "doc": f"doc{i:07}", "score": 9 - i % 10}) + "\n"


Case = tuple[str, int, str, Callable[[Path, int], None], float]
CASES: list[Case] = [
    ("TEXT_JUDGEMENT", TEXT_JUDGEMENT, "qrels", qrels_file(".txt"), 1),
    ("JUDGEMENT, Parquet", JUDGEMENT, "qrels", qrels_file(".parquet"), 1),
    ("JUDGEMENT, CSV", JUDGEMENT, "qrels", qrels_file(".csv"), 1),
    ("JUDGEMENT, JSON", JUDGEMENT, "qrels", qrels_file(".json"), 1),
    ("RANKED_LINE and line", RANKED_LINE, "run", lines(lambda i: f"q1 Q0 document{i:07} {i} {-i}.5 t\n"), 1),
    ("RANKED_LINE and line, tied", RANKED_LINE, "run", lines(lambda i: f"q1 Q0 document{i:07} {i} 0.5 t\n"), 1),
    ("SCATTERED_LINE", SCATTERED_LINE, "run", lines(scattered), 1),
    ("ROW", ROW, "run", lines(record), 1),
    ("RUN", RUN, "tags", lines(lambda i: f"q1 Q0 d1 1 0.5 tag{i}\n"), 0.02),
]  # fmt: skip
"""Constant, its value, what is done, what it is done with, and how many times the items are needed to see it."""


def highest(what: str, make: Callable[[Path, int], None], items: int) -> int:
    """Bytes that the work takes at its peak beyond what the process had before."""
    with tempfile.TemporaryDirectory(prefix="goldrank-memory-") as name:
        folder = Path(name)
        (folder / "small.qrels").write_text("q1 0 document0000005 1\nq2 0 d1 1\n")
        (folder / "small.run").write_text("q1 Q0 document0000005 1 1.0 t\n")
        make(folder, items)
        done = subprocess.run([sys.executable, "-c", CODE, what, name], check=True, capture_output=True, text=True)
        return int(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--only", default="", help="constants whose names begin so")
    given = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}\n\n| constant | is, bytes | measured, bytes |\n|---|---:|---:|")
    for name, value, what, make, share in CASES:
        if name.startswith(given.only):
            items = int(given.items * share)
            each = (highest(what, make, 2 * items) - highest(what, make, items)) / items
            print(f"| {name} | {value:,} | {each:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
