"""Sentences: each text with the cut that a reader makes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goldrank.match.units import claims, sentences

CUTS = {
    "abbreviations": [
        ["Dr. Smith went to Washington.", "He arrived at 3.30 p.m. on Jan. 5th.", "It rained!"],
        ["Sen. Smith vs. Gov. Jones.", "Mt. Everest is high."],
        ["Use e.g. this one, i.e. that.", "Done."],
        ["Gen. Lee met Lt. Col. Green at Ft. Worth.", "They talked."],
    ],
    "abbreviations at the end": [
        ["He left at 5 p.m.", "She stayed."],
        ["I live in the U.S.", "It is big."],
        ["He works at Acme Inc.", "He likes it."],
        ["Apples, pears, etc.", "Then we left."],
        ["She has a Ph.D.", "He has none."],
        ["The U.S. Senate met.", "Acme Inc. is big."],
        ["It was 5 p.m. and dark."],
        ["Smith et al. found it."],
    ],
    "initials": [
        ["J. R. R. Tolkien wrote it.", "George W. Bush read it."],
        ["W. A. Mozart was born in 1756.", "I. Newton was not."],
        ["So do I.", "He knows."],
        ["He met Mr. T.", "Then he left."],
    ],
    "numbers": [
        ["It costs 3.50 euros.", "Cheap."],
        ["Version 2.0.", "It is new."],
        ["See Fig. 3, Eq. (3) and pp. 4-5.", "He said no.", "Then he left."],
        ["It was Sept. 5.", "Next."],
        ["He sold 100.", "Then he left."],
        ["Prof. Dr. Müller kam z.B. am 3. Mai an.", "Er blieb."],
    ],
    "quotes": [
        ['"Stop!" he said.', '"Why?" she asked.'],
        ['He said: "I am here."', "Then he left."],
        ["“Hello.”", "‘Bye.’", "(He left.)", "She stayed."],
        ["Il dit « Non. »", "Elle part."],
        ["Er sagte »Nein.«", "»Doch!« rief sie.", "„Gut.“", "So war es."],
    ],
    "pauses": [
        ["Well... maybe.", "Yes...", "No."],
        ["Wait… what?", "Wait…", "What?"],
        ["What?!", "Really?!!", "Yes."],
    ],
    "addresses": [
        ["See https://a.example/c.html?x=1.", "Then go."],
        ["Write to a.b@example.com.", "goldrank.evaluate works."],
    ],
    "no stops": [["No mark at the end"], ["x" * 100]],
    "lower case": [["the cat sat.", "the dog ran."]],
    "other scripts": [
        ["हिन्दी वाक्य है।", "दूसरा वाक्य।"],
        ["هل هذا صحيح؟", "نعم."],
        ["Это дом.", "Он стоит."],
    ],
}


@pytest.mark.parametrize("expected", [cut for cuts in CUTS.values() for cut in cuts], ids=lambda cut: cut[0][:30])
def test_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected
    assert sentences("\n".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今天下雨。", "我在家。", "真的！？", "好"],
        ["本当？", "「はい。」と言った。", "「そう。」", "終わり"],
        ["中文。", "Hello.", "好"],
    ],
)
def test_scripts_without_blanks(expected: list[str]) -> None:
    joined = "".join(expected).replace("Hello.", "Hello. ")
    assert sentences(joined) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- one\n- two\n  - three", ["- one", "- two", "- three"]),
        ("1. First item\n2. Second item\n10) Third", ["1. First item", "2. Second item", "10) Third"]),
        ("• one. Two.\n• three", ["• one.", "Two.", "• three"]),
        ("A heading\n\nA text. More.\n\n\nEnd", ["A heading", "A text.", "More.", "End"]),
        ("One line\nof a sentence - not\nof a list.", ["One line\nof a sentence - not\nof a list."]),
        ("Q. What is it?\nA. A thing.", ["Q. What is it?", "A. A thing."]),
        ("... and then. Go.", ["... and then.", "Go."]),
        ("...", ["..."]),
    ],
)
def test_lines_and_lists(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from(" \n.!?…。」\"'()AaDr1-"), max_size=60) | st.text(max_size=60))
def test_nothing_is_lost_but_white_space(text: str) -> None:
    assume("|" not in text)  # the line below the head of a table is no sentence
    cut = sentences(text)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() and sentence for sentence in cut)


def test_long_texts_take_time_by_their_length_only() -> None:
    """Each of these takes hours if every stop looks at the whole text."""
    assert len(sentences("word. " * 30_000)) == 30_000
    assert len(sentences("(" * 300_000 + ". " * 30_000)) == 30_000
    assert sentences("\n" * 300_000 + " " * 300_000) == []
    assert sentences("a" * 1_000_000) == ["a" * 1_000_000]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The tower was built in 1889 [1].", ["The tower was built in 1889."]),
        ("The tower was built in 1889 [1][2]. It is tall.[^3]", ["The tower was built in 1889.", "It is tall."]),
        ("It is 330 m tall [2, 3], or 1,083 ft [4-6].", ["It is 330 m tall, or 1,083 ft."]),
        ("It opened in May.¹² It is old.", ["It opened in May.", "It is old."]),
        ("It opened in May【4†guide】.", ["It opened in May."]),
        ("1. Open the lid.\n2. Add 3 spoons.", ["Open the lid.", "Add 3 spoons."]),
        ("- Open the lid\n- Close it\n* Wait", ["Open the lid", "Close it", "Wait"]),
        ("## How to\nOpen the lid. 🙂", ["Open the lid."]),
        ("It is old[^a].\n\n[^a]: A guide of 2001, page 7.", ["It is old."]),
        ("See [the guide](https://example.org/1).", ["See [the guide](https://example.org/1)."]),
        ("Call a[i] and (2) b.", ["Call a[i] and (2) b."]),
    ],
)
def test_claims_are_without_citations_and_marks_of_lists(answer: str, said: list[str]) -> None:
    assert claims(answer) == said


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("# Title\nThe text\ngoes on.", ["# Title", "The text\ngoes on."]),
        ("Before it.\n## Next\nAfter", ["Before it.", "## Next", "After"]),
        ("| a | 1 |\n|:--|--:|\n| b | 2 |\nThe end.", ["| a | 1 |", "| b | 2 |", "The end."]),
        ("A #tag in\nthe text", ["A #tag in\nthe text"]),
    ],
)
def test_headings_and_rows_of_tables_are_units(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts
