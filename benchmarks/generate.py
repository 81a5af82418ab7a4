"""Make the benchmark's data sets: python generate.py DIRECTORY [SHAPE]...

Each shape is a pair of TREC files, SHAPE.qrels and SHAPE.run. SHAPE-shuffled is the same run with its lines in a
random order, SHAPE-parquet and SHAPE-shuffled-parquet are the columns that count as Parquet, SHAPE-jsonl as JSON
Lines, an object for each document. The same shape and seed give the same bytes; a shape whose files are there is not
made again.
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
SHUFFLED, PARQUET, JSONL = "-shuffled", "-parquet", "-jsonl"
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
    # A run of a million lines (35 MB).
    "million": Shape(queries=1_000, depth=1_000, corpus=8_800_000, more_relevant=0.06, not_relevant=1),
    # More than one wants to hold in memory (1.8 GB).
    "huge": Shape(queries=50_000, depth=1_000, corpus=8_800_000, more_relevant=0.06, not_relevant=1),
}

MANY = "many"
MANY_QUERIES = 5_000_000
"""Queries of two documents each, of which one is judged: what a judged query costs (390 MB)."""

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


def write_many(qrels: Path, run: Path, queries: int = MANY_QUERIES) -> None:
    """Write queries of two documents; query by query, as `topics` makes them, would take minutes."""
    corpus = 8_800_003  # a prime: neighbours are different documents
    with open(qrels, "w", encoding="ascii") as judged, open(run, "w", encoding="ascii") as returned:
        for query in range(queries):
            first = query * 7_919 % corpus
            judged.write(f"{query} 0 {first + query % 3} 1\n")
            returned.write(f"{query} Q0 {first} 1 9.5 bench\n{query} Q0 {first + 1} 2 7.25 bench\n")


def base_of(name: str) -> str:
    """The shape that others are made from."""
    return name.removesuffix(PARQUET).removesuffix(SHUFFLED).removesuffix(JSONL)


def files_of(directory: Path, name: str) -> tuple[Path, Path]:
    """The paths of a shape's qrels and run."""
    ending = next((ending for ending in (PARQUET, JSONL) if name.endswith(ending)), None)
    run = f"{name}.run" if ending is None else f"{name.removesuffix(ending)}.{ending[1:]}"
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


def as_json_lines(run: Path, lines: Path) -> None:
    """Write query, document and score of a run as JSON Lines."""
    with open(run, encoding="ascii") as given, open(lines, "w", encoding="ascii") as written:
        for line in given:
            query, _, doc, _, score, _ = line.split()
            written.write(f'{{"query": "{query}", "doc": "{doc}", "score": {score}}}\n')


MADE = {PARQUET: as_parquet, SHUFFLED: shuffle, JSONL: as_json_lines}
"""How a run is made from that of the name without the ending."""


def ensure(directory: Path, name: str) -> tuple[Path, Path]:
    """The paths of a shape's qrels and run, made if they are missing. Files half written never get their names."""
    qrels, run = files_of(directory, name)
    if not (qrels.exists() and run.exists()):
        directory.mkdir(parents=True, exist_ok=True)
        unfinished = directory / f"{qrels.name}.part", directory / f"{run.name}.part"
        ending = next((ending for ending in MADE if name.endswith(ending)), None)
        source = None if ending is None else ensure(directory, name.removesuffix(ending))[1]
        print(f"making {name}", file=sys.stderr, flush=True)
        if ending is not None and source is not None:
            MADE[ending](source, unfinished[1])
        else:
            write_many(*unfinished) if name == MANY else write(SHAPES[name], *unfinished)
            os.replace(unfinished[0], qrels)
        os.replace(unfinished[1], run)
    return qrels, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    known = (*SHAPES, MANY)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(known)}; marco and deep if none")
    arguments = parser.parse_args()
    for name in arguments.shapes or ["marco", "deep"]:
        if base_of(name) not in known:
            parser.error(f"unknown shape {name!r}; there are {', '.join(known)}")
        ensure(arguments.directory, name)


if __name__ == "__main__":
    main()
