"""Make the benchmark's data sets: python generate.py DIRECTORY [SHAPE]...

Each shape is a pair of TREC files, SHAPE.qrels and SHAPE.run. The same shape and seed give the same bytes;
a shape whose files are there is not made again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 7


@dataclass(frozen=True)
class Shape:
    """How many queries, documents and judgements a data set has."""

    queries: int
    depth: int
    """Documents returned for each query."""
    corpus: int
    """Documents that there are to return."""
    more_relevant: float
    """Judged relevant per query beyond the first (mean of a Poisson distribution)."""
    not_relevant: int
    """Judged not relevant per query; repeated draws are one judgement."""


SHAPES = {
    # MS MARCO passage, dev: many queries, about one relevant document each (240 MB).
    "marco": Shape(queries=6_980, depth=1_000, corpus=8_800_000, more_relevant=0.06, not_relevant=1),
    # TREC ad hoc: few queries, judged to great depth (2 MB).
    "deep": Shape(queries=50, depth=1_000, corpus=528_000, more_relevant=80, not_relevant=800),
    # A query log: very many short rankings (170 MB), and the first half of it, to see how the time grows.
    "wide": Shape(queries=500_000, depth=10, corpus=8_800_000, more_relevant=0, not_relevant=0),
    "wide-half": Shape(queries=250_000, depth=10, corpus=8_800_000, more_relevant=0, not_relevant=0),
    # More than one wants to hold in memory (1.8 GB).
    "huge": Shape(queries=50_000, depth=1_000, corpus=8_800_000, more_relevant=0.06, not_relevant=1),
}

FOUND = 0.8
"""The share of relevant documents that the run returns."""
RANK_TAIL = 0.6
"""Exponent of the Pareto distribution of their ranks: mostly near the top, now and then far down."""
HIGHEST_SCORE = 30
HIGHEST_GRADE = 3


def topics(shape: Shape, seed: int = SEED) -> Iterator[tuple[int, dict[int, int], list[int], list[float]]]:
    """Query id, grades by document, returned documents and their descending scores, query by query."""
    random = np.random.default_rng(seed)
    for number in range(shape.queries):
        documents = random.choice(shape.corpus, size=shape.depth, replace=False)
        # Four decimals make a few ties in every long ranking, as real runs have them.
        scores = np.sort(random.random(shape.depth) * HIGHEST_SCORE)[::-1].round(4)
        grades: dict[int, int] = {}
        for _ in range(1 + random.poisson(shape.more_relevant)):
            if random.random() < FOUND:
                document = documents[min(shape.depth - 1, int(random.pareto(RANK_TAIL)))]
            else:
                document = random.integers(shape.corpus)
            grades[int(document)] = int(random.integers(1, HIGHEST_GRADE + 1))
        for place in random.integers(shape.depth, size=shape.not_relevant):
            grades.setdefault(int(documents[place]), 0)
        yield 100_000 + 7 * number, grades, documents.tolist(), scores.tolist()


def write(shape: Shape, qrels: Path, run: Path, seed: int = SEED) -> None:
    """Write a shape's two files."""
    with open(qrels, "w", encoding="ascii") as judged, open(run, "w", encoding="ascii") as returned:
        for query, grades, documents, scores in topics(shape, seed):
            judged.writelines(f"{query} 0 {document} {grade}\n" for document, grade in grades.items())
            returned.writelines(
                f"{query} Q0 {document} {rank} {score:.4f} bench\n"
                for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
            )


def ensure(directory: Path, name: str) -> tuple[Path, Path]:
    """The paths of a shape's qrels and run, made if they are missing. Files half written never get their names."""
    qrels, run = directory / f"{name}.qrels", directory / f"{name}.run"
    if not (qrels.exists() and run.exists()):
        directory.mkdir(parents=True, exist_ok=True)
        print(f"making {name}", file=sys.stderr, flush=True)
        unfinished = directory / f"{name}.qrels.part", directory / f"{name}.run.part"
        write(SHAPES[name], *unfinished)
        os.replace(unfinished[0], qrels)
        os.replace(unfinished[1], run)
    return qrels, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; marco and deep if none")
    arguments = parser.parse_args()
    for name in arguments.shapes or ["marco", "deep"]:
        if name not in SHAPES:
            parser.error(f"unknown shape {name!r}; there are {', '.join(SHAPES)}")
        ensure(arguments.directory, name)


if __name__ == "__main__":
    main()
