"""Run the peers' own test suites through the stand-ins of goldrank.compat: `make peers`.

    python tests/peers/run_suites.py [folder]

The folder holds a checkout of each peer under its name (pytrec_eval, with its trec_eval inside; ir_measures; ranx).
Without one, the source distribution of ir_measures, which carries its tests, is downloaded into a temporary folder by
pip; those of the others carry none. Nothing of the peers is installed or kept. A suite that is not there is said to be
left out, with the line that gets it. `expected` lists the tests that fail, with the reason that docs/migrating.md
gives; anything else that fails, and anything of it that passes, makes the command fail.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True)
class Suite:
    """A peer's tests, and what is known to fail."""

    name: str
    stand_in: str
    tests: str
    checkout: str
    """What git clones."""
    distribution: str | None = None
    """Its source distribution, if that carries tests."""
    why_not: str = "its source distribution could not be downloaded"
    """Why its tests are not there without a checkout."""
    as_script: bool = False
    """Whether it is a file that makes some of its tests only when it is run."""
    needs: dict[str, str] = field(default_factory=dict)
    """By file of tests, a file beside it that a source distribution may lack."""
    expected: dict[str, str] = field(default_factory=dict)
    """By test, why it fails."""


SUITES = (
    Suite(
        "pytrec_eval",
        "goldrank.compat.pytrec_eval",
        "tests/pytrec_eval_tests.py",
        "--recurse-submodules https://github.com/cvangysel/pytrec_eval",
        why_not="its source distribution cannot be unpacked without building it, which downloads trec_eval",
        as_script=True,
    ),
    Suite(
        "ir_measures",
        "goldrank.compat.ir_measures",
        "tests",
        "https://github.com/terrierteam/ir_measures",
        "ir-measures",
        needs={
            "test_pytrec_eval.py": "base.py",
            "test_compat.py": "compat.qrels",
            "test_cwl_eval.py": "cwl.qrels",
        },
        expected={
            "test_providers.py::TestPytrecEval::test_empty": "C/W/L's costs and totals; last bits of P and Compat",
            "test_ranx.py::TestRanx::test_P": "SetP@5 and SetR@5, whose cut-off ranx's provider ignores, are refused",
        },
    ),
    Suite(
        "ranx",
        "goldrank.compat.ranx",
        "tests",
        "https://github.com/AmenRa/ranx",
        why_not="its source distribution carries no tests",
        expected={
            f"unit/ranx/fusion/condorcet_test.py::{name}": "the test itself makes numba's list of numba's dictionaries"
            for name in ("test_get_candidates", "test_get_results")
        },
    ),
)


class StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports of a package, and of any module in it, get the stand-in."""

    def __init__(self, name: str, module: str) -> None:
        self.name, self.module = name, module

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self.name and not fullname.startswith(self.name + "."):
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of the same name, or the nearest above it: `ir_measures.measures.accuracy` is `measures`."""
        wanted = self.module + spec.name[len(self.name) :]
        while True:
            try:
                return importlib.import_module(wanted)
            except ModuleNotFoundError:
                if wanted == self.module:
                    raise
                wanted = wanted.rpartition(".")[0]

    def exec_module(self, module: ModuleType) -> None:
        """It is loaded already; a function in it stays what it is where a module of the same name is imported."""
        module.__class__ = KeepsFunctions


class KeepsFunctions(ModuleType):
    """`ranx.metrics.bpref` is a module that is imported, and the function that has replaced it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in vars(self)):
            super().__setattr__(name, value)


def pytest_configure(config: object) -> None:
    """As a plugin of pytest, and in front of a script: put the stand-in where the package would be."""
    name, module = os.environ["GOLDRANK_PEER"].split("=")
    sys.meta_path.insert(0, StandIn(name, module))


def main(arguments: Sequence[str]) -> int:
    """Run all suites that are there; the number of those with a surprise."""
    if arguments:
        return sum(not _run_if_there(suite, Path(arguments[0]).resolve(), "it is not there") for suite in SUITES)
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        for suite in SUITES:
            _download(suite, Path(folder) / suite.name)
        return sum(not _run_if_there(suite, Path(folder), suite.why_not) for suite in SUITES)


def _run_if_there(suite: Suite, folder: Path, why_not: str) -> bool:
    """Whether a suite did what is expected of it, or is not there."""
    home = (folder / suite.name).resolve()  # pytest names tests by what a link leads to
    if (home / suite.tests).exists():
        return _run(suite, home)
    print(f"{suite.name}: NOT RUN, {why_not}. To run its suite:")
    print(f"  git clone {suite.checkout} peers/{suite.name} && make peers PEERS=peers")
    return True


def _download(suite: Suite, home: Path) -> None:
    if suite.distribution is None:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", suite.distribution]
    subprocess.run([*command, "--dest", str(home), suite.distribution], check=False)
    for archive in home.glob("*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(home, filter="data")
        for inside in next(path for path in home.iterdir() if path.is_dir()).iterdir():
            inside.rename(home / inside.name)


def _run(suite: Suite, home: Path) -> bool:
    """Whether a suite did what is expected of it."""
    print(f"{suite.name}: {home / suite.tests}", flush=True)
    environment = {**os.environ, "GOLDRANK_PEER": f"{suite.name}={suite.stand_in}", "PYTHONPATH": _path()}
    if suite.as_script:
        load = "import run_suites, runpy, sys; run_suites.pytest_configure(None); sys.argv = sys.argv[1:]; "
        command = [sys.executable, "-c", load + "runpy.run_path(sys.argv[0], run_name='__main__')", suite.tests]
        return subprocess.run(command, cwd=home, env=environment, check=False).returncode == 0
    # Some suites read files by their path from the root. The peer's own package is there too; the stand-in comes first.
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "run_suites", "-p", "no:randomly", "-n", "0"]
    root = home / suite.tests
    lacking = {test: needed for test, needed in suite.needs.items() if not (root / needed).exists()}
    for test, needed in lacking.items():
        print(f"  {test}: left out, there is no {needed}")
    command += ["--rootdir", str(root), "--confcutdir", str(root), "--import-mode=importlib"]
    told = subprocess.run(
        [*command, *(f"--ignore={root / test}" for test in lacking), suite.tests],
        cwd=home, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    failed = {
        line.split()[1].removeprefix(f"{suite.tests}/")
        for line in told.stdout.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    }
    print(told.stdout.strip().rpartition("\n")[2])
    for test in sorted(failed):
        print(f"  {test}: {suite.expected.get(test, 'NOT EXPECTED')}")
    for test in sorted(set(suite.expected) - failed):
        print(f"  {test} passes: take it off the list")
    return told.returncode in (0, 1) and failed == set(suite.expected)


def _path() -> str:
    return os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
