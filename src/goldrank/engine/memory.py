"""The engine for runs in memory, as mappings. It needs only numpy.

A judged document is looked up, and its rank is one more than the number of documents with a higher score, plus those of
an equal score that come first by the tie rule. The core does this for plain runs; queries that it declines are placed
here, one by one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.core import TIES_ASCENDING, TIES_BY_INPUT, TIES_DESCENDING, core
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels, judged_rows
from goldrank.data.run import Rankings, Run, changed, double_scores, rows_of
from goldrank.engine import ScoredEngine
from goldrank.engine.counts import (
    BY_DESCENDING_ID,
    MOST_EXAMPLES,
    PlacedRows,
    RunCounts,
    assemble,
    compared,
    ranked_with_scores,
    tie_order,
)

TIES = {
    "input": TIES_BY_INPUT,
    "docid-ascending": TIES_ASCENDING,
    **dict.fromkeys(BY_DESCENDING_ID, TIES_DESCENDING),
}
"""Tie rules that the core knows; `tie_order` knows all of them."""


class MemoryEngine(ScoredEngine):
    """Places runs that are mappings of mappings."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        arrays = qrels.arrays
        results = rows_of(run)
        counts = RunCounts()
        retrieved = np.empty(len(arrays.queries), np.int64)
        answered = np.empty(len(arrays.queries), bool)
        plain = _place_plain(qrels, run, convention, retrieved, answered, counts)
        rows = plain.rows
        if plain.declined:
            of_declined = _place_declined(qrels, run, convention, plain.declined, retrieved, answered, counts)
            rows = np.concatenate((rows, of_declined), axis=1)
            counts.lines = int(retrieved.sum())

        if counts.lines and not rows.size:
            first_answered = arrays.queries[int(retrieved.astype(bool).argmax())]
            counts.example_docs = list(islice(results[first_answered], 3))

        for name, forms in qrels.near_forms.items():
            counts.near_forms += len(forms.keys() & results.get(name, {}).keys())

        unjudged = [name for name in plain.unjudged if qrels.owns(ids.encode(name))]
        counts.unjudged_queries = len(unjudged)
        counts.unjudged_examples = unjudged[:MOST_EXAMPLES]

        query, rank, first, last, label = rows
        if not plain.tied and not plain.declined:
            first = last = rank
        placed = PlacedRows(query, rank, label, first, last)
        return assemble(arrays, retrieved, answered, placed, is_ordered=not plain.declined), counts

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        results = rows_of(run)
        for query in queries:
            row = results.get(query, {})
            docs = [ids.encode(doc) for doc in row]
            yield ranked_with_scores(double_scores(row, query, run.name), docs, depth, convention)


ENGINE = MemoryEngine()


class _PlainPlacements(NamedTuple):
    """The result of the core for a run."""

    rows: np.ndarray
    """Query, rank, first and last rank of the tie group, and label of each judged document that the core found."""
    tied: int
    """The number of these documents with ties."""
    declined: Sequence[int]
    """The numbers of the queries that the core declined."""
    unjudged: Iterable[str]
    """Names of queries that are not judged."""


def _place_plain(
    qrels: Qrels, run: Run, convention: Convention, retrieved: np.ndarray, answered: np.ndarray, counts: RunCounts
) -> _PlainPlacements:
    """Place the judged documents of a run by the core; `retrieved`, `answered` and `counts` are filled."""
    assert isinstance(run.source, Rankings)
    arrays = qrels.arrays
    results, scores = run.source.with_scores()
    columns = np.empty((5, len(arrays.grade)), np.int64)
    placed = None
    ties = TIES.get(convention.ties)
    if scores is not None and ties is not None:
        single = convention.score_type == "float32"
        judged = (qrels.numbers, judged_rows(qrels), arrays.start)
        try:
            placed = core.place(results, scores, *judged, ties, single, retrieved, answered, columns)
        except RuntimeError as error:
            raise changed(run.name) from error
    if placed is None:
        unjudged = (name for name in results if name not in qrels.numbers)
        return _PlainPlacements(columns[:, :0], 0, range(len(arrays.queries)), unjudged)

    hits, tied, counts.lines, declined, names, infinite, constant = placed
    counts.infinite += infinite
    counts.constant += constant
    return _PlainPlacements(columns[:, :hits], tied, declined, names)


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
    """`_PlainPlacements.rows` for the queries that the core declined, for example those with ids that are not UTF-8."""
    queries = qrels.arrays.queries
    results = rows_of(run)
    parts = [np.empty((5, 0), np.int64)]
    for code in declined:
        row = results.get(queries[code])
        retrieved[code] = len(row or ())
        answered[code] = row is not None
        if row:
            placed = _place_query(qrels, run.name, queries[code], row, convention, counts)
            parts.append(np.vstack((np.full(placed.shape[1], code), placed)))

    return np.concatenate(parts, axis=1)


def _place_query(
    qrels: Qrels, name: str, query: str, row: Mapping[str, float], convention: Convention, counts: RunCounts
) -> np.ndarray:
    """A table with rank, first and last rank of the tie group, and label of each judged document of a ranking."""
    scores = compared(double_scores(row, query, name), convention)
    counts.infinite += int(np.count_nonzero(np.isinf(scores)))
    if len(row) > 1 and (scores == scores[0]).all():
        counts.constant += 1

    table = _sort(row, scores, qrels[query], convention)
    table[3] += int(qrels.arrays.start[qrels.numbers[query]])
    return table


def _sort(row: Mapping[str, float], scores: np.ndarray, judged: Collection[str], convention: Convention) -> np.ndarray:
    """A table of the judged documents in a ranking, by rank: rank, first and last rank of the tie group, and index."""
    judged_scores = np.fromiter(map(row.get, judged, repeat(math.nan)), np.float64, len(judged))
    hits = np.flatnonzero(~np.isnan(judged_scores))
    values = compared(judged_scores[hits], convention)
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

    table = np.stack((rank, first, last, hits))
    return table[:, np.argsort(rank, kind="stable")]


def _tied_before(row: Mapping[str, float], scores: np.ndarray, score: Any, ties: str) -> dict[str, int]:
    """The number of documents before each document of one score, by the tie rule."""
    docs = list(row)
    tied = [docs[i] for i in np.flatnonzero(scores == score).tolist()]
    order = tie_order(list(map(ids.encode, tied)), ties)
    return {tied[i]: position for position, i in enumerate(order)}
