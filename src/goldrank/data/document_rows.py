"""The base class of judgements with several rows for a document: by aspect, or as preferences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import Position
from goldrank.base.frozen import Frozen
from goldrank.base.notes import Note
from goldrank.data.qrels import Grade, Qrels

Where = Callable[[int], Position | str]
"""Names a row in a message."""


class StoredRows(NamedTuple):
    """Checked rows of judgements, for the constructors of `DocumentRows`."""

    columns: Sequence[Sequence[Any]]
    """Parallel columns of ids as bytes and checked numbers."""
    where: Where
    notes: Sequence[Note] = ()


class DocumentRows(Frozen, ABC):
    """Rows of judgements, and their documents as plain qrels for an engine to place."""

    criteria: str | None = None
    name: str
    notes: tuple[Note, ...]

    def __init__(self, rows: StoredRows, *, name: str) -> None:
        self._keep(name=name, notes=tuple(rows.notes))
        self._take(rows.where, *rows.columns)

    @property
    @abstractmethod
    def digest(self) -> str:
        """A hash of the judgements themselves."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, DocumentRows):
            return NotImplemented
        return self.digest == other.digest

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

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
        self._qrels = Qrels(table, name=self.name, real_grades=True).with_facts(id_kind="text")

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
