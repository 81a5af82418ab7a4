"""Every command and every form with one hostile set of data: nothing that it prints or writes acts anywhere."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from pathlib import Path

import bare
import hostile_names
import pytest
from hostile_names import FILE, NASTY, no_harm
from lanes import few
from terminal import seen_on_a_terminal

from goldrank import History, Scores
from goldrank.cli import COMMANDS, run
from goldrank.cli.options import FILES
from goldrank.report import corrected, gate, matchers, scores

ONE, TWO, TEXTS = f"one{FILE}.json", f"two{FILE}.json", f"texts{FILE}.jsonl"
AP = ("-m", "AP", "-m", "nDCG@10")
SOFT = ("--overlap", "allow")
META = ("--metadata", "metadata.jsonl")
TEXT_FILES = ("--svg", "c.svg", "--html", "t.html")
COMPARING = ("--samples", "100", *META, "--slice", "kind", "--slice", "length")

CALLS: dict[str, list[tuple[str, ...]]] = {
    "eval": [
        ("qrels.json", ONE, f"{NASTY[0]}={TWO}", *AP, *flags, "-o", form, *more)
        for form in scores.WRITERS
        for flags in ((), ("-q",))
        for more in [("--by-query-file", f"out-{form}.csv")]
    ]
    + [("qrels.json", ONE, *AP, "--save", "saved.json"), ("qrels.json", ONE, *AP, "--shard", "1/2")],
    "texts": [
        (TEXTS, f"{NASTY[7]}={TEXTS}", "--match", "contains", "-o", form, "-q", "--curves", *TEXT_FILES)
        for form in scores.WRITERS
    ]
    + [(TEXTS, f"b={TEXTS}", "--match", "rouge-l:0.7", "--explain", text, "--html", "e.html") for text in NASTY[:8]],
    "causes": [
        (f"{NASTY[7]}={TEXTS}", "--match", match, "--chunks", "chunks.jsonl", "-o", form, "--html", "causes.html")
        for form in ("table", "json")
        for match in ("contains", "rouge-l:0.7")
    ],
    "sweep": [
        (f"{NASTY[7]}/bm25={TEXTS}", f"b/{NASTY[2]}={TEXTS}", "--match", "contains", "-k", "1,2", "--budgets", "9",
         "--baseline", f"b/{NASTY[2]}@1 9 tokens", "-o", form, "--html", "sweep.html", "--svg", "sweep.svg")
        for form in ("table", "json")
    ],
    "agree": [
        (f"labels{FILE}.jsonl", "--match", "contains", "--match", "rouge-l", "--show", "40", "-o", form)
        for form in matchers.WRITERS
    ],
    "judge": [
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", "--docs", "metadata.jsonl", "--queries", "metadata.jsonl", "--command",
         f"{sys.executable} judge.py", "--all", "-o", "judged.json", *more)
        for more in ((), ("--dry-run",))
    ],
    "questions": [
        ("chunks.jsonl", "--command", f"{sys.executable} writer.py", "--n", "4", "-o", f"questions{FILE}.jsonl", *more)
        for more in ((), ("--seed", "2"))
    ],
    "corrected": [
        ("qrels.json", "qrels.json", ONE, f"{NASTY[2]}={TWO}", "-m", "P@1", "-o", form, "--next", "3")
        for form in corrected.WRITERS
    ],
    "merge": [("1.json", "2.json", "-o", "merged.json")],
    "compare": [
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", *AP, *COMPARING, *SOFT, "--svg", "charts", "--save", "saved",
         "--agreement", *(word for form in FILES for word in (f"--{form}", f"compared.{form}")))
    ],
    "diff": [("qrels.json", f"{NASTY[0]}={ONE}", f"{NASTY[7]}={TWO}", "-n", "40", "--json", "diff.json", *SOFT)],
    "leaderboard": [
        ("qrels.json", f"{NASTY[0]}={ONE}", f"{NASTY[7]}={TWO}", "--samples", "100", *SOFT, "-o", f"board.{form}")
        for form in ("md", "tex", "csv", "json", "txt", "svg")
    ],
    "plan": [
        ("qrels.json", f"{NASTY[2]}={ONE}", f"{NASTY[7]}={TWO}", *AP, "--tolerance", "5%", *SOFT, "-o", form)
        for form in ("table", "markdown", "csv", "json")
    ],
    "interleave": [
        ("clicks.jsonl", "--names", NASTY[0], NASTY[7], "-o", form) for form in ("table", "markdown", "csv", "json")
    ],
    "check": [()],
    "fuse": [
        ("qrels.json", ONE, TWO, "-o", f"fused{FILE}.json"),
        ("qrels.json", f"{NASTY[0]}={ONE}", f"{NASTY[2]}={TWO}", "--tune", "--method", "wsum"),
    ],
    "report": [("saved.json", "other.json", "--samples", "100", "--html", "again.html", "--markdown", "again.md")],
    "record": [
        ("qrels.json", ONE, TWO, *AP, "--db", f"h{FILE}.db", "--commit", NASTY[0], "--note", NASTY[7]),
        ("saved.json", "--db", "other.db", "--label", "::error::x", "--baseline", "::error::b", "--branch", NASTY[9]),
    ],
    "history": [("--html", "history.html", "--svg", "history.svg"), ("-m", "nDCG@10", "--limit", "3")],
    "show": [("2", "-q"), ("::error::x",), ("1", "--json")],
    "export": [("-o", f"all{FILE}.json"), ("-o", "all.parquet", "--summaries")],
    "prune": [("--keep", "0", "--dry-run")],
    "gate": [
        ("qrels.json", f"{NASTY[2]}={TWO}", "--rule", rule, "--baseline", f"b{FILE}.json", *META, "--format", form,
         *SOFT, *(word for end in gate.ENDINGS for word in ("-o", f"gate{end}")))
        for rule in ("AP: -1%", "AP [kind]: -1% untested", "AP >= 0.9")
        for form in gate.FORMS if form != "github"
    ],
    "baseline": [
        ("show", f"b{FILE}.json"),
        ("set", f"b{FILE}.json", "qrels.json", TWO, "--label", NASTY[7], *SOFT),
        ("set", "::error::name", "qrels.json", ONE, "--db", "history.db", "--dry-run"),
    ],
    "explain-difference": [("qrels.json", ONE, "-m", "AP", "--conventions", "trec_eval-10", "ranx")],
    "trec_eval": [("q.txt", "r.txt", "-q")],
    "measures": [(), ("nDCG",), ("--json",)],
    "choose": [("rag",)],
    "convert": [(ONE, f"converted{FILE}.json"), (ONE, "converted.parquet"), ("qrels.json", "--qrels", "q2.json")],
    "judgements": [
        ("from-clicks", "clicks.jsonl", "-o", f"judged{FILE}.json", "--model", model, "--min-views", "0", *more,
         "--table", f"table-{model}.csv")
        for model, more in [("ctr", ()), ("dbn", ("--gamma", "0.9")), ("propensity", ("--propensities", "1,0.5"))]
    ] + [("export", "judgements.db", "exported.json", "--by", "any", "--table", "who.tsv")],
    "completion": [("bash",), ("fish",)],
    "serve": [
        ("--demo", "--export", f"site{FILE}"),
        ("qrels.json", ONE, f"{NASTY[0]}={TWO}", *AP, "--title", NASTY[7], "--export", "site2"),
        (TEXTS, f"b={TEXTS}", "--match", "contains", "--export", "site3"),
    ],
    "demo": [("--write", f"demo{FILE}")],
}  # fmt: skip
CHOSEN = [(name, i) for name, calls in CALLS.items() for i in few(range(len(calls)), 1)]
BINARY = (".db", ".parquet", "-wal", "-shm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    hostile_names.write(folder)
    (folder / "q.txt").write_bytes(b"::error::q 0 \x1b]0;x\x07d 1\nq\x1b]0;x\x07 0 d 1\n")
    (folder / "r.txt").write_bytes(b"::error::q Q0 \x1b]0;x\x07d 1 2 ::error::tag\nq\x1b]0;x\x07 Q0 d 1 2 t\n")
    shown = [
        {"user": name, "query": name, "shown": ["x", name], "team": ["a", "b"], "clicks": [name]} for name in NASTY[:12]
    ]
    (folder / "clicks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in shown))
    chunks = [{"id": name, "text": name, "source": name, "start": 0, "end": len(name)} for name in NASTY]
    (folder / "chunks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in chunks))
    (folder / "judge.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n"
        "    print(json.dumps({'id': item['id'], 'grade': 1, 'reason': item['text']}), flush=True)\n"
    )
    (folder / "writer.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n    text = item['text']\n"
        "    said = {'grade': 1} if item['question'] else {'question': 'what is x ' + text[::-1], 'quote': text}\n"
        "    print(json.dumps({'id': item['id'], **said}), flush=True)\n"
    )
    here = os.getcwd()
    os.chdir(folder)
    try:
        for arguments in (
            ["eval", "qrels.json", ONE, *AP, "--save", "saved.json"],
            ["eval", "qrels.json", TWO, *AP, "--save", "other.json", *SOFT],
            ["eval", "qrels.json", ONE, *AP, "--shard", "1/2", "--save", "1.json"],
            ["eval", "qrels.json", ONE, *AP, "--shard", "2/2", "--save", "2.json"],
            ["record", "saved.json", "--label", "::error::x", "--commit", NASTY[0], "--note", NASTY[7]],
            ["record", "saved.json", "other.json", "--branch", NASTY[10], "--tag", f"k={NASTY[7]}"],
            ["baseline", "set", f"b{FILE}.json", "qrels.json", ONE, *AP, *SOFT],
            ["judge", *CALLS["judge"][0]],
        ):
            assert run(arguments) == 0
        with History("history.db") as history:
            history.set_baseline("::error::b", 1)
    finally:
        os.chdir(here)
    return folder


def test_every_command_is_called():
    assert set(CALLS) == set(COMMANDS)
    assert len(NASTY) == len(set(NASTY)) == 36


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, CALLS[name][i]) for name, i in CHOSEN], ids=map("{0[0]} {0[1]}".format, CHOSEN)
)
def test_nothing_acts(folder, monkeypatch, capsys, name, arguments):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    code = run([name, *arguments])
    out, err = capsys.readouterr()
    assert code in (0, 1, 4) if name == "gate" else code == 0, err
    assert "Traceback" not in err
    no_harm(err, "standard error")
    if name != "trec_eval":  # whose output is trec_eval's to the byte; see below
        no_harm(out, "standard output")
    for path in folder.rglob("*"):
        changed = path.is_file() and before.get(path) != path.stat().st_mtime_ns
        if changed and not path.name.endswith(BINARY) and path.suffix not in (".json", ".run", ".qrels"):
            no_harm(path.read_text("utf-8"), path.name)


EVERY_CALL = """
import contextlib, io, json, sys
from goldrank.cli import run
found = []
for call in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = run(call)
    found.append([call, code, said.getvalue()])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_light_install_names_what_is_missing(folder, tmp_path):
    """Every call in a light install: it works, or it says what to install."""
    python = bare.make(tmp_path / "venv")
    calls = [[name, *arguments] for name in CALLS for arguments in CALLS[name]]
    done = bare.call(python, "-c", EVERY_CALL, folder=folder, input=json.dumps(calls))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(calls)
    missing = {call[0] for call, code, said in found if "is not installed" in said and "html" not in call}
    assert {"compare", "serve", "leaderboard"} <= missing
    assert not {"eval", "measures", "trec_eval", "diff", "merge", "demo", "choose"} & missing
    for call, code, said in found:
        assert code == 2 if "is not installed" in said else code in (0, 1, 4), (call, code, said)
        assert ("pip install" in said) == ("is not installed" in said), (call, said)


@pytest.mark.slow
def test_json_says_the_same(folder, monkeypatch, capsys):
    """What is escaped for build servers is the same text to whoever reads JSON."""
    monkeypatch.chdir(folder)
    assert run(["eval", "qrels.json", ONE, *AP, "-q", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == list(Scores.load("saved.json").queries)
    assert run(["eval", "qrels.json", ONE, *AP, "-q", "-o", "jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["query"] for line in lines[:-1]] == list(Scores.load("saved.json").queries)


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("splits_at", [",", ";", "\t", "|"])
def test_no_spreadsheet_sees_a_formula(folder, monkeypatch, capsys, form, delimiter, splits_at):
    """Whatever sign the spreadsheet of some country takes for the end of a cell."""
    monkeypatch.chdir(folder)
    assert run(["eval", "qrels.json", ONE, *AP, "-q", "-o", form]) == 0
    text = capsys.readouterr().out
    rows = list(csv.reader(io.StringIO(text), delimiter=splits_at))
    assert len(rows) == len(NASTY) + 1
    for row in rows:
        for cell in row:
            assert not re.match(r"\s*[=+@＝＋＠－-](?![\d.]+$)", cell), cell
    if splits_at == delimiter:
        assert {len(row) for row in rows} == {4}


def test_annotations_are_the_only_commands(folder, monkeypatch, capsys):
    """GitHub's own: a line for each rule, and no other line begins with a command."""
    monkeypatch.chdir(folder)
    assert run(["gate", "qrels.json", TWO, "--rule", "AP >= 0.9", "--format", "github", *SOFT]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"::error title=goldrank%3A AP >= 0\.9::[^\n]*", line)


WRONG = [f"no{FILE}", "::error::x", "##[error]x", "a\x1b]0;x\x07", "--no-such\n::error::option"]


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name not in ("measures", "choose", "demo", "completion")]
)
@pytest.mark.parametrize(
    "given", [f"no{FILE}", "::error::x", "##[error]x", "a\x1b]0;x\x07", "--no-such\n::error::option"]
)
def test_mistakes_are_shown_safely(tmp_path, monkeypatch, capsys, name, given):
    """Names of files that are not there, and words of the command line that mean nothing."""
    monkeypatch.chdir(tmp_path)
    arguments = {
        "agree": [given], "history": ["--db", given], "show": ["1", "--db", given],
        "export": ["-o", given, "--db", given], "prune": ["--keep", "1", "--db", given], "baseline": ["show", given],
        "explain-difference": [given, given, "-m", "AP", "--conventions", "ranx", "trec_eval-9"],
        "convert": [given, "x.json"], "merge": [given], "questions": [given, "-o", "x", "--command", "true"],
        "corrected": [given, given, given],
        "judgements": ["from-clicks", given, "-o", "x.json"], "texts": [given], "record": [given],
        "diff": [given] * 3, "gate": [given, given, "--rule", "AP >= 0.1"],
    }.get(name, [given, given, given] if name in ("fuse", "compare") else [given, given])  # fmt: skip
    assert run([name, *arguments]) in (2, 3)
    out, err = capsys.readouterr()
    assert err
    assert "internal error" not in err
    assert "Traceback" not in err
    no_harm(out + err, name)


@pytest.mark.parametrize("given", ["eval\n::error::x", "::error::x", "\x1b[31m"])
def test_words_that_are_no_command(capsys, given):
    assert run([given]) == 2
    no_harm(capsys.readouterr().err, given)


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
@pytest.mark.parametrize("arguments", [("eval",), ("eval", "q", "r", "--save"), ("history", "--db"), ("serve", "q")])
def test_words_that_no_shell_hands_over(capsys, arguments, word):
    assert run([*arguments, word]) == 2
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert "NUL or half a character" in said
    no_harm(said, word)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 57, 80])
