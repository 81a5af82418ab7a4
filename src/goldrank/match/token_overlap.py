"""How many tokens, or runs of tokens, two texts share, whatever their order.

Words are counted as often as they occur (multisets, as SQuAD's F1 does): of a word that one text has twice
and the other three times, two are in common. Shingles are counted once (sets, as in A. Broder, On the
resemblance and containment of documents, 1997).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from goldrank.errors import OptionError
from goldrank.match.common import Counting, Counts, Cut, share
from goldrank.match.matcher import Marks, Matcher
from goldrank.match.tokens import merged, spans, words


class TokenRecall(Counting):
    """The share of the reference's words that the retrieved text has."""

    name: ClassVar[str] = "token-recall"
    says: ClassVar[str] = "token recall"
    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = False

    def degree(self, counts: Counts) -> np.ndarray:
        return share(counts.common, counts.reference)


class TokenIoU(TokenRecall):
    """The words in common by those that are in either text (intersection over union, Jaccard)."""

    name = "token-iou"
    says = "token intersection over union"
    default_threshold = 0.5

    def degree(self, counts: Counts) -> np.ndarray:
        return share(counts.common, counts.retrieved + counts.reference - counts.common)


class TokenF1(TokenRecall):
    """The harmonic mean of token recall and token precision."""

    name = "token-f1"
    says = "token F1"

    def degree(self, counts: Counts) -> np.ndarray:
        return share(2 * counts.common, counts.retrieved + counts.reference)


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

    def degrees(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        return self._by_size("degrees", retrieved, references, left, right, np.float64)

    def decide(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        return self._by_size("decide", retrieved, references, left, right, np.bool_)

    def _by_size(
        self,
        question: str,
        retrieved: Sequence[str],
        references: Sequence[str],
        left: np.ndarray,
        right: np.ndarray,
        kind: type,
    ) -> np.ndarray:
        """Short references have shorter shingles: the references of each size are a question of their own."""
        size = np.zeros(len(references), np.int64)
        for i in np.unique(right).tolist():
            size[i] = min(self.n, len(words(references[i])))
        found: np.ndarray = np.zeros(len(left), kind)
        for n in np.unique(size[right]).tolist():
            chosen = np.flatnonzero(size[right] == n)
            if n:
                by_runs = _OfRuns(self.threshold, inclusive=self.inclusive, words=_runs_of(n))
                found[chosen] = getattr(by_runs, question)(retrieved, references, left[chosen], right[chosen])
        return found

    def marks(self, retrieved: str, reference: str) -> Marks:
        where, wanted = spans(retrieved), words(reference)
        n = min(self.n, len(wanted))
        if not n:
            return []
        runs = set(_runs(wanted, n))
        found = (i for i, run in enumerate(_runs(words(retrieved), n)) if run in runs)
        return merged(retrieved, (where[at] for i in found for at in range(i, i + n)))


class _OfRuns(TokenRecall):
    """The recall of runs, each counted once."""


def _runs(found: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(found[i:] for i in range(n)), strict=False))


def _runs_of(n: int) -> Cut:
    def cut(text: str) -> Sequence[Hashable]:
        found = words(text)
        return list(dict.fromkeys(found if n == 1 else _runs(found, n)))

    return cut
