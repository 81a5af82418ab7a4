"""`goldrank texts` and `goldrank judge agree`, as their users call them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import goldrank
from goldrank import Scores, ScoresByRun
from goldrank.cli import run as command

ITEMS = [
    {"id": "q1", "question": "one?", "retrieved": ["one two", "x", "three"], "references": ["one", "three"]},
    {"id": "q2", "question": "four?", "retrieved": ["y", "four"], "references": ["four"]},
]
# Cover@1: q1 has 1 of 2 references in its first text, q2 none: (1/2 + 0) / 2. RR: 1 and 1/2.
COVER, RR = "0.2500", "0.7500"
LABELS = [
    {"retrieved": "a cat sat", "reference": "a cat", "label": "yes"},
    {"retrieved": "a dog", "reference": "a cat", "label": "no"},
    {"retrieved": "two cats", "reference": "a cat", "label": "yes"},
    {"retrieved": "a cat", "reference": "a cat", "label": "no"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rag.jsonl").write_text("\n".join(map(json.dumps, ITEMS)))
    Path("labels.jsonl").write_text("\n".join(map(json.dumps, LABELS)))
    return tmp_path


class Told:
    """What a command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.err = ""

    def ok(self, *args: object) -> str:
        code = command([str(arg) for arg in args])
        out, self.err = self.capsys.readouterr()
        assert code == 0, self.err
        return out

    def fails(self, *args: object, printed: str = "") -> str:
        assert command([str(arg) for arg in args]) == 2
        out, self.err = self.capsys.readouterr()
        assert bool(out) is bool(printed)
        assert printed in out
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        return self.err


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(capsys)


CALL = ("texts", "rag.jsonl", "--matching", "contains", "-m", "Cover@1", "-m", "RR")


def test_table(told: Told) -> None:
    lines = told.ok(*CALL).splitlines()
    notes = told.err.splitlines()
    assert lines[1].split() == ["Cover@1", COVER]
    assert lines[2].split() == ["RR", RR]
    assert "contains by chunk, credit any" in lines[3]
    assert "100.0% of 3 references are covered by some retrieved text" in notes[0]


def test_usual_measures(told: Told) -> None:
    assert "Cover@5" in told.ok("texts", "rag.jsonl")


@pytest.mark.parametrize("output", ["json", "csv", "markdown"])
def test_outputs(told: Told, output: str) -> None:
    text = told.ok(*CALL, "-q", "--as", output)
    assert "references are covered" in (text if output == "json" else told.err)
    if output == "json":
        data = json.loads(text)
        assert data["measures"]["Cover@1"]["values"] == [0.5, 0.0]
        assert data["provenance"]["matcher"] == "contains"
    elif output == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [(row["query"], float(row["Cover@1"])) for row in rows] == [("q1", 0.5), ("q2", 0.0)]
    else:
        assert "0.5" in text


def test_several_systems(told: Told) -> None:
    worse = [{**item, "retrieved": item["retrieved"][:1]} for item in ITEMS]
    Path("worse.jsonl").write_text("\n".join(map(json.dumps, worse)))
    heads, _, last, *_ = told.ok("texts", "best=rag.jsonl", "worse.jsonl", *CALL[2:]).splitlines()
    assert heads.split() == ["measure", "best", "worse.jsonl"]
    assert last.split() == ["RR", RR, "0.5000"]
    assert "rag.jsonl 2" in told.ok("texts", "rag.jsonl", "rag.jsonl")
    told.ok("texts", "best=rag.jsonl", "worse.jsonl", *CALL[2:], "-o", "saved.json")
    saved = list(ScoresByRun.load("saved.json").values())
    assert [(one.run, f"{one['RR']:.4f}") for one in saved] == [("best", RR), ("worse.jsonl", "0.5000")]
    assert "both named 'a'" in told.fails("texts", "a=rag.jsonl", "a=worse.jsonl")


