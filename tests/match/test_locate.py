"""Finding quotations: places are in the source as it is, however the quotation differs from it."""

from __future__ import annotations

import random
import re
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrank.match.locate import FoldedText, SourceIndex, SourceText, fold, nearest


def slices(source: str, quotation: str, **how: object) -> list[str]:
    found = SourceText(source).find(quotation, **how)  # type: ignore[arg-type]
    return [] if found is None else [source[start:end] for start, end in found.places]


@pytest.mark.parametrize(
    ("source", "quotation", "there", "how"),
    [
        ("It was so.", "was so", "was so", "exact"),
        ("It  was\n\tso.", "it was so", "It  was\n\tso", "folded"),
        ("It was so.", "  It was\u00a0so. ", "It was so.", "folded"),
        ("die STRASSE dort", "Straße", "STRASSE", "folded"),
        ("die Straße dort", "strasse", "Straße", "folded"),
        ("le cafe\u0301 noir", "le caf\u00e9 noir", "le cafe\u0301 noir", "folded"),
        ("le caf\u00e9 noir", "le cafe\u0301", "le caf\u00e9", "folded"),
        ("a\u0323\u0307 b", "a\u0307\u0323 b", "a\u0323\u0307 b", "folded"),  # accents in another order
        ("the ﬁrst oﬃce", "first office", "ﬁrst oﬃce", "folded"),
        ("he said “no” – twice…", "said \"no\" - twice...", "said “no” – twice…", "folded"),
        ("don’t", "don't", "don’t", "folded"),
        ("ex\u00adample\u200bs", "examples", "ex\u00adample\u200bs", "folded"),
        ("Ｈ₂Ｏ is", "h2o", "Ｈ₂Ｏ", "folded"),
        ("한국", unicodedata.normalize("NFD", "한국"), "한국", "folded"),
        ("今天下雨。我在\n家。", "我在家。", "我在\n家。", "joined"),
        ("end of line.\nStart here", "line.Start", "line.\nStart", "joined"),
    ],
)  # fmt: skip
def test_place_and_way(source: str, quotation: str, there: str, how: str) -> None:
    found = SourceText(source).find(quotation, similarity=None)
    assert found is not None
    assert found.way == how
    assert [source[start:end] for start, end in found.places] == [there]


@pytest.mark.parametrize(
    ("source", "quotation"),
    [
        ("le caf\u00e9 noir", "cafe"),  # an accent is part of its letter, whichever way it is written
        ("le cafe\u0301 noir", "cafe"),
        ("the ﬁrst", "irst"),  # half a ligature
        ("abc", "abd"),
        ("abc", " \n"),
        ("", "a"),
        ("\u00ad", "a"),
        ("abc", "\u200b"),
    ],
)
def test_what_is_not_there(source: str, quotation: str) -> None:
    assert SourceText(source).find(quotation, similarity=None) is None


def test_all_places() -> None:
    found = SourceText("so it is so. So? also").find("so")
    assert found is not None
    # Case counts first; "also" holds it within a word.
    assert found.places == ((0, 2), (9, 11), (19, 21))
    assert SourceText("so it is so. So? also").find("so", words=True).places == ((0, 2), (9, 11))  # type: ignore[union-attr]
    assert SourceText("also").find("so", words=True).places == ((2, 4),)  # type: ignore[union-attr]


def test_unspaced_scripts_have_no_words_to_cut() -> None:
    assert slices("下雨了，雨大", "雨", words=True) == ["雨", "雨"]


@pytest.mark.parametrize(
    ("quotation", "there"),
    [
        ("the quick brwn fox jumps over", "the quick brown fox\njumps over"),
        ("the quick brown foxes jumps over", "the quick brown fox\njumps over"),
        ("the quick brown fox jumps ower", "the quick brown fox\njumps over"),
    ],
)
def test_approximately(quotation: str, there: str) -> None:
    source = "Here, the quick brown fox\njumps over the lazy dog. Elsewhere a fox jumps."
    found = SourceText(source).find(quotation)
    assert found is not None
    assert found.way == "approximate"
    assert [source[start:end] for start, end in found.places] == [there]
    # The share of letters that need no change: 29 letters with one changed, or 31 with two too many.
    changes = 2 if "foxes" in quotation else 1
    assert found.similarity == pytest.approx(1 - changes / max(len(quotation), len(there)))
    assert SourceText(source).find(quotation, similarity=0.99) is None


