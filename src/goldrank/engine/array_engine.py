"""The engine for grades and scores in arrays: every document is judged, so that all that is to be done is to sort.

Queries of about the same size are sorted together, as rows of a table; what a row lacks is NaN, which sorts last. The
table is never more than twice as large as what is in it, so that work grows with the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from goldrank.base import ids
from goldrank.conventions import Convention
from goldrank.data.array_groups import ArrayQrels, GradedRows, ScoredArrays, byte_order
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine import ScoredEngine
from goldrank.engine.counts import RunCounts, compared, ranked_with_scores

_FEW = 16
"""Up to so many levels of grades, they are counted instead of sorted."""


class ArrayEngine(ScoredEngine):
    """Places runs in arrays by the judgements of the same arrays."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        assert isinstance(qrels, ArrayQrels)
        assert isinstance(run.source, ScoredArrays)
        rows = run.source.rows
        assert rows is qrels.graded
        size, total = rows.size, len(rows.score)
        score = _comparable(rows.score, convention)
        counts = RunCounts(lines=total, infinite=int(np.count_nonzero(np.isinf(score))))
        shape = _Shape(rows)
        query = np.repeat(np.arange(len(size)), size)
        if shape.whole is not None:
            n, width = shape.whole
            place = np.broadcast_to(np.arange(1, width + 1), (n, width)).ravel()
            order, first, last, constant = _sorted(score.reshape(n, width), shape.keys(rows.column, convention.ties))
            label = (order + rows.start[:-1, None]).ravel()
            first, last = (place, place) if first is None or last is None else (first.ravel(), last.ravel())
            judged = _descending(rows.grade.reshape(n, width)).ravel()
        else:
            label, place, first, last = (np.empty(total, np.int64) for _ in range(4))
            judged = np.empty(total, rows.grade.dtype)
            constant = 0
            for which, width in shape.groups():
                # Where each document of these queries is in the columns, and in the table of these queries.
                inside = np.arange(width) < size[which][:, None]
                flat = (rows.start[:-1][which][:, None] + np.arange(width))[inside]
                table = np.full(inside.shape, np.nan)
                table[inside] = score[flat]
                column = None
                if rows.column is not None:
                    column = np.zeros(inside.shape, np.int64)
                    column[inside] = rows.column[flat]
                order, tie_first, tie_last, same = _sorted(table, shape.keys(column, convention.ties))
                constant += same
                ranks = np.broadcast_to(np.arange(1, width + 1), inside.shape)
                label[flat] = (order + rows.start[:-1][which][:, None])[inside]
                place[flat] = ranks[inside]
                first[flat] = (ranks if tie_first is None else tie_first)[inside]
                last[flat] = (ranks if tie_last is None else tie_last)[inside]
                grades = np.full(inside.shape, rows.grade.min(initial=0))
                grades[inside] = rows.grade[flat]
                judged[flat] = _descending(grades)[inside]

        counts.constant = constant
        return Placements(
            queries=rows.queries,
            retrieved=size,
            answered=np.ones(len(size), bool),
            judged_start=rows.start,
            judged=judged,
            query=query,
            rank=place,
            grade=rows.grade[label],
            tie_first=first,
            tie_last=last,
            label=label,
        ), counts

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        assert isinstance(run.source, ScoredArrays)
        rows = run.source.rows
        number = {query: i for i, query in enumerate(rows.queries)}
        for i in (number[query] for query in queries):
            docs = [ids.encode(str(column)) for column in rows.columns(i).tolist()]
            yield ranked_with_scores(rows.score[rows.start[i] : rows.start[i + 1]], docs, depth, convention)


ENGINE = ArrayEngine()


class _Shape:
    """How queries make tables: one if all have equally many documents, else one for each power of two."""

    def __init__(self, rows: GradedRows) -> None:
        self.size = rows.size
        widest = int(self.size.max(initial=0))
        self.whole = (len(self.size), widest) if widest and (self.size == widest).all() else None
        columns = widest if rows.column is None else int(rows.column.max(initial=-1)) + 1
        self._by_bytes = np.empty(columns, np.int64)
        self._by_bytes[byte_order(np.arange(columns))] = np.arange(columns)

    def groups(self) -> Iterator[tuple[np.ndarray, int]]:
        """The numbers of queries that are sorted together, and the width of their table."""
        power = np.ceil(np.log2(np.maximum(self.size, 1))).astype(np.int64)
        for exponent in np.unique(power[self.size > 0]).tolist():
            which = np.flatnonzero((power == exponent) & (self.size > 0))
            yield which, int(self.size[which].max())

    def keys(self, column: np.ndarray | None, ties: str) -> np.ndarray:
        """By column or by place, what orders documents of equal scores: ascending."""
        order = self._by_bytes if ties == "docid-ascending" else -self._by_bytes
        order = np.arange(len(order)) if ties == "input" else order
        if column is None:
            return order
        return np.asarray(order[column if self.whole is None else column.reshape(self.whole)])


def _comparable(score: np.ndarray, convention: Convention) -> np.ndarray:
    """Scores as the convention compares them, in a type that sorts fast and can be negated."""
    if convention.score_type == "float32":
        with np.errstate(over="ignore"):  # beyond single precision lies infinity
            return compared(score.astype(np.float64), convention)
    if score.dtype in (np.float32, np.float64):
        return score
    return score.astype(np.float64)


def _sorted(table: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None, int]:
    """For each row the places of documents by rank, the first and last ranks of their ties, and how many rows are one.

    Without any ties the ranks are None.
    """
    negated = -table
    order = np.argsort(negated, axis=1)
    ordered = np.take_along_axis(negated, order, axis=1)
    same = ordered[:, 1:] == ordered[:, :-1]
    if not same.any():
        return order, None, None, 0
    # Few rows have ties, mostly: only those are looked at again.
    tied = np.flatnonzero(same.any(axis=1))
    key = np.broadcast_to(keys[: table.shape[1]] if keys.ndim == 1 else keys, table.shape)[tied]
    order[tied] = np.lexsort((key, negated[tied]), axis=1)
    width, same = table.shape[1], same[tied]
    ranks = np.arange(1, width + 1)
    first, last = np.tile(ranks, (len(table), 1)), np.tile(ranks, (len(table), 1))
    edge = np.ones((len(tied), 1), bool)
    opens, closes = np.concatenate((edge, ~same), axis=1), np.concatenate((~same, edge), axis=1)
    first[tied] = np.maximum.accumulate(np.where(opens, ranks, 0), axis=1)
    last[tied] = np.minimum.accumulate(np.where(closes, ranks, width + 1)[:, ::-1], axis=1)[:, ::-1]
    there = np.count_nonzero(~np.isnan(table[tied]), axis=1)
    constant = int(np.count_nonzero((there > 1) & (last[tied, 0] >= there)))
    return order, first, last, constant


def _descending(grades: np.ndarray) -> np.ndarray:
    """The grades of each row, the highest first."""
    low, high = (int(grades.min(initial=0)), int(grades.max(initial=0)))
    if grades.dtype.kind == "i" and high - low < _FEW:
        # Counting a few grades is faster than sorting.
        levels = np.arange(high, low - 1, -1)
        counts = np.stack([np.count_nonzero(grades == level, axis=1) for level in levels.tolist()], axis=1)
        return np.repeat(np.tile(levels, len(grades)), counts.ravel()).reshape(grades.shape)
    return np.sort(grades, axis=1)[:, ::-1]
