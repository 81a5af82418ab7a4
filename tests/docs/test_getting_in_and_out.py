"""Every line of docs/getting_in_and_out.md, run with a file or object of its shape."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import places
import pytest

from goldrank import evaluate, read_items, read_qrels
from goldrank.cli import run

sys.path.insert(0, str(Path(__file__).parent))
import sources

PAGE = (places.ROOT / "docs" / "getting_in_and_out.md").read_text()
WANTED, TABLE = PAGE.split("\n## ")[1:3]
LINES = [
    [cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE.splitlines() if line.startswith("| ")
][1:]

PUBLIC = {"evaluate": evaluate, "read_items": read_items, "read_qrels": read_qrels}
"""What the lines of the page use."""


def test_a_start_for_each_kind_of_user(folder: Path, capsys: Any) -> None:
    """In order: some lines use what an earlier one made."""
    lines = [line.strip() for line in WANTED.splitlines() if line.startswith("    goldrank ")]
    assert len(lines) > 10
    (folder / "ratings.csv").write_text("userId,movieId,rating\nq1,d1,4.5\n")
    for line in lines:
        assert run(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)


def test_there_are_forty_sources() -> None:
    assert len({line[0] for line in LINES}) == len(LINES) >= 40
    assert all(len(line) == 3 for line in LINES)


def code_of(cell: str) -> str:
    found = re.match(r"`([^`]+)`", cell)
    assert found is not None, cell
    return found[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sources.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_in(line: list[str], folder: Path, capsys: Any) -> None:
    code = code_of(line[1])
    if not code.startswith("goldrank "):
        scores = eval(code, {**PUBLIC, **sources.objects()})
        assert list(scores.mean.values()) == [0.5]
        return
    assert run(shlex.split(code)[1:]) == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    words = dict.fromkeys(("eval", "stages", "compare"), "0.5000")
    words |= {"judgements": "dcm", "run": "1 of 1 queries answered"}
    assert words[code.split()[1]] in out


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_out(line: list[str], folder: Path, capsys: Any) -> None:
    code = code_of(line[2])
    if line[0] == "click log":
        assert run(shlex.split(code_of(line[1]))[1:]) == 0
    if not code.startswith("goldrank "):
        assert eval(code, {**PUBLIC, **sources.objects()}) is not None
        return
    assert run(shlex.split(code)[1:]) == 0, capsys.readouterr().err
    if "convert" in code:
        name = next(word for word in shlex.split(code) if word.startswith("out."))
        files = ["qrels.txt", name] if "--qrels" not in code else [name, "run.txt"]
        if line[0] != "Vespa":  # whose ids are those of Vespa where no field is named
            assert run(["eval", *files, "-m", "RR"]) == 0
            assert "0.5000" in capsys.readouterr().out


def test_ratings(folder: Path, capsys: Any) -> None:
    """As the page says: whole ones are grades, with a warning; others need a threshold."""
    assert "ratings with decimals (4.5) are an error" in " ".join(PAGE.split())
    for rating, code in ((4, 0), (4.5, 2)):
        (folder / "ratings.csv").write_text(f"userId,movieId,rating\nq1,d1,{rating}\n")
        assert run(["eval", "ratings.csv", "run.txt", "-m", "RR"]) == code
        told = capsys.readouterr()
        assert ("! qrels: ratings are taken as grades" in told.err) is (code == 0)
        assert run(["eval", "ratings.csv", "run.txt", "-m", "RR", "--relevant-from", "4"]) == 0
        assert "0.5000" in capsys.readouterr().out
