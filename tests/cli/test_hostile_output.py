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
from goldrank.cli import all_commands, run

ONE, TWO, TEXTS = f"one{FILE}.json", f"two{FILE}.json", f"texts{FILE}.jsonl"
AP = ("-m", "AP", "-m", "nDCG@10")
SOFT = ("--convention", "overlap=allow")
META = ("--queries", "metadata.jsonl")
COMPARING = ("--statistics", "samples=100", *META, "--slice", "kind", "--slice", "length")

SHOWN = ("terminal", "markdown", "csv", "latex", "json", "html")
JUDGE = ("--judge", f"command:{sys.executable} judge.py")
WRITER = ("--judge", f"command:{sys.executable} writer.py")
WITHOUT_COMMAS = [name for name in NASTY if "," not in name and name.strip()]
REPORTS = ("html", "md", "tex", "csv", "json", "svg", "txt", "parquet")


def files(stem: str, *endings: str) -> tuple[str, ...]:
    """Options that write a file of each ending."""
    return tuple(word for ending in endings for word in ("-o", f"{stem}.{ending}"))


CALLS: dict[str, list[tuple[str, ...]]] = {
    "eval": [
        ("qrels.json", ONE, f"{NASTY[0]}={TWO}", *AP, *flags, "--as", form, *files(f"out-{form}", "csv", "tsv"))
        for form in SHOWN
        for flags in ((), ("-q",))
    ]
    + [("qrels.json", ONE, *AP, "-o", "saved.json"), ("qrels.json", ONE, *AP, "--shard", "1/2"),
       ("1.json", "2.json", "-o", "merged.json"), (f"b{FILE}.json",)],
    "texts": [
        (TEXTS, f"{NASTY[7]}={TEXTS}", "--matching", "contains", "--as", form, "-q", "-o", "t.html") for form in SHOWN
    ]
    + [(TEXTS, f"b={TEXTS}", "--matching", "rouge-l:0.7", "--explain", text, "-o", "e.html") for text in NASTY[:8]],
    "causes": [
        (f"{NASTY[7]}={TEXTS}", "--matching", match, "--evidence", "chunks=chunks.jsonl", "--as", form,
         "-o", "causes.html")
        for form in ("terminal", "json")
        for match in ("contains", "rouge-l:0.7")
    ],
    "sweep": [
        (f"{NASTY[7]}/bm25={TEXTS}", f"b/{NASTY[2]}={TEXTS}", "--matching", "contains", "-k", "1,2", "--budget", "9",
         "--baseline", f"b/{NASTY[2]}@1 9 tokens", "--as", form, "-o", "sweep.html", "-o", "sweep.svg")
        for form in ("terminal", "json")
    ],
    "judge agree": [
        (f"labels{FILE}.jsonl", "--matching", "contains", "--matching", "rouge-l", "-n", "40", "--as", form)
        for form in SHOWN
    ],
    "judge ask": [
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", "--documents", "metadata.jsonl", "--queries", "metadata.jsonl",
         *JUDGE, "--pool", "which=all", "-o", "judged.json", *more)
        for more in ((), ("--dry-run",))
    ],
    "judge questions": [
        ("chunks.jsonl", *WRITER, "-n", "4", "-o", f"questions{FILE}.jsonl", *more)
        for more in ((), ("--calls", "seed=2"))
    ],
    "judge corrected": [
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", "--model-qrels", "qrels.json", "-m", "P@1", "--as", form,
         "--next", "3")
        for form in SHOWN
    ],
    "compare": [
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", *AP, *COMPARING, *SOFT, *files("compared", *REPORTS)),
        ("qrels.json", ONE, f"{NASTY[2]}={TWO}", f"{NASTY[7]}={TWO}", *AP, *COMPARING, *SOFT, *files("many", *REPORTS)),
        ("saved.json", "other.json", "--statistics", "samples=100", "-o", "again.html", "-o", "again.md"),
        ("saved.json", "other.json", "--statistics", "samples=100"),
    ],
    "stages": [("qrels.json", ONE, TWO, *SOFT)],
    "diff": [
        ("qrels.json", f"{NASTY[0]}={ONE}", f"{NASTY[7]}={TWO}", "-n", "40", "-o", "diff.json", *SOFT, *more)
        for more in ((), ("--agreement",))
    ],
    "plan": [
        ("qrels.json", f"{NASTY[2]}={ONE}", f"{NASTY[7]}={TWO}", *AP, "--tolerance", "5%", *SOFT, "--as", form)
        for form in SHOWN
    ],
    "judgements interleave": [
        ("clicks.jsonl", "--names", f"{WITHOUT_COMMAS[0]},{WITHOUT_COMMAS[5]}", "--as", form) for form in SHOWN
    ],
    "run": [("asked.jsonl", "--engine", "engine.toml", "-o", f"ran{FILE}.json", "--allow-commands")],
    "fuse": [
        ("qrels.json", ONE, TWO, "-o", f"fused{FILE}.json"),
        ("qrels.json", f"{NASTY[0]}={ONE}", f"{NASTY[2]}={TWO}", "--tune", "--fusion", "wsum"),
    ],
    "record": [
        ("qrels.json", ONE, TWO, *AP, "--db", f"h{FILE}.db", "--commit", NASTY[0], "--note", NASTY[7]),
        ("saved.json", "--db", "other.db", "--label", "::error::x", "--baseline", "::error::b", "--branch", NASTY[9]),
    ],
    "history": [("-o", "history.html", "-o", "history.svg"), ("-m", "nDCG@10", "-n", "3")],
    "history show": [("2", "-q"), ("::error::x",), ("1", "--as", "json")],
    "history export": [("-q", "-o", f"all{FILE}.json"), ("-o", "all.parquet")],
    "history prune": [("--keep", "0", "--dry-run")],
    "history check": [()],
    "history baseline": [(), ("::error::b",), ("::error::name", "1", "--dry-run")],
    "gate": [
        ("qrels.json", f"{NASTY[2]}={TWO}", "--rule", rule, "--baseline", f"b{FILE}.json", *META, "--as", form,
         *SOFT, *files("gate", "txt", "md", "xml", "json", "html"))
        for rule in ("AP: -1%", "AP [kind]: -1% untested", "AP >= 0.9")
        for form in (*SHOWN, "junit")
    ]
    + [("qrels.json", TWO, "--baseline", f"b{FILE}.json", "--label", NASTY[7], *SOFT, "--update"),
       ("qrels.json", ONE, "--baseline", "::error::name", "--db", "history.db", "--update", "--dry-run")],
    "explain": [("qrels.json", ONE, "-m", "AP", "--convention", "trec_eval-10", "--convention", "ranx")],
    "trec_eval": [("q.txt", "r.txt", "-q")],
    "measures": [(), ("nDCG",), ("--as", "json")],
    "choose": [("rag",)],
    "doctor": [()],
    "init": [("--queries", TEXTS, "--judgement-file", ONE, "--source", "python x:y")],
    "conformance": [("--dump", f"cases{FILE}.jsonl")],
    "schema": [("record",), ("record", "--check", ONE)],
    "convert": [(ONE, f"converted{FILE}.json"), (ONE, "converted.parquet"), ("qrels.json", "--qrels", "q2.json")],
    "judgements from-clicks": [
        ("clicks.jsonl", "-o", f"judged{FILE}.json", "--model", model, "--min-views", "0", "--as", form)
        for model in ("ctr", "dbn,gamma=0.9", "propensity,propensities=1+0.5")
        for form in ("terminal", "csv")
    ],
    "judgements export": [
        ("judgements.db", "-o", "exported.json", "--by", "any"), ("judgements.db", "--by", "any", "--as", "csv"),
    ],
    "serve": [
        ("--demo", "-o", f"site{FILE}"),
        ("qrels.json", ONE, f"{NASTY[0]}={TWO}", *AP, "--title", NASTY[7], "-o", "site2"),
        (TEXTS, f"b={TEXTS}", "--matching", "contains", "-o", "site3"),
    ],
    "demo": [("--write", f"demo{FILE}")],
}  # fmt: skip
CHOSEN = [(name, i) for name, calls in CALLS.items() for i in few(range(len(calls)), 1)]
BINARY = (".db", ".parquet", "-wal", "-shm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    hostile_names.write(folder)
    asked = [{"id": name, "text": name} for name in NASTY[:8]]
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    (folder / "hostile_engine.py").write_text("def search(query, k):\n    return [('doc', 1.0)]\n")
    (folder / "engine.toml").write_text(
        'format = "goldrank-engine/1"\nkind = "python"\nfunction = "hostile_engine:search"\n'
    )
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
            ["eval", "qrels.json", ONE, *AP, "-o", "saved.json"],
            ["eval", "qrels.json", TWO, *AP, "-o", "other.json", *SOFT],
            ["eval", "qrels.json", ONE, *AP, "--shard", "1/2", "-o", "1.json"],
            ["eval", "qrels.json", ONE, *AP, "--shard", "2/2", "-o", "2.json"],
            ["record", "saved.json", "--label", "::error::x", "--commit", NASTY[0], "--note", NASTY[7]],
            ["record", "saved.json", "other.json", "--branch", NASTY[10], "--tag", f"k={NASTY[7]}"],
            ["gate", "qrels.json", ONE, *AP, *SOFT, "--baseline", f"b{FILE}.json", "--update"],
            ["judge", "ask", *CALLS["judge ask"][0]],
        ):
            assert run(arguments) == 0
        with History("history.db") as history:
            history.set_baseline("::error::b", 1)
    finally:
        os.chdir(here)
    return folder


