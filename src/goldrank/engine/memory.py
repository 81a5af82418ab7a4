"""The engine for runs held in memory as mappings. It needs numpy and nothing else.

A judged document is looked up, not searched for: its rank is one more than the number of documents that
score higher, plus those with the same score that the tie rule puts first. Where few documents are judged
they are counted one by one; where many are, the scores are sorted once.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.conventions import Convention
from goldrank.data.blocks import USUAL, ReadingPlan
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels, judged_rows
from goldrank.data.run import Rankings, Run, changed, double_scores, rows_of
from goldrank.engine import ScoredEngine
from goldrank.engine.counts import MOST_EXAMPLES, RunCounts, assemble, compared, ranked_with_scores, tie_order
from goldrank.native import core

COUNT_AT_MOST = 12
"""Up to so many judged documents in a ranking, counting is faster than sorting it."""
ROW_BYTES = 32
"""Rank, first and last rank, and label of a judged document, as bytes."""
_DESCENDING = 1
_TIES = {"input": 0, "docid-ascending": 2}
"""How the compiled core is told a tie rule; all others order by descending id."""


class MemoryEngine(ScoredEngine):
    """Places runs that are mappings of mappings."""

    def place(
        self, qrels: Qrels, run: Run, convention: Convention, plan: ReadingPlan = USUAL
    ) -> tuple[Placements, RunCounts]:
        arrays, results, counts = qrels.arrays, rows_of(run), RunCounts()
        retrieved, answered = np.empty(len(arrays.queries), np.int64), np.empty(len(arrays.queries), bool)
        rows, tied, left, unjudged = _place_compiled(qrels, run, convention, retrieved, answered, counts)
        if left:
            more = _place_by_numpy(qrels, run, convention, left, retrieved, answered, counts)
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


def _place_compiled(
    qrels: Qrels, run: Run, convention: Convention, retrieved: np.ndarray, answered: np.ndarray, counts: RunCounts
) -> tuple[np.ndarray, int, Sequence[int], Iterable[str]]:
    """Query, rank, first and last rank of its tie group, and label of each judged document that the core found.

    Beside them how many of these have ties, the numbers of the queries that it left, and names of queries that are not
    judged.
    """
    assert isinstance(run.source, Rankings)
    arrays = qrels.arrays
    results, scores = run.source.with_scores()
    columns = np.empty((5, len(arrays.grade)), np.int64)
    placed = None
    if core is not None and scores is not None:
        ties = _TIES.get(convention.ties, _DESCENDING)
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
def _place_by_numpy(
    qrels: Qrels,
    run: Run,
    convention: Convention,
    left: Iterable[int],
    retrieved: np.ndarray,
    answered: np.ndarray,
    counts: RunCounts,
) -> np.ndarray:
    """The same columns for some of the queries."""
    queries, results = qrels.arrays.queries, rows_of(run)
    numbers: list[int] = []
    sizes: list[int] = []
    rows = bytearray()  # most queries add a number or two, for which arrays would be slow
    for code in left:
        row = results.get(queries[code])
        retrieved[code], answered[code] = len(row or ()), row is not None
        if row:
            packed = _place_query(qrels, run.name, queries[code], row, convention, counts)
            numbers.append(code)
            sizes.append(len(packed) // ROW_BYTES)
            rows += packed
    columns = np.frombuffer(bytes(rows), np.int64).reshape(-1, 4).T
    return np.vstack((np.repeat(np.array(numbers, np.int64), sizes), columns))


def _place_query(
    qrels: Qrels, name: str, query: str, row: Mapping[str, float], convention: Convention, counts: RunCounts
) -> bytes:
    """Rank, first and last rank of its tie group, and label of each judged document in a ranking, by rank."""
    scores = compared(double_scores(row, query, name), convention)
    if not math.isfinite(scores.dot(scores)):
        counts.infinite += int(np.count_nonzero(np.isinf(scores)))
    if len(row) > 1 and scores[0] == scores[-1] and (scores == scores[0]).all():
        counts.constant += 1
    judged = qrels[query]
    first_label = int(qrels.arrays.start[qrels.numbers[query]])
    if len(judged) > 4 * len(row):
        label_of = qrels.labels(query)
        few = [(label_of[doc], doc) for doc in row if doc in label_of]
    elif len(judged) <= COUNT_AT_MOST:
        few = list(enumerate(judged, first_label))
    else:
        hits, rank, first, last = _sort(row, scores, judged, convention)
        return np.stack((rank, first, last, hits + first_label), axis=1).tobytes()
    placed = _count(row, scores, few, convention)
    return struct.pack(f"{4 * len(placed)}q", *chain.from_iterable(placed))


def _count(
    row: Mapping[str, float], scores: np.ndarray, judged: Iterable[tuple[int, str]], convention: Convention
) -> list[tuple[int, int, int, int]]:
    """Rank, first and last rank of its tie group, and label of each judged document in a ranking, by rank."""
    placed = []
    for label, doc in judged:
        score: Any = row.get(doc)
        if score is None:
            continue
        if convention.score_type == "float32":
            score = compared(np.array([score], np.float64), convention)[0]
        first = int(np.count_nonzero(scores > score)) + 1
        last = int(np.count_nonzero(scores >= score))
        before = _tied_before(row, scores, score, convention.ties)[doc] if first < last else 0
        placed.append((first + before, first, last, label))
    placed.sort()
    return placed


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
