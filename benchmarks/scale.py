"""How time and memory grow with the rows of a run: python scale.py [--rows 1e5 1e6 1e7 1e8] [--runs 3]

Makes runs of about 1,000 documents a query with three judged ones, as Parquet and (to 1e7 rows) as TREC text, in a
temporary folder and in pieces, so that making them needs no memory either. Each is evaluated in a process of its own.
Writes a table between the marks of docs/scale.md and docs/scale.svg.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import processes

from goldrank.report import charts

if TYPE_CHECKING:
    import polars as pl

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scale.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

SEED = 7
DEPTH = 1_000
CORPUS = 8_800
"""Times a thousand: how many documents there are to return."""
JUDGED = (500, 900)
"""Places of judged documents, beside one among the first ten."""
GROUP = 1_000_000
"""Rows that are made at a time, and those of a row group."""
MOST_TEXT = 10_000_000

CODE = """
import json, sys
import goldrank
scores = goldrank.evaluate(sys.argv[1], sys.argv[2], ["nDCG@10", "AP", "RR"])
print(json.dumps(scores.mean))
"""


@dataclass(frozen=True)
class Result:
    """What one size cost in one format."""

    form: str
    rows: int
    stored: int
    cost: processes.Cost

    @property
    def per_row(self) -> float:
        """Nanoseconds a row."""
        return self.cost.wall / self.rows * 1e9


def made(rows: int) -> Iterator[tuple[pl.DataFrame, str]]:
    """Pieces of a run and the lines of their judgements."""
    import numpy as np
    import polars as pl

    random = np.random.default_rng(SEED)
    for low in range(0, rows, GROUP):
        queries = min(GROUP, rows - low) // DEPTH
        first = low // DEPTH
        # A document's last digits are its place, so that none comes twice in a ranking.
        docs = random.integers(0, CORPUS, (queries, DEPTH)) * DEPTH + random.permutation(DEPTH)
        scores = -np.sort(-random.random((queries, DEPTH)) * 30, axis=1).round(4)
        frame = pl.DataFrame(
            {
                "query": np.repeat(np.arange(first, first + queries), DEPTH),
                "doc": docs.ravel(),
                "score": scores.ravel(),
            }
        ).with_columns(
            query=pl.format("q{}", "query"),
            doc=pl.format("doc{}", "doc"),
        )
        places = np.column_stack((random.integers(0, 10, queries), *(np.full(queries, at) for at in JUDGED)))
        grades = random.integers(0, 3, places.shape)
        lines = "".join(
            f"q{first + i} 0 doc{docs[i, at]} {grade}\n"
            for i in range(queries)
            for at, grade in zip(places[i], grades[i], strict=True)
        )
        yield frame, lines


def write(rows: int, folder: Path, form: str) -> None:
    """A run and its qrels."""
    import polars as pl

    qrels, run = folder / f"{rows}.qrels", folder / f"{rows}.{form}"
    with open(qrels, "w", encoding="ascii") as judged:
        if form == "parquet":
            run.mkdir()
            for number, (frame, lines) in enumerate(made(rows)):
                frame.write_parquet(run / f"part-{number:05}.parquet", row_group_size=GROUP)
                judged.write(lines)
        else:
            with open(run, "wb") as file:
                for frame, lines in made(rows):
                    blank = pl.lit("Q0").alias("Q0")
                    columns = ["query", blank, "doc", pl.lit("1").alias("rank"), "score", pl.lit("tag").alias("tag")]
                    frame.select(columns).write_csv(file, separator=" ", include_header=False)
                    judged.write(lines)


def stored_bytes(path: Path) -> int:
    """The size of a file or of the files in a folder."""
    return sum(one.stat().st_size for one in path.iterdir()) if path.is_dir() else path.stat().st_size


def measure(rows: int, form: str, runs: int, timeout: float) -> Result:
    """Make a run, evaluate it several times, remove it."""
    with tempfile.TemporaryDirectory(prefix="goldrank-scale-") as name:
        print(f"{form}, {rows:,} rows: making", file=sys.stderr, flush=True)
        # By a process of its own: one that is started counts the memory of the one that started it as its own.
        subprocess.run([sys.executable, __file__, "--rows", str(rows), "--forms", form, "--make", name], check=True)
        qrels, run = Path(name) / f"{rows}.qrels", Path(name) / f"{rows}.{form}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-c", CODE, qrels, run]
        costs = [processes.run(command, environment, timeout) for _ in range(runs)]
        result = Result(form, rows, stored_bytes(run), processes.middle(costs))
    print(f"  {result.cost.wall:.2f} s, {result.per_row:.0f} ns a row", file=sys.stderr, flush=True)
    return result


def growth(results: Sequence[Result]) -> float:
    """The exponent b of time = a * rows ** b between the two largest sizes; 1 is in proportion."""
    if len(results) < 2:
        return math.nan
    before, last = sorted(results, key=lambda one: one.rows)[-2:]
    return math.log(last.cost.wall / before.cost.wall) / math.log(last.rows / before.rows)


def table(results: Sequence[Result], runs: int) -> str:
    """The results as Markdown."""
    lines = [
        "| format | rows | stored | time | a row | own memory | with mapped files |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in results:
        own = "" if one.cost.anonymous is None else f"{one.cost.anonymous / 1e6:,.0f} MB"
        lines.append(
            f"| {one.form} | {one.rows:,} | {one.stored / 1e6:,.0f} MB | {one.cost.wall:.2f} s "
            f"| {one.per_row:,.0f} ns | {own} | {one.cost.resident / 1e6:,.0f} MB |"
        )
    lines.append("")
    for form in dict.fromkeys(one.form for one in results):
        mine = [one for one in results if one.form == form]
        if len(mine) > 1:
            ratio = mine[-1].per_row / mine[-2].per_row - 1
            lines.append(
                f"{form}: time grows with rows to the power of {growth(mine):.2f} between the two largest sizes "
                f"({ratio:+.0%} a row)."
            )
    load = os.getloadavg()[0]
    lines.append(
        f"Whole processes, interpreter and imports included; median of {runs}, highest memory. {os.cpu_count()} "
        f"processors ({platform.machine()}), Python {platform.python_version()}, polars {version('polars')}; load "
        f"at the end {load:.1f}."
    )
    return "\n".join(lines)


def chart(results: Sequence[Result]) -> str:
    """Time and memory against rows as SVG, all in powers of ten."""
    series = {}
    for form in dict.fromkeys(one.form for one in results):
        mine = [one for one in results if one.form == form]
        series[f"{form}, s"] = [(one.rows, one.cost.wall) for one in mine]
        series[f"{form}, GB"] = [(one.rows, (one.cost.anonymous or one.cost.resident) / 1e9) for one in mine]
    return charts.powers("Time and memory by rows of the run", "rows", series).alone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=float, default=[1e5, 1e6, 1e7, 1e8])
    parser.add_argument("--forms", nargs="+", choices=["parquet", "trec"], default=["parquet", "trec"])
    parser.add_argument("--runs", type=int, default=3, help="how often each is evaluated")
    parser.add_argument("--timeout", type=float, default=1_800)
    parser.add_argument("--dry", action="store_true", help="print the table and write no file")
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="only make the data, there")
    arguments = parser.parse_args()
    if any(rows < DEPTH or rows % DEPTH for rows in arguments.rows):
        parser.error(f"--rows takes multiples of {DEPTH}")
    if arguments.make:
        for form in arguments.forms:
            for rows in arguments.rows:
                write(int(rows), arguments.make, form)
        return
    results = [
        measure(int(rows), form, arguments.runs, arguments.timeout)
        for form in arguments.forms
        for rows in sorted(arguments.rows)
        if form == "parquet" or rows <= MOST_TEXT
    ]
    text = table(results, arguments.runs)
    print(text)
    if not arguments.dry:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        _, after = rest.split(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n![Time and memory](scale.svg)\n\n{END}{after}", encoding="utf-8")
        PAGE.with_suffix(".svg").write_text(chart(results), encoding="utf-8")


if __name__ == "__main__":
    main()