def test_fields_units_and_credit(told: Told) -> None:
    item = {"qid": 1, "outputs": {"docs": ["One here. Two here.", "Two here. Three here."]}, "gold": ["Two here."]}
    Path("own.jsonl").write_text(json.dumps(item))
    call = ("texts", "own.jsonl", "--map", "retrieved=outputs.docs", "--map", "references=gold", "--matching")
    assert "0.0000" in told.ok(*call, "exact", "-m", "RR")
    assert "0.5000" in told.ok(*call, "exact,unit=sentence", "-m", "RR", "--notes")
    assert "ranks count sentences" in told.err
    # Sentences 2 and 3 of 4 are the same reference, which one to one is given once: P@4 is 2/4 or 1/4.
    assert "0.5000" in told.ok(*call, "exact,unit=sentence", "-m", "P@4")
    assert "0.2500" in told.ok(*call, "exact,unit=sentence,credit=one_to_one", "-m", "P@4")


def test_policies(told: Told) -> None:
    Path("rag.jsonl").write_text(
        "\n".join(map(json.dumps, [*ITEMS, {"id": "q3", "retrieved": ["z"], "references": []}]))
    )
    assert "0.1667" in told.ok(*CALL)  # (1/2 + 0 + 0) / 3
    skipped = told.ok(*CALL, "--convention", "empty=skip")
    assert COVER in skipped
    assert "empty=skip" in skipped
    told.fails(*CALL, "--convention", "empty=error")


def test_null_texts_and_failures(told: Told) -> None:
    Path("rag.jsonl").write_text(json.dumps({"id": "q", "retrieved": [None, "a"], "references": ["a"]}))
    told.fails("texts", "rag.jsonl", "-m", "RR")
    assert "0.5000" in told.ok("texts", "rag.jsonl", "-m", "RR", "--nulls", "empty")


def test_saved_scores(told: Told) -> None:
    told.ok(*CALL, "-o", "s.json", "-o", "page.html")
    saved = Scores.load("s.json")
    assert saved.mean == {"Cover@1": 0.25, "RR": 0.75}  # without what only curves need


def test_standard_input(folder: Path) -> None:
    from goldrank.cli import group

    done = CliRunner().invoke(group, ["texts", "-", *CALL[2:]], input=Path("rag.jsonl").read_bytes())
    assert done.exit_code == 0, done.output
    assert COVER in done.output


def test_explain(told: Told) -> None:
    text = told.ok(*CALL, "--explain", "q1")
    assert "[[one]] two" in text
    assert "covers r2 (holds the reference)" in text
    assert text.splitlines()[-2].split() == ["Cover@1", "0.5000"]
    assert text.splitlines()[-1].split() == ["RR", "1.0000"]
    assert "Did you mean q" in told.fails(*CALL, "--explain", "q11")
    assert "-o x.html" in told.fails(*CALL, "--explain", "q1", "--as", "json")


def test_explain_several(told: Told) -> None:
    text = told.ok("texts", "a=rag.jsonl", "b=rag.jsonl", *CALL[2:], "--explain", "q2")
    assert text.count("[[four]]") == 2
    assert "== a ==" in text
    assert "== b ==" in text


def test_a_page_has_the_curves(told: Told) -> None:
    text = told.ok(*CALL, "-o", "out/t.html", "--explain", "q1")
    assert "Cover(tokens" not in text
    page = Path("out/t.html").read_text()
    assert page.count("<svg") == 2
    assert "<mark>one</mark>" in page
    Path("file").touch()
    assert "cannot be written" in told.fails(*CALL, "-o", "file/c.html", printed=COVER)


def test_evidence_by_place(told: Told) -> None:
    evidence = {"source": "doc", "start": 0, "end": 10}
    texts = [{"text": "0123456789", "source": "doc", "start": 0}]
    Path("rag.jsonl").write_text(json.dumps({"id": "q", "retrieved": texts, "evidence": [evidence]}))
    assert "1.0000" in told.ok("texts", "rag.jsonl", "-m", "SpanRecall", "-o", "t.html")
    assert "SpanRecall" in Path("t.html").read_text()
    assert "EvidenceRecall@5     1.0000" in told.ok("texts", "rag.jsonl"), "evidence comes first"
    assert "EvidenceRecall@5" in told.fails("texts", "rag.jsonl", "-m", "Cover@5"), "and nothing is a silent zero"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_terminal_sees_progress_and_colours(folder: Path) -> None:
    """With no delay at all, a terminal sees the bar and marked words in colour; a pipe sees neither."""
    import pty

    arguments = [*CALL, "--explain", "q1"]
    code = f"import goldrank.cli.inputs as c; c.PROGRESS_DELAY = -1; from goldrank.cli import run; run({arguments!r})"
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(Path(goldrank.__file__).parents[1])}
    env.pop("NO_COLOR", None)
    parent, child = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=child, stderr=child, env=env)
    os.close(child)
    seen = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:  # the other end has gone
            break
        if not data:
            break
        seen += data
    os.close(parent)
    assert process.wait(timeout=60) == 0
    assert b"reading" in seen
    assert re.search(rb"\x1b\[[0-9;]+mone\x1b\[0m two", seen)
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=True)
    assert piped.stderr == b""
    assert b"[[one]] two" in piped.stdout
    assert b"\x1b" not in piped.stdout


