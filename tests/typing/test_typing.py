"""Type checkers say of the public surface what run time does: probes, and stories of users."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import typing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import places
import polars as pl
import pytest

import goldrank

HERE = places.TESTS / "typing"
WAITING = {
    "probes.py": set(),
    "stories.py": set(),
}
"""Probes and stories whose verbs or results have not got their new interface yet."""
CHECKED_ALONE = {52, 54, 55, 56, 57, 58, 59, 62, 16, 17}
"""Probes that need records, models or many files: what they return is tested where they are."""


def numbers(file: str) -> dict[int, int]:
    """The number of the probe or story of each line; a statement without one belongs to the one after it."""
    text = (HERE / file).read_text("utf-8")
    lines = text.splitlines()
    of_lines = {}
    number = 0
    for node in reversed(ast.parse(text).body):
        assert node.end_lineno is not None
        inside = range(node.lineno, node.end_lineno + 1)
        words = [lines[i - 1].rpartition("  # ")[2].split(" ")[0] for i in inside if "  # " in lines[i - 1]]
        number = next((int(word) for word in words if word.isdecimal()), number)
        of_lines |= dict.fromkeys(inside, number)
    return of_lines


def test_every_probe_and_story_is_there() -> None:
    assert set(numbers("probes.py").values()) == set(range(1, 63))
    assert set(numbers("stories.py").values()) == set(range(1, 31))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
@pytest.mark.parametrize("file", WAITING)
def test_mypy_says_so(file: str) -> None:
    # The cache is that of `make lint`: all of src is checked anew without it.
    command = [sys.executable, "-m", "mypy", "--strict", str(HERE / file)]
    environment = {**os.environ, "MYPYPATH": str(places.ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=places.ROOT, env=environment, timeout=600)
    assert "Found" in done.stdout or "Success" in done.stdout, done.stderr
    of_lines = numbers(file)
    complaints = [line for line in done.stdout.splitlines() if f"{file}:" in line and ": error: " in line]
    about = {of_lines[int(line.split(":")[1])] for line in complaints}
    assert about - WAITING[file] == set(), "\n".join(complaints)
    assert WAITING[file] - about == set(), "these wait no longer"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_knows_the_fields() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", str(HERE / "fields.py")]
    environment = {**os.environ, "MYPYPATH": str(places.ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=places.ROOT, env=environment, timeout=600)
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_says_so_too(tmp_path: Path) -> None:
    """In strict mode; an unused `type: ignore` is an error, so that what must be refused is refused."""
    files = [*WAITING, "fields.py"]
    for file in files:
        shutil.copy(HERE / file, tmp_path)
    settings = {
        "include": files,
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
        "reportUnusedExpression": False,
        "reportWildcardImportFromLibrary": False,
        "extraPaths": [str(places.ROOT / "src")],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False)
    if " errors, " not in done.stdout and " error, " not in done.stdout:
        pytest.skip(f"pyright does not start here: {done.stdout[-200:]}{done.stderr[-200:]}")
    assert done.stdout.splitlines()[-1].startswith("0 errors"), done.stdout


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_names_what_is_meant(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        'from goldrank import evaluate\nevaluate("qrels", "run", missng="skip")\nevaluate("qrels", "run", depth="ten")\n'
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    environment = {**os.environ, "MYPYPATH": str(places.ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=places.ROOT, env=environment, timeout=600)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert any(":2: error" in line and "missng" in line for line in errors), done.stdout
    assert any(":3: error" in line for line in errors), "a depth of text"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that probes name."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    Path("runs").mkdir()
    for name in ("run.txt", "a.run", "b.run", "s1.run", "s2.run", "runs/a.run", "runs/b.run"):
        Path(name).write_text(f"q1 Q0 d1 1 0.9 {name[0]}\nq1 Q0 d2 2 0.4 {name[0]}\n")
    Path("all.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d1 1 0.9 b\n")
    Path("rag.jsonl").write_text(json.dumps({"question": "?", "contexts": ["a"], "reference": "a"}) + "\n")
    for name in ("s.json", "a.json", "b.json"):
        scores = goldrank.evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP"])
        scores.renamed(name.removesuffix(".json")).save(name)
    goldrank.Baseline(scores).save("main.json")
    return tmp_path


class Probe(typing.NamedTuple):
    number: int
    code: str
    wanted: str
    """What `assert_type` says; empty for a line that checkers refuse."""


def probes() -> tuple[str, list[Probe]]:
    """What the probes begin with, and each of them."""
    text = (HERE / "probes.py").read_text("utf-8")
    lines = text.splitlines()
    of_lines = numbers("probes.py")
    setup, found = [], []
    for node in ast.parse(text).body:
        number = of_lines[node.lineno]
        call = node.value if isinstance(node, ast.Expr) else None
        inside = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        is_probe = isinstance(call, ast.Call) and f"  # {number}" in inside
        if not is_probe or not isinstance(call, ast.Call):
            setup.append(ast.unparse(node))
        elif isinstance(call.func, ast.Name) and call.func.id == "assert_type":
            found.append(Probe(number, ast.unparse(call.args[0]), ast.unparse(call.args[1])))
        else:
            found.append(Probe(number, ast.unparse(call), ""))
    return "\n".join(setup), found


def fits(value: Any, wanted: Any) -> bool:
    """Whether a value is of a type; of containers the contents are looked at."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, arguments[0]) for one in value)
    if origin is list:
        return isinstance(value, list) and all(fits(one, arguments[0]) for one in value)
    if origin is not None:
        return isinstance(value, origin) and all(fits(one, arguments[1]) for one in value.values())
    return type(value) is wanted or (wanted is float and isinstance(value, float))


