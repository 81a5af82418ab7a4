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


def shown_documents(scores: Scores, measure: Measure, which: np.ndarray | None) -> list[Shown]:
    """The forbidden documents in the first k, highest first; none if the documents of the scores are not known."""
    placed = scores.placed
    if placed is None or placed.placements.label is None:
        return []

    placements, docs = placed.placements, placed.qrels.docs
    counted = set(scores.queries)
    if which is not None:
        counted = {query for query, is_in in zip(scores.queries, which.tolist(), strict=True) if is_in}
    rows = np.flatnonzero((placements.grade < 0) & (placements.rank <= (measure.k or np.inf)))
    shown = [
        Shown(placements.queries[placements.query[row]], docs[placements.label[row]], int(placements.rank[row]))
        for row in rows.tolist()
    ]
    return sorted((each for each in shown if each.query in counted), key=lambda each: (each.rank, each.query))


def shown_words(scores: Scores, measure: Measure | None, which: np.ndarray | None) -> str:
    """The first forbidden documents that a run shows, as the end of a sentence; empty for other measures."""
    if measure is None or measure.declaration.name not in MEASURES:
        return ""
    shown = shown_documents(scores, measure, which)
    if not shown:
        return ""
    if len(shown) > MOST_NAMED:
        more = f" and {len(shown) - MOST_NAMED:,} more"
    else:
        more = ""
    return f"; forbidden: {', '.join(map(str, shown[:MOST_NAMED]))}{more}"
