"""The rule that two texts match when they are the same."""

from __future__ import annotations

import re
import unicodedata
from typing import ClassVar

import numpy as np

from goldrank.data.texts import Texts
from goldrank.match.matcher import Matcher
from goldrank.match.tokens import Stretches

SHOWN = 1_000_000
"""Characters of a text in which stretches are still looked for."""


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


def original_span(text: str, begin: int, end: int, **folds: bool) -> Stretches:
    """Where a stretch of `normalise(text, **folds)` stands in the text itself.

    Everything, where letters grow together that are no marks (the parts of Korean syllables), and where the
    text is too long to be gone through letter by letter.

    >>> original_span("  The\\nStraße ", 4, 11)
    [(6, 12)]
    """
    folded = normalise(text, **folds)
    if folded == text:
        return [(begin, end)]
    if len(text) > SHOWN:
        return [(0, len(text))]
    pieces: list[tuple[int, str]] = []
    for match in re.finditer(r"\s+|.", text, re.DOTALL):
        at, piece = match.start(), match[0]
        if pieces and unicodedata.combining(piece[0]):
            at, base = pieces.pop()
            piece = base + piece
        pieces.append((at, piece))
    home: list[int] = []
    compared: list[str] = []
    whitespace = folds.get("whitespace", True)
    for i, (at, piece) in enumerate(pieces):
        if not piece.isspace() or not whitespace:
            small = normalise(piece, **(folds | {"whitespace": False}))
        else:
            small = " " if 0 < i < len(pieces) - 1 else ""
        compared.append(small)
        home += [at] * len(small)
    if "".join(compared) != folded or not begin < end:
        return [(0, len(text))]
    after = next((at for at, _ in pieces if at > home[end - 1]), len(text))
    return [(home[begin], after)]


class FoldingMatcher(Matcher):
    """A matcher that knows only yes and no; by choice white space, case or the Unicode form of letters do not count.

    Unless asked for, all of them count; none does where the name ends in `-normalised`.
    """

    def __init__(
        self, *, whitespace: bool | None = None, case: bool | None = None, unicode: bool | None = None
    ) -> None:
        super().__init__()
        asked = {"whitespace": whitespace, "case": case, "unicode": unicode}
        folded = self.name.endswith("-normalised")
        self.folds = {name: folded if wanted is None else wanted for name, wanted in asked.items()}

    def __str__(self) -> str:
        chosen = [name for name, wanted in self.folds.items() if wanted]
        plain = self.name.removesuffix("-normalised")
        if len(chosen) == len(self.folds):
            return f"{plain}-normalised"
        return f"{plain} but for {', '.join(chosen)}" if chosen else plain

    def fold(self, text: str) -> str:
        """The text that is compared."""
        return normalise(text, **self.folds) if any(self.folds.values()) else text


class Exact(FoldingMatcher):
    """Texts that are equal; by choice white space, case or the Unicode form of letters do not count."""

    name: ClassVar[str] = "exact"
    says: ClassVar[str] = "equal"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        number: dict[str, int] = {}

        def numbers(texts: Texts) -> np.ndarray:
            return np.array([number.setdefault(self.fold(text), len(number)) for text in texts], np.int64)

        ours, theirs = numbers(retrieved), numbers(references)
        return np.asarray(ours[left] == theirs[right], np.float64)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        return [(0, len(retrieved))] if self.fold(retrieved) == self.fold(reference) else []


class ExactNormalised(Exact):
    """Texts that are equal but for white space, case and the Unicode form of letters."""

    name = "exact-normalised"
