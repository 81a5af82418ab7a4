"""How CPU time grows with the input: readers, writers, matchers, pages and the history at 1x, 2x, 4x and 8x.

python benchmarks/growth.py [--only csv]     # 1 if a row grows faster than 1.15 and is not listed with a reason

The exponent is the slope of a line through the logarithms of the four times (the least of three each): 1 is linear,
n log n has about 1.1. A constant part (imports, opening a file) makes it smaller; all is called once before.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import goldrank

TIMES = (1, 2, 4, 8)
ROUNDS = 3
LIMIT = 1.15
LINES, TEXTS, RECORDS = 100_000, 150, 60
REASONS: Mapping[str, str] = {"evaluate dicts": "100,000 entries of dicts are in the caches, 800,000 are not"}
"""Rows that may grow faster, and why."""


class Work(NamedTuple):
    """What is measured: `make` gives the input of a size, `run` works on it."""

    name: str
    make: Callable[[Path, int], Any]
    run: Callable[[Any], object]


def qrels_of(queries: int) -> goldrank.Qrels:
    """Three judged documents for each query."""
    return goldrank.Qrels({f"q{i}": {f"d{i}-{j}": j % 3 for j in (1, 5, 30)} for i in range(queries)})


def rankings(lines: int) -> goldrank.Run:
    """A hundred documents for each query."""
    results = {f"q{i}": {f"d{i}-{j}": 100.25 - j for j in range(100)} for i in range(lines // 100)}
    return goldrank.Run(results)


def reader(kind: str) -> Work:
    """Evaluating a run from a file of this format."""

    def make(folder: Path, times: int) -> Any:
        path = folder / f"{times}.{kind}"
        rankings(times * LINES).save(path)
        return qrels_of(times * LINES // 100), path

    return Work(f"read {kind}", make, lambda made: goldrank.evaluate(*made, "nDCG@10"))


def writer(kind: str) -> Work:
    """Writing a run as a file of this format."""

    def make(folder: Path, times: int) -> Any:
        return rankings(times * LINES), folder / f"written{times}.{kind}"

    return Work(f"write {kind}", make, lambda made: made[0].save(made[1]))


def dicts(folder: Path, times: int) -> Any:
    """A run as a dict of dicts."""
    run = {query: dict(docs) for query, docs in rankings(times * LINES).results.items()}
    return qrels_of(times * LINES // 100), run


def matcher(name: str) -> Work:
    """Scoring texts with this matcher: five texts and two references for each question."""

    def make(folder: Path, times: int) -> Any:
        items = []
        for i in range(times * TEXTS):
            texts = [f"The answer of question {i}, text {j}: gold near the river in {1800 + j}." for j in range(5)]
            items.append({"id": f"q{i}", "retrieved": texts, "references": [texts[2], f"Nothing like {i} was found."]})
        return items

    return Work(f"match {name}", make, lambda items: goldrank.evaluate_texts(items, "Cover@5", matching=name))


def compared(folder: Path, times: int) -> Any:
    """Two systems' scores."""
    qrels = qrels_of(times * LINES // 1000)
    runs = goldrank.Runs({"a": rankings(times * LINES // 10), "b": rankings(times * LINES // 10).renamed("b")})
    return goldrank.evaluate(qrels, runs, ["nDCG@10", "AP"])


def pages(folder: Path, times: int) -> Any:
    """A comparison."""
    return goldrank.compare(compared(folder, times))


def history(folder: Path, times: int) -> Any:
    """Scores, and a new history for them."""
    scores = goldrank.evaluate(qrels_of(20), rankings(2_000), ["nDCG@10", "AP"])
    return scores, folder / f"history{times}.db", times * RECORDS


def recorded(made: Any) -> None:
    """Record scores again and again, then look back."""
    scores, path, records = made
    path.unlink(missing_ok=True)
    kept = goldrank.History(path)
    for _ in range(records):
        kept.record(scores)
    list(kept.records())


WORKS = (
    *map(reader, ("trec", "csv", "tsv", "jsonl", "json", "parquet")),
    *map(writer, ("trec", "csv", "jsonl", "parquet")),
    Work("evaluate dicts", dicts, lambda made: goldrank.evaluate(*made, ["nDCG@10", "AP"])),
    *map(matcher, ("exact", "contains", "rouge-l", "token-f1")),
    Work("compare two systems", compared, goldrank.compare),
    Work("page of a comparison", pages, lambda made: goldrank.show(made, "html")),
    Work("history", history, recorded),
)


def seconds(work: Work, made: Any) -> float:
    """The least CPU time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work.run(made)
        times.append(time.process_time() - began)
    return max(min(times), 1e-6)


def exponent(times: Sequence[float]) -> float:
    """The slope of the line through the logarithms."""
    x = [math.log(size) for size in TIMES]
    y = list(map(math.log, times))
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - middle_x) ** 2 for a in x)


def measured(work: Work) -> list[float]:
    """The times of the four sizes; everything is called once before, so that imports do not count."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work.run(work.make(folder, 1))
        return [seconds(work, work.make(folder, times)) for times in TIMES]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; 1 if a row grows too fast."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    only = parser.parse_args(arguments).only
    sizes = " | ".join(f"{times}x ms" for times in TIMES)
    sys.stdout.write(f"| work | {sizes} | exponent | |\n|---|{'---:|' * (len(TIMES) + 1)}---|\n")
    late = False
    for work in WORKS:
        if only not in work.name:
            continue
        times = measured(work)
        power = exponent(times)
        is_late = power > LIMIT and work.name not in REASONS
        late |= is_late
        remark = ""
        if power > LIMIT:
            remark = REASONS.get(work.name, "**too fast**")
        shown = " | ".join(f"{1000 * each:.1f}" for each in times)
        sys.stdout.write(f"| {work.name} | {shown} | {power:.2f} | {remark} |\n")
        sys.stdout.flush()
    return int(late)


if __name__ == "__main__":
    raise SystemExit(main())
