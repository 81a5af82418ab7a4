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

from goldrank.match.common_tokens import CountingMatcher, TokenCounts, f1, precision, recall, share
from goldrank.match.tokens import Stretches, rouge_score_spans, rouge_score_words


class RougeL(CountingMatcher):
    """The share of the reference's words that the retrieved text has in the same order."""

    name: ClassVar[str] = "rouge-l"
    says: ClassVar[str] = "ROUGE-L recall"
    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = True
    degree = staticmethod(recall)


class RougeLPrecision(RougeL):
    """The share of the retrieved text's words that the reference has in the same order."""

    name = "rouge-l-precision"
    says = "ROUGE-L precision"
    degree = staticmethod(precision)


class RougeLF(RougeL):
    """The harmonic mean of ROUGE-L recall and precision."""

    name = "rouge-l-f"
    says = "ROUGE-L F"
    degree = staticmethod(f1)


class RougeScore(RougeL):
    """ROUGE-L recall of the rouge-score package."""

    name = "rouge-score"
    says = "ROUGE-L recall (rouge-score)"

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True) -> None:
        super().__init__(threshold, inclusive=inclusive)

    def tokens(self, text: str) -> Sequence[Hashable]:
        return rouge_score_words(text)

    def spans(self, text: str) -> Stretches:
        return rouge_score_spans(text)


class RougeScorePrecision(RougeScore):
    """ROUGE-L precision of the rouge-score package."""

    name = "rouge-score-precision"
    says = "ROUGE-L precision (rouge-score)"
    degree = staticmethod(precision)


class RougeScoreF(RougeScore):
    """ROUGE-L F of the rouge-score package."""

    name = "rouge-score-f"
    says = "ROUGE-L F (rouge-score)"

    @staticmethod
    def degree(counts: TokenCounts) -> np.ndarray:
        # The package takes the mean of two quotients, which may differ from `f1` in the last bit.
        p, r = precision(counts), recall(counts)
        return share(2 * p * r, p + r)
