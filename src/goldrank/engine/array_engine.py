"""The engine for grades and scores in arrays: every document is judged, so that it only has to sort.

Queries of similar size are sorted together, as rows of a table; missing entries of a row are NaN, which sorts last. A
table is at most twice as large as its data, so that the work grows with the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.data.array_groups import ArrayQrels, GradedRows, ScoredArrays, byte_order
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine import ScoredEngine
from goldrank.engine.counts import BY_DESCENDING_ID, RunCounts, compared, ranked_with_scores, tie_order

_FEW = 16
"""Most levels of grades that are counted instead of sorted."""


class ArrayEngine(ScoredEngine):
    """Places runs in arrays by the judgements of these arrays."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        assert isinstance(qrels, ArrayQrels)
        assert isinstance(run.source, ScoredArrays)
        rows = run.source.rows
        assert rows is qrels.graded

        score = _comparable(rows.score, convention)
        shape = _Shape(rows)
        if shape.table is not None:
            placed = _place_table(rows, score, shape, convention.ties)
        else:
            placed = _place_groups(rows, score, shape, convention.ties)

        infinite = int(np.count_nonzero(np.isinf(score)))
        counts = RunCounts(lines=len(rows.score), infinite=infinite, constant=placed.constant)
        size = rows.size
        return Placements(
            queries=rows.queries,
            retrieved=size,
            answered=np.ones(len(size), bool),
            judged_start=rows.start,
            judged=placed.judged,
            query=np.repeat(np.arange(len(size)), size),
            rank=placed.rank,
            grade=rows.grade[placed.label],
            tie_first=placed.tie_first,
            tie_last=placed.tie_last,
            label=placed.label,
        ), counts

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        assert isinstance(run.source, ScoredArrays)
        rows = run.source.rows
        number_of = {query: i for i, query in enumerate(rows.queries)}
        for query in queries:
            i = number_of[query]
            docs = [ids.encode(str(column)) for column in rows.columns(i).tolist()]
            yield ranked_with_scores(rows.score[rows.start[i] : rows.start[i + 1]], docs, depth, convention)


ENGINE = ArrayEngine()


class _Shape:
    """How queries make tables: one if all have the same number of documents, else one for each power of two."""

    def __init__(self, rows: GradedRows) -> None:
        self.size = rows.size
        widest = int(self.size.max(initial=0))
        self.table: tuple[int, int] | None = None
        """The shape of the table of all queries, if there is one table."""
        if widest and (self.size == widest).all():
            self.table = (len(self.size), widest)

        columns = widest
        if rows.column is not None:
            columns = int(rows.column.max(initial=-1)) + 1
        self._by_bytes = np.empty(columns, np.int64)
        self._by_bytes[byte_order(columns)] = np.arange(columns)

    def groups(self) -> Iterator[tuple[np.ndarray, int]]:
        """The numbers of queries that are sorted together, and the width of their table."""
        power = np.ceil(np.log2(np.maximum(self.size, 1))).astype(np.int64)
        for exponent in np.unique(power[self.size > 0]).tolist():
            queries = np.flatnonzero((power == exponent) & (self.size > 0))
            yield queries, int(self.size[queries].max())

    def keys(self, column: np.ndarray | None, ties: str) -> np.ndarray:
        """By column or by position, keys that order documents of equal scores, ascending."""
        if ties in BY_DESCENDING_ID:
            key = -self._by_bytes
        elif ties == "docid-ascending":
            key = self._by_bytes
        elif ties == "input":
            key = np.arange(len(self._by_bytes))
        else:
            docs = [ids.encode(str(number)) for number in range(len(self._by_bytes))]
            key = np.empty(len(docs), np.int64)
            key[tie_order(docs, ties)] = np.arange(len(docs))

        if column is None:
            return key
        if self.table is not None:
            column = column.reshape(self.table)
        return np.asarray(key[column])


class _PlacedColumns(NamedTuple):
    """Columns of placements, in the order of queries and ranks."""

    label: np.ndarray
    rank: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray
    judged: np.ndarray
    """The grades of each query, the highest first."""
    constant: int
    """The number of queries of two or more documents with equal scores."""


def _place_table(rows: GradedRows, score: np.ndarray, shape: _Shape, ties: str) -> _PlacedColumns:
    """Sort all queries in one table."""
    assert shape.table is not None
    count, width = shape.table
    ordered = _sorted(score.reshape(count, width), shape.keys(rows.column, ties))
    rank = np.broadcast_to(np.arange(1, width + 1), (count, width)).ravel()
    first = last = rank
    if ordered.tie_first is not None and ordered.tie_last is not None:
        first, last = ordered.tie_first.ravel(), ordered.tie_last.ravel()

    return _PlacedColumns(
        label=(ordered.order + rows.start[:-1, None]).ravel(),
        rank=rank,
        tie_first=first,
        tie_last=last,
        judged=_descending(rows.grade.reshape(count, width)).ravel(),
        constant=ordered.constant,
    )