def test_errors(told: Told) -> None:
    assert "nope.jsonl: cannot be opened" in told.fails("texts", "nope.jsonl")
    assert "Did you mean rouge-l?" in told.fails("texts", "rag.jsonl", "--matching", "rogue-l")
    assert "Did you mean Cover@5?" in told.fails("texts", "rag.jsonl", "-m", "Covr@5")
    assert "NAME=FIELD" in told.fails("texts", "rag.jsonl", "--map", "retrieved")
    assert "twice" in told.fails("texts", "rag.jsonl", "--map", "retrieved=a", "--map", "retrieved=b")
    assert "must be one of" in told.fails("texts", "rag.jsonl", "--map", "docs=a")
    assert "only once" in told.fails("texts", "-", "-")
    Path("empty.jsonl").touch()
    assert "no data lines" in told.fails("texts", "empty.jsonl")


def test_help_lists_the_matchers(told: Told) -> None:
    for name in (["texts"], ["judge", "agree"]):
        assert "rouge-l" in told.ok(*name, "--help")


def test_hostile_texts_do_not_reach_the_terminal(told: Told) -> None:
    text = "\x1b[31mred\x1b]0;pwn\x07\u202e"
    Path("rag.jsonl").write_text(json.dumps({"id": text, "question": text, "retrieved": [text], "references": [text]}))
    Path("labels.jsonl").write_text(
        "\n".join(json.dumps({"retrieved": text, "reference": text, "label": label}) for label in (0, 1))
    )
    shown = told.ok("texts", "rag.jsonl", "--matching", "exact", "--explain", text, "-o", "t.html")
    shown += told.ok("judge", "agree", "labels.jsonl", "--matching", "exact", "-n", "5") + Path("t.html").read_text()
    assert "pwn" in shown
    assert not set(shown) & set("\x1b\x07\u202e")


# Agreement with labels.


def test_agree(told: Told) -> None:
    # "contains" says yes to the first and the last pair: one of each is right.
    text = told.ok("judge", "agree", "labels.jsonl", "--matching", "contains", "--matching", "exact", "-n", "1")
    assert "1 / 1 / 1 / 1" in text
    assert "0 / 1 / 2 / 1" in text
    assert text.index("contains") < text.index("exact")
    assert "labels.jsonl:" in text
    assert "2 disagreements, the first 1" in text


def test_agree_takes_all_matchers_if_none_is_named(told: Told) -> None:
    from goldrank.match.matcher import NAMES

    data = json.loads(told.ok("judge", "agree", "labels.jsonl", "--as", "json", "--statistics", "samples=100"))
    assert sorted(row["matcher"].partition(":")[0] for row in data["matchers"]) == sorted(NAMES)


@pytest.mark.parametrize("output", ["json", "csv", "markdown"])
def test_agree_outputs(told: Told, output: str) -> None:
    text = told.ok("judge", "agree", "labels.jsonl", "--matching", "contains", "--as", output, "-n", "1")
    assert "disagreements" in told.err
    if output == "json":
        assert json.loads(text)["matchers"][0]["accuracy"] == 0.5
    elif output == "csv":
        (row,) = csv.DictReader(io.StringIO(text))
        assert (row["matcher"], row["accuracy"], row["both"]) == ("contains", "0.5", "1")
    else:
        assert re.search(r"\| contains \| 0.000 \|.*\| 0.500 \|", text)


