"""What people and build servers read: every form says the same, and no id breaks or acts in any of them."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest
from gates import gate_run
from raising import raises_code

from goldrank import Qrels, Rules, demo, evaluate, read_run
from goldrank.base.errors import GoldrankError
from goldrank.cli import run as command
from goldrank.data.table import plain
from goldrank.gating.verdict import Verdict
from goldrank.gating.verdict_report import parts
from goldrank.report.show import forms_of, render

FORMS = [name for name, form in forms_of(Verdict).items() if not form.binary and name != "svg"]

HOSTILE = [
    "<script>alert(1)</script>",
    "</details></code>",
    "]]><x>",
    "a|b",
    "line\nbreak",
    "back\r\nreturn",
    "\x1b[31mred\x00",
    "[bold]rich[/bold]",
    "::error title=x::boo",
    " ::set-env name=PATH::x",
    "##[command]x",
    "100%25 %0A::x",
    "`code` *bold* _it_ #1 @you www.example.org",
    "&lt;&#60;",
    "\udc80\uffff\u2028\u202e",
    "'\"",
    "q" * 3_000,
]


def hostile_verdict(extra=()):
    qrels = {q: {"good": 1, "bad": 0} for q in HOSTILE}
    before = evaluate(qrels, {q: ["good"] for q in HOSTILE}, "RR")
    after = {q: ["bad", "good"] for q in HOSTILE}
    rules = Rules(["RR: -1%", "RR >= 0.9", *extra], worst=50)
    queries = {q: {"kind": HOSTILE[8 * (i % 2)]} for i, q in enumerate(HOSTILE)}
    return gate_run(qrels, after, rules, before, queries=queries)


@pytest.mark.parametrize("form", FORMS)
def test_no_control_characters(form):
    text = render(hostile_verdict(["RR [kind] >= 0.9"]), form)
    assert text.encode()  # no half surrogates
    assert all(c.isprintable() or c in "\n\t" for c in text)


def waiting_verdict():
    """Unjudged documents of hostile names, on top of every query."""
    qrels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    before = evaluate(qrels, {q: ["good", "bad"] for q in qrels}, "RR")
    after = {q: [HOSTILE[i % len(HOSTILE)], HOSTILE[(i + 1) % len(HOSTILE)], "good"] for i, q in enumerate(qrels)}
    return gate_run(qrels, after, "RR: -1%", before)


@pytest.mark.parametrize("form", FORMS)
def test_documents_are_text_in_every_form(form):
    verdict = waiting_verdict()
    assert (verdict.status, len(verdict.to_judge)) == ("unclear", 10)
    text = render(verdict, form)
    assert text.encode()
    assert all(c.isprintable() or c in "\n\t" for c in text)
    if form == "markdown":
        tags = set(re.findall(r"</?[a-z]+>", text))
        assert tags <= {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
    if form == "junit":
        ((case,),) = ElementTree.fromstring(text.encode())
        assert len(case.find("skipped").text.splitlines()) == 10
        assert case.find("failure") is None
    if form == "github":
        assert text.startswith("::warning ")
        assert "%0AJudge first: " in text


def test_json():
    data = json.loads(render(hostile_verdict(), "json"))
    assert {one["query"] for one in data["findings"][0]["worst"]} == set(HOSTILE)
    assert (data["status"], data["exit_code"]) == ("fail", 1)
    assert data["findings"][1]["p"] is None


def test_junit_is_xml_with_the_right_counts():
    verdict = hostile_verdict(["missing <= 0%"])
    suites = ElementTree.fromstring(render(verdict, "junit").encode())
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    assert [case.get("name") for case in suite] == ["RR: -1%", "RR >= 0.9", "missing <= 0%"]
    failure = suite[0].find("failure")
    assert "fell from 1.0000 to 0.5000" in failure.get("message")
    assert len(failure.text.splitlines()) == len(HOSTILE)
    assert any("]]><x>" in line for line in failure.text.splitlines())
    assert suite[2].find("failure") is None


def test_markdown_keeps_its_structure():
    text = render(hostile_verdict(), "markdown")
    # Nothing but the report's own tags, and as many ends as beginnings.
    tags = re.findall(r"</?[a-z]+>", text)
    assert set(tags) <= {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
    assert tags.count("<details>") == tags.count("</details>") == 3
    values = " | 1.0000 | 0.5000 | -0.5000 |"
    rows = [line for line in text.splitlines() if values in line]
    assert len(rows) == 2 * len(HOSTILE)
    # The drop says why: two more columns.
    assert sorted({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == [5, 7]
    shown = [unescape(re.sub(r"\\(\W)", r"\1", row[2:].partition(values)[0])) for row in rows]
    assert "a|b" in shown
    assert "<script>alert(1)</script>" in shown
    # What GitHub would link or take for a mention is code, and inside code no sign is left that could be read.
    assert not re.search(r"<code>[^<]*[`*_\[\]|@:.\\/][^<]*</code>", text)
    assert "<code>&#64;you</code>" in text
    assert "<code>www&#46;example&#46;org</code>" in text


def test_text_holds_no_commands_and_no_markup():
    for width in (40, 60, 120, None):
        lines = plain(parts(hostile_verdict()), width).splitlines()
        assert not any(line.lstrip().startswith("::") or "##[" in line for line in lines)
    text = render(hostile_verdict(), "terminal")
    assert "[bold]rich[/bold]" in text
    assert text.startswith("FAIL  run against run: 2 of 2 checks failed\n")


def test_github_annotations_are_escaped():
    """As the toolkit does it: % CR LF in messages, and : and , too in properties."""
    lines = render(hostile_verdict(["AP >= 2", "missing <= 0%"]), "github").splitlines()
    assert len(lines) == 3
    for line in lines:
        level, title, message = re.fullmatch(r"::(error|warning) title=([^:,]*)::(.*)", line).groups()
        assert level == "error"
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", title + message)
    assert lines[0].startswith(
        "::error title=goldrank%3A RR%3A -1%25::RR fell from 1.0000 to 0.5000 (-0.5000, -50.0%25;"
    )
    assert "%0ALost most: " in lines[0]


def test_worse_on_these_queries_is_a_warning_and_pass_a_notice():
    qrels = {f"q{i}": {"d": 1} for i in range(9)}
    before = evaluate(qrels, {q: ["d"] for q in qrels}, "RR")
    after = {q: ["x", "d"] if q == "q1" else ["d"] for q in qrels}
    verdict = gate_run(qrels, after, "RR: -1%", before)
    warning, notice = render(verdict, "github").splitlines()
    assert warning.startswith("::warning title=goldrank%3A RR%3A -1%25::")
    assert notice.startswith("::notice title=goldrank gate::")
    assert "worse on these queries, but not shown for queries like these" in render(verdict, "markdown")
    assert "<failure" not in render(verdict, "junit")
    assert render(verdict, "terminal").startswith("PASS")


def test_errors_have_reports_too():
    verdict = Verdict.undecided("run", GoldrankError("broken\n::x", hint="mend it"))
    assert verdict.exit_code == 2
    (suite,) = ElementTree.fromstring(render(verdict, "junit").encode())
    assert suite.get("errors") == "1"
    assert "broken" in suite[0].find("error").get("message")
    assert render(verdict, "github") == "::error title=goldrank gate::broken\\n::x%0A  mend it\n"
    assert json.loads(render(verdict, "json"))["status"] == "error"
    assert "⚠️" in render(verdict, "markdown")
    assert render(verdict, "terminal").startswith("ERROR")


def test_unknown_form():
    with raises_code(GoldrankError, "unknown-choice"):
        render(hostile_verdict(), "pdf")


# The command.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Qrels(demo.load()["qrels"]).save("qrels")
    for name, run in demo.runs().items():
        read_run(run).save(f"{name}.run")
    (tmp_path / "rules.toml").write_text('unjudged = "ignore"\nrules = ["nDCG@10: -1%", "P@1: -1%"]\n')
    assert command(["gate", "qrels", "bm25.run", "--rules", "rules.toml", "--baseline", "b.json", "--update"]) == 0
    return tmp_path


def test_exit_codes_and_files(folder, capsys):
    arguments = ["--rules", "rules.toml", "--baseline", "b.json"]
    assert command(["gate", "qrels", "bm25.run", *arguments]) == 0
    capsys.readouterr()
    out = ["-o", "v.md", "-o", "v.xml", "-o", "v.json", "-o", "v.txt", "--as"]
    assert command(["gate", "qrels", "overlap.run", *arguments, *out, "github"]) == 1
    assert capsys.readouterr().out.startswith("::error")
    assert command(["gate", "qrels", "overlap.run", *arguments, *out, "json"]) == 1
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "v.json").read_text())
    assert command(["gate", "qrels", "overlap.run", *arguments, *out, "markdown"]) == 1
    assert capsys.readouterr().out == (folder / "v.md").read_text()
    assert "FAIL" in (folder / "v.txt").read_text()
    ElementTree.parse(folder / "v.xml")
    assert command(["gate", "qrels", "nowhere", *arguments, "-o", "v.json", "--as", "github"]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("::error title=goldrank gate::nowhere: cannot be opened")
    assert "nowhere: cannot be opened" in told.err
    assert json.loads((folder / "v.json").read_text())["status"] == "error"  # and not that of the run before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "there are no rules"),
        (["--rule", "AP >= 0.1", "-o", "v.pdf"], "cannot tell the form from the ending"),
        (["--rule", "AP = 0.1"], "is not a rule"),
        (["--rules", "nowhere"], "cannot be opened"),
        (["--rule", "AP: -1%"], "needs a baseline"),
        (["--rule", "AP: -1%", "--baseline", "b.json"], "the baseline has no AP"),
        (["--rule", "AP: -1%", "--baseline", "main"], "there is no file 'main'"),
        (["--rule", "nDCG@10: -1%", "--baseline", "b.json", "--convention", "ties=input"], "cannot be compared"),
    ],
)
def test_mistakes_get_a_sentence(capsys, arguments, told):
    assert command(["gate", "qrels", "bm25.run", *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error
