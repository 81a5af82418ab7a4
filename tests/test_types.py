"""What type checkers see of the public functions. It needs mypy, which the tests do not bring: CI has it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import places
import pytest

PROGRAM = """
from goldrank import Run, evaluate
reveal_type(evaluate("qrels", "run"))
reveal_type(evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP", ties="input"))
reveal_type(evaluate("qrels", Run({"q": {"d": 1.0}}), lambda ranked, judged: 1.0))
reveal_type(evaluate("qrels", {"a": "a.run", "b": "b.run"}))
reveal_type(evaluate("qrels", ["a.run", "b.run"]))
evaluate("qrels", "run", missng="skip")
evaluate("qrels", "run", depth="ten")
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_one_run_gives_scores_and_several_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    # The cache is that of `make lint`: all of src is checked anew without it.
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=places.ROOT, env={"MYPYPATH": "src"})
    revealed = [line.rpartition(".")[2].strip('"') for line in done.stdout.splitlines() if "Revealed" in line]
    assert revealed == ["Scores", "Scores", "Scores", "ScoresByRun", "ScoresByRun"], done.stdout
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert 'did you mean "missing"?' in errors[0]
    assert any(":9: error" in line for line in errors), "a depth of text"
