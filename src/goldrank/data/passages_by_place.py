"""Retrieved texts and the evidence that they cover by position, for measures that read texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goldrank.data.passages import Passages
from goldrank.data.placements import Lengths, Placements
from goldrank.data.spans import Spans


@dataclass(frozen=True)
class PassagesByPlace(Passages):
    """Texts that cover evidence: each piece has one row, at the rank of the text with which enough of it is held.

    Several texts may hold a piece together, so Cover@k of these pairs is EvidenceRecall@k.
    """

    spans: Spans | None = None
    coverage: float = 1.0

    @classmethod
    def of(cls, spans: Spans, coverage: float, answerable: np.ndarray, confidence: np.ndarray) -> PassagesByPlace:
        """The passages of a table of spans; `coverage` is the share of a piece that is enough."""
        pairs = _pairs(spans, coverage)
        texts = spans.texts
        return cls(
            pairs=pairs,
            query=texts.query,
            rank=texts.rank,
            repeated=np.zeros(len(texts.rank), bool),
            answerable=answerable,
            confidence=confidence,
            spans=spans,
            coverage=coverage,
        )

    def packed(self, budget: int, pack: str = "prefix", depth: int | None = None) -> PassagesByPlace:
        """As if only the texts that fit into the budget of tokens had been retrieved; ranks close up."""
        assert self.spans is not None
        assert self.answerable is not None
        assert self.confidence is not None
        return self.of(self.spans.packed(budget, pack, depth), self.coverage, self.answerable, self.confidence)


def completed_at(spans: Spans, coverage: float) -> np.ndarray:
    """For each piece of evidence, the rank of the text with which enough of it is held; 0 if it never is."""
    complete = np.zeros(len(spans.evidence_query), np.int64)
    for k in range(int(spans.texts.rank.max(initial=0)), 0, -1):
        complete[spans.enough(k, coverage)] = k
    return complete


def _pairs(spans: Spans, coverage: float) -> Placements:
    """One row for each piece of evidence that is covered, at the rank of the text that completes it."""
    complete = completed_at(spans, coverage)
    label = np.flatnonzero(complete)
    label = label[np.lexsort((complete[label], spans.evidence_query[label]))]
    query, rank = spans.evidence_query[label], complete[label]
    start = np.concatenate(([0], np.cumsum(spans.relevant())))

    return Placements(
        queries=spans.queries,
        retrieved=spans.retrieved,
        answered=spans.answered,
        judged_start=start,
        judged=np.ones(len(complete)),
        query=query,
        rank=rank,
        grade=np.ones(len(label)),
        tie_first=rank,
        tie_last=rank,
        label=label,
        shared=True,
        lengths=_lengths(spans),
    )


def _lengths(spans: Spans) -> Lengths | None:
    """The tokens of the texts; None where they were not counted."""
    if (spans.texts.tokens < 0).any():
        return None
    return Lengths(np.concatenate(([0], np.cumsum(spans.retrieved))), spans.texts.tokens)
