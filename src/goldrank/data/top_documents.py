"""The documents at the top of each ranking, by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels


@dataclass(frozen=True)
class Heads:
    """The first documents of each judged query, and which of them somebody judged for whatever query."""

    queries: tuple[str, ...]
    docs: Sequence[Sequence[str]]
    query: np.ndarray
    """The query of each document, in order of query and rank."""
    rank: np.ndarray
    anywhere: np.ndarray
    """Whether the document was judged for any query."""

    @classmethod
    def of(cls, placements: Placements, docs: Sequence[Sequence[str]], qrels: Qrels) -> Heads:
        """The heads of a run whose first documents are given for each query of the placements."""
        judged = {doc for row in qrels.whole.text.values() for doc, grade in row.items() if grade >= 0}
        size = [len(row) for row in docs]
        return cls(
            queries=placements.queries,
            docs=docs,
            query=np.repeat(np.arange(len(docs)), size),
            rank=np.array([rank for row in docs for rank in range(1, len(row) + 1)], np.int64),
            anywhere=np.array([doc in judged for row in docs for doc in row], bool),
        )

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def condensed(self) -> Heads:
        """Only documents that were judged for some query; there is then nothing left to find."""
        keep = self.anywhere
        return Heads(self.queries, self.docs, self.query[keep], self.rank[keep], self.anywhere[keep])
