"""What answers cite, counted by question: the table that measures of citations read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from goldrank.data.text_item import CitedSentence


class CitationCounts(NamedTuple):
    """What one answer cites."""

    cited: int
    """Distinct documents that it cites."""
    relevant: float
    """Relevant documents; NaN if that is not known."""
    cited_relevant: int
    cited_retrieved: float
    """Cited documents that were retrieved; NaN if it is not known what was."""
    retrieved_relevant: float
    """Relevant documents that were retrieved."""
    used: float
    """Those of them that it cites."""
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
        """The counts of an answer."""
        cited = {doc for sentence in sentences for doc in sentence.citations}
        wanted = set(relevant or ())
        returned = set(retrieved or ())
        by_sentence = [sentence.degrees for sentence in sentences]
        is_labelled = any(sentence.support is not None for sentence in sentences)
        unknown = float("nan")

        return cls(
            cited=len(cited),
            relevant=unknown if relevant is None else len(wanted),
            cited_relevant=len(cited & wanted),
            cited_retrieved=unknown if retrieved is None else len(cited & returned),
            retrieved_relevant=unknown if retrieved is None else len(returned & wanted),
            used=unknown if retrieved is None else len(cited & returned & wanted),
            sentences=len(sentences),
            pairs=sum(map(len, by_sentence)),
            support=sum(sum(degrees.values()) for degrees in by_sentence) if is_labelled else unknown,
            best=sum(max(degrees.values(), default=0.0) for degrees in by_sentence) if is_labelled else unknown,
        )


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