def test_every_command_is_called():
    assert set(CALLS) == set(all_commands())
    assert len(NASTY) == len(set(NASTY)) == 36


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, CALLS[name][i]) for name, i in CHOSEN], ids=map("{0[0]} {0[1]}".format, CHOSEN)
)
def test_nothing_acts(folder, monkeypatch, capsys, name, arguments):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    code = run([*name.split(), *arguments])
    out, err = capsys.readouterr()
    assert code in {"gate": (0, 1, 4), "init": (0, 2), "schema": (0, 1)}.get(name, (0,)), err
    assert "Traceback" not in err
    no_harm(err, "standard error")
    if name != "trec_eval":  # whose output is trec_eval's to the byte; see below
        no_harm(out, "standard output")
    for path in folder.rglob("*"):
        if "__pycache__" in path.parts:  # Python's own, of the engine's function
            continue
        changed = path.is_file() and before.get(path) != path.stat().st_mtime_ns
        is_data = path.suffix in (".json", ".run", ".qrels") or (name == "run" and path.suffix == ".jsonl")
        if changed and not path.name.endswith(BINARY) and not is_data:
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
    calls = [[*name.split(), *arguments] for name in CALLS for arguments in CALLS[name]]
    done = bare.call(python, "-c", EVERY_CALL, folder=folder, input=json.dumps(calls))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(calls)
    pages = re.compile(r"\bhtml\b|--agreement|parquet")
    missing = {call[0] for call, code, said in found if "is not installed" in said and not pages.search(" ".join(call))}
    assert {"compare", "serve"} <= missing
    assert not {"eval", "measures", "trec_eval", "diff", "demo", "choose"} & missing
    for call, code, said in found:
        usual = (0, 1, 2) if call[0] == "init" else (0, 1, 4)
        assert code == 2 if "is not installed" in said else code in usual, (call, code, said)
        assert ("pip install" in said) == ("is not installed" in said), (call, said)


