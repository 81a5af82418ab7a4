"""The base class of judgements with several rows for a document: by aspect, or as preferences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import Position
from goldrank.base.notes import Note
from goldrank.data.qrels import Grade, Qrels

Where = Callable[[int], Position | str]
"""Names a row in a message."""


class DocumentRows(ABC):
    """Rows of judgements, and their documents as plain qrels for an engine to place."""

    criteria: str | None = None

    @classmethod
    def _of(cls, *columns: Sequence[Any], name: str, where: Where, notes: Sequence[Note]) -> Self:
        """Make judgements from parallel columns of ids as bytes and checked numbers; `where(i)` names row i."""
        judged = cls.__new__(cls)
        judged._set(columns, name, tuple(notes), where)
        return judged

    def _set(self, columns: Sequence[Sequence[Any]], name: str, notes: tuple[Note, ...], where: Where) -> None:
        self.name = name
        self.notes = notes
        self._take(where, *columns)

    @abstractmethod
    def _take(self, where: Where, *columns: Sequence[Any]) -> None:
        """Keep the rows."""

    def _number(self, queries: Sequence[bytes], docs: Sequence[bytes], grades: Sequence[Grade]) -> None:
        """Collect the documents of the rows, and number the query and the document of each row."""
        highest: dict[bytes, dict[bytes, Grade]] = {query: {} for query in sorted(set(queries))}
        for query, doc, grade in zip(queries, docs, grades, strict=True):
            row = highest[query]
            row[doc] = max(row.get(doc, -1), grade)

        table = {}
        for query, row in highest.items():
            table[ids.decode(query)] = {ids.decode(doc): row[doc] for doc in sorted(row)}
        self._qrels = Qrels(table, name=self.name, real_grades=True)
        self._qrels.id_kind = "text"

        number = {query: i for i, query in enumerate(highest)}
        label_of: list[dict[bytes, int]] = []
        first = 0
        for row in highest.values():
            label_of.append({doc: label for label, doc in enumerate(sorted(row), first)})
            first += len(row)

        self._query = np.array([number[query] for query in queries], np.int64)
        labels = [label_of[i][doc] for i, doc in zip(self._query.tolist(), docs, strict=True)]
        self._label = np.array(labels, np.int64)
        """The document of each row, as `Placements.label` numbers them."""

    @property
    def documents(self) -> Qrels:
        """The documents that an engine places: each judged document once, with its highest grade."""
        return self._qrels

    def __len__(self) -> int:
        return len(self._qrels)
