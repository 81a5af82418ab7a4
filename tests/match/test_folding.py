"""The one form in which texts are compared: reference pairs, offsets, and what uses it."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import numpy as np
import pytest
from lanes import many
from rag_cases import cases

from goldrank import Matching, evaluate_texts
from goldrank.errors import InputError
from goldrank.match import matcher
from goldrank.match.folding import NAME, FoldedText, fold
from goldrank.match.locate import SourceText
from goldrank.match.tokens import spans, words

PAIRS = cases("normalisation")


@pytest.mark.parametrize("case", PAIRS, ids=[case["id"] for case in PAIRS])
def test_reference_pairs(case: dict[str, Any]) -> None:
    left, right = case["inputs"]["left"], case["inputs"]["right"]
    expected = case["expected"]
    for text, form in ((left, expected["left_folded"]), (right, expected["right_folded"])):
        assert fold(text) == form
        assert FoldedText.of(text).text == form
    assert (fold(left) == fold(right)) == expected["same"]
    exact = matcher("exact-normalised").decide([left], [right], np.array([0]), np.array([0]))
    assert exact.tolist() == [expected["same"]]
    if expected["same"]:  # the other levels are coarser
        assert words(left) == words(right)
        source = f"So ({left}) it is."
        place = SourceText(source).find(right, similarity=None)
        assert place is not None
        assert [fold(source[start:end]) for start, end in place.places] == [fold(right)]


LETTERS = (
    "aZ1²½-\n\r 'ı\u0307İ\u0301\u0327\u00ad\u200b\u0640\u064e\u0651\u05b8\uff76\uff9e\u1112\u1161\u11ab\u09c7\u09be٣"
)


def test_offsets_are_those_of_the_same_form() -> None:
    rng = random.Random(5)
    others = [chr(c) for c in range(32, 0x20000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    for _ in range(many(3_000)):
        text = "".join(rng.choice(LETTERS if rng.random() < 0.6 else others) for _ in range(rng.randint(0, 12)))
        folded = FoldedText.of(text)
        assert folded.text == fold(text), ascii(text)
        assert fold(folded.text) == folded.text, ascii(text)
        assert (folded.start < folded.end).all()
        assert (np.diff(folded.start) >= 0).all()
        assert len(spans(text)) == len(words(text))


def test_words_are_marked_where_they_stand() -> None:
    text = "Die evalua-\n  tion von CO₂ – ﬁn"
    assert [text[a:b] for a, b in spans(text)] == ["Die", "evalua-\n  tion", "von", "CO₂", "ﬁn"]
    assert words(text) == ["die", "evaluation", "von", "co2", "fin"]


def test_a_reference_without_words_is_matched_by_characters() -> None:
    for name in ("rouge-l:0.7", "token-recall", "contains-words", "contains-normalised", "shingles", "token-set"):
        items = [{"retrieved": ["nothing here.", "an arrow → there"], "references": ["→"]}]
        found = evaluate_texts(items, ["Cover@1", "Cover@2"], matching=Matching(name))
        assert found.mean == {"Cover@1": 0.0, "Cover@2": 1.0}, name


def test_a_reference_of_which_nothing_is_left_is_an_error() -> None:
    items = [{"id": "q7", "retrieved": ["a"], "references": ["a", "\u200b\u00ad"]}]
    with pytest.raises(InputError, match="q7"):
        evaluate_texts(items, "Cover", matching="rouge-l")


def test_the_form_is_named_with_the_result() -> None:
    items = [{"retrieved": ["a"], "references": ["a"]}]
    scores = evaluate_texts(items, "Cover", matching="rouge-l")
    assert NAME in scores.convention
    assert scores.provenance["normalisation"] == NAME
    assert NAME not in evaluate_texts(items, "Cover", matching="exact").convention
