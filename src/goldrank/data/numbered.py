"""Judgements that say more of a document than one grade.

An engine places grades. Where a judgement is by aspect, by judge or a preference, it is handed the number of
each document instead, and what was said of the document is looked up by that number afterwards. So engines
know one kind of judgement only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from goldrank import ids
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels


@dataclass(frozen=True)
class Numbered:
    """The documents that rows of judgements are about, numbered by query and id in byte order."""

    qrels: Qrels
    """Each document's number within its query, in place of a grade."""
    query: np.ndarray
    """The query of each row."""
    doc: np.ndarray
    """The document of each row; numbers go through all queries."""
    start: np.ndarray
    """The first document of each query; one more entry than queries."""

    @classmethod
    def of(cls, queries: Sequence[bytes], docs: Sequence[bytes], name: str) -> Numbered:
        """Number the documents of rows given as parallel columns."""
        order = {query: i for i, query in enumerate(sorted(set(queries)))}
        table: list[set[bytes]] = [set() for _ in order]
        for query, doc in zip(queries, docs, strict=True):
            table[order[query]].add(doc)
        numbers = [{doc: i for i, doc in enumerate(sorted(row))} for row in table]
        start = np.concatenate(([0], np.cumsum([len(row) for row in numbers]))).astype(np.int64)
        of_row = np.array([order[query] for query in queries], np.int64)
        number = np.array([numbers[i][doc] for i, doc in zip(of_row.tolist(), docs, strict=True)], np.int64)
        qrels = Qrels(
            {
                ids.decode(query): {ids.decode(doc): i for doc, i in row.items()}
                for query, row in zip(order, numbers, strict=True)
            },
            name=name,
        )
        qrels.id_kind = "text"
        return cls(qrels, of_row, start[of_row] + number, start)

    def locate(self, placed: Placements) -> Located:
        """Where a run put each document, from the placements of its numbers."""
        size = int(self.start[-1])
        doc = self.start[placed.query] + placed.grade.astype(np.int64)
        columns = {}
        for column in ("rank", "tie_first", "tie_last"):
            columns[column] = np.zeros(size, np.int64)
            columns[column][doc] = getattr(placed, column)
        return Located(**columns)

    def graded(self, placed: Placements, grade: np.ndarray) -> Placements:
        """The placements with a grade for each document in place of its number."""
        query = np.repeat(np.arange(len(placed)), np.diff(self.start))
        return replace(
            placed,
            judged_start=self.start,
            judged=grade[np.lexsort((-grade, query))],
            grade=grade[self.start[placed.query] + placed.grade.astype(np.int64)],
        )


@dataclass(frozen=True)
class Located:
    """For each numbered document its rank, 0 if it was not returned, and the ranks of its tie group."""

    rank: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray
