"""The notebooks run from the first cell to the last, and show what is kept in them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import places
import pytest

import goldrank

FOLDER = places.ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST = 60_000
"""Bytes of a notebook."""


def outputs(notebook: Any) -> list[str]:
    """What each cell of code showed, as text and as HTML; all that it printed is one text, however it arrived."""
    shown = []
    for cell in notebook["cells"]:
        printed = ""
        for output in cell.get("outputs", ()):
            printed += "".join(output.get("text", ""))
            data = output.get("data", {})
            shown += ["".join(data[kind]) for kind in sorted(data)]
        if printed:
            shown.append(printed)
    return shown


def test_there_are_six():
    names = {"compare_two_retrievers", "rag_chunking_sweep", "judge_and_correct", "recommender"}
    names |= {"stages_and_agents", "training_loop"}
    assert {path.stem for path in NOTEBOOKS} == names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_output_is_kept_small_and_without_paths(path):
    text = path.read_text("utf-8")
    notebook = json.loads(text)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any("assert" in line for cell in code for line in cell["source"])
    assert outputs(notebook)
    assert len(text) < MOST
    assert not re.search(r"(?<![\w.])/(home|Users|tmp|root|work|usr|opt)/", text)
    assert {output["output_type"] for cell in code for output in cell["outputs"]} <= {"stream", "execute_result"}
    assert not [output for cell in code for output in cell["outputs"] if output.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
def test_it_runs_and_shows_the_same(path, monkeypatch, tmp_path):
    for package in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(package)
    monkeypatch.setenv("PYTHONPATH", str(Path(goldrank.__file__).parent.parent))
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    assert outputs(runner.executed(path)) == outputs(json.loads(path.read_text("utf-8")))
