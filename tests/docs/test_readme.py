"""What README shows works as it is printed."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import first_numbers
import places
import pytest

import goldrank
from goldrank.cli import run as command

README = (places.ROOT / "README.md").read_text()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d1": 2.0}}
    goldrank.write_qrels(qrels, "qrels.txt")
    goldrank.write_run(run, "run.txt")
    goldrank.write_run(run, "dense.parquet")
    Path("bm25.run.gz").write_bytes(gzip.compress(Path("run.txt").read_bytes()))
    Path("rag.jsonl").write_text(json.dumps({"retrieved": ["a b", "c d"], "references": ["c d"]}) + "\n")
    goldrank.Baseline.freeze(goldrank.evaluate("qrels.txt", "run.txt", "nDCG@10"), "baseline.json")


@pytest.mark.usefixtures("files", "registry")
def test_tour() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.splitlines()) < 40
    names: dict[str, object] = {}
    exec(code, names)
    # q1: gains 2, 0, 1 at ranks 1 to 3 against the ideal 2, 1; q2: perfect.
    assert names["scores"]["nDCG@10"] == pytest.approx((2.5 / (2 + 1 / 1.5849625007211562) + 1) / 2, abs=1e-15)
    assert names["scores"].per_query["AP"]["q1"] == (1 / 1 + 2 / 3) / 2
    assert goldrank.evaluate("qrels.txt", "run.txt", "Early").per_query["Early"] == {"q1": 1 / 3, "q2": 1 / 3}


@pytest.mark.usefixtures("files")
def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = re.findall(r"^\$ goldrank (.*?)(?:\s+#.*)?$", README, flags=re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        for part in line.split(" && goldrank "):
            assert command(shlex.split(part)) == 0, line
    assert "nDCG@10" in capsys.readouterr().out


def test_every_kind_of_user_gets_the_right_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first_numbers.write(tmp_path)
    kinds = first_numbers.lines()
    assert kinds.keys() == first_numbers.NUMBERS.keys()
    for kind, lines in kinds.items():
        for line, number in zip(lines, first_numbers.NUMBERS[kind], strict=True):
            script = first_numbers.as_python(line)
            if script:
                exec(script, {})
            else:
                assert command(shlex.split(line)[1:]) == 0, line
            assert number in " ".join(capsys.readouterr().out.split()), line
