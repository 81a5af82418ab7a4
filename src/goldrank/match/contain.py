"""The rules that one text stands in the other, letter by letter.

A retrieved text without any letter or digit is part of nothing: a full stop stands in nearly every reference.
"""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from goldrank.data.text_item import Texts
from goldrank.match.exact import FoldingMatcher, by_characters, original_span
from goldrank.match.matcher import Matcher
from goldrank.match.tokens import Stretches, has_words, merged, spans, words

_SPEAKERS = ("user: ", "assistant: ")


def is_part(chunk: str, document: str) -> bool:
    """Whether a chunk stands in a document, as it is or with JSON's escapes.

    A first line that starts with "Date: " and a speaker ("user: ", "assistant: ") are not part of the text.
    A chunk without any letter or digit matches nothing: a full stop stands in nearly every document.

    >>> is_part("Date: 2023-01-02\\nuser: hello", "say hello world")
    True
    """
    return any(form in document for form in _forms(chunk))


def is_near_part(chunk: str, document: str, share: float = 0.9) -> bool:
    """Whether a chunk stands in a document as it is (`is_part`), or nearly so.

    Nearly: at least this share of the chunk's words stands in one stretch of the document that has as many words as
    the chunk. Case, punctuation, white space and Unicode forms do not count, nor does the order within the stretch.
    Words are whole ones, so that a chunk of few words needs all of them.

    >>> is_near_part("user: I moved to oslo, in May", "Last year I moved to Oslo in May.")
    True
    >>> is_near_part("I moved to Rome", "I moved to Oslo. He stayed in Rome.")
    False
    """
    if is_part(chunk, document):
        return True
    document_words = words(document)
    return any(_share_in_a_stretch(words(form), document_words) >= share for form in _forms(chunk))


def _share_in_a_stretch(chunk: list[str], document: list[str]) -> float:
    """The largest share of a chunk's words that stands in a stretch of as many words."""
    lacking = Counter(chunk)
    most = common = 0
    for index, word in enumerate(document):
        lacking[word] -= 1
        common += lacking[word] >= 0
        if index >= len(chunk):
            first_word = document[index - len(chunk)]
            common -= lacking[first_word] >= 0
            lacking[first_word] += 1
        most = max(most, common)

    if chunk:
        return most / len(chunk)
    return 0.0


def is_part_remem(chunk: str, document: str) -> bool:
    """`is_part` as REMem's code has it, which differs in unusual texts.

    Of a speaker's text only what stands before the next ": " is looked for, an empty text is part of every
    document, and JSON's quotes belong to the text.
    """
    text = _without_date(chunk)
    if text.startswith(_SPEAKERS):
        return text.split(": ")[1] in document or json.dumps(text).split(": ")[1] in document
    return text in document or json.dumps(text) in document


def _without_date(chunk: str) -> str:
    if chunk.startswith("Date: "):
        return chunk.partition("\n")[2]
    return chunk


def _bare_text(chunk: str) -> str:
    text = _without_date(chunk)
    for speaker in _SPEAKERS:
        text = text.removeprefix(speaker)
    return text


def _forms(chunk: str) -> set[str]:
    """The text of a chunk as it may stand in a document: as it is, or with JSON's escapes."""
    text = _bare_text(chunk)
    if has_words(text):
        return {text, json.dumps(text)[1:-1]}
    return set()


def _all_if_in(fold: Callable[[str], str], retrieved: str, reference: str) -> Stretches:
    if has_words(retrieved) and fold(retrieved) in fold(reference):
        return [(0, len(retrieved))]
    return []


def _one_holds_the_other(text: str, reference: str) -> bool:
    """Whether the shorter stands in the longer."""
    if len(reference) <= len(text):
        return reference in text
    return text in reference


