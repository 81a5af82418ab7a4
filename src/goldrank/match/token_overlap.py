"""How many tokens, or runs of tokens, two texts share: in the same order (ROUGE-L), or whatever their order.

ROUGE-L (C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, 2004): recall divides the length of the
longest common subsequence by the words of the reference, precision by those of the retrieved text, and F is
their harmonic mean. `rouge-l` takes words of all scripts; `rouge-score` those of the package of that name
(a to z and digits, without its stemmer), with its numbers to the last bit.

In any order, words are counted as often as they occur (multisets, as SQuAD's F1 does): of a word that one text has
twice and the other three times, two are in common. Shingles are counted once (sets, as in A. Broder, On the
resemblance and containment of documents, 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from goldrank.data.texts import Texts
from goldrank.errors import whole_number
from goldrank.match.common_tokens import CountingMatcher, TokenCounts, f1, precision, recall, share
from goldrank.match.matcher import PruningMatcher
from goldrank.match.tokens import Stretches, merged, rouge_score_spans, rouge_score_words, spans, words


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

    tokens = staticmethod(rouge_score_words)
    spans = staticmethod(rouge_score_spans)


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


class TokenRecall(CountingMatcher):
    """The share of the reference's words that the retrieved text has."""

    name: ClassVar[str] = "token-recall"
    says: ClassVar[str] = "token recall"
    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = False
    degree = staticmethod(recall)


class TokenIoU(TokenRecall):
    """The words in common by those that are in either text (intersection over union, Jaccard)."""

    name = "token-iou"
    says = "token intersection over union"
    default_threshold = 0.5

    @staticmethod
    def degree(counts: TokenCounts) -> np.ndarray:
        return share(counts.common, counts.retrieved + counts.reference - counts.common)


class TokenF1(TokenRecall):
    """The harmonic mean of token recall and token precision."""

    name = "token-f1"
    says = "token F1"
    degree = staticmethod(f1)


class Shingles(PruningMatcher):
    """The share of the reference's runs of `n` words that the retrieved text has.

    A reference of fewer than `n` words is one run.
    """

    name: ClassVar[str] = "shingles"
    says: ClassVar[str] = "containment of shingles"
    default_threshold: ClassVar[float | None] = 0.5

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True, n: int = 3) -> None:
        super().__init__(threshold, inclusive=inclusive)
        self.n = whole_number(n, f"the n of {self.name}", 1)

    def __str__(self) -> str:
        spelled = super().__str__()
        return spelled if self.n == 3 else f"{spelled} of {self.n} words"

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        size = np.zeros(len(references), np.int64)
        for i in np.unique(right).tolist():
            size[i] = min(self.n, len(words(references[i])))
        degrees = np.zeros(len(left))
        for n in np.unique(size[right]).tolist():  # short references have shorter shingles
            if n:
                chosen = np.flatnonzero(size[right] == n)
                by_runs = TokenRecall(self.threshold, words=partial(_distinct_runs, n))
                pairs = retrieved, references, left[chosen], right[chosen]
                degrees[chosen] = by_runs.degrees(*pairs, deciding=deciding)
        return degrees

    def marks(self, retrieved: str, reference: str) -> Stretches:
        where, wanted = spans(retrieved), words(reference)
        n = min(self.n, len(wanted))
        if not n:
            return []
        runs = set(_runs(wanted, n))
        first_words = (i for i, run in enumerate(_runs(words(retrieved), n)) if run in runs)
        return merged(retrieved, (where[at] for i in first_words for at in range(i, i + n)))


def _runs(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[i:] for i in range(n)), strict=False))


def _distinct_runs(n: int, text: str) -> Sequence[Hashable]:
    tokens = words(text)
    return list(dict.fromkeys(tokens if n == 1 else _runs(tokens, n)))
