"""What a matcher decided about one question, as people see it."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from raising import raises_code
from rich.console import Console

from goldrank import Matching, evaluate_texts
from goldrank.base.errors import InputError, OptionError
from goldrank.data.explanation import MOST_TEXTS, ROOM, Explanation, clip, shown
from goldrank.data.text_item import Reference
from goldrank.rag import texts_page as texts

ITEM = {
    "id": "q1",
    "question": "When was it built?",
    "retrieved": [
        "The tower was built by a firm in 1889.",  # all six words of r1, in order: 6/6
        "Paris is big.",  # of r2's three words "is" alone: 1/3
        "Nothing here",
        "Tower built in 1889, they say.",  # "tower", "built", "in", "1889": 4/6 = 0.67
    ],
    "references": ["The tower was built in 1889.", "It is red."],
}


def made(
    retrieved: list[str],
    references: list[str],
    degrees: list[list[float]],
    threshold: float | None = 0.7,
    inclusive: bool = True,
    marks: dict[tuple[int, int], list[tuple[int, int]]] | None = None,
    says: str = "ROUGE-L recall",
) -> Explanation:
    table = np.array(degrees, float).reshape(len(retrieved), len(references))
    limit = 0.5 if threshold is None else threshold
    matched = table >= limit if inclusive else table > limit
    wanted = [Reference((text,)) for text in references]
    return Explanation("q", "", "rule", says, retrieved, wanted, table, matched, marks or {}, threshold, inclusive)


def test_plain_text() -> None:
    text = str(evaluate_texts([ITEM], "Cover@5", matching="rouge-l:0.7").explain("q1"))
    assert text.splitlines() == [
        "q1: When was it built?",
        "rouge-l:0.7 (ROUGE-L recall at least 0.7): 1 of 2 references covered, by 1 of 4 texts",
        "",
        "  1  covers r1 (ROUGE-L recall 1.00, at least 0.7)",
        "     [[The tower was built]] by a firm [[in 1889]].",
        "",
        "  2  covers nothing; closest to r2 (ROUGE-L recall 0.33, below 0.7)",
        "     Paris is big.",
        "",
        "  3  covers nothing",
        "     Nothing here",
        "",
        "  4  covers nothing; closest to r1 (ROUGE-L recall 0.67, below 0.7)",
        "     Tower built in 1889, they say.",
        "",
        "covered",
        "  r1 The tower was built in 1889.",
        "     by text 1",
        "",
        "not covered",
        "  r2 It is red.",
        "     closest is text 2 (ROUGE-L recall 0.33, below 0.7)",
    ]


def test_what_is_compared_is_what_is_shown() -> None:
    item = {"id": "q", "retrieved": ["One here. Two here."], "references": ["Two here."]}
    found = evaluate_texts([item], "Cover", matching=Matching("exact", unit="sentence")).explain("q")
    assert [text.rank for text in found.texts] == [1, 2]
    assert [bool(text.covers) for text in found.texts] == [False, True]


def test_no_such_question_and_saved_scores(tmp_path) -> None:
    scores = evaluate_texts([ITEM], "Cover@5")
    with pytest.raises(InputError, match="'q2'"):
        scores.explain("q2")
    scores.save(tmp_path / "s.json")
    with raises_code(OptionError, "not-explainable"):
        type(scores).load(tmp_path / "s.json").explain("q1")


@pytest.mark.parametrize(
    ("degree", "inclusive", "expected"),
    [
        (0.83333, True, "0.83, at least 0.7"),
        (0.7, True, "0.70, at least 0.7"),
        (0.7, False, "0.70, not above 0.7"),
        (0.69961234, True, "0.6996, below 0.7"),  # 0.70 would look like enough
        (0.7004, False, "0.7004, above 0.7"),  # and 0.70 like not enough
        (0.2, True, "0.20, below 0.7"),
    ],
)
def test_degrees_stay_on_their_side_of_the_threshold(degree: float, inclusive: bool, expected: str) -> None:
    assert made(["a"], ["b"], [[degree]], inclusive=inclusive).reason(0, 0) == f"ROUGE-L recall {expected}"


def test_rules_without_threshold_only_say_yes() -> None:
    found = made(["a", "b"], ["a"], [[1], [0]], threshold=None, says="equal")
    assert "covers r1 (equal)" in str(found)
    assert "closest" not in str(found)
    assert made(["b"], ["a"], [[0]], threshold=None, says="equal").missed[0].says == "no text covers it"


def test_several_references_and_texts() -> None:
    found = made(["ab", "a"], ["a", "b"], [[0.9, 0.8], [0.9, 0]])
    assert [name for name, _ in found.texts[0].covers] == ["r1", "r2"]
    assert found.covered[0].says == "by texts 1, 2"
    assert not found.missed


def test_nothing_retrieved_and_no_reference() -> None:
    found = made([], ["a"], [])
    assert "nothing was retrieved" in str(found)
    assert "Nothing was retrieved" in found._repr_html_()
    assert "0 of 1 reference covered, by 0 of 0 texts" in found.summary
    assert "There is no reference" in made(["a"], [], [[]])._repr_html_()


def test_alternatives() -> None:
    degrees, matched = np.ones((1, 1)), np.ones((1, 1), bool)
    found = Explanation("q", "", "exact", "equal", ["b"], [Reference(("a", "b"))], degrees, matched, {})
    assert "  r1 a | b" in str(found)
    assert "<bdi>a</bdi> <i>or</i> <bdi>b</bdi>" in found.html()


# Long and many texts.


def test_long_texts_show_what_is_marked() -> None:
    text = "x " * 500 + "needle " + "y " * 500 + "pin " + "z " * 500
    marks = [(m.start(), m.end()) for m in re.finditer("needle|pin", text)]
    pieces = clip(text, marks)
    assert [piece.text for piece in pieces if piece.marked] == ["needle", "pin"]
    line = "".join(piece.text for piece in pieces)
    assert line.startswith("…x")
    assert " … " in line
    assert line.endswith("…")
    assert len(line) <= ROOM + 5


def test_long_texts_without_marks_show_their_beginning() -> None:
    assert clip("word " * 1000, ())[0].text == ("word " * 1000)[:ROOM] + "…"
    assert clip("short", ()) == [("short", False)]


def test_marks_with_no_letter_between_them_are_one() -> None:
    assert [p.text for p in clip("the cat's tail, long", [(0, 3), (4, 7), (8, 9), (16, 20)]) if p.marked] == [
        "the cat's",
        "long",
    ]


@pytest.mark.parametrize("room", [1, 2, 7, 50, 400])
def test_clipping_never_invents(room: int) -> None:
    """Whatever the marks, each marked piece stands in the text, and no more than the room is used."""
    rng = np.random.default_rng(room)
    text = "".join(rng.choice(list("abc  "), 300).tolist())
    for _ in range(50):
        at = np.sort(rng.choice(330, 8, replace=False)).tolist()
        marks = list(zip(at[::2], at[1::2], strict=True))
        pieces = clip(text, marks, room)
        for piece in pieces:
            assert piece.text.strip("… ") in shown(text)
        marked = sum(len(piece.text) for piece in pieces if piece.marked)
        assert marked <= room
        if room == 400:
            inside = [(start, min(end, 300)) for start, end in marks if start < 300]
            assert all(any(text[start] in p.text for p in pieces if p.marked) for start, _ in inside)
            assert "".join(piece.text for piece in pieces).split() == text.split()


def test_ten_megabytes_cost_nothing() -> None:
    huge = "ab " * 3_500_000
    asked = 0

    def marks():
        nonlocal asked
        for start in range(0, len(huge), 3):
            asked += 1
            yield start, start + 2

    assert len("".join(piece.text for piece in clip(huge, marks()))) < 2 * ROOM
    assert asked < 1000
    assert len(str(made([huge] * 3, [huge], [[1], [0.2], [0]]))) < 10 * ROOM


def test_many_texts_and_references() -> None:
    degrees = np.zeros((1000, 90))
    degrees[700, 3] = 1.0
    found = made([f"text {i}" for i in range(1000)], [f"ref {i}" for i in range(90)], degrees.tolist())
    assert len(found.texts) <= MOST_TEXTS
    assert found.texts[-1].rank == 701  # far down, but it covers something
    assert "974 texts and 39 references not shown" in str(found)  # 25 + 1 texts, 1 + 50 references
    assert "974 texts and 39 references not shown" in found.html()
    every = made(["t"] * 40, ["r"] * 20, np.ones((40, 20)).tolist())
    assert "and 12 more" in every.texts[0].says
    assert every.covered[0].says == "by texts 1, 2, 3, 4, 5, 6, 7, 8 and 32 more"


# Hostile texts.

HOSTILE = [
    "<script>alert(1)</script>",
    "</table></bdi><img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnitirw\u2066x\u2069\u200b",
    "lone \udc80 half \ud800",
    "[bold red]markup[/bold red] [link=http://x]y[/link]",
    "nul\x00del\x7fc1\x9b31m",
    'quote" onmouseover="x',
    "line\u2028separator\r\nnext\x85",
    "{{ 7*7 }} {% raw %}",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> Explanation:
    text = request.param
    marks = {(0, 0): [(0, 3), (4, len(text))]}
    reference = [Reference((text, text))]
    degrees, matched = np.array([[1.0], [0.1]]), np.array([[True], [False]])
    return Explanation(text, text, text, text, [text, text], reference, degrees, matched, marks, 0.5)


def harmless(text: str) -> bool:
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_hostile_texts_in_plain_text(hostile: Explanation) -> None:
    assert harmless(str(hostile))
    assert len(str(hostile).splitlines()) == 12


def test_hostile_texts_on_a_terminal(hostile: Explanation) -> None:
    file = io.StringIO()
    Console(file=file, force_terminal=True, color_system="truecolor", width=400).print(hostile)
    styles = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert harmless(styles)
    plain = io.StringIO()
    Console(file=plain, width=400, color_system=None).print(hostile)
    assert harmless(plain.getvalue())
    if "markup" in hostile.query:
        assert "[bold red]" in plain.getvalue()


def test_hostile_texts_in_html(hostile: Explanation) -> None:
    for html in (hostile._repr_html_(), texts.render([], explanations={"q": hostile})):
        assert harmless(html.replace("\n", ""))
        parser = Tags()
        parser.feed(html)
        tags = {tag for tag, _ in parser.seen}
        assert not tags & {"script", "img", "iframe"}
        links = [dict(attributes).get("href") for tag, attributes in parser.seen if tag == "a"]
        assert links in ([], ["#main"])  # the page's own "skip to content"
        assert not any(
            name.startswith("on") or name == "src" or (name == "href" and tag != "a")
            for tag, attrs in parser.seen
            for name, _ in attrs
        )
        html.encode()


def test_words_of_other_scripts_are_left_alone() -> None:
    assert shown("می‌خواهم שלום 今天 é 👩‍🚀") == "می‌خواهم שלום 今天 é 👩‍🚀"


# HTML.


def test_html_marks_words() -> None:
    found = evaluate_texts([ITEM], "Cover@5", matching="rouge-l:0.7").explain("q1")
    assert "<mark>The tower was built</mark> by a firm <mark>in 1889</mark>." in found._repr_html_()
    page = texts.render([], explanations={"q": found})
    assert page.startswith("<!doctype html>")
    assert "<mark>in 1889</mark>" in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_rich_shows_the_same_words() -> None:
    found = evaluate_texts([ITEM], "Cover@5", matching="rouge-l:0.7").explain("q1")
    file = io.StringIO()
    Console(file=file, width=200, color_system=None).print(found)
    lines = [line.strip() for line in file.getvalue().splitlines()]
    assert lines == [line.strip().replace("[[", "").replace("]]", "") for line in str(found).splitlines()]
