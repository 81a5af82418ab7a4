"""ALCE's precision and recall of citations (eval.py of the project), where someone has said which documents support a
sentence.

A citation counts if all citations of its sentence together support it, and it supports it alone or the others do not.
Only the first three citations of a sentence count, [0] is the last document, and a number out of range refuses its
sentence, whose citations are then left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

_NUMBER = re.compile(r"\[(\d+)")
AT_MOST = 3

Supports = Callable[[Collection[int]], bool]
"""Whether some documents, counted from 1, together support a sentence."""


class AlceSentence(NamedTuple):
    """A sentence with its citations in brackets, and what supports it."""

    text: str
    supports: Supports


class AlceScores(NamedTuple):
    """Means over answers, in percent."""

    recall: float
    precision: float


def alce_citations(answers: Sequence[Sequence[AlceSentence]], docs: int, at_most: int = AT_MOST) -> AlceScores:
    """ALCE's recall and precision of the citations of answers, each with `docs` documents."""
    counted = [_answer(sentences, docs, at_most) for sentences in answers]
    recall = sum(each.recall for each in counted) / len(counted)
    precision = sum(each.precision for each in counted) / len(counted)
    return AlceScores(100 * recall, 100 * precision)


def _answer(sentences: Sequence[AlceSentence], docs: int, at_most: int) -> AlceScores:
    """The shares of one answer, from 0 to 1."""
    supported = right = citations = 0
    for sentence in sentences:
        cited = [_document(int(text), docs) for text in _NUMBER.findall(sentence.text)]
        if not cited or any(number > docs for number in cited):
            continue
        cited = cited[:at_most]
        citations += len(cited)
        if not sentence.supports(set(cited)):
            continue
        supported += 1
        right += sum(_is_needed(number, cited, sentence.supports) for number in cited)

    precision = 0.0
    if citations:
        precision = right / citations
    return AlceScores(supported / len(sentences), precision)


def _document(number: int, docs: int) -> int:
    """The document that a number names: [0] has the index -1, which is the last."""
    if number == 0:
        return docs
    return number


def _is_needed(number: int, cited: Sequence[int], supports: Supports) -> bool:
    if len(cited) == 1 or supports({number}):
        return True
    others = set(cited) - {number}
    return not supports(others)
