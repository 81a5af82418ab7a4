"""Judgements as columns: from readers, and prepared for engines without an object for each judgement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import TypeVar

import numpy as np

from goldrank.base.errors import Position
from goldrank.base.notes import Note
from goldrank.core import core
from goldrank.data.id_column import IdColumn, repeated_pairs
from goldrank.data.read_only import read_only

Id = TypeVar("Id", str, bytes)
Grade = int | float

QUERIES_AT_A_TIME = 10_000
"""Queries whose ids become objects at a time."""
WHO_JUDGED = "who-judged"
JUDGED_BY = {
    "human": "only judgements by people, and those of files that do not say whose they are",
    "model": "only judgements by a model",
}


@dataclass(frozen=True)
class Judgements:
    """Rows of judgements from a reader: parallel columns, the position of each row, and what was tolerated."""

    queries: IdColumn | Sequence[bytes]
    """The query of each row, or of each stretch of rows."""
    docs: IdColumn | Sequence[bytes]
    grades: np.ndarray | Sequence[Grade]
    where: Callable[[int], Position | str]
    notes: Sequence[Note] = ()
    sizes: np.ndarray | None = None
    """How many rows each stretch has, if `queries` has one entry for each stretch."""
    by_model: np.ndarray | None = None
    """Which rows are a model's judgements; None if the file marks no row as such."""

    @classmethod
    def joined(cls, parts: Sequence[Judgements]) -> Judgements:
        """The rows of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(len(part.docs) for part in parts)])

        def where(row: int) -> Position | str:
            part = int(np.searchsorted(first, row, "right")) - 1
            return parts[part].where(int(row - first[part]))

        by_model = None
        if any(part.by_model is not None for part in parts):
            by_model = np.concatenate([part._models_rows() for part in parts])

        queries = [_as_column(part.queries) for part in parts]
        docs = [_as_column(part.docs) for part in parts]
        grades = [grade_array(part.grades) for part in parts]
        sizes = [part.stretches for part in parts]
        return cls(
            queries=IdColumn.joined(queries),
            docs=IdColumn.joined(docs),
            grades=np.concatenate(grades),
            where=where,
            notes=[note for part in parts for note in part.notes],
            sizes=np.concatenate(sizes),
            by_model=by_model,
        )

    def _models_rows(self) -> np.ndarray:
        """Which rows are a model's judgements."""
        if self.by_model is None:
            return np.zeros(len(self.docs), bool)
        return self.by_model

    @property
    def stretches(self) -> np.ndarray:
        """How many rows each entry of `queries` has."""
        if self.sizes is None:
            return np.ones(len(self.queries), np.int64)
        return self.sizes

    def row_queries(self) -> Iterator[bytes]:
        """The query of each row."""
        if self.sizes is None:
            return iter(self.queries)
        return chain.from_iterable(map(repeat, self.queries, self.sizes.tolist()))

    def take(self, rows: np.ndarray) -> Judgements:
        """Some of the rows, without notes and without `by_model`."""
        query_rows = rows
        if self.sizes is not None:
            query_rows = np.repeat(np.arange(len(self.sizes)), self.sizes)[rows]
        queries = _as_column(self.queries).take(query_rows)
        docs = _as_column(self.docs).take(rows)
        grades = grade_array(self.grades)[rows]
        return Judgements(queries, docs, grades, lambda row: self.where(int(rows[row])))


