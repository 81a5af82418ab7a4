"""The documents that judgements with several rows per document are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldrank import ids
from goldrank.data.qrels import Grade, Qrels


@dataclass(frozen=True)
class DocumentRows:
    """Which document each row of judgements is about, and the documents as plain qrels for an engine to place."""

    qrels: Qrels
    """Each document once, in byte order within its query, with its highest grade."""
    query: np.ndarray
    """The number of the query of each row."""
    label: np.ndarray
    """The document of each row, as `Placements.label` numbers them."""

    @classmethod
    def of(cls, queries: Sequence[bytes], docs: Sequence[bytes], grades: Sequence[Grade], name: str) -> DocumentRows:
        """The documents of rows given as parallel columns."""
        highest: dict[bytes, dict[bytes, Grade]] = {query: {} for query in sorted(set(queries))}
        for query, doc, grade in zip(queries, docs, grades, strict=True):
            row = highest[query]
            row[doc] = max(row.get(doc, -1), grade)
        table = {
            ids.decode(query): {ids.decode(doc): row[doc] for doc in sorted(row)} for query, row in highest.items()
        }
        qrels = Qrels(table, name=name, real_grades=True)
        qrels.id_kind = "text"
        number = {query: i for i, query in enumerate(highest)}
        label_of: list[dict[bytes, int]] = []
        first = 0
        for row in highest.values():
            label_of.append({doc: label for label, doc in enumerate(sorted(row), first)})
            first += len(row)
        query_of = np.array([number[query] for query in queries], np.int64)
        labels = [label_of[i][doc] for i, doc in zip(query_of.tolist(), docs, strict=True)]
        return cls(qrels, query_of, np.array(labels, np.int64))
