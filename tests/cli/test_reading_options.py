"""`--map` and `--catalogue train=`: one option for every command that reads runs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from goldrank import io
from goldrank.cli import run

# By hand: without what u1 and u2 had, u1 has (c, d) and u2 has (b, a); RR is 1 for both. With it, it is 1/3 and 1/2.
JUDGED = "uid,thing,stars\nu1,c,1\nu2,b,1\n"
LISTS = "uid,thing,value\nu1,a,9\nu1,b,8\nu1,c,7\nu1,d,6\nu2,c,5\nu2,b,4\nu2,a,3\n"
OTHER = "uid,thing,value\nu1,c,9\nu1,d,8\nu1,a,7\nu2,a,5\nu2,c,4\nu2,b,3\n"
HAD = "uid,thing,stars\nu1,a,4.5\nu1,b,3\nu2,c,1\nu9,z,2\n"
MAP = ["--map", "query=uid,doc=thing,grade=stars,score=value"]
TRAIN = ["--catalogue", "train=train.csv"]

COMMANDS = {
    "eval": ["eval", "judged.csv", "run.csv", "-m", "RR"],
    "compare": ["compare", "judged.csv", "run.csv", "other.csv", "-m", "RR", "--statistics", "samples=100"],
    "record": ["record", "judged.csv", "run.csv", "-m", "RR", "--db", "new.db"],
    "gate": ["gate", "judged.csv", "run.csv", "--rule", "RR >= 0.1"],
    "diff": ["diff", "judged.csv", "run.csv", "other.csv", "-m", "RR"],
    "fuse": ["fuse", "judged.csv", "run.csv", "other.csv", "-m", "RR"],
    "plan": ["plan", "judged.csv", "run.csv", "other.csv", "-m", "RR"],
    "baseline": ["gate", "judged.csv", "run.csv", "-m", "RR", "--baseline", "base.json", "--update"],
    "convert": ["convert", "run.csv", "out.json"],
}
QUIET = {"plan", "baseline", "diff"}
"""Commands that show no notes on runs."""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("judged", JUDGED), ("run", LISTS), ("other", OTHER), ("train", HAD)):
        Path(f"{name}.csv").write_text(text)


def used(name: str) -> list[str]:
    """The map with the roles that the files of a command have."""
    return ["--map", "query=uid,doc=thing,score=value"] if name == "convert" else MAP


@pytest.mark.parametrize("name", COMMANDS)
def test_map_and_train_are_taken(name: str, capsys: Any) -> None:
    assert run([*COMMANDS[name], *used(name)]) == 0, capsys.readouterr()
    before = capsys.readouterr()
    assert run([*COMMANDS[name], *used(name), *TRAIN, "--notes"]) == 0, capsys.readouterr()
    after = capsys.readouterr()
    assert before.out != after.out or name in ("convert", "gate", "baseline")
    if name not in QUIET:
        assert "removed: 3 of 2 users" in (after.out + after.err).replace("\n", " ")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_map_that_fits_nothing_is_refused(name: str, capsys: Any) -> None:
    assert run([*COMMANDS[name], *used(name), "--map", "tag=nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_values(capsys: Any) -> None:
    assert run([*COMMANDS["eval"], *MAP, "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"]["RR"]["summary"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert run([*COMMANDS["eval"], *MAP, *TRAIN, "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"]["RR"]["summary"] == 1


def test_novelty_at_the_prompt(capsys: Any) -> None:
    assert run(["eval", "judged.csv", "run.csv", "-m", "Novelty@1", *MAP, *TRAIN]) == 0
    assert "Novelty@1" in capsys.readouterr().out


def test_what_is_written_has_nothing_that_users_had() -> None:
    assert run([*COMMANDS["convert"], *used("convert"), *TRAIN]) == 0
    assert {user: set(row) for user, row in io.read_run("out.json").items()} == {"u1": {"c", "d"}, "u2": {"b", "a"}}
    assert run([*COMMANDS["fuse"], *MAP, *TRAIN, "-o", "fused.run"]) == 0
    assert {user: set(row) for user, row in io.read_run("fused.run").items()} == {"u1": {"c", "d"}, "u2": {"b", "a"}}


def test_a_baseline_with_train_is_no_measure_for_a_run_without(capsys: Any) -> None:
    assert run([*COMMANDS["baseline"], *MAP, *TRAIN]) == 0
    gate = ["gate", "judged.csv", "run.csv", "--rule", "RR: -1%", "--baseline", "base.json", *MAP]
    assert run([*gate, *TRAIN]) == 0
    capsys.readouterr()
    assert run(gate) == 2
    assert "train removed" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["record", "--db", "x.db"], ["plan"], ["compare"], ["gate", "--rule", "RR >= 0"],
                                     ["gate", "--update", "--baseline", "b.json"]])  # fmt: skip
@pytest.mark.parametrize(
    "option", [["--convention", "missing=skip"], TRAIN, ["--relevant-from", "3"], ["--map", "query=uid"]]
)
def test_saved_scores_take_no_option_about_runs(command: list[str], option: list[str], capsys: Any) -> None:
    assert run(["eval", "judged.csv", "run.csv", "-m", "RR", *MAP, "-o", "scores.json"]) == 0
    name, *rest = command
    saved = ["scores.json", "scores.json"] if name in ("compare", "plan") else ["scores.json"]
    assert run([name, *rest, *saved, *option]) == 2
    assert option[0] in capsys.readouterr().err


@pytest.mark.parametrize("train", ["missing.csv", "empty.csv"])
def test_training_data_that_is_none(train: str, capsys: Any) -> None:
    Path("empty.csv").touch()
    assert run([*COMMANDS["eval"], *MAP, "--catalogue", f"train={train}"]) == 2
    assert train in capsys.readouterr().err


def test_judgements_have_no_training_data(capsys: Any) -> None:
    assert run(["convert", "judged.csv", "out.json", "--qrels", *TRAIN]) == 2
    assert "--catalogue" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["items.csv", "items.txt", "items.csv.gz"])
def test_a_catalogue_may_be_packed(name: str, capsys: Any) -> None:
    """Of a, b, c and e, u1 has a first and u2 c: half of the items."""
    lines = "a\nb\nc\ne\n"
    if ".csv" in name:
        lines = "item\n" + lines
    data = lines.encode()
    if name.endswith(".gz"):
        data = gzip.compress(data)
    Path(name).write_bytes(data)
    assert run(["eval", "judged.csv", "run.csv", "-m", "ItemCoverage@1", *MAP, "--catalogue", f"items={name}"]) == 0
    assert "0.5000" in capsys.readouterr().out


@pytest.mark.parametrize("part", ["items", "vectors", "genres", "groups"])
@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08cut", b"\xff\xfe\x00", b'{"a": ' + b"[" * 20_000], ids=["gz", "bytes", "deep"]
)
def test_a_catalogue_of_something_else_is_an_error(part: str, content: bytes, capsys: Any) -> None:
    Path("wrong").write_bytes(content)
    run(["eval", "judged.csv", "run.csv", "-m", "RR", *MAP, "--catalogue", f"{part}=wrong"])
    assert "internal error" not in capsys.readouterr().err
