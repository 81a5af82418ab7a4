"""Templates, styles and scripts are source that people read; what only they need does not get into pages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import goldrank
from goldrank.report.templates import without_comments, without_line_breaks

ROOT = Path(__file__).parent.parent
ASSETS = sorted(
    path for path in Path(goldrank.__file__).parent.rglob("assets/*") if path.suffix in (".jinja", ".css", ".js")
)
TEMPLATES = [path for path in ASSETS if path.suffix == ".jinja"]
SCRIPTS = [path for path in ASSETS if path.suffix == ".js"]
STYLES_AND_SCRIPTS = [str(path) for path in ASSETS if path.suffix != ".jinja"]


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.name}"


def test_there_are_some_of_each_kind():
    assert {path.suffix for path in ASSETS} == {".jinja", ".css", ".js"}
    assert {path.parent.parent.name for path in ASSETS} == {"report", "explorer"}


@pytest.mark.parametrize("path", ASSETS, ids=named)
def test_lines_are_short(path):
    lines = path.read_text("utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("djlint", ["--check", *map(str, TEMPLATES)]),
        ("djlint", ["--lint", *map(str, TEMPLATES)]),
        ("oxfmt", ["--check", *STYLES_AND_SCRIPTS]),
        ("oxlint", ["--deny-warnings", *STYLES_AND_SCRIPTS]),
    ],
)
def test_the_tools_have_nothing_to_say(tool, arguments):
    """As in `make lint`."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which(tool, path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"{tool} is not installed (pip install --group lint)")
    done = subprocess.run([found, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("<p>\n  one\n  two\n</p>\n", "<p>one two</p>"),
        ("<b>a</b>\n<b>b</b>", "<b>a</b><b>b</b>"),
        ("<b>a</b> <b>b</b>", "<b>a</b> <b>b</b>"),
        ('<b>a</b>{{ " " }}\n<b>b</b>', '<b>a</b>{{ " " }}<b>b</b>'),
        ("word\n<b>b</b>\nword", "word<b>b</b>word"),
        ("word\n{{ name }}\nword", "word{{ name }}word"),
        ("{% if a %}\n  word\n{% endif %}\n", "{% if a %}word{% endif %}"),
        ("{# said\n   to readers #}\nword", "{# said\n   to readers #}word"),
        ('<a class="b"\n   href="c">\n  d\n</a>', '<a class="b" href="c">d</a>'),
        ('<meta content="one;\n              two">', '<meta content="one; two">'),
        ('<li\n  {% if a > b %}hidden{% endif %}\n  id="c">', '<li {% if a > b %}hidden{% endif %} id="c">'),
        ("a < b\n  and c", "a < b and c"),
        ("one  two\n\n\nthree", "one  two three"),
    ],
)
def test_which_line_breaks_are_text(template, wanted):
    assert without_line_breaks(template) == wanted


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_templates_have_no_tag_that_would_be_misread(path):
    """Where tags begin and end is told by `<` and `>` alone, and white space is kept nowhere."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
    values = re.findall(r'="([^"]*)"', text)
    assert [value for value in values if "<" in value or ">" in value] == []
    assert re.findall(r"<(?:pre|textarea)\b", text) == []


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("/* one\n   two */\na {\n  b: c;\n}\n\nd {\n}\n", "a {\nb: c;\n}\nd {\n}\n"),
        ("  // said\n  a(); // kept\n\n  b('http://c');\n", "a(); // kept\nb('http://c');\n"),
    ],
)
def test_what_pages_do_not_carry(source, wanted):
    assert without_comments(source) == wanted


@pytest.mark.parametrize("path", SCRIPTS, ids=named)
def test_no_string_of_a_script_spans_lines_or_looks_like_a_comment(path):
    text = path.read_text("utf-8")
    assert [line for line in text.splitlines() if line.count("`") % 2] == []
    assert "/*" not in text
