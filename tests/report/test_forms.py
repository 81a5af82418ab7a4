"""Every form writes the same table: nothing is lost, nothing acts, warnings look different; notebooks show results."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from gates import gate_run
from rich.console import Console

from goldrank import Runs, Statistics, compare, diff, evaluate, read_run
from goldrank.base.notes import Note
from goldrank.data.table import Cell, Fold, Head, Row, Sentence, Table, html, note_sentences, plain
from goldrank.report import latex, markdown, separated
from goldrank.report.scores import ScoreTables
from goldrank.report.show import PRINTED, render
from goldrank.report.terminal import MOST_ROWS, view

HOSTILE = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "a|b\\|c",
    "line\nbreak\r",
    "\x1b[31mred",
    "::error::x",
    "[bold]x[/bold] **y** `z` <b>",
    r"\input{x} & % $ #",
    "\u2028\udc80",
]
PARTS = [
    Table(
        [*Head.names("run"), *Head.numbers("AP"), *Head.texts("why")],
        [[text, Cell("0.5", 0.5), text] for text in HOSTILE],
        "Title",
    ),
    *note_sentences([Note.of("repeated-documents", count=2), Note.of("infinite-scores", count=3)]),
    Fold("More", [Sentence("inside")]),
]


def terminal(parts, **options):
    file = io.StringIO()
    Console(file=file, highlight=False, emoji=False, **{"width": 200, **options}).print(view(parts))
    return file.getvalue()


FORMS = {
    "text": plain,
    "html": html,
    "markdown": markdown.write,
    "latex": latex.write,
    "terminal": terminal,
    "csv": lambda parts: separated.write(parts[0]),
    "tsv": lambda parts: separated.write(parts[0], "\t"),
}
WARNINGS = {
    "text": "\n! 3 scores are infinite\n",
    "html": '<li class="warning"><strong>Warning:</strong> 3 scores are infinite</li>',
    "markdown": "\n- **Warning:** 3 scores are infinite\n",
    "latex": "\n% Warning: 3 scores are infinite\n",
    "terminal": "\n! 3 scores are infinite",
}


@pytest.mark.parametrize("form", FORMS)
def test_no_control_character_and_no_line_break_passes(form):
    text = FORMS[form](PARTS)
    assert text.encode()
    assert all(c.isprintable() or c in "\n\t" for c in text)
    assert len([line for line in text.splitlines() if "0.5" in line]) == len(HOSTILE)
    assert not re.search(r"^\s*::error", text, re.M)


@pytest.mark.parametrize("form", WARNINGS)
def test_warnings_come_first_and_look_different(form):
    text = FORMS[form](PARTS)
    assert WARNINGS[form] in text
    assert text.index("3 scores are infinite") < text.index("2 repeated documents")
    assert "inside" in text


def test_a_terminal_sees_warnings_in_yellow():
    text = terminal(PARTS, force_terminal=True, color_system="standard")
    assert "\x1b[33m! 3 scores are infinite\x1b[0m" in text
    assert "\x1b[2m- 2 repeated documents were dropped\x1b[0m" in text


def test_a_terminal_gets_large_tables_too():
    rows = [[f"q{i}", "0.5"] for i in range(MOST_ROWS + 1)]
    text = terminal([Table([*Head.names("query"), *Head.numbers("AP")], rows, caption="all")])
    assert len(text.splitlines()) == MOST_ROWS + 3
    assert text.count("all") == 1


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_spreadsheets_see_no_formula_and_programs_whole_ids(delimiter):
    texts = ["=1+1", "@x", "-5", "+1.5", "-1+2", "x" * 5_000, 'a,"b"\tc']
    table = Table([*Head.names("id"), *Head.numbers("v")], [[text, Cell("0.3", 1 / 3)] for text in texts])
    rows = list(csv.reader(io.StringIO(separated.write(table, delimiter)), delimiter=delimiter))
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'@x", "-5", "+1.5", "'-1+2", "x" * 5_000, 'a,"b"\\tc']
    assert {row[1] for row in rows[1:]} == {repr(1 / 3)}


def test_latex_numbers_have_minus_signs_and_bold():
    table = Table(Head.numbers("a", "b", "c"), [[Cell("0.5", style="best", raised="a b"), "-0.1 to +0.2", "-"]], "T")
    assert r"\textbf{0.5}\textsuperscript{a,b} & $-0.1$ to $+0.2$ & -- \\" in latex.write([table])
    assert r"\caption{T.}" in latex.write([table])


def test_markdown_sentences_start_no_block():
    for text, shown in (("- x", r"\- x"), ("1. x", r"1\. x"), ("# x", r"\# x"), ("1.5 x", "1.5 x"), ("===", r"\===")):
        assert markdown.write([Sentence(text)]) == f"{shown}\n"


@pytest.mark.parametrize("form", [*PRINTED, "tsv", "jsonl"])
def test_scores_in_every_form(form):
    qrels = {"q1": {"a": 1}, "q|2": {"b": 1}}
    runs = {"old": {"q1": ["x", "a"], "q|2": ["b"]}, "new": {"q1": ["a"], "q|2": ["b"]}}
    scores = list(evaluate(qrels, Runs(runs), "RR").values())
    for by_query in (False, True):
        text = render(ScoreTables(scores, by_query), form)
        assert "old" in text
        assert ("q1" in text) == by_query
        assert "0.75" in text or by_query


# Notebooks.


class Tags(HTMLParser):
    """The tags of a piece of HTML, which has to close what it opens."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.open = set(), []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert not any(name.startswith("on") or name in ("style", "src", "href") for name, _ in attrs)
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