@pytest.mark.slow
def test_json_says_the_same(folder, monkeypatch, capsys):
    """What is escaped for build servers is the same text to whoever reads JSON."""
    monkeypatch.chdir(folder)
    assert run(["eval", "qrels.json", ONE, *AP, "-q", "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == list(Scores.load("saved.json").queries)


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("splits_at", [",", ";", "\t", "|"])
def test_no_spreadsheet_sees_a_formula(folder, monkeypatch, capsys, form, delimiter, splits_at):
    """Whatever sign the spreadsheet of some country takes for the end of a cell."""
    monkeypatch.chdir(folder)
    assert run(["eval", "qrels.json", ONE, *AP, "-q", "-o", f"sheet.{form}"]) == 0
    text = Path(f"sheet.{form}").read_text()
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
    assert run(["gate", "qrels.json", TWO, "--rule", "AP >= 0.9", "--as", "github", *SOFT]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"::error title=goldrank%3A AP >= 0\.9::[^\n]*", line)


WRONG = [f"no{FILE}", "::error::x", "##[error]x", "a\x1b]0;x\x07", "--no-such\n::error::option"]


@pytest.mark.parametrize(
    "name", [name for name in all_commands() if name not in ("measures", "choose", "demo", "history baseline")]
)
@pytest.mark.parametrize(
    "given", [f"no{FILE}", "::error::x", "##[error]x", "a\x1b]0;x\x07", "--no-such\n::error::option"]
)
def test_mistakes_are_shown_safely(tmp_path, monkeypatch, capsys, name, given):
    """Names of files that are not there, and words of the command line that mean nothing."""
    monkeypatch.chdir(tmp_path)
    arguments = {
        "judge agree": [given], "history": ["--db", given], "history show": ["1", "--db", given],
        "history export": ["-o", given, "--db", given], "history prune": ["--keep", "1", "--db", given],
        "history check": ["--db", given],
        "explain": [given, given, "-m", "AP", "--convention", "ranx", "--convention", "trec_eval-9"],
        "convert": [given, "x.json"], "judge questions": [given, "-o", "x", "--judge", "command:true"],
        "judge corrected": [given, given], "judgements interleave": [given], "judgements export": [given, "-o", "x"],
        "judgements from-clicks": [given, "-o", "x.json"], "texts": [given], "record": [given],
        "diff": [given] * 3, "stages": [given] * 3, "gate": [given, given, "--rule", "AP >= 0.1"],
    }.get(name, [given, given, given] if name in ("fuse", "compare") else [given, given])  # fmt: skip
    assert run([*name.split(), *arguments]) in (2, 3)
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
@pytest.mark.parametrize("arguments", [("eval",), ("eval", "q", "r", "-o"), ("history", "--db"), ("serve", "q")])
def test_words_that_no_shell_hands_over(capsys, arguments, word):
    assert run([*arguments, word]) == 2
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert "NUL or half a character" in said
    no_harm(said, word)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 57, 80])
@pytest.mark.parametrize("arguments", [
    ("eval", "qrels.json", ONE, *AP, "-q"), ("diff", "qrels.json", ONE, TWO, "-n", "40", *SOFT),
    ("history", "show", "1", "-q"),
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
    from goldrank.base.notes import Note

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