@pytest.mark.usefixtures("folder")
def test_run_time_gives_these_types() -> None:
    setup, every = probes()
    later = WAITING["probes.py"] | CHECKED_ALONE
    names: dict[str, Any] = {}
    # Names that probes of others make from files are left out with these.
    exec("\n".join(line for line in setup.splitlines() if line), names)
    tried = 0
    for probe in every:
        if probe.number in later:
            continue
        if not probe.wanted:
            with pytest.raises(goldrank.GoldrankError) as caught:
                eval(probe.code, names)
            assert caught.value.hint or "it must be one of" in str(caught.value), probe
        else:
            wanted = eval(probe.wanted, names)
            value = eval(probe.code, names)
            assert fits(value, wanted), (probe, type(value))
        tried += 1
    assert tried > 40


@pytest.mark.usefixtures("folder")
def test_several_runs_in_files() -> None:
    """Probes 16 and 17: runs that are told apart by tag, and by file."""
    by_tag = goldrank.evaluate("qrels.txt", goldrank.read_runs("all.run"))
    assert type(by_tag) is goldrank.ScoresByRun
    assert list(by_tag) == ["a", "b"]
    by_file = goldrank.evaluate("qrels.txt", goldrank.read_runs("runs/*.run", by="file"), "AP")
    assert list(by_file) == ["a", "b"]
    assert by_file["a"]["AP"] == 1.0


def test_a_union_stays_one() -> None:
    """Probe 18."""
    one = {"q1": {"d1": 0.9}}
    assert [type(goldrank.evaluate({"q1": {"d1": 1}}, run)) for run in (one, goldrank.Runs(a=one))] == [
        goldrank.Scores,
        goldrank.ScoresByRun,
    ]


def test_fits_tells_types_apart() -> None:
    assert fits(1.0, float)
    assert not fits(1, float)
    assert fits((1.0,), tuple[float, ...])
    assert not fits((1,), tuple[float, ...])
    assert not fits({"a": 1}, typing.Mapping[str, float])
    assert not fits(pl.DataFrame(), dict)