def edit_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@settings(deadline=None)
@given(st.text("ab", min_size=1, max_size=5), st.text("abc", max_size=8))
def test_the_nearest_stretch_is_the_nearest(needle: str, text: str) -> None:
    start, end, changes = nearest(needle, text)
    every = [text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)]
    assert changes == min(edit_distance(needle, one) for one in every)
    assert edit_distance(needle, text[start:end]) == changes


LETTERS = st.text(
    st.one_of(
        st.sampled_from("aZßéﬁﬃ…’“—\u0301\u0323\u00ad\u200b\u00a0\u3000한İǅ½ \n\t"),
        st.characters(max_codepoint=0x24F, exclude_characters="´"),
        st.characters(exclude_characters="´"),
    ),
    max_size=30,
)
"""All but the acute accent by itself, which is often an apostrophe and is folded to one."""


@settings(deadline=None)
@given(LETTERS)
def test_folding_keeps_track(text: str) -> None:
    folded = FoldedText.of(text)
    assert len(folded.text) == len(folded.start) == len(folded.end)
    assert (folded.start < folded.end).all()
    assert (folded.start[1:] >= folded.start[:-1]).all()
    assert (folded.end <= len(text)).all()
    assert "  " not in folded.text
    assert fold(text) == folded.text.strip()
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(LETTERS)
def test_unicode_forms_are_alike(text: str) -> None:
    # Raised digits and fractions after a digit are kept apart from it (10² is not 102), which NFKC would lose.
    forms = {fold(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    # A compatible form may be written with a blank (as the accent that stands alone is), so blanks do not count.
    assert len({form.replace(" ", "") for form in forms}) == 1


WORDS = st.lists(st.text("abcÉé'’ﬁ.", min_size=1, max_size=6), min_size=1, max_size=30)
BLANKS = ["  ", "\n", "\t", " \n\n ", "\u00a0", "\u2003", " "]


@settings(deadline=None)
@given(WORDS, st.data())
def test_white_space_and_case_may_change(words: list[str], data: st.DataObject) -> None:
    """A quotation from one copy of a text is found in another, and what stands there is the quotation."""
    blanks = [data.draw(st.sampled_from(BLANKS)) for _ in words]
    source = "".join(word + blank for word, blank in zip(words, blanks, strict=True))
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    quotation = " ".join(words[first:last])
    changed = data.draw(st.sampled_from([quotation, quotation.upper(), unicodedata.normalize("NFD", quotation)]))
    found = SourceText(source).find(changed, similarity=None)
    assert found is not None
    for start, end in found.places:
        assert fold(source[start:end]).replace(" ", "") == fold(quotation).replace(" ", "")
        if found.way != "joined":
            assert fold(source[start:end]) == fold(quotation)
    start = sum(len(word + blank) for word, blank in zip(words[:first], blanks[:first], strict=True))
    end = sum(len(word + blank) for word, blank in zip(words[:last], blanks[:last], strict=True)) - len(
        blanks[last - 1]
    )
    # It may also stand elsewhere, overlapping this place, or letter by letter; otherwise this is one of the places, to
    # the character.
    assert found.way == "exact" or any(low < end and start < high for low, high in found.places)
    itself = found.way == "folded" or (found.way == "exact" and changed == quotation)
    if len(found.places) == 1 and fold(source).count(fold(words[first])) == 1 and itself:
        assert found.places[0] == (start, end)


def long_text(seed: int, words: int) -> str:
    rng = random.Random(seed)
    made = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 9))) for _ in range(3000)]
    return " ".join(rng.choices(made, k=words))


def test_exact_places_in_a_long_source() -> None:
    rng = random.Random(1)
    text = long_text(2, 20_000)
    starts = [match.start() for match in re.finditer(r"\b\w", text)]
    source = SourceText(text)
    for _ in range(50):
        i = rng.randrange(len(starts) - 60)
        start, end = starts[i], starts[i + 50] - 1
        quotation = re.sub(" ", lambda _: rng.choice(BLANKS), text[start:end]).title()
        found = source.find(quotation)
        assert found is not None
        assert found[:2] == (((start, end),), "folded")


def test_the_likely_sources() -> None:
    texts = {f"doc{i}": long_text(i, 300) for i in range(20)}
    index = SourceIndex(texts)
    assert index.likely(texts["doc7"][40:400])[0] == "doc7"
    assert index.likely("nothing of the kind anywhere here") == []
    assert index.likely("two words") == list(texts), "both may be cut"
