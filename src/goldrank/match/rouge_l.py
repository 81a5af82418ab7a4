"""ROUGE-L: how much of a text stands in another, word by word and in the same order.

C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, 2004. Recall divides the length of the
longest common subsequence by the words of the reference, precision by those of the retrieved text, and F is
their harmonic mean. `rouge-l` takes words of all scripts; `rouge-score` those of the package of that name
(a to z and digits, without its stemmer), with its numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from goldrank.match.common import Counting, Counts, share
from goldrank.match.tokens import Spans, rouge_score_spans, rouge_score_words


class RougeL(Counting):
    """The share of the reference's words that the retrieved text has in the same order."""

    name: ClassVar[str] = "rouge-l"
    says: ClassVar[str] = "ROUGE-L recall"
    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = True

    def degree(self, counts: Counts) -> np.ndarray:
        return share(counts.common, counts.reference)


class RougeLPrecision(RougeL):
    """The share of the retrieved text's words that the reference has in the same order."""

    name = "rouge-l-precision"
    says = "ROUGE-L precision"

    def degree(self, counts: Counts) -> np.ndarray:
        return share(counts.common, counts.retrieved)


class RougeLF(RougeL):
    """The harmonic mean of ROUGE-L recall and precision."""

    name = "rouge-l-f"
    says = "ROUGE-L F"

    def degree(self, counts: Counts) -> np.ndarray:
        return share(2 * counts.common, counts.retrieved + counts.reference)


class RougeScore(RougeL):
    """ROUGE-L recall of the rouge-score package."""

    name = "rouge-score"
    says = "ROUGE-L recall (rouge-score)"

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True) -> None:
        super().__init__(threshold, inclusive=inclusive)

    def tokens(self, text: str) -> Sequence[Hashable]:
        return rouge_score_words(text)

    def spans(self, text: str) -> Spans:
        return rouge_score_spans(text)


class RougeScorePrecision(RougeScore):
    """ROUGE-L precision of the rouge-score package."""

    name = "rouge-score-precision"
    says = "ROUGE-L precision (rouge-score)"

    def degree(self, counts: Counts) -> np.ndarray:
        return share(counts.common, counts.retrieved)


class RougeScoreF(RougeScore):
    """ROUGE-L F of the rouge-score package."""

    name = "rouge-score-f"
    says = "ROUGE-L F (rouge-score)"

    def degree(self, counts: Counts) -> np.ndarray:
        precision, recall = share(counts.common, counts.retrieved), share(counts.common, counts.reference)
        return share(2 * precision * recall, precision + recall)