@pytest.mark.parametrize("arguments", [
    ("eval", "qrels.json", ONE, *AP, "-q"), ("diff", "qrels.json", ONE, TWO, "-n", "40", *SOFT), ("show", "1", "-q"),
    ("texts", TEXTS, "--explain", NASTY[0]), ("trec_eval", "q.txt", "r.txt", "-q"),
])  # fmt: skip
def test_terminals(folder, columns, arguments):
    """A real terminal, however narrow: colours are ours, and nothing else moves anything."""
    variables = {"COLUMNS": str(columns), "TERM": "xterm-256color"}
    seen = seen_on_a_terminal("-m", "goldrank", *arguments, cwd=folder, **variables)
    text = re.sub(r"\x1b\[[\d;]*m", "", seen.decode("utf-8", "strict").replace("\r\n", "\n"))
    no_harm(text, arguments)


def test_errors_and_notes_in_python():
    """What people print themselves is safe too."""
    from goldrank import GoldrankError, Runs, evaluate
    from goldrank.notes import Note

    qrels, _, second = hostile_names.data()
    for text in NASTY:
        no_harm(str(GoldrankError(text, where=text, hint=text)), text)
        assert len(str(GoldrankError(text, where=text, hint=text)).splitlines()) <= 2
        assert len(str(Note.of("text", text=text, about=text)).splitlines()) <= 1
    found = evaluate(qrels, Runs({NASTY[0]: second, NASTY[7]: second}), ["AP"], overlap="allow")
    no_harm(repr(found), "scores")
    for one in found.values():
        no_harm(repr(one), "scores")
        no_harm("\n".join(map(str, one.notes)), "notes")


def test_files_have_the_names_that_were_given(folder):
    assert (folder / ONE).is_file()
    assert Path(folder, "qrels.json").is_file()
