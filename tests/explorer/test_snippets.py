"""What is shown of a text: the query's words are marked where they stand, and nothing can steer the page."""

import pytest

from goldrank.explorer.snippets import QueryWords, snippet, visible


def shown(text, query, room=240):
    return "".join(f"[{part.text}]" if part.marked else part.text for part in snippet(text, QueryWords(query), room))


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("how to descale a kettle", "Descale the kettle.", "[Descale] the [kettle]."),
        ("tyres", "A tyre is flat", "A [tyre] is flat"),  # the first four letters
        ("cafe", "CAFÉ and Cafe\u0301", "[CAFÉ] and [Cafe\u0301]"),  # case and accents
        ("the who", "The Who", "[The] [Who]"),  # stop words only if there is nothing else
        ("東京都", "東京は首都", "[東京]は首都"),
        ("ﬁsh", "fish", "[fish]"),
        ("", "text", "text"),
    ],
)
def test_marks(query, text, expected):
    assert shown(text, query) == expected


def test_the_window_has_most_words():
    filler = "nothing here. " * 60
    text = f"{filler}The kettle boils. {filler}Descale the kettle with vinegar. {filler}"
    found = snippet(text, QueryWords("descale kettle vinegar"))
    assert {part.text for part in found if part.marked} == {"Descale", "kettle", "vinegar"}
    assert len("".join(part.text for part in found)) <= 240


def test_a_word_of_a_megabyte():
    found = snippet("x" * 1_000_000, QueryWords("xxxx"))
    assert len("".join(part.text for part in found)) <= 240


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\x00b", "a\\x00b"), ("\u202egpj", "\\u202egpj"), ("a\nb\tc", "a b c"), ("\udc80", "\\udc80")],
)
def test_what_would_steer_the_page_is_shown(text, expected):
    assert visible(text) == expected
