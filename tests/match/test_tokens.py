"""The words of texts, and where they stand."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize

from goldrank.match.folding import fold
from goldrank.match.tokens import has_words, merged, rouge_score_spans, rouge_score_words, spans, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat.", ["the", "cat", "sat"]),
        ("don't snake_case 3.5 A4", ["don", "t", "snake_case", "3", "5", "a4"]),
        ("Straße ÉTÉ naïve ΟΔΟΣ", ["strasse", "été", "naïve", "οδοσ"]),
        ("Ete\u0301 été", ["eté", "été"]),
        ("“quoted” — dash…", ["quoted", "dash"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # the vowel signs belong to their words
        ("مُحَمَّد قال", ["محمد", "قال"]),
        ("東京タワー is 高い。", ["東", "京", "タ", "ワ", "ー", "is", "高", "い"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("ที่", ["ที่"]),  # one letter and its two marks
        ("한국어는 좋다", ["한국어는", "좋다"]),
        ("がか\u3099", ["が", "が"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("...", []),
        ("👍 🎉", []),
        ("\ud800x\0y", ["x", "y"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    expected = [unicodedata.normalize("NFC", word) for word in expected]
    assert words(text) == expected
    assert len(spans(text)) == len(expected)
    assert has_words(text) == bool(expected)


@pytest.mark.slow
def test_every_character_is_cut_alike_by_words_and_spans() -> None:
    for begin in (*range(0, 0x33000, 64), *range(0xE0000, 0xE0200, 64), sys.maxunicode - 63):
        text = " ".join(f"a{c}b {c} c{c}" for c in map(chr, range(begin, begin + 64)))
        assert len(words(text)) == len(spans(text)), f"U+{begin:04X}"


MIXED = st.text(
    alphabet=st.sampled_from("aB é_9.,-'\n東のไที\u0301\u0301İßΣनि한\ud800\0") | st.characters(), max_size=40
)


@given(MIXED)
def test_spans_hold_the_words(text: str) -> None:
    where = spans(text)
    assert len(where) == len(words(text))
    # One character may be several words (m/s), so that each is only part of what stands there.
    assert all(word in fold(text[begin:end]) for word, (begin, end) in zip(words(text), where, strict=True))
    assert where == sorted(where)


@given(MIXED)
def test_case_and_form_do_not_count(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(MIXED)
def test_rouge_score_words_are_those_of_the_package(text: str) -> None:
    assert rouge_score_words(text) == tokenize(text.encode("utf-8", "replace").decode(), None) or "\ud800" in text
    where = rouge_score_spans(text)
    assert len(where) == len(rouge_score_words(text))
    for (begin, end), word in zip(where, rouge_score_words(text), strict=True):
        assert word in text[begin:end].lower()


def test_merged() -> None:
    text = "one two, three  four"
    assert merged(text, []) == []
    assert merged(text, [(4, 7), (0, 3)]) == [(0, 7)]
    assert merged(text, [(0, 7), (4, 5)]) == [(0, 7)]
    assert merged(text, [(4, 7), (9, 14), (16, 20)]) == [(4, 7), (9, 20)]
    assert merged("東京", [(0, 1), (1, 2)]) == [(0, 2)]
