"""When a retrieved text counts for a ground truth one: continuous-eval's matching strategies."""

from __future__ import annotations

import enum
from typing import ClassVar

from goldrank.base.errors import InputError, OptionError
from goldrank.compat._common import is_number
from goldrank.match import TextRule
from goldrank.match.exact import same
from goldrank.match.own import Own
from goldrank.match.rouge import reaches, rouge_l_recall


class MatchingStrategyType(enum.Enum):
    """The unit of comparison: whole chunks, or their sentences."""

    CHUNK_MATCH = "chunk"
    SENTENCE_MATCH = "sentence"


class MatchingStrategy:
    """The base of strategies. A new one has `type` and `is_relevant`, which may be async and answer "yes" or "no"."""

    type: MatchingStrategyType = MatchingStrategyType.CHUNK_MATCH

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        """Whether a retrieved chunk or sentence counts for a ground truth one."""
        raise NotImplementedError

    def in_release(self, release: str | None) -> TextRule:
        """`is_relevant` as a release has it: None, '0.2' or 'later'."""
        return Own(self.is_relevant).covers


def _check_texts(*texts: object) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{text!r:.60} is a {type(text).__name__}, not a text", code="wrong-type")


def _is_blank(text: str) -> bool:
    """Whether a text has no character: the field is empty, or was named wrongly."""
    return not text or text.isspace()


def _same_words(retrieved: str, truth: str) -> bool:
    return same(retrieved, truth) and not _is_blank(truth)


class ExactChunkMatch(MatchingStrategy):
    """Chunks that are equal. A blank chunk equals nothing, except with `as_released=True`.

    >>> ExactChunkMatch().is_relevant("Paris", "paris")
    False
    """

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        _check_texts(retrieved_component, ground_truth_component)
        return _same_words(retrieved_component, ground_truth_component)

    def in_release(self, release: str | None) -> TextRule:
        if type(self).is_relevant is not ExactChunkMatch.is_relevant:
            return super().in_release(release)
        if release is None:
            return _same_words
        return same


class ExactSentenceMatch(ExactChunkMatch):
    """Sentences that are equal."""

    type = MatchingStrategyType.SENTENCE_MATCH


class RougeChunkMatch(MatchingStrategy):
    """Chunks that hold at least `threshold` of the ground truth's words in order (ROUGE-L recall).

    `inclusive=False` wants more than the threshold; without it, each release has its own rule.

    >>> RougeChunkMatch().is_relevant("a b c d e f g", "a b c d e f g h i j")
    True
    """

    default_threshold: ClassVar[float] = 0.7

    def __init__(self, threshold: float | None = None, *, inclusive: bool | None = None) -> None:
        self.threshold: float = self.default_threshold
        if threshold is not None:
            self.threshold = threshold
        self.inclusive: bool | None = inclusive
        if not is_number(self.threshold) or not 0 <= self.threshold <= 1:
            raise OptionError(f"threshold is {threshold!r}; it must be a number from 0 to 1")

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        _check_texts(retrieved_component, ground_truth_component)
        if _is_blank(ground_truth_component):
            return False
        return self._reaches(retrieved_component, ground_truth_component)

    def _reaches(self, retrieved: str, truth: str) -> bool:
        return reaches(retrieved, truth, self.threshold, self.inclusive is not False)

    def in_release(self, release: str | None) -> TextRule:
        if type(self).is_relevant is not RougeChunkMatch.is_relevant:
            return super().in_release(release)
        if release is None:
            return self.is_relevant
        if release == "later":
            return self._reaches

        more_than = self.type is MatchingStrategyType.CHUNK_MATCH
        if self.inclusive is not None:
            more_than = not self.inclusive

        def older(retrieved: str, truth: str) -> bool:
            recall = rouge_l_recall(retrieved, truth)
            if more_than:
                return recall > self.threshold
            return recall >= self.threshold

        return older


class RougeSentenceMatch(RougeChunkMatch):
    """Sentences by ROUGE-L recall."""

    type = MatchingStrategyType.SENTENCE_MATCH
    default_threshold: ClassVar[float] = 0.8
