"""`--map` in the commands that show and judge: files whose columns no name tells apart are read as in `eval`."""

from __future__ import annotations

import json

import pytest

from goldrank.cli import run

QRELS = "topic,item,verdict\nq1,a,1\nq1,b,0\nq2,c,1\n"
RUN = "topic,item,strength\nq1,b,2.5\nq1,a,1.5\nq2,d,0.5\nq2,c,0.25\n"
MAP = "query=topic,doc=item,score=strength,grade=verdict"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text(QRELS)
    (tmp_path / "run.csv").write_text(RUN)
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps({"_id": d, "text": f"text of {d}"}) + "\n" for d in "abcd"))
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps({"_id": q, "text": q}) + "\n" for q in ("q1", "q2")))
    return tmp_path


def test_serve(files, capsys):
    export = ["serve", "qrels.csv", "run.csv", "-m", "RR", "-o", "pages"]
    assert run(export) != 0
    assert "--map" in capsys.readouterr().err
    assert run([*export, "--map", MAP]) == 0
    pages = "".join(path.read_text() for path in (files / "pages").rglob("*.html"))
    assert "0.5000" in pages  # the relevant document is second in both


def test_serve_of_texts_has_no_columns(files, capsys):
    (files / "items.jsonl").write_text('{"question": "q", "contexts": ["a b c"], "reference_contexts": ["a b c"]}\n')
    assert run(["serve", "items.jsonl", "-o", "pages", "--map", MAP]) == 2
    assert "--map is for judgements and runs" in capsys.readouterr().err


def test_judge(files, capsys):
    asked = ["judge", "ask", "qrels.csv", "run.csv", "--documents", "docs.jsonl", "--queries", "queries.jsonl",
             "--dry-run", "--judge", "command:false"]  # fmt: skip
    assert run(asked) != 0
    assert "--map" in capsys.readouterr().err
    assert run([*asked, "--map", MAP]) == 0
    told = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert told["pairs"] == "1"  # d is the one document that nobody judged


def test_agree(files, capsys):
    (files / "model.csv").write_text("topic,item,verdict\nq1,a,1\nq1,b,1\nq2,c,1\n")
    asked = ["judge", "agree", "qrels.csv", "--model-qrels", "model.csv"]
    assert run([*asked, "--map", "query=topic,doc=item,grade=verdict"]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()[2:4]]
    assert table == [["0", "0", "1"], ["1", "0", "2"]]  # of b people say 0 and the model 1
    assert run([*asked, "--map", "query=topic,doc=item,grade=verdict,score=strenght"]) != 0
    assert "strenght" in capsys.readouterr().err