class Contains(FoldingMatcher):
    """Retrieved texts that hold the reference."""

    name: ClassVar[str] = "contains"
    says: ClassVar[str] = "holds the reference"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        folded_texts, has_text = self._folded(retrieved, left)
        folded_references, has_reference = self._folded(references, right)
        # What has no words is looked for, letter by letter, but is not taken for a part of what has some.
        chosen = np.flatnonzero(has_text[left] | ~has_reference[right])
        paired_texts = map(folded_texts.__getitem__, left[chosen].tolist())
        paired_references = map(folded_references.__getitem__, right[chosen].tolist())
        degrees = np.zeros(len(left))
        degrees[chosen] = np.fromiter(self._holds(paired_texts, paired_references), bool, len(chosen))
        return degrees

    def _folded(self, texts: Texts, needed: np.ndarray) -> tuple[dict[int, str], np.ndarray]:
        """The texts that are compared, and which of all have letters or digits."""
        worded = np.zeros(len(texts), bool)
        folded = {}
        for i in np.unique(needed).tolist():
            worded[i] = has_words(texts[i])
            folded[i] = self.fold(texts[i])
        return folded, worded

    def _holds(self, texts: Iterable[str], references: Iterable[str]) -> Iterable[bool]:
        return map(operator.contains, texts, references)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        needle = self.fold(reference)
        if not needle.strip():
            return []
        start = self.fold(retrieved).find(needle)
        if start < 0:
            return []
        return original_span(retrieved, start, start + len(needle), **self.alike)


class ContainsNormalised(Contains):
    """Retrieved texts that hold the reference, whatever the white space, case and Unicode form."""

    name = "contains-normalised"


class ContainsWords(Contains):
    """Retrieved texts that hold the reference's words in a row, whatever stands between them.

    Words are whole ones: "art" is not in "party". This is how short answers are looked for.
    """

    name = "contains-words"
    says = "holds the reference's words in a row"

    def __init__(self) -> None:
        super().__init__()

    folds = True

    def fold(self, text: str) -> str:
        return f" {' '.join(words(text))} "

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        degrees = super().degrees(retrieved, references, left, right)
        wordless = {j for j in np.unique(right).tolist() if not words(references[j])}
        bare = np.flatnonzero(np.isin(right, list(wordless)))
        degrees[bare] = by_characters(retrieved, references, left[bare], right[bare])
        return degrees

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if not has_words(reference):
            return []
        text = self.fold(retrieved)
        start = text.find(self.fold(reference))
        if start < 0:
            return []
        first = text.count(" ", 0, start)
        return merged(retrieved, spans(retrieved)[first : first + len(words(reference))])


class Contained(Contains):
    """Retrieved texts that stand in the reference."""

    name = "contained"
    says = "stands in the reference"

    def _holds(self, texts: Iterable[str], references: Iterable[str]) -> Iterable[bool]:
        return map(operator.contains, references, texts)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        return _all_if_in(self.fold, retrieved, reference)


class ContainedNormalised(Contained):
    """Retrieved texts that stand in the reference, whatever the white space, case and Unicode form."""

    name = "contained-normalised"


class Either(Contains):
    """Texts of which the shorter stands in the longer."""

    name = "either"
    says = "one stands in the other"

    def _holds(self, texts: Iterable[str], references: Iterable[str]) -> Iterable[bool]:
        return map(_one_holds_the_other, texts, references)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        return super().marks(retrieved, reference) or _all_if_in(self.fold, retrieved, reference)


class EitherNormalised(Either):
    """Texts of which the shorter stands in the longer, whatever the white space, case and Unicode form."""

    name = "either-normalised"


class PartOfOriginal(Matcher):
    """Retrieved chunks that were cut from the reference, as REMem's are (`is_part`)."""

    name = "remem"
    says = "is part of the reference"

    def degrees(self, retrieved: Texts, references: Texts, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        forms = {i: _forms(retrieved[i]) for i in np.unique(left).tolist()}

        def is_held(i: int, j: int) -> bool:
            return any(form in references[j] for form in forms[i])

        return np.fromiter(map(is_held, left.tolist(), right.tolist()), bool, len(left)).astype(np.float64)

    def marks(self, retrieved: str, reference: str) -> Stretches:
        if not is_part(retrieved, reference):
            return []
        return [(len(retrieved) - len(_bare_text(retrieved)), len(retrieved))]
