"""Where the output goes: any kind of standard output, broken pipes, names in front of files."""

import io
import json
import sys

import click
import pytest
from raising import raises_code

from goldrank import demo, read_qrels, read_run
from goldrank.base.errors import GoldrankError
from goldrank.cli import all_commands, run
from goldrank.cli.inputs import key_values, named_file, once
from goldrank.cli.output import echo, write

QRELS, BM25, OVERLAP = "demo.qrels", "bm25.run", "overlap.run"
JUDGE = f"{sys.executable} judge.py"
WRITER = f"{sys.executable} writer.py"
CALLS = {
    "eval": ["eval", QRELS, BM25, "-m", "AP"],
    "texts": ["texts", "rag.jsonl", "--matching", "contains"],
    "causes": ["causes", "rag.jsonl", "--matching", "contains"],
    "sweep": ["sweep", "é/bm25=two.jsonl", "b/bm25=two.jsonl", "--matching", "contains", "-k", "1"],
    "compare": ["compare", QRELS, BM25, OVERLAP, "--statistics", "samples=200"],
    "diff": ["diff", QRELS, BM25, OVERLAP, "--agreement"],
    "stages": ["stages", QRELS, BM25, OVERLAP],
    "fuse": ["fuse", QRELS, BM25, OVERLAP],
    "record": ["record", QRELS, BM25, "--db", "new.db"],
    "history": ["history"],
    "history show": ["history", "show", "1"],
    "history export": ["history", "export", "-o", "all.json"],
    "history check": ["history", "check"],
    "history prune": ["history", "prune", "--keep", "0", "--dry-run"],
    "history baseline": ["history", "baseline"],
    "plan": ["plan", QRELS, BM25, OVERLAP, "-m", "AP", "--tolerance", "5%"],
    "gate": ["gate", QRELS, BM25, "--rule", "AP >= 0.1"],
    "explain": ["explain", QRELS, BM25, "-m", "AP", "--convention", "trec_eval-10", "--convention", "ranx"],
    "trec_eval": ["trec_eval", QRELS, BM25],
    "measures": ["measures"],
    "choose": ["choose", "rag"],
    "doctor": ["doctor"],
    "conformance": ["conformance", "--dump", "cases.jsonl"],
    "schema": ["schema", "record"],
    "run": ["run", "asked.tsv", "--engine", "engine.toml", "-o", "new.run", "--allow-commands"],
    "init": ["init", "--queries", "asked.tsv", "--judgement-file", QRELS, "--source", BM25],
    "convert": ["convert", BM25, "bm25.json"],
    "judgements from-clicks": [
        "judgements", "from-clicks", "clicks.jsonl", "-o", "judged.json", "--min-views", "0",
    ],
    "judgements interleave": ["judgements", "interleave", "clicks.jsonl"],
    "judgements export": ["judgements", "export", "judgements.db", "-o", "exported.txt", "--by", "model"],
    "serve": ["serve", "--demo", "-o", "site"],
    "judge ask": [
        "judge", "ask", QRELS, BM25, "--documents", "texts.jsonl", "--queries", "texts.jsonl",
        "--judge", f"command:{JUDGE}", "--pool", "which=all",
    ],
    "judge agree": ["judge", "agree", "labels.jsonl", "--matching", "contains"],
    "judge questions": [
        "judge", "questions", "texts.jsonl", "--judge", f"command:{WRITER}", "-n", "1", "-o", "questions.jsonl",
    ],
    "judge corrected": ["judge", "corrected", QRELS, BM25, "--model-qrels", QRELS, "-m", "P@1"],
    "demo": ["demo"],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read_qrels(demo.load()["qrels"]).save(QRELS)
    for name, ranking in demo.runs().items():
        read_run(ranking).save(f"{name}.run")
    (tmp_path / "rag.jsonl").write_text(json.dumps({"id": "q", "retrieved": ["a é"], "references": ["a"]}))
    two = [{"id": str(i), "retrieved": ["a é"], "references": ["a"]} for i in range(2)]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, two)))
    labels = [{"retrieved": "a b", "reference": "a", "label": yes} for yes in (True, False)]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    clicks = {"user": "é", "shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]}
    (tmp_path / "clicks.jsonl").write_text(json.dumps({"query": "q", **clicks}))
    for name, said in (
        ("judge", "{'grade': 1}"),
        ("writer", "{'grade': 1} if item['question'] else {'question': 'Who is it then?', 'quote': item['text']}"),
    ):
        (tmp_path / f"{name}.py").write_text(
            "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n"
            f"    print(json.dumps({{'id': item['id'], **({said})}}), flush=True)\n"
        )
    (tmp_path / "asked.tsv").write_text("q\twhy é?\n")
    (tmp_path / "house_engine.py").write_text("def search(query, k):\n    return [('a', 1.0)]\n")
    (tmp_path / "engine.toml").write_text(
        'format = "goldrank-engine/1"\nkind = "python"\nfunction = "house_engine:search"\n'
    )
    data = demo.load()
    texts = [*data["qrels"], *{doc for ranking in demo.runs().values() for docs in ranking.values() for doc in docs}]
    rows = [{"id": name, "source": name, "text": f"Some words about {name} here."} for name in texts]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def saved(folder, capsys):
    for path, name in (("scores.json", BM25), ("other.json", OVERLAP)):
        assert run(["eval", QRELS, name, "-m", "AP", "-o", path]) == 0
    assert run(["record", QRELS, BM25, "-m", "AP"]) == 0
    assert run(["gate", QRELS, BM25, "-m", "AP", "--baseline", "b.json", "--update"]) == 0
    assert run(CALLS["judge ask"]) == 0
    capsys.readouterr()


def test_every_command_is_called():
    assert set(CALLS) == set(all_commands())


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize("name", CALLS)
def test_streams_without_a_buffer(name, monkeypatch):
    """As in a notebook, whose standard output and error take text only."""
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = run(CALLS[name])
    assert code == 0, err.getvalue()
    assert out.getvalue() or err.getvalue()


def test_what_cannot_be_encoded_is_shown_as_escapes(capsysbinary, monkeypatch):
    echo("é \udc80")
    echo(b"as it is \xff")
    echo("to error", err=True)
    found = capsysbinary.readouterr()
    assert found.out == "é \\udc80\n".encode() + b"as it is \xff"
    assert found.err == b"to error\n"
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    echo("é \udc80\n")
    echo(b"\xff")
    assert text.getvalue() == "é \\udc80\n\\xff"
    monkeypatch.setattr(sys, "stdout", None)  # as under pythonw
    echo("nothing")


@pytest.mark.usefixtures("folder")
def test_names_work_wherever_runs_are_read(capsys):
    assert run(["eval", QRELS, f"new={BM25}", f"old={OVERLAP}", "-m", "AP"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["measure", "new", "old"]
    assert run(["gate", QRELS, f"new={BM25}", "--rule", "AP >= 0.1"]) == 0
    assert capsys.readouterr().out.startswith("PASS  new:")


def test_names_of_files(folder):
    assert named_file("a=b") == ("a", "b")
    assert named_file("b") == (None, "b")
    assert named_file("=b") == (None, "=b")
    (folder / "a=b").touch()
    assert named_file("a=b") == (None, "a=b")


def test_standard_input_is_read_once():
    once(["-", "x"])
    for paths in (["-", "-"], ["a=-", "-"]):
        with pytest.raises(click.UsageError, match="only once"):
            once(paths)


def test_keys_and_values():
    assert key_values(["a=b", " c = d=e "], "--map") == {"a": "b", "c": "d=e"}
    for given in (["a"], ["=b"], ["a="], ["a=b", "a=c"]):
        with pytest.raises(click.UsageError, match="--map"):
            key_values(given, "--map")


def test_files_are_written_with_their_folders(folder):
    write("new/folder/x.txt", "é\udc80")
    assert (folder / "new" / "folder" / "x.txt").read_bytes() == "é\\udc80".encode()
    with raises_code(GoldrankError, "cannot-write"):
        write(f"{QRELS}/x", "")
