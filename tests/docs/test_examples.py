"""The examples run, and say what they should: each asserts its own numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import places
import pytest

import goldrank

FOLDER = places.ROOT / "examples"
SCRIPTS = sorted(FOLDER.glob("from_*.py"))


def run(script: Path, folder: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(goldrank.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(script, tmp_path):
    assert "Cover@5" in run(script, tmp_path)


@pytest.mark.slow
def test_from_files_to_sweep_causes_and_gate(tmp_path):
    told = run(FOLDER / "rag" / "sweep_causes_gate.py", tmp_path, "out")
    for words in (
        "covers most",
        "Main effect of the chunking",
        "cut by a border",
        "not in the corpus",
        "check passed",
        "by language",
    ):
        assert words in told
    for name in ("sweep.html", "causes.html", "small-chunks.jsonl", "baseline.json", "pages/index.html"):
        assert (tmp_path / "out" / name).stat().st_size > 500


def test_there_is_one_for_each_tool():
    tools = {"ragas", "deepeval", "langchain", "llamaindex", "haystack", "continuous_eval", "langsmith"}
    assert {f"from_{tool}" for tool in tools} <= {script.stem for script in SCRIPTS}
