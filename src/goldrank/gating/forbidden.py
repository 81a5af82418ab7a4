"""Which forbidden documents a run shows: a rule about them names query, document and rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.data.scores import Scores
from goldrank.measures import Measure

MEASURES = ("Forbidden", "ForbiddenCount")
MOST_NAMED = 3


class Shown(NamedTuple):
    """A forbidden document that a run shows."""

    query: str
    doc: str
    rank: int

    def __str__(self) -> str:
        return f"'{ids.show(self.doc)}' at rank {self.rank} for query '{ids.show(self.query)}'"


def shown_documents(scores: Scores, measure: Measure, in_group: np.ndarray | None) -> list[Shown]:
    """The forbidden documents in the first k, highest first; none if the documents of the scores are not known."""
    placed_run = scores.placed
    if placed_run is None or placed_run.placements.label is None:
        return []

    placements, docs = placed_run.placements, placed_run.qrels.docs
    counted = set(scores.queries)
    if in_group is not None:
        counted = {query for query, is_chosen in zip(scores.queries, in_group.tolist(), strict=True) if is_chosen}
    rows = np.flatnonzero((placements.grade < 0) & (placements.rank <= (measure.k or np.inf)))
    forbidden = []
    for row in rows.tolist():
        query, doc = placements.queries[placements.query[row]], docs[placements.label[row]]
        if query in counted:
            forbidden.append(Shown(query, doc, int(placements.rank[row])))
    return sorted(forbidden, key=lambda document: (document.rank, document.query))


def shown_words(scores: Scores, measure: Measure | None, in_group: np.ndarray | None) -> str:
    """The first forbidden documents that a run shows, as the end of a sentence; empty for other measures."""
    if measure is None or measure.declaration.name not in MEASURES:
        return ""
    documents = shown_documents(scores, measure, in_group)
    if not documents:
        return ""
    words = f"; forbidden: {', '.join(map(str, documents[:MOST_NAMED]))}"
    if len(documents) > MOST_NAMED:
        words += f" and {len(documents) - MOST_NAMED:,} more"
    return words
