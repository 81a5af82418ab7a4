"""The documents at the top of each ranking, by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels


@dataclass(frozen=True)
class TopDocuments:
    """The first documents of each judged query, and which of them are judged for any query."""

    queries: tuple[str, ...]
    query: np.ndarray
    """The query of each document, in order of query and rank."""
    rank: np.ndarray
    anywhere: np.ndarray
    """Whether the document is judged for any query."""

    @classmethod
    def of(cls, placements: Placements, docs: Sequence[Sequence[str]], qrels: Qrels) -> TopDocuments:
        """Make the table from the first documents of each query of the placements."""
        all_qrels = qrels
        if qrels.part_of is not None:  # a document may be judged for queries of other shards
            all_qrels = qrels.part_of
        judged = {doc for row in all_qrels.text.values() for doc, grade in row.items() if grade >= 0}

        query = np.repeat(np.arange(len(docs)), list(map(len, docs)))
        rank = np.array([rank for row in docs for rank in range(1, len(row) + 1)], np.int64)
        anywhere = np.array([doc in judged for row in docs for doc in row], bool)
        return cls(placements.queries, query, rank, anywhere)

    def __len__(self) -> int:
        return len(self.queries)

    def cut(self, depth: int) -> TopDocuments:
        """As if the run had returned no more than `depth` documents a query."""
        return self._where(self.rank <= depth)

    @property
    def condensed(self) -> TopDocuments:
        """Only documents that are judged for some query."""
        return self._where(self.anywhere)

    def _where(self, keep: np.ndarray) -> TopDocuments:
        return replace(self, query=self.query[keep], rank=self.rank[keep], anywhere=self.anywhere[keep])
