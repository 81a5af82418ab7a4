"""The core needs no satellite: each can be deleted, and so can all of them."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import places
import pytest
from houses import needed_with

import goldrank
from goldrank.base import satellites

SOURCE = Path(goldrank.__file__).parent
CORE_TESTS = ("data", "measures", "engine", "io", "match", "evaluation", "comparison")
"""Folders of tests of the core. Some files in them try satellites too: these are left out by what they import."""
FEW_TESTS = ("tests/data/test_nouns.py", "tests/data/test_scores.py", "tests/comparison/test_compare.py")


def names_of_satellites() -> set[str]:
    """Words that only a test of a satellite imports: its folder, and its public names."""
    return {*satellites.folders(), "pytest_plugin", *satellites.public_names()}


def imports_a_satellite(path: Path) -> bool:
    """Whether a file of tests imports something of a satellite, or names it as `goldrank.gate` does."""
    foreign = names_of_satellites()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "goldrank":
            parts = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            if foreign & set(parts):
                return True
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "goldrank" and node.attr in foreign:
            return True
    return False


def core_tests() -> list[str]:
    """The files of tests that try the core alone."""
    files = [path for folder in CORE_TESTS for path in sorted((places.ROOT / "tests" / folder).glob("test_*.py"))]
    return [str(path.relative_to(places.ROOT)) for path in files if not imports_a_satellite(path)]


def house_without(names: list[str], folder: Path) -> Path:
    """A copy of the source without some satellites."""
    copy = folder / "src" / "goldrank"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in names:
        shutil.rmtree(copy / name)
    return copy.parent


def run_in(source: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a copy of the source in the place of the real one."""
    environment = os.environ | {"PYTHONPATH": str(source), "GOLDRANK_QUICK": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=places.ROOT, env=environment, capture_output=True, text=True, check=False
    )


def run_tests_in(source: Path, tests: list[str]) -> None:
    quick = ("-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:goldrank")
    done = run_in(source, "-m", "pytest", *quick, *tests)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


USE_ALL_NAMES = """
import goldrank
from goldrank.base.satellites import commands
from goldrank.cli import all_commands, run
from importlib import import_module
for name in goldrank.__all__:
    getattr(goldrank, name)
for entry in all_commands().values():
    import_module(entry.module)
assert run(["--help"]) == 0
assert str(goldrank.__file__).startswith({source!r})
"""


@pytest.mark.parametrize("name", satellites.folders())
def test_a_satellite_can_be_deleted(name, tmp_path):
    source = house_without(sorted(needed_with(name)), tmp_path)
    done = run_in(source, "-c", USE_ALL_NAMES.format(source=str(source)))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", satellites.folders())
def test_the_core_passes_its_tests_without_a_satellite(name, tmp_path):
    run_tests_in(house_without(sorted(needed_with(name)), tmp_path), list(FEW_TESTS))


@pytest.mark.slow
def test_the_core_needs_no_satellite(tmp_path):
    tests = core_tests()
    assert len(tests) > 60
    assert set(FEW_TESTS) <= set(tests)
    run_tests_in(house_without(satellites.folders(), tmp_path), tests)


def test_tests_of_satellites_are_told_from_others(tmp_path):
    about = {
        "from goldrank import evaluate": False,
        "from goldrank import gate": True,
        "from goldrank.rag.sweep import sweep": True,
        "from goldrank.data.run import Run": False,
        "import goldrank\ngoldrank.fuse": True,
        "import goldrank\ngoldrank.compare": False,
    }
    file = tmp_path / "test_it.py"
    for text, expected in about.items():
        file.write_text(text)
        assert imports_a_satellite(file) is expected, text
