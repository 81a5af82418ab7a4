"""Judgements as columns: as readers find them, and made ready for engines without an object for each."""

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

Id = TypeVar("Id", str, bytes)
Grade = int | float

AT_A_TIME = 10_000
"""Queries whose ids are made objects at a time."""
WHO_JUDGED = "who-judged"
JUDGED_BY = {
    "human": "only judgements by people, and those of files that do not say whose they are",
    "model": "only judgements by a model",
}


@dataclass(frozen=True)
class Judgements:
    """Rows of judgements as a reader found them: parallel columns, where each row stands, what was tolerated."""

    queries: IdColumn | Sequence[bytes]
    """The query of each row, or of each stretch of rows."""
    docs: IdColumn | Sequence[bytes]
    grades: np.ndarray | Sequence[Grade]
    where: Callable[[int], Position | str]
    notes: Sequence[Note] = ()
    sizes: np.ndarray | None = None
    """How many rows each stretch has, if `queries` are those of stretches."""
    by_model: np.ndarray | None = None
    """Which rows are a model's judgements; None if none is, as far as the file says."""

    @classmethod
    def joined(cls, parts: Sequence[Judgements]) -> Judgements:
        """The rows of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(len(part.docs) for part in parts)])
        places = [part.where for part in parts]

        def where(row: int) -> Position | str:
            part = int(np.searchsorted(first, row, "right")) - 1
            return places[part](int(row - first[part]))

        marks = [np.zeros(len(part.docs), bool) if part.by_model is None else part.by_model for part in parts]
        return cls(
            IdColumn.joined([_as_column(part.queries) for part in parts]),
            IdColumn.joined([_as_column(part.docs) for part in parts]),
            np.concatenate([grade_array(part.grades) for part in parts]),
            where,
            [note for part in parts for note in part.notes],
            np.concatenate([part.stretches for part in parts]),
            None if all(part.by_model is None for part in parts) else np.concatenate(marks),
        )

    @property
    def stretches(self) -> np.ndarray:
        """How many rows each entry of `queries` stands for."""
        if self.sizes is None:
            return np.ones(len(self.queries), np.int64)
        return self.sizes

    def row_queries(self) -> Iterator[bytes]:
        """The query of each row."""
        if self.sizes is None:
            return iter(self.queries)
        return chain.from_iterable(map(repeat, self.queries, self.sizes.tolist()))

    def taken(self, rows: np.ndarray) -> Judgements:
        """Some of the rows; whose they are is known then."""
        queries, docs = _as_column(self.queries), _as_column(self.docs)
        at = rows if self.sizes is None else np.repeat(np.arange(len(self.sizes)), self.sizes)[rows]
        grades = grade_array(self.grades)[rows]
        return Judgements(queries.take(at), docs.take(rows), grades, lambda row: self.where(int(rows[row])))


@dataclass(frozen=True)
class JudgementColumns:
    """The rows of `JudgementArrays` with the ids of all, as columns."""

    queries: IdColumn
    """In byte order, each once."""
    start: np.ndarray
    grade: np.ndarray
    docs: IdColumn
    """The document of each row; none is twice in a query."""

    @classmethod
    def of(cls, rows: Judgements, judgements: str) -> tuple[JudgementColumns, int] | None:
        """From the judgements of files, with how many repeat another; None where one contradicts another."""
        queries = _as_column(rows.queries)
        code, first = queries.numbered()
        queries = queries.take(first).copy()
        if not queries.ascend():
            order = queries.order()
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            code, queries = rank[code], queries.take(order).copy()

        sizes, docs, grade = rows.stretches, _as_column(rows.docs), grade_array(rows.grades)
        grade = grade if grade.flags.owndata else grade.copy()  # it may be a view of a user's data
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
            grade = grade.copy()  # it may be the reader's
            # The first of several keeps its place, and gets the grade of the last.
            grade[before[~np.isin(before, after)]] = grade[after[~np.isin(after, before)]]
            kept = np.delete(np.arange(len(code)), after)
            code, grade, docs, repeated = code[kept], grade[kept], docs.take(kept), len(after)
            np.cumsum(np.bincount(code, minlength=len(queries)), out=start[1:])

        return cls(queries, start, grade, docs if docs.is_compact else docs.copy()), repeated

    def bounds(self) -> Iterator[tuple[bytes, int, int]]:
        """Each query and where its rows are."""
        start = self.start.tolist()
        for at in range(0, len(self.queries), AT_A_TIME):
            for i, query in enumerate(self.queries.part(at, at + AT_A_TIME), at):
                yield query, start[i], start[i + 1]

    def rows(self, docs: Sequence[Id]) -> Iterator[dict[Id, Grade]]:
        """The grades of the documents of each query."""
        grades, start = as_grades(self.grade), self.start.tolist()
        for low, high in pairwise(start):
            yield dict(zip(docs[low:high], grades[low:high], strict=True))


def who_judged(*, people: int, models: int, total: int) -> list[Note]:
    """Who judged what share of the pairs of some qrels; the rest is a file's, which does not say."""
    if not total:
        return []
    return [Note.of(WHO_JUDGED, people=people, models=models, file=total - people - models, total=total)]


_PEOPLE = ("", "human", "person", "people", "file", "nan", "none", "null")


def models_rows(judged_by: Iterable[object]) -> tuple[np.ndarray | None, tuple[Note, ...]]:
    """Which rows are a model's, from a column that says `human` or `model`; None if none is. Who is unknown is noted.

    >>> models_rows(["human", "model", None])[0].tolist()
    [False, True, False]
    """
    words = ["" if said is None else str(said).strip().casefold() for said in judged_by]
    flags = np.array([word == "model" for word in words], bool)
    known = {"model", *_PEOPLE}
    unknown = [word for word in words if word not in known]
    notes = (Note.of("unknown-judges", count=len(unknown), samples=dict.fromkeys(unknown)),) if unknown else ()
    return (flags if flags.any() else None), notes


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
    """Grades as integers, or as doubles where one is none."""
    if isinstance(grades, np.ndarray):
        return grades
    return np.array(grades, np.float64 if float in set(map(type, grades)) else np.int64)


def as_grades(column: np.ndarray) -> list[Grade]:
    """Grades as they were given: whole numbers are integers, whatever they stand among."""
    if column.dtype == np.int64:
        whole: list[Grade] = column.tolist()
        return whole
    return [int(grade) if grade.is_integer() else grade for grade in column.tolist()]
