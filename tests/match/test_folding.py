"""The one form in which texts are compared: reference pairs, offsets, and what uses it."""

from __future__ import annotations

import random
import unicodedata
from functools import cache
from typing import Any

import numpy as np
import pytest
from lanes import many
from rag_cases import cases

from goldrank import Matching, evaluate_texts
from goldrank.base.errors import InputError
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


# The form beside a plain one, written from its rules without looking at speed.

SINGLE = "\u2018\u2019\u201a\u201b\u2032\u2035\u02b9\u02bb\u02bc\u00b4`\u2039\u203a\uff07\uff40"
DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u301d\u301e\u301f\uff02"
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u05be"
PRIMES = {"\u2033": 2, "\u2034": 3, "\u2036": 2, "\u2037": 3, "\u2057": 4}
UNSEEN_RANGES = (
    *((0xAD, 0xAD), (0x61C, 0x61C), (0x640, 0x640), (0x180E, 0x180E), (0x200B, 0x200F), (0x202A, 0x202E)),
    *((0x2060, 0x2060), (0x2066, 0x2069), (0xFEFF, 0xFEFF), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
)
ARABIC_MARKS = ((0x610, 0x61A), (0x64B, 0x652), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E4), (0x6E7, 0x6E8))


def is_among(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= ord(character) <= high for low, high in ranges)


@cache
def plain_sign(character: str) -> str:
    """Quotation marks, primes, dashes and the fraction slash in their plain form; nothing for what is not seen."""
    if is_among(character, UNSEEN_RANGES):
        return ""
    if character in SINGLE:
        return "'"
    if character in DOUBLE:
        return '"'
    if character in DASHES:
        return "-"
    if character in PRIMES:
        return "'" * PRIMES[character]
    if character == "\u2044":
        return "/"
    return character


@cache
def without_vowel(character: str) -> str:
    """A sign once more, as compatible forms may hold some; nothing for the marks of Arabic and Hebrew."""
    if 0x591 <= ord(character) <= 0x5C7 and unicodedata.category(character) == "Mn":
        return ""
    if is_among(character, (*ARABIC_MARKS, (0x6EA, 0x6ED))):
        return ""
    return {"\u0131": "i", "\u06cc": "\u064a", "\u06a9": "\u0643"}.get(character, plain_sign(character))


def without_vowels(text: str) -> str:
    return "".join(map(without_vowel, text))


def plain_fold(text: str) -> str:
    """The form of a text without hyphens at line ends, character by character."""
    signs = ""
    for character in text:
        digit = unicodedata.decimal(character, None)
        signs += plain_sign(character) if digit is None else str(digit)

    apart = ""
    for character in signs:
        name = unicodedata.name(character, "")
        if apart and apart[-1] in "0123456789":
            if name.startswith("SUPERSCRIPT") and unicodedata.digit(character, None) is not None:
                apart += "^"
            elif name.startswith("VULGAR FRACTION") or name == "FRACTION NUMERATOR ONE":
                apart += " "
        apart += character

    small = without_vowels(unicodedata.normalize("NFKC", apart)).casefold()
    small = unicodedata.normalize("NFKC", small)
    while "i\u0307" in small:
        small = small.replace("i\u0307", "i")
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", without_vowels(small)).split()))


def test_every_character_has_the_form_of_the_rules() -> None:
    """Each code point alone, after a digit and before a mark: all of them in texts of 64 each."""
    assigned = [code for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Co")]
    codes = sorted({*assigned, *range(0, 0x110000, 97)} - {ord("*")})  # of those without meaning, one of a hundred
    for begin in range(0, len(codes), 64):
        text = "".join(f"x {chr(code)}\u0301 1{chr(code)} " for code in codes[begin : begin + 64])
        assert fold(text) == plain_fold(text), hex(codes[begin])
        assert words(text) == words(fold(text)), hex(codes[begin])
        assert len(words(text)) == len(spans(text)), hex(codes[begin])


def test_random_texts_have_the_form_of_the_rules() -> None:
    rng = random.Random(8)
    others = [chr(c) for c in range(32, 0x20000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    letters = LETTERS.replace("\n", "").replace("\r", "") + "`’“–…é🙂"
    for _ in range(many(3_000)):
        text = "".join(rng.choice(letters if rng.random() < 0.6 else others) for _ in range(rng.randint(0, 20)))
        assert fold(text) == plain_fold(text), ascii(text)
        assert words(text) == words(fold(text)), ascii(text)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("See [the guide](https://example.org/a_(b)?c=1) now", "see the guide now"),
        ('See [the guide](docs/guide.md#top "Guide").', "see the guide."),
        ("![A mill](img/mill.png) stands", "a mill stands"),
        ("**Never** *ever* take ***two***.", "never ever take two."),
        ("**[Bold](https://example.org)** link", "bold link"),
        ("f[x](y) and a[i](b.c)", "f[x](y) and a[i](b.c)"),
        ("2 * 3 * 4, 2*3*4 and *args, **kwargs", "2 * 3 * 4, 2*3*4 and *args, **kwargs"),
        ("* one\n* two", "* one * two"),
        ("snake_case and __init__", "snake_case and __init__"),
    ],
)
def test_links_and_emphasis_of_markdown(written: str, form: str) -> None:
    assert fold(written) == form
    assert FoldedText.of(written).text == form
    assert words(written) == words(form)
    assert len(spans(written)) == len(words(written))


def test_what_is_linked_is_covered_and_found() -> None:
    text = "Before. See [the **long** guide](https://example.org/very/long/address?x=1) for all details. After."
    reference = "See the long guide for all details."
    for name in ("contains-normalised", "contains-words", "rouge-l:1", "shingles:1", "token-recall:1"):
        one = np.array([0])
        assert matcher(name).decide([text], [reference], one, one).tolist() == [True], name
    place = SourceText(text).find(reference, similarity=None)
    assert place is not None
    assert [text[start:end] for start, end in place.places] == [text[8:-7]]
