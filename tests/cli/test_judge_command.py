"""`goldrank judge` and `goldrank judgements`: from files to files, against a server on loopback."""

from __future__ import annotations

import json
import sys

import pytest
from chat_server import KEY, serving

from goldrank import read_qrels
from goldrank.cli import run
from goldrank.judgements import JudgementLog
from goldrank.judgements.records import Entry

pytest.importorskip("httpx")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "qrels").write_text("q1 0 d1 0\nq1 0 d2 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 3 t\nq1 Q0 d3 2 2 t\nq1 Q0 d2 3 1 t\n")
    docs = [{"_id": f"d{i}", "title": f"title {i}", "text": "words"} for i in range(1, 4)]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "what?"}\n')
    return tmp_path


FILES = ("qrels", "a.run", "--docs", "docs.jsonl", "--queries", "queries.jsonl")


def test_from_files_to_files(capsys):
    with serving() as chat:
        model = ("--model", "tiny", "--base-url", chat.url, "--prices", "1,2")
        assert run(["judge", *FILES, *model, "--dry-run"]) == 0
        assert not chat.requests
        assert "cost at most" in capsys.readouterr().out
        assert run(["judge", *FILES, *model, "-o", "out.qrels", "--budget", "5.00"]) == 0
        assert run(["judge", *FILES, *model, "-o", "out.qrels"]) == 0
        assert len(chat.requests) == 1
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 0, "d2": 1, "d3": 3}
    out, err = capsys.readouterr()
    assert "models 1" in out
    assert KEY not in out + err


def test_options_make_the_nouns(capsys):
    def criteria_of(body):
        return [message["content"] for message in body["messages"]]

    with serving() as chat:
        model = ("--model", "tiny", "--base-url", chat.url, "--criteria", "Recipes without nuts.")
        how = ("--max-tokens", "77", "--drop", "temperature", "--all", "--limit", "1")
        assert run(["judge", *FILES, *model, *how]) == 0
        (body,) = chat.requests
        assert (body["max_tokens"], "temperature" in body) == (77, False)
        assert any("Recipes without nuts." in text for text in criteria_of(body))
        assert run(["judge", *FILES, *model, "--judged", "--max-calls", "1"]) == 0
        assert len(chat.requests) == 2
    assert "judging stopped" in capsys.readouterr().out.casefold()


def test_gullibility_is_shown(capsys):
    with serving() as chat:
        model = ("--model", "tiny", "--base-url", chat.url)
        assert run(["judge", *FILES, *model, "--gullible", "1"]) == 0
        assert len(chat.requests) == 3
    assert "an order to give the highest grade put in" in capsys.readouterr().out
    assert run(["judge", *FILES, *model, "--gullible", "1", "--dry-run"]) == 2


def test_export(capsys):
    with JudgementLog("log.db") as log:
        log.add("ann", "q1", "d1", 2, reason="=cmd")
        log.add("bob", "q1", "d1", 3)
        log.add_entry(Entry("gpt", "q1", "d3", grade=1, kind="model"))
    assert run(["judgements", "export", "log.db", "out.qrels", "--qrels", "qrels", "--table", "who.tsv"]) == 0
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 2, "d2": 1}
    assert "left out" in capsys.readouterr().err
    assert run(["judgements", "export", "log.db", "all.qrels", "--by", "any", "--merge", "max"]) == 0
    assert dict(read_qrels("all.qrels")["q1"]) == {"d1": 3, "d3": 1}
    assert run(["judgements", "export", "log.db", "b.qrels", "--adjudicator", "bob", "--as-of", "2"]) == 0
    assert dict(read_qrels("b.qrels")["q1"]) == {"d1": 3}
    with open("who.tsv") as file:
        assert file.read().splitlines() == [
            "query\tdoc\tgrade\tfile\tspread\tjudges\tcomments",
            'q1\td1\t2\t0\t1\t"ann 2, bob 3"\t"ann: =cmd"',
        ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", *FILES], ["judge", *FILES, "--model", "m"], ["judge", *FILES, "--model", "m", "--command", "x"],
        ["judge", *FILES, "--command", "x", "--all", "--judged"], ["judge", *FILES, "--command", "x", "--prices", "a"],
        ["judge", *FILES, "--command", "x", "--budget", "5"], ["judge", *FILES, "--command", "no-such-program-xyz"],
        ["judgements", "export", "none.db", "out"],
    ],
)  # fmt: skip
def test_wrong_calls_get_words(arguments, capsys):
    assert run(arguments) in (2, 3)
    assert "internal error" not in capsys.readouterr().err


def test_a_program_judges():
    with open("judge.py", "w") as file:
        file.write(
            "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n"
            "    print(json.dumps({'id': item['id'], 'grade': 2}), flush=True)\n"
        )
    assert run(["judge", *FILES, "--command", f"{sys.executable} judge.py", "-o", "out.qrels"]) == 0
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 0, "d2": 1, "d3": 2}
