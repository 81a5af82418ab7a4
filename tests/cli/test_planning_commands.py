"""eval --interval and --slice, plan and interleave, as people call them."""

import csv
import io
import json
from pathlib import Path

import pytest

from goldrank.cli import run as command


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    queries = [f"q{i:02}" for i in range(24)]
    Path("qrels").write_text("".join(f"{q} 0 a 1\n" for q in queries))
    for name, rank in (("good", 3), ("bad", 2)):
        lines = []
        for i, query in enumerate(queries):
            docs = ["a", "x"] if i % rank else ["x", "a"]
            lines += [f"{query} Q0 {doc} {at} {9 - at} t\n" for at, doc in enumerate(docs, 1)]
        Path(name).write_text("".join(lines))
    Path("meta.jsonl").write_text(
        "".join(json.dumps({"query": q, "lang": "de" if i % 2 else "en"}) + "\n" for i, q in enumerate(queries))
    )


@pytest.fixture
def call(capsys):
    def called(*arguments):
        code = command(list(arguments))
        found = capsys.readouterr()
        return code, found.out, found.err

    return called


def test_intervals_of_one_run(call):
    """P@1 of 'good' is 2/3 of 24: with a 0 and a 1 added, 17 of 26; Student's 2.0595 (25) x sqrt(17/26 x 9/26 / 25)."""
    code, out, _ = call("eval", "qrels", "good", "-m", "P@1", "--interval")
    assert code == 0
    middle, half = 17 / 26, 2.059538552753294 * (17 / 26 * 9 / 26 / 25) ** 0.5
    assert f"{middle - half:.4f} to {middle + half:.4f}" in out
    assert "0.6667" in out
    _, out, _ = call("eval", "qrels", "good", "bad", "-m", "P@1", "-m", "RR", "--interval", "--as", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["run"], row["measure"]) for row in rows] == [
        ("good", "P@1"), ("good", "RR"), ("bad", "P@1"), ("bad", "RR"),
    ]  # fmt: skip
    assert float(rows[0]["low"]) == pytest.approx(middle - half)
    assert float(rows[0]["mean"]) == pytest.approx(2 / 3)
    wide = json.loads(
        call("eval", "qrels", "good", "-m", "P@1", "--interval", "--statistics", "alpha=0.01", "--as", "json")[1]
    )
    assert wide["intervals"][0]["low"] < middle - half


def test_slices_of_one_run(call):
    code, out, _ = call("eval", "qrels", "bad", "-m", "P@1", "--slice", "lang", "--queries", "meta.jsonl")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines() if line.startswith(("de", "en"))] == [
        ["de", "12", "1.0000"], ["en", "12", "0.0000"],
    ]  # fmt: skip
    for form in ("json", "csv", "markdown", "latex", "html"):
        code, out, _ = call("eval", "qrels", "bad", "-m", "P@1", "--slice", "lang", "--queries", "meta.jsonl",
                            "--as", form)  # fmt: skip
        assert (code, "lang" in out) == (0, True), form
    assert call("eval", "qrels", "bad", "--slice", "lang")[0] == 2
    assert call("eval", "qrels", "bad", "--interval", "-q")[0] == 2
    assert call("eval", "qrels", "bad", "--interval", "--statistics", "alpha=95")[0] == 2


def test_a_plan_from_runs_and_from_saved_scores(call):
    code, out, _ = call("plan", "qrels", "good", "bad", "-m", "P@1", "--difference", "0.1", "--n-queries", "200",
                        "--tolerance", "5%", "--as", "json")  # fmt: skip
    assert code == 0
    data = json.loads(out)
    assert [(row["given"], row["measure"]) for row in data["rows"]] == [("difference", "P@1"), ("queries", "P@1")]
    assert [round(one["drop"], 3) for one in data["gate"]] == [0, 0.025, 0.05, 0.075, 0.1, 0.15]
    for name in ("good", "bad"):
        call("eval", "qrels", name, "-m", "P@1", "-o", f"{name}.json")
    _, saved, _ = call("plan", "good.json", "bad.json", "--difference", "0.1", "--n-queries", "200",
                       "--tolerance", "5%", "--as", "json")  # fmt: skip
    assert json.loads(saved) == data
    for form in ("terminal", "markdown", "csv"):
        assert call("plan", "qrels", "good", "bad", "-m", "P@1", "--as", form)[0] == 0
    assert "roughly" in call("plan", "qrels", "good", "bad", "-m", "P@1")[1]


def test_a_plan_without_a_pilot(call):
    code, out, _ = call("plan", "--deviation", "0.25", "--difference", "0.05")
    assert (code, " 199" in out) == (0, True)
    assert call("plan")[0] == 0  # its help
    assert call("plan", "--difference", "0.1")[0] == 2
    assert call("plan", "--deviation", "0.25", "--difference", "0")[0] == 2


def test_interleaving(call):
    rows = [{"user": f"u{i}", "shown": ["x", "y"], "team": ["a", "b"], "clicks": ["y"]} for i in range(10)]
    Path("log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = call("judgements", "interleave", "log.jsonl", "--names", "old,new")
    assert code == 0
    assert "Users prefer new to old: new gets 100.0% of the credit" in out
    data = json.loads(call("judgements", "interleave", "log.jsonl", "--as", "json")[1])
    assert (data["wins"], data["p"], data["unit"]) == (10, 2 / 1024, "user")
    for form in ("csv", "markdown"):
        assert "team-draft" in call("judgements", "interleave", "log.jsonl", "--as", form)[1]
    assert call("judgements", "interleave", "log.jsonl", "--method", "probabilistic")[0] == 2
