"""`goldrank corrected` and `goldrank questions`: from files to files."""

from __future__ import annotations

import json
import random
import sys

import pytest

import goldrank
from goldrank.cli import run


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(3)
    truth = {f"q{i:03}": {d: chance.randrange(3) for d in "abc"} for i in range(120)}
    model = {q: {d: min(2, g + (chance.random() < 0.3)) for d, g in row.items()} for q, row in truth.items()}
    people = {q: truth[q] for q in list(truth)[:30]}
    for name, qrels in (("people", people), ("model", model)):
        goldrank.write_qrels(qrels, f"{name}.qrels")
    for name, order in (("one", "abc"), ("two", "cba")):
        goldrank.write_run({q: list(order) for q in truth}, f"{name}.run")
    return people, model, {"one": "one.run", "two": "two.run"}


def test_corrected_values_are_shown(files, capsys):
    people, model, runs = files
    words = ["corrected", "people.qrels", "model.qrels", "one=one.run", "two=two.run", "-m", "nDCG@3"]
    assert run([*words, "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = goldrank.corrected_values(people, model, runs, "nDCG@3")
    assert [(row["system"], row["against"], row["low"]) for row in shown["values"]] == [
        (one.system, one.against, one.estimate.low) for one in expected.values
    ]
    assert run([*words, "--next", "5", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "two - one" in out
    assert "30 of 120 queries" in out
    assert out.split()[-5:] == expected.next_queries(5, 1)


def test_what_cannot_be_corrected_is_said(files, capsys):
    assert run(["corrected", "model.qrels", "people.qrels", "one.run", "-m", "nDCG@3"]) == 2
    assert "goldrank judge --all" in capsys.readouterr().err


def test_questions_from_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for i in range(3):
        (tmp_path / "docs" / f"{i}.txt").write_text(f"The bridge number {i} is {i + 7} metres long. It is red.")
    (tmp_path / "writer.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    item = json.loads(line)\n    text = item['text']\n"
        "    i = text.split('number ')[1][0]\n"
        "    said = {'grade': 1} if item['question'] else "
        "{'question': 'abc'[int(i)] * 5 + ' how far is it', 'quote': text.split(' It')[0]}\n"
        "    print(json.dumps({'id': item['id'], **said}), flush=True)\n"
    )
    words = ["questions", "docs", "--n", "3", "-o", "q.jsonl", "--command", f"{sys.executable} writer.py"]
    assert run([*words, "--similar", "0.9"]) == 0
    assert "questions of a source, most" in capsys.readouterr().out
    found = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert sorted(item["evidence"][0]["source"] for item in found) == ["0.txt", "1.txt", "2.txt"]
    assert run(["questions", "docs", "-o", "q.jsonl"]) == 2
    assert "--model" in capsys.readouterr().err
