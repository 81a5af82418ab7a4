"""What a matcher is, and how one is named: `exact`, `rouge-l:0.7`, `token-recall>0.5`.

A new matcher is a class in a file of this folder and a line in `_HOME`. Spellings are read here and nowhere else.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import ClassVar, TypeAlias

import numpy as np

from goldrank.data.texts import Texts
from goldrank.errors import OptionError, did_you_mean
from goldrank.match.tokens import Stretches


class Matcher(ABC):
    """Says how much a retrieved text matches a reference, and whether that is enough.

    Texts come as two lists without repetition and pairs of positions in them, so that each text is prepared
    once and each pair is tested once. No text is empty or white space alone.
    """

    name: ClassVar[str]
    """As it is spelled: `rouge-l`."""
    says: ClassVar[str]
    """What the degree is, in words: `ROUGE-L recall`."""
    default_threshold: ClassVar[float | None] = None
    """None: a matcher that knows only yes and no."""

    def __init__(self, threshold: float | None = None, *, inclusive: bool = True) -> None:
        if threshold is None:
            threshold = self.default_threshold
        elif self.default_threshold is None:
            raise OptionError(f"{self.name} takes no threshold; it knows only yes and no")
        self.threshold = None if threshold is None else self._checked(threshold)
        self.inclusive = inclusive

    def _checked(self, threshold: float) -> float:
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise OptionError(f"the threshold of {self.name} is {threshold!r}; it must be a number from 0 to 1")
        return threshold

    def __str__(self) -> str:
        """The spelling that `matcher()` takes."""
        if self.threshold is None:
            return self.name
        short = f"{self.threshold:g}"
        written = short if float(short) == self.threshold else repr(self.threshold)
        return f"{self.name}{':' if self.inclusive else '>'}{written}"

    @abstractmethod
    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How much retrieved[left[i]] matches references[right[i]], from 0 to 1, for every i."""

    def decide(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Whether they match."""
        return self.enough(self.degrees(retrieved, references, left, right))

    def enough(self, degrees: np.ndarray) -> np.ndarray:
        """Which degrees are a match. Nothing in common never is one, even if the threshold is 0."""
        if self.threshold is None:
            return degrees > 0
        return (degrees > 0) & (degrees >= self.threshold if self.inclusive else degrees > self.threshold)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        """Which parts of the retrieved text speak for the match."""
        return []


class PruningMatcher(Matcher):
    """A matcher that can decide about many pairs without measuring them."""

    @abstractmethod
    def degrees(
        self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray, *, deciding: bool = False
    ) -> np.ndarray:
        """With `deciding`, any number does that lies on the same side of the threshold."""

    def decide(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.enough(self.degrees(retrieved, references, left, right, deciding=True))


MatcherLike: TypeAlias = str | Matcher | type[Matcher] | Callable[[str, str], object]
"""A spelling, a matcher, or a function of a retrieved text and a reference; what that returns is checked."""

_HOME = {
    name: f"goldrank.match.{module}"
    for module, names in {
        "exact": ("exact", "exact-normalised"),
        "contain": (
            *("contains", "contains-normalised", "contains-words", "contained", "contained-normalised"),
            *("either", "either-normalised", "remem"),
        ),
        "token_overlap": (
            *("rouge-l", "rouge-l-precision", "rouge-l-f", "rouge-score", "rouge-score-precision", "rouge-score-f"),
            *("token-recall", "token-iou", "token-f1", "shingles"),
        ),
        "rouge": ("rouge",),
        "fuzzy": ("ratio", "partial-ratio", "token-set"),
    }.items()
    for name in names
}
"""The module of each matcher's class; loaded when it is asked for."""
NAMES = tuple(_HOME)

_SPELLING = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(?:\s*(?P<sign>:|>=|>)\s*(?P<threshold>\S+))?")


def matcher(given: MatcherLike) -> Matcher:
    """A matcher from its spelling, a function of one's own, or a matcher.

    >>> str(matcher("exact"))
    'exact'
    """
    if isinstance(given, Matcher):
        return given
    if isinstance(given, type) and issubclass(given, Matcher):
        return given()
    if callable(given):
        from goldrank.match.own import Own

        return Own(given)
    spelling = _SPELLING.fullmatch(given.strip()) if isinstance(given, str) else None
    if not spelling or spelling["name"] not in _HOME:
        hint = did_you_mean(spelling["name"], _HOME) if spelling else "For example 'rouge-l:0.7'."
        raise OptionError(f"there is no matcher {given!r:.80}; there are: {', '.join(_HOME)}", hint=hint)
    known = vars(import_module(_HOME[spelling["name"]])).values()
    matcher_class: type[Matcher] = next(kind for kind in known if getattr(kind, "name", None) == spelling["name"])
    if spelling["threshold"] is None:
        return matcher_class()
    if matcher_class.default_threshold is None:
        raise OptionError(f"{matcher_class.name} takes no threshold; it knows only yes and no")
    try:
        threshold = float(spelling["threshold"])
    except ValueError:
        raise OptionError(f"{given!r}: the threshold is a number from 0 to 1", hint="For example 0.7.") from None
    return matcher_class(threshold, inclusive=spelling["sign"] != ">")
