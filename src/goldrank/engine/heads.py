"""The first documents of each ranking, for what needs their ids and not only where judged ones landed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goldrank import ids
from goldrank.conventions import Convention
from goldrank.data.blocks import BlockSource
from goldrank.data.run import Run

Scored = tuple[float, bytes]


def heads(run: Run, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
    """The first `depth` documents of each query, best first; none for a query that is not in the run."""
    if run.remote is not None:
        from goldrank.engine import spark

        return spark.heads(run.remote, queries, depth, convention)
    if run.blocks is not None:
        found = _from_blocks(run.blocks, {ids.encode(query): i for i, query in enumerate(queries)}, depth, convention)
    else:
        results = run.results
        found = [
            [(float(score), ids.encode(str(doc))) for doc, score in results.get(query, {}).items()] for query in queries
        ]
    return [[ids.decode(doc) for _, doc in _ordered(row, convention)[:depth]] for row in found]


def _from_blocks(source: BlockSource, code: dict[bytes, int], depth: int, convention: Convention) -> list[list[Scored]]:
    """The lines that may be among the first of their query, in input order."""
    found: list[list[Scored]] = [[] for _ in code]
    for piece in source.pieces():
        block = piece()
        for i, query in enumerate(block.queries):
            if query not in code:
                continue
            low, high = int(block.start[i]), int(block.start[i + 1])
            score = _rounded(block.score[low:high], convention)
            lines = np.arange(low, high)
            if high - low > depth:
                # Whatever ties with the last of them may come before it.
                least = np.partition(score, high - low - depth)[high - low - depth]
                lines = lines[score >= least]
                score = score[score >= least]
            found[code[query]] += list(zip(score.tolist(), block.docs(lines), strict=True))
    return found


def _rounded(score: np.ndarray, convention: Convention) -> np.ndarray:
    return score.astype(np.float32).astype(np.float64) if convention.score_type == "float32" else score


def _ordered(row: list[Scored], convention: Convention) -> list[Scored]:
    if convention.score_type == "float32":
        row = [(float(np.float32(score)), doc) for score, doc in row]
    if convention.ties == "input":
        return sorted(row, key=lambda one: -one[0])
    if convention.ties == "docid-ascending":
        return sorted(row, key=lambda one: (-one[0], one[1]))
    return sorted(row, reverse=True)
