"""Judgements by subtopic and preferences are told by their content in eval, compare, gate and record; cold users."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldrank
from goldrank import cli

# Two subtopics of one query: d1 is about the first, d2 about the second, and graded otherwise there.
ASPECTS = "".join(f"q{number} 1 d1 1\nq{number} 1 d2 0\nq{number} 2 d1 0\nq{number} 2 d2 1\n" for number in (1, 2, 3))
PREFERENCES = "".join(f"q{number} judge 1 d1 2\nq{number} judge 1 d2 1\n" for number in (1, 2, 3))
RUNS = {
    "both": "".join(f"q{number} Q0 d1 1 2.0 x\nq{number} Q0 d2 2 1.0 x\n" for number in (1, 2, 3)),
    "half": "".join(f"q{number} Q0 d9 1 2.0 x\nq{number} Q0 d2 2 1.0 x\n" for number in (1, 2, 3)),
}
USUAL = {"aspects": "alpha_nDCG@10", "preferences": "Prefs"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"aspects": ASPECTS, "preferences": PREFERENCES, **RUNS}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("judged", USUAL)
@pytest.mark.parametrize("command", ["eval {judged} both", "compare {judged} half both", "record {judged} both"])
def test_the_usual_measures_of_the_kind(folder: Path, judged: str, command: str, capsys) -> None:
    assert cli.run(command.format(judged=judged).split()) == 0
    out = capsys.readouterr().out
    assert f"{USUAL[judged]} " in out
    assert " AP " not in out


@pytest.mark.parametrize("judged", USUAL)
def test_gates(folder: Path, judged: str, capsys) -> None:
    measure = USUAL[judged]
    gate = ["gate", judged, "both", "--baseline", "base.json"]
    assert cli.run([*gate, "--update"]) == 0
    assert f"{measure} 1.0000" in capsys.readouterr().out  # both subtopics at once, and the preferred one first
    assert cli.run([*gate, "--rule", f"{measure}: -1%"]) == 0
    assert cli.run(["gate", judged, "half", "--rule", f"{measure} >= 0.9"]) == 1


def test_a_measure_of_documents_is_not_told_otherwise(folder: Path, capsys) -> None:
    assert cli.run(["compare", "aspects", "half", "both", "-m", "AP"]) == 2
    assert "alpha_nDCG@20" in capsys.readouterr().err


# Users by what they had before.

TAKEN = {user: ["x"] for user in ("new", "one", "two", "many")}
LISTS = {"new": ["x"], "one": ["y"], "two": ["x"], "many": ["y", "x"]}
HISTORY = {"one": ["a"], "two": ["a", "b"], "many": ["a", "b", "c", "d"]}


def test_slices_by_training_activity() -> None:
    catalogue = goldrank.Catalogue(train=HISTORY)
    scores = goldrank.evaluate(TAKEN, goldrank.Runs(one=LISTS, other=LISTS), "RR", catalogue=catalogue)
    by_value = goldrank.compare(scores, slice_by="history").slices["history"]
    # The median of 1, 2 and 4 is 2.
    sizes = {value: part.n for value, part in by_value.items()}
    assert sizes == {"cold: 0": 1, "warm: 1 to 2": 2, "warm: 3 or more": 1}


def test_slices_by_history_at_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in (("taken.csv", TAKEN), ("lists.csv", LISTS), ("train.csv", HISTORY)):
        rows = [f"{user},{item}\n" for user, items in table.items() for item in items]
        (tmp_path / name).write_text("user,item\n" + "".join(rows))
    lists = [f"{user},{item},{-place}\n" for user, items in LISTS.items() for place, item in enumerate(items)]
    (tmp_path / "lists.csv").write_text("user,item,score\n" + "".join(lists))
    command = ["eval", "taken.csv", "lists.csv", "-m", "RR", "--slice", "history"]
    assert cli.run(command) == 2
    assert "--catalogue train=FILE" in capsys.readouterr().err
    assert cli.run([*command, "--catalogue", "train=train.csv"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    means = {" ".join(words[:2]): words[-4] for words in lines if words[:1] in (["cold:"], ["warm:"])}
    assert means["cold: 0"] == "1.0000"
    assert means["warm: 1"] == "0.5000"
    assert means["warm: 3"] == "0.5000"