def _place_groups(rows: GradedRows, score: np.ndarray, shape: _Shape, ties: str) -> _PlacedColumns:
    """Sort queries of similar size together, each group in a table."""
    total = len(rows.score)
    label, rank, first, last = (np.empty(total, np.int64) for _ in range(4))
    judged = np.empty(total, rows.grade.dtype)
    constant = 0
    for queries, width in shape.groups():
        # The documents of these queries in the table, and their positions in the columns.
        inside = np.arange(width) < rows.size[queries][:, None]
        start = rows.start[:-1][queries][:, None]
        flat = (start + np.arange(width))[inside]

        table = np.full(inside.shape, np.nan)
        table[inside] = score[flat]
        column = None
        if rows.column is not None:
            column = np.zeros(inside.shape, np.int64)
            column[inside] = rows.column[flat]
        ordered = _sorted(table, shape.keys(column, ties))
        constant += ordered.constant

        ranks = np.broadcast_to(np.arange(1, width + 1), inside.shape)
        tie_first = tie_last = ranks
        if ordered.tie_first is not None and ordered.tie_last is not None:
            tie_first, tie_last = ordered.tie_first, ordered.tie_last
        label[flat] = (ordered.order + start)[inside]
        rank[flat] = ranks[inside]
        first[flat] = tie_first[inside]
        last[flat] = tie_last[inside]

        grades = np.full(inside.shape, rows.grade.min(initial=0))
        grades[inside] = rows.grade[flat]
        judged[flat] = _descending(grades)[inside]

    return _PlacedColumns(label, rank, first, last, judged, constant)


def _comparable(score: np.ndarray, convention: Convention) -> np.ndarray:
    """Scores in the precision of the convention, in a type that sorts fast and can be negated."""
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # numbers beyond single precision become infinite
            return compared(score.astype(np.float64), convention)
    if score.dtype in (np.float32, np.float64):
        return score
    return score.astype(np.float64)


class _SortedRows(NamedTuple):
    """The rows of a table, sorted."""

    order: np.ndarray
    """For each row the columns of documents by rank."""
    tie_first: np.ndarray | None
    """The first and last ranks of the ties of documents; None if no row has ties."""
    tie_last: np.ndarray | None
    constant: int
    """The number of rows of two or more documents with equal scores."""


def _sorted(table: np.ndarray, keys: np.ndarray) -> _SortedRows:
    """Sort each row by descending score, and equal scores by `keys`."""
    negated = -table
    order = np.argsort(negated, axis=1)
    ordered = np.take_along_axis(negated, order, axis=1)
    equals_previous = ordered[:, 1:] == ordered[:, :-1]
    if not equals_previous.any():
        return _SortedRows(order, None, None, 0)

    # Usually few rows have ties: only those are sorted again.
    width = table.shape[1]
    tied = np.flatnonzero(equals_previous.any(axis=1))
    if keys.ndim == 1:
        keys = keys[:width]
    key = np.broadcast_to(keys, table.shape)[tied]
    order[tied] = np.lexsort((key, negated[tied]), axis=1)

    equals_previous = equals_previous[tied]
    ranks = np.arange(1, width + 1)
    first, last = np.tile(ranks, (len(table), 1)), np.tile(ranks, (len(table), 1))
    edge = np.ones((len(tied), 1), bool)
    opens, closes = np.concatenate((edge, ~equals_previous), axis=1), np.concatenate((~equals_previous, edge), axis=1)
    first[tied] = np.maximum.accumulate(np.where(opens, ranks, 0), axis=1)
    last[tied] = np.minimum.accumulate(np.where(closes, ranks, width + 1)[:, ::-1], axis=1)[:, ::-1]

    size = np.count_nonzero(~np.isnan(table[tied]), axis=1)
    constant = int(np.count_nonzero((size > 1) & (last[tied, 0] >= size)))
    return _SortedRows(order, first, last, constant)


def _descending(grades: np.ndarray) -> np.ndarray:
    """The grades of each row, the highest first."""
    low = int(grades.min(initial=0))
    high = int(grades.max(initial=0))
    if grades.dtype.kind == "i" and high - low < _FEW:
        # Counting a few grades is faster than sorting.
        levels = np.arange(high, low - 1, -1)
        counts = np.stack([np.count_nonzero(grades == level, axis=1) for level in levels.tolist()], axis=1)
        return np.repeat(np.tile(levels, len(grades)), counts.ravel()).reshape(grades.shape)
    return np.sort(grades, axis=1)[:, ::-1]
