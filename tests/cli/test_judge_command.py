"""`goldrank judge ask` and `goldrank judgements`: from files to files, against a server on loopback."""

from __future__ import annotations

import json
import sys

import pytest
from chat_server import KEY, serving

from goldrank import read_qrels
from goldrank.cli import run
from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import Entry

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


FILES = ("qrels", "a.run", "--documents", "docs.jsonl", "--queries", "queries.jsonl")


def test_from_files_to_files(capsys):
    with serving() as chat:
        model = ("--judge", f"tiny@{chat.url}", "--calls", "prices=1+2,max_cost=5")
        assert run(["judge", "ask", *FILES, *model, "--dry-run"]) == 0
        assert not chat.requests
        assert "cost at most" in capsys.readouterr().out
        assert run(["judge", "ask", *FILES, *model, "-o", "out.qrels"]) == 0
        assert run(["judge", "ask", *FILES, *model, "-o", "out.qrels"]) == 0
        assert len(chat.requests) == 1
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 0, "d2": 1, "d3": 3}
    out, err = capsys.readouterr()
    assert "models 1" in err
    assert KEY not in out + err


def test_options_make_the_nouns(capsys):
    def criteria_of(body):
        return [message["content"] for message in body["messages"]]

    with serving() as chat:
        model = (
            "--judge",
            f"tiny@{chat.url},criteria=Recipes without nuts.,request.max_tokens=77,request.temperature=none",
        )
        how = ("--pool", "which=all,limit=1")
        assert run(["judge", "ask", *FILES, *model, *how]) == 0
        (body,) = chat.requests
        assert (body["max_tokens"], "temperature" in body) == (77, False)
        assert any("Recipes without nuts." in text for text in criteria_of(body))
        other = ("--judge", f"tiny@{chat.url}", "--pool", "which=judged")  # asked otherwise, so that no log answers
        assert run(["judge", "ask", *FILES, *other, "--calls", "max_calls=1", "--notes"]) == 0
        assert len(chat.requests) == 2
    assert "judging stopped" in "".join(capsys.readouterr()).casefold()


def test_gullibility_is_shown(capsys):
    with serving() as chat:
        model = ("--judge", f"tiny@{chat.url}")
        assert run(["judge", "ask", *FILES, *model, "--gullible", "1"]) == 0
        assert len(chat.requests) == 3
    assert "an order to give the highest grade put in" in capsys.readouterr().out
    assert run(["judge", "ask", *FILES, *model, "--gullible", "1", "--dry-run"]) == 2


def test_export(capsys):
    with JudgementLog("log.db") as log:
        log.add("ann", "q1", "d1", 2, reason="=cmd")
        log.add("bob", "q1", "d1", 3)
        log.add_entry(Entry("gpt", "q1", "d3", grade=1, kind="model"))
    assert run(["judgements", "export", "log.db", "qrels", "-o", "out.qrels"]) == 0
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 2, "d2": 1}
    assert "left out" in capsys.readouterr().err
    assert run(["judgements", "export", "log.db", "-o", "all.qrels", "--by", "any", "--merge", "max"]) == 0
    assert dict(read_qrels("all.qrels")["q1"]) == {"d1": 3, "d3": 1}
    assert run(["judgements", "export", "log.db", "-o", "b.qrels", "--adjudicator", "bob", "--as-of", "2"]) == 0
    assert dict(read_qrels("b.qrels")["q1"]) == {"d1": 3}
    capsys.readouterr()
    assert run(["judgements", "export", "log.db", "qrels", "--as", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "query,doc,grade,file,spread,judges,comments",
        'q1,d1,2,0,1,"ann 2, bob 3","ann: =cmd"',
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", "ask", *FILES], ["judge", "ask", *FILES, "--judge", "m"], ["judge", "ask", *FILES, "--judge", "m@x"],
        ["judge", "ask", *FILES, "--judge", "command:x", "--pool", "which=all", "--gullible", "1"],
        ["judge", "ask", *FILES, "--judge", "command:x", "--calls", "prices=a"],
        ["judge", "ask", *FILES, "--judge", "command:x", "--calls", "max_cost=5"],
        ["judge", "ask", *FILES, "--judge", "command:no-such-program-xyz"],
        ["judgements", "export", "none.db", "-o", "out"],
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
    assert run(["judge", "ask", *FILES, "--judge", f"command:{sys.executable} judge.py", "-o", "out.qrels"]) == 0
    assert dict(read_qrels("out.qrels")["q1"]) == {"d1": 0, "d2": 1, "d3": 2}