@dataclass(frozen=True)
class JudgementColumns:
    """The rows of `JudgementArrays` with their ids, as columns."""

    queries: IdColumn
    """In byte order, each once."""
    start: np.ndarray
    grade: np.ndarray
    docs: IdColumn
    """The document of each row; distinct within a query."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", read_only(self.start))
        object.__setattr__(self, "grade", read_only(self.grade))

    @classmethod
    def of(cls, rows: Judgements, judgements: str) -> tuple[JudgementColumns, int] | None:
        """Make columns from the judgements of files, and count repeated ones; None where judgements contradict."""
        queries = _as_column(rows.queries)
        code, first = queries.numbered()
        queries = queries.take(first).copy()
        if not queries.ascend():
            order = queries.order()
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            code, queries = rank[code], queries.take(order).copy()

        sizes = rows.stretches
        docs = _as_column(rows.docs)
        grade = grade_array(rows.grades)
        if not grade.flags.owndata:  # it may be a view of a user's data
            grade = grade.copy()
        if not (code[1:] >= code[:-1]).all():
            stretches = np.argsort(code, kind="stable")
            moved = _ranges(np.cumsum(sizes) - sizes, sizes, stretches)
            docs, grade = docs.gathered(moved), grade[moved]
            code, sizes = code[stretches], sizes[stretches]
            del moved

        code = np.repeat(code, sizes)
        start = np.zeros(len(queries) + 1, np.int64)
        np.cumsum(np.bincount(code, minlength=len(queries)), out=start[1:])
        key = docs.hashes()
        repeated = 0
        if core.repeated(start, key):
            pairs = repeated_pairs(code, key, docs.take)
            if pairs is None or (judgements == "error" and (grade[pairs[0]] != grade[pairs[1]]).any()):
                return None

            before, after = pairs
            grade = grade.copy()  # the array may belong to the reader
            # The first of several rows stays, with the grade of the last.
            grade[before[~np.isin(before, after)]] = grade[after[~np.isin(after, before)]]
            distinct = np.delete(np.arange(len(code)), after)
            code, grade, docs = code[distinct], grade[distinct], docs.take(distinct)
            repeated = len(after)
            np.cumsum(np.bincount(code, minlength=len(queries)), out=start[1:])

        if not docs.is_compact:
            docs = docs.copy()
        return cls(queries, start, grade, docs), repeated

    def bounds(self) -> Iterator[tuple[bytes, int, int]]:
        """Each query with the bounds of its rows."""
        start = self.start.tolist()
        for first in range(0, len(self.queries), QUERIES_AT_A_TIME):
            for i, query in enumerate(self.queries.part(first, first + QUERIES_AT_A_TIME), first):
                yield query, start[i], start[i + 1]

    def rows(self, docs: Sequence[Id]) -> Iterator[dict[Id, Grade]]:
        """The grades of the documents of each query."""
        grades, start = as_grades(self.grade), self.start.tolist()
        for low, high in pairwise(start):
            yield dict(zip(docs[low:high], grades[low:high], strict=True))


def who_judged(*, people: int, models: int, total: int) -> list[Note]:
    """A note on who judged how many pairs of some qrels; a file does not say it for the other pairs."""
    if not total:
        return []
    return [Note.of(WHO_JUDGED, people=people, models=models, file=total - people - models, total=total)]


_PEOPLE = ("", "human", "person", "people", "file", "nan", "none", "null")


def models_rows(judged_by: Iterable[object]) -> tuple[np.ndarray | None, tuple[Note, ...]]:
    """Which rows are a model's, from a column with `human` or `model`; None if no row is. A note lists other words.

    >>> models_rows(["human", "model", None])[0].tolist()
    [False, True, False]
    """
    words = [_judge_word(value) for value in judged_by]
    known = {"model", *_PEOPLE}
    unknown = [word for word in words if word not in known]
    notes: tuple[Note, ...] = ()
    if unknown:
        notes = (Note.of("unknown-judges", count=len(unknown), samples=dict.fromkeys(unknown)),)

    is_model = np.array([word == "model" for word in words], bool)
    if is_model.any():
        return is_model, notes
    return None, notes


def _judge_word(value: object) -> str:
    if value is None:
        return ""
    return str(value).strip().casefold()


def _as_column(texts: IdColumn | Sequence[bytes]) -> IdColumn:
    if isinstance(texts, IdColumn):
        return texts
    return IdColumn.of(texts)


def _ranges(begin: np.ndarray, sizes: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The rows of stretches, one stretch after the other in another order."""
    begin, sizes = begin[order], sizes[order]
    begin -= np.cumsum(sizes) - sizes
    rows = np.repeat(begin, sizes)
    rows += np.arange(len(rows))
    return rows


def grade_array(grades: np.ndarray | Sequence[Grade]) -> np.ndarray:
    """Grades as integers, or as doubles if one is not a whole number."""
    if isinstance(grades, np.ndarray):
        return grades
    if float in set(map(type, grades)):
        return np.array(grades, np.float64)
    return np.array(grades, np.int64)


def as_grades(column: np.ndarray) -> list[Grade]:
    """Grades as Python numbers; whole numbers become integers."""
    grades: list[Grade] = column.tolist()
    if column.dtype == np.int64:
        return grades
    return list(map(_integer_if_whole, grades))


def _integer_if_whole(grade: Grade) -> Grade:
    if grade == int(grade):
        return int(grade)
    return grade
