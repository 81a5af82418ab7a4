"""The rule that two texts match if they are equal."""

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
"""The most characters of a text in which stretches are looked for."""


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

    It is the whole text where letters that are not marks grow together (the parts of Korean syllables), and where the
    text is too long to look at letter by letter.

    >>> original_span("  The\\nStraße ", 4, 11)
    [(6, 12)]
    """
    if all(folds.values()):
        if begin < end:
            return [FoldedText.of(text).span(begin, end)]
        return [(0, len(text))]
    folded = normalise(text, **folds)
    if folded == text:
        return [(begin, end)]
    if len(text) > SHOWN:
        return [(0, len(text))]

    pieces = _pieces(text)
    origin: list[int] = []
    compared: list[str] = []
    whitespace = folds.get("whitespace", True)
    for i, (start, piece) in enumerate(pieces):
        if not piece.isspace() or not whitespace:
            small = normalise(piece, **(folds | {"whitespace": False}))
        elif 0 < i < len(pieces) - 1:
            small = " "
        else:
            small = ""
        compared.append(small)
        origin += [start] * len(small)

    if "".join(compared) != folded or not begin < end:
        return [(0, len(text))]
    after = next((start for start, _ in pieces if start > origin[end - 1]), len(text))
    return [(origin[begin], after)]


def _pieces(text: str) -> list[tuple[int, str]]:
    """The letters of a text, each with the marks on it, and its white space, with their positions."""
    pieces: list[tuple[int, str]] = []
    for match in re.finditer(r"\s+|.", text, re.DOTALL):
        start, piece = match.start(), match[0]
        if pieces and unicodedata.combining(piece[0]):
            start, base = pieces.pop()
            piece = base + piece
        pieces.append((start, piece))
    return pieces


def by_characters(retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """1 where the folded reference stands in the folded text: for references that have no words."""
    texts = {i: fold(retrieved[i]) for i in np.unique(left).tolist()}
    needles = {j: fold(references[j]) for j in np.unique(right).tolist()}

    def is_held(i: int, j: int) -> bool:
        return bool(needles[j]) and needles[j] in texts[i]

    return np.fromiter(map(is_held, left.tolist(), right.tolist()), np.float64, len(left))


class FoldingMatcher(Matcher):
    """A matcher that knows only yes and no; by choice white space, case or the Unicode form of letters do not count.

    By default all of them count; none does where the name ends in `-normalised`.
    """

    def __init__(
        self, *, whitespace: bool | None = None, case: bool | None = None, unicode: bool | None = None
    ) -> None:
        super().__init__()
        options = {"whitespace": whitespace, "case": case, "unicode": unicode}
        chosen = {name: value for name, value in options.items() if value is not None}
        self.alike = dict.fromkeys(options, self.name.endswith("-normalised")) | chosen

    def __str__(self) -> str:
        chosen = [name for name, is_alike in self.alike.items() if is_alike]
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

        text_numbers, reference_numbers = numbers(retrieved), numbers(references)
        return np.asarray(text_numbers[left] == reference_numbers[right], np.float64)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if self.fold(retrieved) == self.fold(reference):
            return [(0, len(retrieved))]
        return []


class ExactNormalised(Exact):
    """Texts that are equal but for white space, case and the Unicode form of letters."""

    name = "exact-normalised"