NAME = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results():
    qrels = {f"q{i}": {"d": 1, "e": 2} for i in range(12)}
    runs = {"old": {q: ["x", "d", "e"] for q in qrels}, NAME: {q: ["e", "d"] for q in qrels}}
    before = evaluate(qrels, runs[NAME], ["nDCG@10", "NumRet"])
    return {
        "scores": before,
        "scores by run": evaluate(qrels, Runs(runs), ["nDCG@10", "RR"]),
        "comparison": compare(qrels, runs, ["nDCG@10", "RR"], statistics=Statistics(samples=200)),
        "diff": diff(qrels, read_run(runs["old"], name="old"), read_run(runs[NAME], name=NAME)),
        "verdict": gate_run(qrels, runs["old"], ["nDCG@10: -1%", "nDCG@10 >= 0.1"], before),
    }


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("scores", "12 queries"),
        ("scores by run", "&lt;script&gt;"),
        ("comparison", "&lt;script&gt;alert(1)&lt;/script&gt; is better than old"),
        ("diff", "12 queries better, 0 worse, 0 equal"),
        ("verdict", "1 of 2 checks failed"),
    ],
)
def test_notebooks_show_results(results, which, words):
    shown = results[which]._repr_html_()
    assert "table" in Tags(shown).seen
    assert "script" not in Tags(shown).seen
    assert words in shown
    assert "0." in shown


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("comparison", "better / equal / worse"),
        ("diff", "12 queries better, 0 worse, 0 equal"),
        ("verdict", "1 of 2 checks failed"),
    ],
)
def test_printing_shows_the_same(results, which, words):
    assert words in str(results[which])
    assert "0." in str(results[which])


def wide_table():
    heads = [*Head.names("system"), *Head.numbers("AP", "interval", "RR", "P@5"), *Head.texts("word")]
    rows = []
    for name in ("a-very-long-name-of-a-system-v1", "b"):
        rows.append([name, "0.5000", "0.4000 to 0.6000", "0.2500", "0.7500", "better"])
    return Table(heads, rows)


@pytest.mark.parametrize("width", [60, 70, 80, 200])
def test_rows_of_a_table_stay_on_their_lines_in_narrow_terminals(width):
    """Names lose their middle, then numbers leave from the right; words stay, and a line says what is missing."""
    text = terminal([wide_table()], width=width)
    rows = [line for line in text.splitlines() if line.rstrip().endswith("better")]
    assert len(rows) == 2
    assert all(len(line) <= width for line in text.splitlines())
    missing = [name for name in ("interval", "RR", "P@5") if name not in text.splitlines()[0]]
    assert ("No room for" in text) == bool(missing)
    assert all(name in text for name in missing)
    assert "m-v1" in rows[0]
    if width == 60:
        assert missing == ["P@5"]
    if width == 200:
        assert "a-very-long-name-of-a-system-v1" in text


@pytest.mark.parametrize("write", [lambda parts: terminal(parts, width=60), plain, html])
def test_a_row_may_have_a_line_above_it(write):
    rows = [["a", "0.9"], Row(["b", "0.1"], above="worse for sure")]
    text = write([Table([*Head.names("system"), *Head.numbers("AP")], rows)])
    assert text.index("0.9") < text.index("worse for sure") < text.index("0.1")
