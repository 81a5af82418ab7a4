"""How many tokens, or runs of tokens, two texts share: in the same order (ROUGE-L), or in any order.

ROUGE-L (C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries, 2004): recall divides the length of the
longest common subsequence by the number of words of the reference, precision by the number of words of the retrieved
text, and F is their harmonic mean. `rouge-l` takes words of all scripts; `rouge-score` takes the words of the package
of that name (a to z and digits, without its stemmer), with its numbers to the last bit.

In any order, words are counted as often as they occur (multisets, as SQuAD's F1 does): of a word that one text has
twice and the other three times, two are in common. Shingles are counted once (sets, as in A. Broder, On the
resemblance and containment of documents, 1997).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from goldrank.base.errors import OptionError, whole_number
from goldrank.data.text_item import Texts
from goldrank.match.common_tokens import (
    CountingMatcher,
    TokenCounts,
    Tokeniser,
    f1,
    precision,
    recall,
    share,
    word_stretches,
)
from goldrank.match.exact import by_characters
from goldrank.match.guards import DEFAULT as DEFAULT_GUARDS
from goldrank.match.matcher import PruningMatcher
from goldrank.match.tokens import (
    Stretches,
    merged,
    rouge_score_line,
    rouge_score_spans,
    rouge_score_words,
    spans,
    words,
)


class WindowedMatcher(CountingMatcher):
    """A share of the reference's words, of the window of the text that has most of them.

    `window=None` takes the whole text, as the definition that was published does.
    """

    default_threshold: ClassVar[float | None] = 0.7
    degree = staticmethod(recall)

    def __init__(
        self,
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        words: Tokeniser | None = None,
        window: str | None = "best",
        guards: Iterable[str] | None = None,
    ) -> None:
        super().__init__(threshold, inclusive=inclusive, words=words, guards=guards)
        if window not in ("best", None):
            raise OptionError(f"the window of {self.name} is {window!r}; it must be 'best' or None")
        self.window = window

    @property
    def options(self) -> dict[str, object]:
        if self.window:
            return super().options
        return {"window": None, **super().options}


class RougeL(WindowedMatcher):
    """The share of the reference's words that a stretch of the retrieved text has in the same order."""

    name: ClassVar[str] = "rouge-l"
    says: ClassVar[str] = "ROUGE-L recall"
    ordered: ClassVar[bool] = True


class _WholeRougeL(CountingMatcher):
    """Measures of the longest common subsequence of whole texts."""

    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = True


class RougeLPrecision(_WholeRougeL):
    """The share of the retrieved text's words that the reference has in the same order."""

    name: ClassVar[str] = "rouge-l-precision"
    says: ClassVar[str] = "ROUGE-L precision"
    degree = staticmethod(precision)
    parts_of_reference = True


class RougeLF(_WholeRougeL):
    """The harmonic mean of ROUGE-L recall and precision."""

    name: ClassVar[str] = "rouge-l-f"
    says: ClassVar[str] = "ROUGE-L F"
    degree = staticmethod(f1)


class RougeScore(_WholeRougeL):
    """ROUGE-L recall of the rouge-score package; it decides as the package does, without guards."""

    name: ClassVar[str] = "rouge-score"
    says: ClassVar[str] = "ROUGE-L recall (rouge-score)"
    degree = staticmethod(recall)
    default_guards = ()
    folds = False

    def __init__(
        self, threshold: float | None = None, *, inclusive: bool = True, guards: Iterable[str] | None = None
    ) -> None:
        super().__init__(threshold, inclusive=inclusive, guards=guards)

    tokens = staticmethod(rouge_score_words)
    line = staticmethod(rouge_score_line)
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


class TokenRecall(WindowedMatcher):
    """The share of the reference's words that a stretch of the retrieved text has."""

    name: ClassVar[str] = "token-recall"
    says: ClassVar[str] = "token recall"
    ordered: ClassVar[bool] = False


class TokenIoU(CountingMatcher):
    """The words in common divided by the words that are in either text (intersection over union, Jaccard)."""

    name: ClassVar[str] = "token-iou"
    says: ClassVar[str] = "token intersection over union"
    default_threshold: ClassVar[float | None] = 0.5
    ordered: ClassVar[bool] = False

    @staticmethod
    def degree(counts: TokenCounts) -> np.ndarray:
        return share(counts.common, counts.retrieved + counts.reference - counts.common)


def squad_words(text: str) -> list[str]:
    """The tokens of SQuAD's script: lower case, ASCII punctuation deleted, then articles, then cut at white space.

    >>> squad_words("The U.S. Army")
    ['us', 'army']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))


class TokenF1(CountingMatcher):
    """F1 of SQuAD's script: the harmonic mean of token recall and precision; two texts without tokens are equal."""

    name: ClassVar[str] = "token-f1"
    says: ClassVar[str] = "token F1"
    default_threshold: ClassVar[float | None] = 0.7
    ordered: ClassVar[bool] = False
    folds = False
    has_line = False

    def tokens(self, text: str) -> Sequence[Hashable]:
        return (self.words or squad_words)(text)

    def spans(self, text: str) -> Stretches:
        return []

    @staticmethod
    def degree(counts: TokenCounts) -> np.ndarray:
        return np.where(counts.retrieved + counts.reference == 0, 1.0, f1(counts))

    def marks(self, retrieved: str, reference: str) -> Stretches:
        left = Counter(squad_words(reference))
        where = []
        for word in re.finditer(r"\S+", retrieved):
            tokens = squad_words(word[0])
            if tokens and all(left[token] for token in tokens):
                left.subtract(tokens)
                where.append(word.span())
        return merged(retrieved, where)


class Shingles(PruningMatcher):
    """The share of the reference's runs of `n` words that the retrieved text has.

    A reference of fewer than `n` words is one run.
    """

    name: ClassVar[str] = "shingles"
    says: ClassVar[str] = "containment of shingles"
    default_threshold: ClassVar[float | None] = 0.5
    default_guards = DEFAULT_GUARDS
    folds = True

    def __init__(
        self,
        threshold: float | None = None,
        *,
        inclusive: bool = True,
        n: int = 3,
        guards: Iterable[str] | None = None,
    ) -> None:
        super().__init__(threshold, inclusive=inclusive, guards=guards)
        self.n = whole_number(n, f"the n of {self.name}", 1)

    @property
    def options(self) -> dict[str, object]:
        if self.n == 3:
            return super().options
        return {"n": self.n, **super().options}

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
                by_runs = TokenRecall(self.threshold, words=partial(_distinct_runs, n), window=None, guards=())
                pairs = retrieved, references, left[chosen], right[chosen]
                degrees[chosen] = by_runs.degrees(*pairs, deciding=deciding)
            else:
                bare = np.flatnonzero(size[right] == 0)
                degrees[bare] = by_characters(retrieved, references, left[bare], right[bare])

        return degrees

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        return word_stretches(retrieved, reference, ordered=True)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        where, reference_words = spans(retrieved), words(reference)
        n = min(self.n, len(reference_words))
        if not n:
            return []

        reference_runs = set(_runs(reference_words, n))
        marked: Stretches = []
        for i, run in enumerate(_runs(words(retrieved), n)):
            if run in reference_runs:
                marked += where[i : i + n]
        return merged(retrieved, marked)


def _runs(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[i:] for i in range(n)), strict=False))


def _distinct_runs(n: int, text: str) -> Sequence[Hashable]:
    tokens = words(text)
    if n == 1:
        return list(dict.fromkeys(tokens))
    return list(dict.fromkeys(_runs(tokens, n)))
