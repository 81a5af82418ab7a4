"""The rule that two texts match when they are the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from goldrank.match.matcher import Marks, Matcher


def same(retrieved: str, reference: str) -> bool:
    """Whether the texts are equal, character for character.

    >>> same("Paris", "paris")
    False
    """
    return retrieved == reference


def normalise(text: str, *, whitespace: bool = True, case: bool = True, unicode: bool = True) -> str:
    """A text in the form in which it is compared: runs of white space as one blank, case folded, Unicode NFC.

    >>> normalise("  The\\nCat ")
    'the cat'
    """
    if unicode:
        text = unicodedata.normalize("NFC", text)
    if case:
        text = text.casefold()
    return " ".join(text.split()) if whitespace else text


class Exact(Matcher):
    """Texts that are equal; by choice white space, case or the Unicode form of letters do not count."""

    name = "exact"
    says = "equal"

    def __init__(self, *, whitespace: bool = False, case: bool = False, unicode: bool = False) -> None:
        super().__init__()
        self.folds = {"whitespace": whitespace, "case": case, "unicode": unicode}

    def __str__(self) -> str:
        chosen = [name for name, wanted in self.folds.items() if wanted]
        return f"{self.name} but for {', '.join(chosen)}" if chosen else self.name

    def degrees(
        self, retrieved: Sequence[str], references: Sequence[str], left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        number: dict[str, int] = {}

        def numbers(texts: Sequence[str]) -> np.ndarray:
            folded = (normalise(text, **self.folds) for text in texts) if any(self.folds.values()) else texts
            return np.array([number.setdefault(text, len(number)) for text in folded], np.int64)

        ours, theirs = numbers(retrieved), numbers(references)
        equal: np.ndarray = ours[left] == theirs[right]
        return equal.astype(np.float64)

    def marks(self, retrieved: str, reference: str) -> Marks:
        return [(0, len(retrieved))]
