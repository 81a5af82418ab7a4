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


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(goldrank.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Cover@5" in done.stdout
    assert not done.stderr


def test_there_is_one_for_each_tool():
    tools = {"ragas", "deepeval", "langchain", "llamaindex", "haystack", "continuous_eval", "langsmith"}
    assert {f"from_{tool}" for tool in tools} <= {script.stem for script in SCRIPTS}
