"""The one table: text and HTML by hand, and notes whose warnings cannot be overlooked."""

import re

from goldrank.base.escaping import log_line
from goldrank.base.notes import Note
from goldrank.data.table import (
    Cell,
    Fold,
    Head,
    Row,
    Sentence,
    Table,
    display_width,
    facts,
    html,
    note_sentences,
    notebook_html,
    plain,
)
from goldrank.report import latex, markdown, separated

TABLE = Table(
    [*Head.names("run"), *Head.numbers("AP"), *Head.texts("verdict")],
    [["old", "0.5", ""], Row(["new", Cell("0.75", 0.7512, "best", "a", "0.7 to 0.8"), Cell("better", style="better")])],
    title="Systems",
    caption="A letter: better.",
)


def test_plain_by_hand():
    assert plain([TABLE, Sentence("Words."), Sentence("more", "remark")]).splitlines() == [
        "Systems",
        "run       AP  verdict",
        "old      0.5",
        "new  *0.75 a  better",
        "A letter: better.",
        "",
        "Words.",
        "  more",
    ]


def test_tables_of_facts_have_no_heads():
    assert plain([facts({"id": "1", "label": "", "note": "x"})]) == "id    1\nnote  x"


def test_folds_are_titles_in_text_and_details_in_html():
    fold = Fold("Notes", [Sentence("x", "remark")])
    assert plain([fold]) == "Notes\n  x"
    assert html([fold]) == '<details><summary>Notes</summary><ul class="notes"><li class="remark">x</li></ul></details>'


def test_long_sentences_hang_below_their_labels():
    lines = plain([Sentence("one two three", "fail", "FAIL")], 12).splitlines()
    assert lines == ["FAIL  one", "      two", "      three"]


def test_html_by_hand():
    found = html([TABLE])
    assert found.startswith("<h4>Systems</h4><table><thead>")
    assert '<th scope="row" class="name">new</th>' in found
    assert '<td><strong class="best">0.75</strong><sup>a</sup><div class="sub">0.7 to 0.8</div></td>' in found
    assert '<span class="chip better">better</span>' in found
    assert "data-value" not in found
    page = html([Table(TABLE.heads, TABLE.rows, id="t", sortable=True)])
    assert page.startswith('<table id="t" data-sortable><thead><tr><th class="name"><button type="button">run</button>')
    assert '<td data-value="0.7512">' in page


def test_plain_numbers_have_four_decimals_and_all_digits_in_csv():
    table = Table([*Head.names("q"), *Head.numbers("AP")], [["a", 1 / 3], Row(["b", -0.5]), ["c", float("nan")]])
    assert plain([table]).splitlines()[1:] == ["a   0.3333", "b  -0.5000", "c      nan"]
    assert separated.write(table) == "q,AP\na,0.3333333333333333\nb,-0.5\nc,nan\n"
    assert markdown.write([table]).splitlines()[2:] == ["| a | 0.3333 |", "| b | -0.5000 |", "| c | nan |"]
    assert "b & $-0.5000$" in latex.write([table])
    assert "<td>0.3333</td>" in html([table])
    assert plain([Table(table.heads, [])]) == "q  AP"


def test_notebooks_show_text_on_the_left():
    found = notebook_html([TABLE])
    assert html([TABLE]) in found
    assert found.count("<div") == found.count("</div>")
    assert "text-align:left" in found


def test_notebooks_show_the_verdict_as_a_headline():
    found = notebook_html([Sentence("new is better", "better"), TABLE, Sentence("40 queries", "remark")])
    bold = re.search(r"is\(li,p\):is\(([^)]+)\)\{font-weight:600\}", found)
    assert bold is not None
    assert ".better" in bold[1].split(",")
    assert ".remark" not in bold[1].split(",")
    assert "ul.notes{list-style:none" in found


def test_columns_can_be_left_out():
    assert plain([TABLE.without("AP", "verdict")]).splitlines()[1:4] == ["run", "old", "new"]


def test_wide_and_combining_characters_keep_columns_straight():
    lines = plain(
        [Table([*Head.names("run"), *Head.numbers("AP")], [["東京", "1"], ["e\u0301", "2"], ["abcd", "3"]])]
    ).splitlines()
    assert {display_width(line) for line in lines} == {8}


HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    "line\nbreak\r",
    "\x1b[31mred",
    "::error::x",
    " ::set-env name=x::y",
    "##[command]",
    "\udc80\u202e",
    "q" * 3_000,
]


def test_no_cell_leaves_its_line_or_acts():
    parts = [
        Table([*Head.names(HOSTILE[0]), *Head.texts("")], [[text, text] for text in HOSTILE]),
        *(Sentence(text, "remark") for text in HOSTILE),
    ]
    text = plain(parts)
    assert len(text.splitlines()) == 1 + 2 * len(HOSTILE)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not re.search(r"^\s*::|##\[", text, re.M)
    page = html(parts)
    assert "<script" not in page
    assert all(c.isprintable() or c == "\n" for c in page)


def test_build_servers_see_no_command():
    assert log_line("::error::x") == r"\x3a:error::x"
    assert log_line("a::b") == "a::b"


def test_warnings_come_first_and_look_different():
    remark = Note.of("repeated-documents", count=2)
    warning = Note.of("infinite-scores", count=3)
    found = note_sentences([remark, "plain text", warning], "r")
    assert [sentence.style for sentence in found] == ["warning", "remark", "remark"]
    assert plain(found).splitlines()[0] == "! r: 3 scores are infinite"
    assert plain(found).splitlines()[1].startswith("  r: 2 repeated")
    assert '<li class="warning"><strong>Warning:</strong> r: 3 scores are infinite</li>' in html(found)
