"""Run the peers' own test suites through the stand-ins of goldrank.compat: `make peers`.

    python tests/peers/run_suites.py [folder]

The folder holds a checkout of each peer under its name (pytrec_eval, with its trec_eval inside; ir_measures; ranx).
Without one, source distributions are downloaded into a temporary folder; those of pytrec_eval-terrier and ir_measures
carry no tests, so that they need a checkout. Nothing of the peers is installed or kept. A suite that is not there is
said to be left out. `expected` lists the tests that fail, with the reason that docs/migrating.md gives; anything else
that fails, and anything of it that passes, makes the command fail.
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
    distribution: str
    as_script: bool = False
    """Whether it is a file that makes some of its tests only when it is run."""
    expected: dict[str, str] = field(default_factory=dict)
    """By test, why it fails."""


SUITES = (
    Suite("pytrec_eval", "goldrank.compat.pytrec_eval", "tests/pytrec_eval_tests.py", "pytrec-eval-terrier", True),
    Suite(
        "ir_measures",
        "goldrank.compat.ir_measures",
        "tests",
        "ir-measures",
        expected={
            "test_providers.py::TestPytrecEval::test_empty": "C/W/L's costs and totals; last bits of P and Compat",
            "test_ranx.py::TestRanx::test_P": "SetP@5 and SetR@5, whose cut-off ranx's provider ignores, are refused",
        },
    ),
    Suite("ranx", "goldrank.compat.ranx", "tests", "ranx"),
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
        """It is loaded already."""


def pytest_configure(config: object) -> None:
    """As a plugin of pytest, and in front of a script: put the stand-in where the package would be."""
    name, module = os.environ["GOLDRANK_PEER"].split("=")
    sys.meta_path.insert(0, StandIn(name, module))


def main(arguments: Sequence[str]) -> int:
    """Run all suites that are there; the number of those with a surprise."""
    folder = Path(arguments[0]).resolve() if arguments else Path(tempfile.mkdtemp(prefix="peers-"))
    surprises = 0
    for suite in SUITES:
        home = folder / suite.name
        if not arguments:
            _download(suite, home)
        if importlib.util.find_spec(suite.stand_in) is None:
            print(f"{suite.name}: left out, there is no {suite.stand_in}")
        elif not (home / suite.tests).exists():
            print(f"{suite.name}: left out, there is no {home / suite.tests}")
        else:
            surprises += not _run(suite, home)
    return surprises


def _download(suite: Suite, home: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
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
    # The peer's own package must not be found beside its tests, so that they run from inside their folder.
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "run_suites", "-p", "no:randomly", "-n", "0"]
    told = subprocess.run(
        [*command, "--rootdir", str(home / suite.tests), "--import-mode=importlib", "."],
        cwd=home / suite.tests, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    failed = {line.split()[1] for line in told.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))}
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
