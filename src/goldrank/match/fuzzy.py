"""Texts that are alike letter by letter, by rapidfuzz. Case, white space and Unicode forms do not count.

These look at characters, which costs the product of two texts' lengths: they are for short texts. A text
without any letter or digit matches nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.packages import needed
from goldrank.data.text_item import Texts
from goldrank.match.common_tokens import SLACK, common_positions, lengths_of, scored, word_stretches
from goldrank.match.exact import by_characters, normalise, original_span
from goldrank.match.guards import DEFAULT as DEFAULT_GUARDS
from goldrank.match.matcher import PruningMatcher
from goldrank.match.tokens import Stretches, has_words, merged, spans, words

with needed("rapidfuzz"):
    from rapidfuzz import distance, fuzz


MOST_CHARACTERS = 2_000
"""The most characters of the shorter of two texts whose best stretch is looked for: the time grows with its third
power. 2,000 take a quarter of a second, 8,000 take 15 s."""


class Fuzzy(PruningMatcher):
    """A degree that rapidfuzz gives in percent."""

    default_threshold: ClassVar[float | None] = 0.8
    default_guards = DEFAULT_GUARDS
    folds = True
    scorer: ClassVar[Callable[..., float]]

    def fold(self, text: str) -> str:
        """The text that is compared."""
        return normalise(text)

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        # rapidfuzz's own cut-off is not used: it also drops some pairs that are just above it.
        if deciding:
            lowest = (self.threshold or 0) - SLACK
        else:
            lowest = 0

        texts = {i: self.fold(retrieved[i]) for i in np.unique(left).tolist() if has_words(retrieved[i])}
        needles = {j: self.fold(references[j]) for j in np.unique(right).tolist() if has_words(references[j])}
        degrees = np.zeros(len(left))
        bare = np.flatnonzero(~np.isin(right, list(needles)))
        degrees[bare] = by_characters(retrieved, references, left[bare], right[bare])

        chosen = []
        for pair, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if i in texts and j in needles and self.most(len(texts[i]), len(needles[j])) >= lowest:
                chosen.append(pair)
        if chosen:
            degrees[chosen] = scored(texts, needles, left[chosen], right[chosen], type(self).scorer, np.float64) / 100

        return degrees

    def most(self, text_length: int, reference_length: int) -> float:
        """The highest degree that texts of these lengths can have."""
        return 1.0

    ordered: ClassVar[bool] = True
    """Whether the order of words counts."""

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        return word_stretches(retrieved, reference, ordered=self.ordered)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        where = spans(retrieved)
        return merged(retrieved, (where[i] for i in common_positions(words(retrieved), words(reference), ordered=True)))


class Ratio(Fuzzy):
    """Twice the letters in common, in order, by the letters of both texts."""

    name = "ratio"
    says = "ratio of common letters"
    scorer = fuzz.ratio

    def most(self, text_length: int, reference_length: int) -> float:
        return 2 * min(text_length, reference_length) / (text_length + reference_length)


class PartialRatio(Fuzzy):
    """The ratio of the shorter text and the stretch of the longer that is most like it."""

    name = "partial-ratio"
    says = "ratio of common letters in the best stretch"
    scorer = fuzz.partial_ratio

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        shorter = np.minimum(lengths_of(retrieved)[left], lengths_of(references)[right])
        if len(shorter) and shorter.max() > MOST_CHARACTERS:
            raise _too_long(int(shorter.max()))

        return super().degrees(retrieved, references, left, right, deciding=deciding)

    def stretches(self, retrieved: str, reference: str) -> Stretches:
        if len(retrieved) <= len(reference):
            return super().stretches(retrieved, reference)
        return self.marks(retrieved, reference) or super().stretches(retrieved, reference)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if not has_words(retrieved) or not has_words(reference):
            return []
        best = fuzz.partial_ratio_alignment(self.fold(retrieved), self.fold(reference))
        if best is None:
            return []
        return original_span(retrieved, best.src_start, best.src_end)


class TokenSet(Fuzzy):
    """The ratio of the words' sets; 1 if one text's words are all in the other."""

    name = "token-set"
    says = "ratio of sets of words"
    scorer = fuzz.token_set_ratio
    ordered = False

    def fold(self, text: str) -> str:
        return " ".join(words(text))

    def marks(self, retrieved: str, reference: str) -> Stretches:
        reference_words = set(words(reference))
        pairs = zip(words(retrieved), spans(retrieved), strict=True)
        return merged(retrieved, (span for word, span in pairs if word in reference_words))


class Levenshtein(PruningMatcher):
    """1 - edits / length of the longer text, of texts as they are: Ragas compares texts so without a model."""

    name: ClassVar[str] = "levenshtein"
    says: ClassVar[str] = "likeness by edits"
    default_threshold: ClassVar[float | None] = 0.5

    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        text_length, reference_length = lengths_of(retrieved)[left], lengths_of(references)[right]
        shorter, longer = np.minimum(text_length, reference_length), np.maximum(text_length, reference_length)
        if deciding:
            lowest = (self.threshold or 0) - SLACK
        else:
            lowest = 0

        degrees = np.zeros(len(left))
        chosen = np.flatnonzero(shorter >= lowest * longer)
        if len(chosen):
            edits = scored(retrieved, references, left[chosen], right[chosen], distance.Levenshtein.distance, np.int64)
            degrees[chosen] = 1 - edits / np.maximum(longer[chosen], 1)

        return degrees

    def marks(self, retrieved: str, reference: str) -> Stretches:
        steps = distance.Levenshtein.opcodes(retrieved, reference)
        return merged(retrieved, ((step.src_start, step.src_end) for step in steps if step.tag == "equal"))


def _too_long(characters: int) -> InputError:
    return InputError(
        f"partial-ratio compares a text and a reference of {characters:,} characters or more each; at most "
        f"{MOST_CHARACTERS:,} of the shorter can be compared, because the time grows with their third power",
        hint="Take rouge-l or ratio for texts of that length, or cut the texts into sentences.",
        code="text-too-long",
    )