def test_agree_errors(told: Told) -> None:
    for label, said in (("perhaps", "the label is 'perhaps'"), (None, "the label is missing"), ("", "missing")):
        rows = [LABELS[0], {**LABELS[1], "label": label}]
        Path("bad.jsonl").write_text("\n".join(map(json.dumps, rows)))
        message = told.fails("judge", "agree", "bad.jsonl")
        assert "bad.jsonl:2: " in message
        assert said in message
    Path("empty.csv").touch()
    assert "no data lines" in told.fails("judge", "agree", "empty.csv")
    assert "there is no reference" in told.fails("judge", "agree", "rag.jsonl")
    assert "cannot be opened" in told.fails("judge", "agree", "nope")
    Path("one.csv").write_text("retrieved,reference,label\na,b,1\nb,b,1\n")
    assert "all 2 pairs have the label true" in told.fails("judge", "agree", "one.csv")


@pytest.fixture
def scored(tmp_path):
    """Twenty questions with an answer and scores from 0.5 up, twenty without one and scores below 0.4."""
    rows = [
        {"id": f"{kind}{i}", "retrieved": [{"text": f"fact {i}", "score": low + i / 200}], **told(i)}
        for kind, low, told in (
            ("a", 0.5, lambda i: {"references": [f"fact {i}"]}),
            ("n", 0.3, lambda i: {"answerable": False}),
        )
        for i in range(20)
    ]
    (tmp_path / "scored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "scored.jsonl")


def test_a_threshold_of_abstaining(scored, capsys):
    """Below 0.4 are all twenty without an answer and none with one: right in all forty."""
    asked = ["texts", scored, "--matching", "contains", "-m", "SelectiveCover@5", "-m", "AbstainRight", "--as", "json"]
    assert command([*asked, "--answers", "abstain_below=0.45"]) == 0
    (saved,) = [json.loads(capsys.readouterr().out)]
    assert {name: column["summary"] for name, column in saved["measures"].items()} == {
        "SelectiveCover(abstain_below=0.45)@5": 1.0,
        "AbstainRight(abstain_below=0.45)": 1.0,
    }


def test_curves_of_thresholds(scored, tmp_path, capsys):
    page = tmp_path / "page.html"
    asked = ["texts", scored, "--matching", "contains", "-m", "SelectiveCover@5", "--thresholds"]
    assert command([*asked, "-o", str(page)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^ +0\.5 +1\.000 +0\.000 +1\.000 *$", shown, re.MULTILINE)
    assert "on the other 20, where always answering has 0.500 and always abstaining 0.500" in shown
    assert "<h2>Thresholds</h2>" in page.read_text()
    assert command([*asked, "--answers", "abstain_below=0.5"]) == 2


def test_slices_by_fields_of_the_items_themselves(folder: Path, told: Told) -> None:
    """q1 is German with 1 of 2 references in its first text, q2 French with none; no second file is needed."""
    languages = {"q1": "de", "q2": "fr"}
    Path("own.jsonl").write_text("\n".join(json.dumps({**item, "language": languages[item["id"]]}) for item in ITEMS))
    output = told.ok("texts", "own.jsonl", "-m", "Cover@1", "--slice", "language")
    rows = [line.split()[:3] for line in output.splitlines() if line[:2] in ("de", "fr")]
    assert rows == [["de", "1", "0.5000"], ["fr", "1", "0.0000"]]

    gold = [{"id": item["id"], "references": item["references"], "language": languages[item["id"]]} for item in ITEMS]
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, gold)))
    results = [{"id": item["id"], "retrieved": item["retrieved"]} for item in ITEMS]
    Path("results.jsonl").write_text("\n".join(map(json.dumps, results)))
    arguments = ("texts", "results.jsonl", "--gold", "gold.jsonl", "-m", "Cover@1", "--slice", "language")
    assert told.ok(*arguments) == output

    assert "Did you mean language?" in told.fails("texts", "own.jsonl", "--slice", "langage")


def test_slices_of_records_of_ids(folder: Path, told: Told) -> None:
    records = [
        {"id": "q1", "retrieved_ids": ["a", "b"], "expected_ids": ["a"], "language": "de"},
        {"id": "q2", "retrieved_ids": ["a", "b"], "expected_ids": ["z"], "language": "fr"},
    ]
    Path("ids.jsonl").write_text("\n".join(map(json.dumps, records)))
    output = told.ok("eval", "ids.jsonl", "-m", "P@1", "--slice", "language")
    rows = [line.split()[:3] for line in output.splitlines() if line[:2] in ("de", "fr")]
    assert rows == [["de", "1", "1.0000"], ["fr", "1", "0.0000"]]
