"""How many tokens, or runs of tokens, two texts share, whatever their order.

Words are counted as often as they occur (multisets, as SQuAD's F1 does): of a word that one text has twice
and the other three times, two are in common. Shingles are counted once (sets, as in A. Broder, On the
resemblance and containment of documents, 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from goldrank.data.texts import Texts
from goldrank.errors import OptionError
from goldrank.match.common_tokens import CountingMatcher, TokenCounts, Tokeniser, f1, recall, share
from goldrank.match.matcher import Matcher
from goldrank.match.tokens import Stretches, merged, spans, words


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


class Shingles(Matcher):
    """The share of the reference's runs of `n` words that the retrieved text has.

    A reference of fewer than `n` words is one run.
    """

    name: ClassVar[str] = "shingles"
    says: ClassVar[str] = "containment of shingles"
    default_threshold: ClassVar[float | None] = 0.5

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True, n: int = 3) -> None:
        super().__init__(threshold, inclusive=inclusive)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise OptionError(f"the n of {self.name} is {n!r}; it must be a whole number from 1 on")
        self.n = n

    def __str__(self) -> str:
        spelled = super().__str__()
        return spelled if self.n == 3 else f"{spelled} of {self.n} words"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        degrees = np.zeros(len(left))
        for chosen, by_runs in self._by_size(references, right):
            degrees[chosen] = by_runs.degrees(retrieved, references, left[chosen], right[chosen])
        return degrees

    def decide(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        decided = np.zeros(len(left), bool)
        for chosen, by_runs in self._by_size(references, right):
            decided[chosen] = by_runs.decide(retrieved, references, left[chosen], right[chosen])
        return decided

    def _by_size(self, references: Texts, right: np.ndarray) -> Iterator[tuple[np.ndarray, TokenRecall]]:
        """Short references have shorter shingles: the pairs of each size, and the matcher for them."""
        size = np.zeros(len(references), np.int64)
        for i in np.unique(right).tolist():
            size[i] = min(self.n, len(words(references[i])))
        for n in np.unique(size[right]).tolist():
            if n:
                by_runs = TokenRecall(self.threshold, inclusive=self.inclusive, words=_distinct_runs(n))
                yield np.flatnonzero(size[right] == n), by_runs

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


def _distinct_runs(n: int) -> Tokeniser:
    """From a text to its runs of n words, each once."""

    def cut(text: str) -> Sequence[Hashable]:
        tokens = words(text)
        return list(dict.fromkeys(tokens if n == 1 else _runs(tokens, n)))

    return cut
