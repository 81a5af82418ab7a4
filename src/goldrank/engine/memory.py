"""The engine for runs held in memory as mappings. It needs numpy and nothing else.

A judged document is looked up, not searched for: its rank is one more than the number of documents that
score higher, plus those with the same score that the tie rule puts first. The core does that for plain runs; what it
declines is done here, query by query.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.core import TIES_ASCENDING, TIES_BY_INPUT, TIES_DESCENDING, core
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels, judged_rows
from goldrank.data.run import Rankings, Run, changed, double_scores, rows_of
from goldrank.engine import ScoredEngine
from goldrank.engine.counts import MOST_EXAMPLES, RunCounts, assemble, compared, ranked_with_scores, tie_order

_TIES = {"input": TIES_BY_INPUT, "docid-ascending": TIES_ASCENDING}
"""How the core is told a tie rule; all others order by descending id."""


class MemoryEngine(ScoredEngine):
    """Places runs that are mappings of mappings."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        arrays, results, counts = qrels.arrays, rows_of(run), RunCounts()
        retrieved, answered = np.empty(len(arrays.queries), np.int64), np.empty(len(arrays.queries), bool)
        rows, tied, left, unjudged = _place_plain(qrels, run, convention, retrieved, answered, counts)
        if left:
            more = _place_declined(qrels, run, convention, left, retrieved, answered, counts)
            rows = np.concatenate((rows, more), axis=1)
            counts.lines = int(retrieved.sum())

        if counts.lines and not rows.size:
            first_answered = arrays.queries[int(retrieved.astype(bool).argmax())]
            counts.example_docs = list(islice(results[first_answered], 3))

        for name, forms in qrels.near_forms.items():
            counts.near_forms += len(forms.keys() & results.get(name, {}).keys())

        strangers = [name for name in unjudged if qrels.owns(ids.encode(name))]
        counts.unjudged_queries, counts.unjudged_examples = len(strangers), strangers[:MOST_EXAMPLES]
        query, rank, first, last, label = rows
        if not (tied or left):
            first = last = rank

        return assemble(arrays, retrieved, answered, query, rank, label, first, last, is_ordered=not left), counts

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        results = rows_of(run)
        for query in queries:
            row = results.get(query, {})
            docs = [ids.encode(doc) for doc in row]
            yield ranked_with_scores(double_scores(row, query, run.name), docs, depth, convention)


ENGINE = MemoryEngine()


def _place_plain(
    qrels: Qrels, run: Run, convention: Convention, retrieved: np.ndarray, answered: np.ndarray, counts: RunCounts
) -> tuple[np.ndarray, int, Sequence[int], Iterable[str]]:
    """Query, rank, first and last rank of its tie group, and label of each judged document that the core found.

    Beside them how many of these have ties, the numbers of the queries that it declined, and names of queries that are
    not judged.
    """
    assert isinstance(run.source, Rankings)
    arrays = qrels.arrays
    results, scores = run.source.with_scores()
    columns = np.empty((5, len(arrays.grade)), np.int64)
    placed = None
    if scores is not None:
        ties = _TIES.get(convention.ties, TIES_DESCENDING)
        single = convention.score_type == "float32"
        judged = (qrels.numbers, judged_rows(qrels), arrays.start)
        try:
            placed = core.place(results, scores, *judged, ties, single, retrieved, answered, columns)
        except RuntimeError as error:
            raise changed(run.name) from error
    if placed is None:
        unjudged = (name for name in results if name not in qrels.numbers)
        return columns[:, :0], 0, range(len(arrays.queries)), unjudged

    hits, tied, counts.lines, left, names, infinite, constant = placed
    counts.infinite += infinite
    counts.constant += constant
    return columns[:, :hits], tied, left, names


@np.errstate(over="ignore", invalid="ignore")  # infinite scores are allowed
def _place_declined(
    qrels: Qrels,
    run: Run,
    convention: Convention,
    declined: Iterable[int],
    retrieved: np.ndarray,
    answered: np.ndarray,
    counts: RunCounts,
) -> np.ndarray:
    """The same columns for the queries that the core declined: those with ids that are not UTF-8, say."""
    queries, results = qrels.arrays.queries, rows_of(run)
    parts = [np.empty((5, 0), np.int64)]
    for code in declined:
        row = results.get(queries[code])
        retrieved[code], answered[code] = len(row or ()), row is not None
        if row:
            placed = _place_query(qrels, run.name, queries[code], row, convention, counts)
            parts.append(np.vstack((np.full(len(placed[0]), code), *placed)))

    return np.concatenate(parts, axis=1)


def _place_query(
    qrels: Qrels, name: str, query: str, row: Mapping[str, float], convention: Convention, counts: RunCounts
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rank, first and last rank of its tie group, and label of each judged document in a ranking, by rank."""
    scores = compared(double_scores(row, query, name), convention)
    counts.infinite += int(np.count_nonzero(np.isinf(scores)))
    if len(row) > 1 and (scores == scores[0]).all():
        counts.constant += 1

    hits, rank, first, last = _sort(row, scores, qrels[query], convention)
    first_label = int(qrels.arrays.start[qrels.numbers[query]])
    return rank, first, last, hits + first_label


def _sort(
    row: Mapping[str, float], scores: np.ndarray, judged: Collection[str], convention: Convention
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which judged documents are in a ranking, by rank; their ranks, and the first and last of their tie groups."""
    scored = np.fromiter(map(row.get, judged, repeat(math.nan)), np.float64, len(judged))
    hits = np.flatnonzero(scored == scored)
    values = compared(scored[hits], convention)
    order = np.argsort(-values)
    hits, values = hits[order], values[order]
    ascending = np.sort(scores)
    last = len(scores) - np.searchsorted(ascending, values)
    first = len(scores) - np.searchsorted(ascending, values, "right") + 1
    rank = first.copy()
    tied = np.flatnonzero(first < last)
    if len(tied):
        docs = list(judged)
        orders = {value: _tied_before(row, scores, value, convention.ties) for value in set(values[tied].tolist())}
        for i in tied.tolist():
            rank[i] += orders[values[i]][docs[hits[i]]]
        order = np.argsort(rank)
        hits, rank, first, last = hits[order], rank[order], first[order], last[order]

    return hits, rank, first, last


def _tied_before(row: Mapping[str, float], scores: np.ndarray, score: Any, ties: str) -> dict[str, int]:
    """How many documents of the same score the tie rule puts before each of them."""
    docs = list(row)
    tied = [docs[i] for i in np.flatnonzero(scores == score).tolist()]
    order = tie_order(list(map(ids.encode, tied)), ties)
    return {tied[i]: position for position, i in enumerate(order)}
