"""Grades and scores in arrays as judgements and as a run; mappings are made only if they are needed.

A query is a row of a table or a group of a flat array; a document is a column or a position in its group. Both are
named by their numbers from 0, or groups by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from goldrank.base import ids
from goldrank.data.grades import notes_on_grades
from goldrank.data.qrels import Grade, JudgementArrays, Qrels, StoredJudgements
from goldrank.data.run import digest_of


@dataclass(frozen=True, eq=False)
class GradedRows:
    """Documents of queries, one after the other: each has a grade and a score."""

    queries: tuple[str, ...]
    """Ids, in byte order."""
    start: np.ndarray
    """Where each query's documents begin; one more entry than queries."""
    column: np.ndarray | None
    """The number of each document in its query, ascending; None if it is the position in the query."""
    grade: np.ndarray
    """An array of integers if all grades are whole numbers."""
    score: np.ndarray
    """Never NaN."""

    @property
    def size(self) -> np.ndarray:
        """How many documents each query has."""
        return np.diff(self.start)

    def columns(self, query: int) -> np.ndarray:
        """The numbers of a query's documents."""
        low, high = self.start[query : query + 2].tolist()
        if self.column is None:
            return np.arange(high - low)
        return self.column[low:high]

    def mapping(self, values: np.ndarray) -> dict[str, dict[str, Grade]]:
        """Grades or scores as a mapping of mappings."""
        by_query = {}
        for i, (low, high) in enumerate(zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)):
            names = map(str, self.columns(i).tolist())
            by_query[self.queries[i]] = dict(zip(names, values[low:high].tolist(), strict=True))
        return by_query


class ArrayQrels(Qrels):
    """Judgements in an array: every document has a grade."""

    graded: GradedRows

    def __init__(self, rows: GradedRows, name: str = "qrels") -> None:
        highest = rows.grade.max(initial=0).item()
        super().__init__(StoredJudgements(notes=notes_on_grades(highest), id_kind="str"), name=name)
        self._keep(graded=rows)

    @property
    def _text_rows(self) -> dict[str, dict[str, Grade]]:
        if self._text is None:
            self._text = self.graded.mapping(self.graded.grade)
        return self._text

    @property
    def _raw_rows(self) -> dict[bytes, dict[bytes, Grade]]:
        self._text = self._text_rows
        return super()._raw_rows

    @cached_property
    def arrays(self) -> JudgementArrays:
        return JudgementArrays(self.graded.queries, self.graded.start, self.graded.grade)

    @cached_property
    def near_forms(self) -> dict[str, dict[str, str]]:
        return {}  # numbers have one form

    def __iter__(self) -> Iterator[str]:
        return iter(self.graded.queries)

    def __len__(self) -> int:
        return len(self.graded.queries)


class ScoredArrays:
    """The source of a run whose scores are in an array."""

    engine: ClassVar[str] = "arrays"

    def __init__(self, rows: GradedRows) -> None:
        self.rows = rows

    def results(self) -> Mapping[str, Mapping[str, float]]:
        return self.rows.mapping(self.rows.score.astype(np.float64))

    def digest(self) -> str:
        return digest_of(self.results())


@lru_cache(8)  # in training, table after table has the same shape
def byte_order(count: int) -> np.ndarray:
    """The order of the numbers from 0 by the bytes of their digits, which is the order of ids. It cannot be changed."""
    order = np.argsort(np.arange(count).astype("S"), kind="stable")
    order.flags.writeable = False
    return order


def names_of(groups: np.ndarray) -> list[str]:
    """The ids of an array as text."""
    if groups.dtype.kind in "iu":  # integers are always valid ids
        return list(map(str, groups.tolist()))
    return [ids.as_text(value, "group id") for value in groups.tolist()]
