"""The rule that two texts match when they are the same."""

from __future__ import annotations

import re
import unicodedata
from typing import ClassVar

import numpy as np

from goldrank.data.text_item import Texts
from goldrank.match.folding import FoldedText, fold
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
    """A text in the form in which it is compared: `fold`, or by choice white space, case or Unicode NFC alone.

    >>> normalise("  The\\nCat ")
    'the cat'
    """
    if whitespace and case and unicode:
        return fold(text)
    if unicode:
        text = unicodedata.normalize("NFC", text)
    if case:
        text = text.casefold()
    if whitespace:
        return " ".join(text.split())
    return text


def original_span(text: str, begin: int, end: int, **folds: bool) -> Stretches:
    """Where a stretch of `normalise(text, **folds)` stands in the text itself.

    Everything, where letters grow together that are no marks (the parts of Korean syllables), and where the
    text is too long to be gone through letter by letter.

    >>> original_span("  The\\nStraße ", 4, 11)
    [(6, 12)]
    """
    if all(folds.values()):
        return [FoldedText.of(text).span(begin, end) if begin < end else (0, len(text))]
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
            if 0 < i < len(pieces) - 1:
                small = " "
            else:
                small = ""
        compared.append(small)
        home += [at] * len(small)
    if "".join(compared) != folded or not begin < end:
        return [(0, len(text))]
    after = next((at for at, _ in pieces if at > home[end - 1]), len(text))
    return [(home[begin], after)]


def by_characters(retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """1 where the folded reference stands in the folded text: for references that have no words."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    ours = {i: fold(retrieved[i]) for i in np.unique(left).tolist()}
    theirs = {j: fold(references[j]) for j in np.unique(right).tolist()}
    return np.fromiter((bool(theirs[j]) and theirs[j] in ours[i] for i, j in pairs), np.float64, len(left))


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
        self.alike = {name: folded if wanted is None else wanted for name, wanted in asked.items()}

    def __str__(self) -> str:
        chosen = [name for name, wanted in self.alike.items() if wanted]
        plain = self.name.removesuffix("-normalised")
        if len(chosen) == len(self.alike):
            return f"{plain}-normalised"
        if chosen:
            return f"{plain} but for {', '.join(chosen)}"
        return plain

    def fold(self, text: str) -> str:
        """The text that is compared."""
        if any(self.alike.values()):
            return normalise(text, **self.alike)
        return text

    @property
    def folds(self) -> bool:  # type: ignore[override]  # depends on the options
        """Whether all that `fold` makes alike is alike."""
        return all(self.alike.values())


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
        if self.fold(retrieved) == self.fold(reference):
            return [(0, len(retrieved))]
        return []


class ExactNormalised(Exact):
    """Texts that are equal but for white space, case and the Unicode form of letters."""

    name = "exact-normalised"
