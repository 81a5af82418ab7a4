"""`goldrank judge corrected` and `goldrank judge questions`: from files to files."""

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
        goldrank.Qrels(qrels).save(f"{name}.qrels")
    for name, order in (("one", "abc"), ("two", "cba")):
        goldrank.read_run({q: list(order) for q in truth}).save(f"{name}.run")
    return people, model, {"one": "one.run", "two": "two.run"}


def corrected(people, model, runs, **more):
    return goldrank.corrected_values(goldrank.Qrels(people).with_model(model), runs, "nDCG@3", **more)


def test_corrected_values_are_shown(files, capsys):
    people, model, runs = files
    words = [
        "judge",
        "corrected",
        "people.qrels",
        "--model-qrels",
        "model.qrels",
        "one=one.run",
        "two=two.run",
        "-m",
        "nDCG@3",
    ]
    assert run([*words, "--as", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = corrected(people, model, runs)
    assert [(row["run"], row["against"], row["low"]) for row in shown["values"]] == [
        (one.run, one.against, one.interval.low) for one in expected.values
    ]
    assert run([*words, "--next", "5", "--statistics", "seed=1"]) == 0
    out, err = capsys.readouterr()
    assert "two - one" in out
    assert "30 of 120 queries" in err
    assert out.split()[-5:] == expected.next_queries(5, seed=1)


def test_differences_to_one_run(files, capsys):
    people, model, runs = files
    words = [
        "judge",
        "corrected",
        "people.qrels",
        "--model-qrels",
        "model.qrels",
        "one=one.run",
        "two=two.run",
        "-m",
        "nDCG@3",
        "--as",
        "json",
    ]
    assert run([*words, "--baseline", "two", "--statistics", "alpha=0.1"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(row["run"], row["against"]) for row in shown["values"]] == [("two", None), ("one", None), ("one", "two")]
    wanted = corrected(people, model, runs, statistics=goldrank.Statistics(alpha=0.1))["nDCG@3", "one", "two"]
    assert shown["values"][2]["low"] == pytest.approx(wanted.interval.low)
    assert run([*words, "--baseline", "tow"]) == 2
    assert "Did you mean two?" in capsys.readouterr().err
    assert run([*words, "--statistics", "alpha=2"]) == 2


def test_what_cannot_be_corrected_is_said(files, capsys):
    assert run(["judge", "corrected", "model.qrels", "--model-qrels", "people.qrels", "one.run", "-m", "nDCG@3"]) == 2
    assert "goldrank judge ask" in capsys.readouterr().err


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
    words = ["judge", "questions", "docs", "-n", "3", "-o", "q.jsonl", "--judge", f"command:{sys.executable} writer.py"]
    assert run([*words, "--similar", "0.9"]) == 0
    assert "questions of a source, most" in capsys.readouterr().out
    found = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert sorted(item["evidence"][0]["source"] for item in found) == ["0.txt", "1.txt", "2.txt"]
    assert run(["judge", "questions", "docs", "-o", "q.jsonl"]) == 2
    assert "--judge" in capsys.readouterr().err


def test_questions_can_be_planned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("The bridge is 7 metres long. It is red.")
    asks = ["--judge", "m@http://127.0.0.1:9/v1", "--calls", "prices=1000+1000"]
    assert run(["judge", "questions", "docs", "-n", "5", *asks, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "calls, if every question holds" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs"], "nothing is written"
    assert run(["judge", "questions", "docs", *asks]) == 2
    assert "--output" in capsys.readouterr().err


# Whose judgements count.

TWO = ["one=one.run", "two=two.run", "-m", "nDCG@3"]
WITH_MODEL = ["--model-qrels", "model.qrels", "--judged-by"]


def test_commands_say_whose_judgements_count(files, capsys):
    people, model, _ = files
    for judged_by, qrels in (("human", people), ("model", model)):
        assert run(["eval", "people.qrels", "one.run", "-m", "nDCG@3", *WITH_MODEL, judged_by, "--as", "json"]) == 0
        value = goldrank.evaluate(qrels, "one.run", "nDCG@3")["nDCG@3"]
        assert f"{value:.6f}"[:7] in capsys.readouterr().out
    assert run(["compare", "people.qrels", *TWO, *WITH_MODEL, "model"]) == 0
    assert "models 360" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_corrected_values_have_a_command_of_their_own(files, capsys, command):
    assert run([command, "people.qrels", *TWO, *WITH_MODEL, "corrected"]) == 2
    assert "'human', 'model'" in capsys.readouterr().err


def test_who_judged_survives_a_file(files, capsys):
    people, model, runs = files
    both = goldrank.Qrels(people).with_model(model)
    both.save("both.parquet")
    kept = goldrank.corrected_values(goldrank.read_qrels("both.parquet"), runs, "nDCG@3")
    assert kept.rows() == corrected(people, model, runs).rows()
    for target, word in (("both.qrels", "left out"), ("both.json", "cannot say who judged")):
        assert run(["convert", "both.parquet", target, "--qrels"]) == 0
        assert word in capsys.readouterr().err


def test_next_queries_by_strata(files, capsys, tmp_path):
    rows = [{"query": f"q{i:03}", "stratum": i % 10 / 10} for i in range(120)]
    (tmp_path / "strata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [
        "judge",
        "corrected",
        "people.qrels",
        "--model-qrels",
        "model.qrels",
        "one.run",
        "-m",
        "nDCG@3",
        "--next",
        "7",
    ]
    for drawn in ("random", "strata"):
        assert run([*words, "--queries", "strata.jsonl", "--drawn", drawn]) == 0
        chosen = capsys.readouterr().out.split()[-7:]
        assert all(query.startswith("q") and int(query[1:]) >= 30 for query in chosen)
    assert run([*words, "--drawn", "strata"]) == 2
