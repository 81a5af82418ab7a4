"""Every result is shown and saved in every form, by one table: a new form is one file and one entry."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import polars
import pytest
import results

import goldrank
from goldrank import Baseline, GoldrankError, OptionError, Result, Scores, ScoresByRun
from goldrank.data.showing import Form
from goldrank.data.table import ChartPart, Fold, Sentence, Table, without_charts
from goldrank.report import show

ENDINGS = [".json", ".csv", ".tsv", ".md", ".tex", ".html", ".svg", ".parquet", ".txt"]
WITH_CHARTS = {"Comparison", "Leaderboard", "Stages", "Sweep", "Trend"}
every_kind = pytest.mark.parametrize("kind", results.KINDS)


def test_every_kind_of_result_is_in_the_list():
    assert results.kinds_in_the_source() == results.KINDS.keys()
    assert all(type(results.made(kind)).__name__ == kind for kind in results.KINDS)


def test_the_endings_are_those_that_are_promised():
    assert set(show.ENDINGS) == set(ENDINGS)
    assert list(show.FORMS) == ["terminal", "markdown", "csv", "tsv", "latex", "json", "html", "svg", "parquet"]


@every_kind
def test_a_result_says_what_it_is(kind):
    result = results.made(kind)
    assert result.words
    assert "\n" not in result.words
    assert isinstance(result.notes, tuple)
    assert "\n" not in repr(result)
    assert repr(result).startswith(f"{kind}(")
    assert result.title
    assert all(isinstance(part, Table | Sentence | Fold | ChartPart) for part in result.parts())
    rows = result.rows()
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)
    assert all(value is None or isinstance(value, str | int | float) for row in rows for value in row.values())
    assert result.to_dict()


@every_kind
def test_print_and_show_are_the_terminal_text(kind, capsys):
    result = results.made(kind)
    result.show()
    assert capsys.readouterr().out == show.render(result, "terminal") == f"{result}\n"
    result.show("json")
    assert json.loads(capsys.readouterr().out) == json.loads(result.to_json())
    assert goldrank.show(result, "markdown") == result.to_markdown()


@every_kind
def test_data_frames_hold_the_rows(kind):
    result = results.made(kind)
    rows = result.rows()
    names = list(rows[0])
    for frame in (result.to_polars(), result.to_pandas(), result.to_arrow()):
        assert len(frame) == len(rows)
        assert list(getattr(frame, "column_names", frame.columns)) == names
    assert "<table" in result._repr_html_() or kind in ("Advice", "CorrectedValue")


# Files.


class _Closed(HTMLParser):
    """A page that closes what it opens."""

    EMPTY = frozenset({"meta", "link", "br", "hr", "img", "input", "col", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass


def check_json(path: Path, result: Result) -> None:
    assert json.loads(path.read_text()) == json.loads(result.to_json())


def check_csv(path: Path, result: Result, delimiter: str = ",") -> None:
    rows = list(csv.DictReader(io.StringIO(path.read_text()), delimiter=delimiter))
    assert len(rows) == len(result.rows())
    assert all(None not in row for row in rows), "no row has more cells than there are heads"


def check_tsv(path: Path, result: Result) -> None:
    check_csv(path, result, "\t")


def check_markdown(path: Path, result: Result) -> None:
    text = path.read_text()
    tables = re.findall(r"(?m)(?:^\|.*\n)+", text)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table
    assert text.count("<details>") == text.count("</details>")


def check_latex(path: Path, result: Result) -> None:
    text = path.read_text()
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert plain.count("{") - plain.count(r"\{") == plain.count("}") - plain.count(r"\}")


def check_html(path: Path, result: Result) -> None:
    text = path.read_text()
    assert text.startswith("<!doctype html>")
    assert "Content-Security-Policy" in text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text), "a page loads nothing"
    _Closed(re.sub(r"(?s)<(script|style)[^>]*>.*?</\1>", "", text))


def check_svg(path: Path, result: Result) -> None:
    tree = ElementTree.fromstring(path.read_bytes())
    drawings = [tree, *tree.iter("{http://www.w3.org/2000/svg}svg")]
    assert any(drawing.find("{http://www.w3.org/2000/svg}title") is not None for drawing in drawings)


def check_parquet(path: Path, result: Result) -> None:
    frame = polars.read_parquet(path)
    assert (frame.height, set(frame.columns)) == (len(result.rows()), set(result.rows()[0]))


def check_text(path: Path, result: Result) -> None:
    assert path.read_text() == f"{result}\n"


def check_xml(path: Path, result: Result) -> None:
    assert ElementTree.fromstring(path.read_bytes()).tag == "testsuites"


def check_lines(path: Path, result: Result) -> None:
    assert all(json.loads(line) for line in path.read_text().splitlines())


CHECKS = {
    ".json": check_json, ".csv": check_csv, ".tsv": check_tsv, ".md": check_markdown, ".tex": check_latex,
    ".html": check_html, ".svg": check_svg, ".parquet": check_parquet, ".txt": check_text, ".xml": check_xml,
    ".jsonl": check_lines,
}  # fmt: skip


@every_kind
def test_a_result_is_saved_to_every_ending_that_it_has(kind, tmp_path):
    result = results.made(kind)
    forms = show.forms_of(result)
    saved = {ending for form in forms.values() for ending in form.endings}
    assert saved >= set(ENDINGS) - {".svg"}
    assert (".svg" in saved) == (kind in WITH_CHARTS)
    for ending in saved:
        path = tmp_path / "folder" / f"saved{ending}"
        result.save(path)
        CHECKS[ending](path, result)


@every_kind
def test_other_endings_are_refused(kind, tmp_path):
    result = results.made(kind)
    for name in ("result.docx", "result", "result.json.bak", "result.svg"):
        if name == "result.svg" and kind in WITH_CHARTS:
            continue
        with pytest.raises(OptionError) as caught:
            result.save(tmp_path / name)
        assert caught.value.code == "unknown-ending"
        assert ".html" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".json", ".JSON"])
def test_what_is_saved_loads_back_equal(ending, tmp_path):
    for kind, read in (("Scores", Scores.load), ("ScoresByRun", ScoresByRun.load), ("Baseline", Baseline.load)):
        path = tmp_path / f"{kind}{ending}"
        results.made(kind).save(path)
        again = read(path)
        assert dict(again) == dict(results.made(kind)) if kind == "ScoresByRun" else again == results.made(kind)


def test_only_a_verdict_has_forms_for_build_servers(tmp_path):
    verdict = results.made("Verdict")
    assert show.render(verdict, "github").startswith("::")
    verdict.save(tmp_path / "gate.xml")
    assert show.form_of("gate.xml", verdict) == "junit"
    for form in ("github", "junit"):
        assert [kind for kind in results.KINDS if form in show.forms_of(results.made(kind))] == ["Verdict"]
        with pytest.raises(OptionError, match="it must be one of"):
            show.render(results.made("Scores"), form)


def test_wrong_words_are_explained():
    scores = results.made("Scores")
    with pytest.raises(OptionError, match="it must be one of: terminal, markdown"):
        scores.show("markdwon")
    with pytest.raises(OptionError, match="parquet is not text"):
        goldrank.show(scores, "parquet")
    with pytest.raises(OptionError, match="form is 'svg'"):
        scores.to_svg()
    with pytest.raises(GoldrankError, match="not a result"):
        goldrank.show({"AP": 0.5}, "csv")
    with pytest.raises(OptionError, match="Endings are"):
        show.form_of("x.pdf")


# A form of one's own.


def rst_lines(parts) -> list[str]:
    """Parts as reStructuredText: what the one file of a new form holds."""
    lines = []
    for part in without_charts(parts):
        if isinstance(part, Sentence):
            lines += ["", part.text]
        elif isinstance(part, Fold):
            lines += ["", part.title, *rst_lines(part.parts)]
        else:
            lines += ["", ".. list-table::" + f" {part.title}".rstrip(), "   :header-rows: 1", ""]
            for row in (
                [head.text for head in part.heads],
                *([cell.text for cell in row.full] for row in part.full_rows),
            ):
                lines += [f"   {'*' if i == 0 else ' '} - {text}" for i, text in enumerate(row)]
    return lines


@every_kind
def test_a_new_form_is_one_file_and_one_entry(kind, monkeypatch, tmp_path):
    module = ModuleType("rst_form")
    module.render = lambda result: "\n".join(rst_lines(result.parts())) + "\n"
    monkeypatch.setitem(sys.modules, "rst_form", module)
    monkeypatch.setitem(show.FORMS, "rst", Form("for Sphinx", "rst_form:render", (".rst",)))

    result = results.made(kind)
    text = goldrank.show(result, "rst")
    assert ".. list-table::" in text or kind in ("Advice", "CorrectedValue")
    result.save(tmp_path / "result.rst")
    assert (tmp_path / "result.rst").read_text() == text
    assert show.form_of("x.rst") == "rst"
