"""Counts of the citations of answers, by question: the table that measures of citations read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from goldrank.data.text_item import CitedSentence

UNKNOWN = float("nan")


class CitationCounts(NamedTuple):
    """Counts of the citations of one answer."""

    cited: int
    """Distinct documents that it cites."""
    relevant: float
    """Relevant documents; NaN if that is not known."""
    cited_relevant: int
    cited_retrieved: float
    """Cited documents that were retrieved; NaN if the retrieved documents are not known."""
    retrieved_relevant: float
    """Relevant documents that were retrieved."""
    used: float
    """Relevant documents that were retrieved and are cited."""
    sentences: int
    pairs: int
    """Distinct pairs of a sentence and a document that it cites."""
    support: float
    """The sum of the support of these pairs; NaN if it is not known."""
    best: float
    """The sum over sentences of the best support of their citations."""

    @classmethod
    def of(
        cls,
        sentences: Sequence[CitedSentence],
        relevant: Collection[str] | None,
        retrieved: Collection[str] | None,
    ) -> CitationCounts:
        """Count the citations of an answer."""
        cited = {doc for sentence in sentences for doc in sentence.citations}
        by_sentence = [sentence.degrees for sentence in sentences]
        relevant_docs = set(relevant or ())
        counts = cls(
            cited=len(cited),
            relevant=UNKNOWN,
            cited_relevant=len(cited & relevant_docs),
            cited_retrieved=UNKNOWN,
            retrieved_relevant=UNKNOWN,
            used=UNKNOWN,
            sentences=len(sentences),
            pairs=sum(map(len, by_sentence)),
            support=UNKNOWN,
            best=UNKNOWN,
        )

        if relevant is not None:
            counts = counts._replace(relevant=len(relevant_docs))
        if retrieved is not None:
            returned = set(retrieved)
            counts = counts._replace(
                cited_retrieved=len(cited & returned),
                retrieved_relevant=len(returned & relevant_docs),
                used=len(cited & returned & relevant_docs),
            )
        if any(sentence.support is not None for sentence in sentences):
            support = sum(sum(degrees.values()) for degrees in by_sentence)
            best = sum(max(degrees.values(), default=0.0) for degrees in by_sentence)
            counts = counts._replace(support=support, best=best)
        return counts


@dataclass(frozen=True)
class Citations:
    """The counts of all answers, a column for each."""

    columns: np.ndarray

    @classmethod
    def of(cls, counts: Sequence[CitationCounts]) -> Citations:
        """The table of some answers, in their order."""
        return cls(np.array(counts, np.float64).reshape(-1, len(CitationCounts._fields)).T)

    def column(self, name: str) -> np.ndarray:
        """One of the counts, for every question."""
        values: np.ndarray = self.columns[CitationCounts._fields.index(name)]
        return values
