"""Make the benchmark's data sets: python generate.py DIRECTORY [SHAPE]...

Each shape is a pair of TREC files, SHAPE.qrels and SHAPE.run. SHAPE-shuffled is the same run with its lines in a
random order, SHAPE-parquet and SHAPE-shuffled-parquet are the columns that count as Parquet. The same shape and seed
give the same bytes; a shape whose files are there is not made again.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 7
SHUFFLED, PARQUET = "-shuffled", "-parquet"
"""How the names of shapes end that are made from others."""


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
    import numpy as np  # not by those who ask for the names of files

    rng = np.random.default_rng(seed)
    for number in range(shape.queries):
        documents = rng.choice(shape.corpus, size=shape.depth, replace=False)
        # Four decimals make a few ties in every long ranking, as real runs have them.
        scores = np.sort(rng.random(shape.depth) * HIGHEST_SCORE)[::-1].round(4)
        grades: dict[int, int] = {}
        for _ in range(1 + rng.poisson(shape.more_relevant)):
            if rng.random() < FOUND:
                document = documents[min(shape.depth - 1, int(rng.pareto(RANK_TAIL)))]
            else:
                document = rng.integers(shape.corpus)
            grades[int(document)] = int(rng.integers(1, HIGHEST_GRADE + 1))
        for place in rng.integers(shape.depth, size=shape.not_relevant):
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


def base_of(name: str) -> str:
    """The shape that others are made from."""
    return name.removesuffix(PARQUET).removesuffix(SHUFFLED)


def files_of(directory: Path, name: str) -> tuple[Path, Path]:
    """The paths of a shape's qrels and run."""
    run = f"{name.removesuffix(PARQUET)}.parquet" if name.endswith(PARQUET) else f"{name}.run"
    return directory / f"{base_of(name)}.qrels", directory / run


def shuffle(run: Path, shuffled: Path, seed: int = SEED) -> None:
    """Write the lines of a run in a random order."""
    lines = run.read_bytes().splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    shuffled.write_bytes(b"".join(lines))


def as_parquet(run: Path, table: Path) -> None:
    """Write query, document and score of a run as Parquet."""
    import polars as pl

    names = ["query", "iter", "doc", "rank", "score", "tag"]
    texts = dict.fromkeys(("query", "doc"), pl.String)
    frame = pl.read_csv(run, separator=" ", has_header=False, new_columns=names, schema_overrides=texts)
    frame.select("query", "doc", "score").write_parquet(table)


def ensure(directory: Path, name: str) -> tuple[Path, Path]:
    """The paths of a shape's qrels and run, made if they are missing. Files half written never get their names."""
    qrels, run = files_of(directory, name)
    if not (qrels.exists() and run.exists()):
        directory.mkdir(parents=True, exist_ok=True)
        unfinished = directory / f"{qrels.name}.part", directory / f"{run.name}.part"
        if name.endswith((PARQUET, SHUFFLED)):
            made, ending = (as_parquet, PARQUET) if name.endswith(PARQUET) else (shuffle, SHUFFLED)
            _, source = ensure(directory, name.removesuffix(ending))
            print(f"making {name}", file=sys.stderr, flush=True)
            made(source, unfinished[1])
        else:
            print(f"making {name}", file=sys.stderr, flush=True)
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
        if base_of(name) not in SHAPES:
            parser.error(f"unknown shape {name!r}; there are {', '.join(SHAPES)}")
        ensure(arguments.directory, name)


if __name__ == "__main__":
    main()
