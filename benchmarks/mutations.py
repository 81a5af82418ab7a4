"""Do the tests notice a wrong program? Changes one thing at a time in the source, and runs the tests that execute it.

    python benchmarks/mutations.py comparison gating report -n 400       400 random mutations of three packages
    python benchmarks/mutations.py comparison -n 100 --list              print what would be changed, and run nothing

A mutation changes an operator, a constant, a condition or the words of a sentence. It is killed if a test fails, and
survives if all pass. Survivors are printed with their place: each is a missing test, or equivalent to the program.
The package `coverage` must be installed; it says which tests execute a line.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "goldrank"
FIRST_TESTS = 10
"""Tests that are run first for one mutation, from those that execute its line; the others if these pass."""
PATIENCE_SECONDS = 600
"""A mutation whose tests take longer is killed: it never ends."""

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
"""Each operator, and what it becomes."""


@dataclass(frozen=True)
class Mutation:
    """One change of one file."""

    path: Path
    line: int
    change: str
    """What is changed, for people."""
    node: int
    """The number of the changed node in a walk over the file's syntax tree."""

    @property
    def source(self) -> str:
        """The file as it becomes."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = list(ast.walk(tree))[self.node]
        for _, mutate in _changes(node):
            mutate(node)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutations_of(path: Path) -> Iterator[Mutation]:
    """Every mutation of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = _not_mutated(tree)
    for number, node in enumerate(ast.walk(tree)):
        if number not in skipped:
            for change, _ in _changes(node):
                yield Mutation(path, getattr(node, "lineno", 1), change, number)


def _not_mutated(tree: ast.AST) -> set[int]:
    """Numbers of nodes without a meaning at run time: docstrings, annotations, and what only type checkers read."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        if isinstance(node, ast.AnnAssign):
            skipped.update(ast.walk(node.annotation))
        if isinstance(node, ast.arg) and node.annotation is not None:
            skipped.update(ast.walk(node.annotation))
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            skipped.update(ast.walk(node.returns))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            skipped.update(ast.walk(node))
        if isinstance(node, ast.ImportFrom | ast.Import | ast.Assert):
            skipped.update(ast.walk(node))
    return {number for number, node in enumerate(ast.walk(tree)) if node in skipped}


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    """What can be changed in a node, if anything: words for people, and a function that changes it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        other = OPERATORS[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} -> {other.__name__}", lambda same: same.ops.__setitem__(0, other())
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in OPERATORS:
        replacement = OPERATORS[type(node.op)]
        yield f"{type(node.op).__name__} -> {replacement.__name__}", lambda same: setattr(same, "op", replacement())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition negated", lambda same: setattr(same, "test", ast.UnaryOp(ast.Not(), same.test))
    elif isinstance(node, ast.Constant):
        changed = _changed_constant(node.value)
        if changed != node.value:
            yield f"{node.value!r:.60} -> {changed!r:.60}", lambda same: setattr(same, "value", changed)


def _changed_constant(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.5 + 0.1
    if isinstance(value, str) and " " in value.strip():  # a sentence, not a key
        return value.replace(" ", " not ", 1)
    return value


def tests_by_line(folders: list[str]) -> dict[str, dict[int, list[str]]]:
    """By file and line of the source, the tests that execute it."""
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "coverage"
        settings = Path(scratch) / "settings"
        settings.write_text(f"[run]\ndata_file = {data}\nsource = {PACKAGE}\ndynamic_context = test_function\n")
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
        subprocess.run([*command, *_QUICKLY, *folders], cwd=ROOT, env=_environment(ROOT / "src"), check=False)
        script = (
            "import coverage, json, sys\n"
            f"data = coverage.CoverageData({str(data)!r}); data.read()\n"
            "lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}\n"
            "json.dump(lines, sys.stdout)"
        )
        printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    by_file: dict[str, dict[int, list[str]]] = {}
    for file, lines in json.loads(printed).items():
        by_file[file] = {}
        for line, contexts in lines.items():
            tests = sorted({test_file_of(context) for context in contexts if context} - {""})
            by_file[file][int(line)] = tests
    return by_file


def _kept_coverage(folders: list[str], file: Path | None) -> dict[str, dict[int, list[str]]]:
    """`tests_by_line`, from a file if it is there."""
    if file is None or not file.exists():
        by_file = tests_by_line(folders)
        if file is not None:
            file.write_text(json.dumps(by_file), encoding="utf-8")
        return by_file

    kept: dict[str, dict[str, list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return {path: {int(line): tests for line, tests in lines.items()} for path, lines in kept.items()}


_QUICKLY = ("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")


def _environment(source: Path) -> dict[str, str]:
    paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"PYTHONPATH": os.pathsep.join(paths), "GOLDRANK_QUICK": "1", "OPENBLAS_NUM_THREADS": "1"}
    return os.environ | settings | {"PYTHONDONTWRITEBYTECODE": "1"}


@cache
def test_file_of(context: str) -> str:
    """The file of a test and its name, from coverage's `tests.comparison.test_pair.test_words`."""
    module, _, function = context.rpartition(".")
    names = module.split(".")
    for end in range(len(names), 0, -1):
        matching = sorted(ROOT.glob(f"tests/**/{names[end - 1]}.py"))
        if matching:
            return f"{matching[0].relative_to(ROOT)}::{function}"
    return ""


def tests_of(mutation: Mutation, lines: dict[int, list[str]]) -> list[str]:
    """The tests that execute a mutation, in random order; for a line that is executed at import, those of its file."""
    tests = lines.get(mutation.line, [])
    if not tests and mutation.line in lines:
        tests = sorted({test for others in lines.values() for test in others})
    return random.Random(0).sample(tests, len(tests))


def passes(source: Path, tests: list[str]) -> bool:
    """Whether these tests pass with a copy of the source."""
    assert tests, "pytest without a test runs all of them"
    command = [sys.executable, "-m", "pytest", *_QUICKLY, *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=_environment(source), capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def survives(mutation: Mutation, copied: Path, tests: list[str]) -> bool:
    """Whether all tests pass that execute the changed line; they must pass without the change."""
    target = copied / mutation.path.relative_to(PACKAGE.parent)
    original = target.read_text(encoding="utf-8")
    target.write_text(mutation.source, encoding="utf-8")
    try:
        has_survived = passes(copied, tests[:FIRST_TESTS])
        if has_survived and tests[FIRST_TESTS:]:
            has_survived = passes(copied, tests[FIRST_TESTS:])
    finally:
        target.write_text(original, encoding="utf-8")
    return has_survived


def main() -> None:
    """Mutate, run tests, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "packages", nargs="+", help="folders of src/goldrank; their tests are in tests/ under the same name"
    )
    parser.add_argument("-n", type=int, default=100, help="how many mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="*", default=[], help="more folders of tests")
    parser.add_argument("--list", action="store_true", help="print mutations, run nothing")
    parser.add_argument("--coverage", type=Path, help="a file that keeps which tests execute which lines")
    arguments = parser.parse_args()

    paths = [path for package in arguments.packages for path in sorted((PACKAGE / package).rglob("*.py"))]
    every = [mutation for path in paths for mutation in mutations_of(path)]
    chosen = random.Random(arguments.seed).sample(every, min(arguments.n, len(every)))
    print(f"{len(every):,} mutations are possible, {len(chosen):,} are tried", flush=True)
    if arguments.list:
        for mutation in chosen:
            print(f"{mutation.path.relative_to(PACKAGE)}:{mutation.line}: {mutation.change}")
        return

    folders = [f"tests/{package}" for package in arguments.packages] + arguments.tests
    lines = _kept_coverage([folder for folder in folders if (ROOT / folder).exists()], arguments.coverage)
    survivors = not_executed = 0
    with tempfile.TemporaryDirectory() as scratch:
        copied = Path(scratch)
        shutil.copytree(PACKAGE, copied / "goldrank", ignore=shutil.ignore_patterns("__pycache__"))
        executed = [(mutation, tests_of(mutation, lines.get(str(mutation.path), {}))) for mutation in chosen]
        for _, tests in executed[:2]:
            assert not tests or passes(copied, tests[:FIRST_TESTS]), f"tests fail without any mutation: {tests}"

        for mutation, tests in executed:
            place = f"{mutation.path.relative_to(PACKAGE)}:{mutation.line}: {mutation.change}"
            if not tests:
                not_executed += 1
                print(f"not executed  {place}", flush=True)
            elif survives(mutation, copied, tests):
                survivors += 1
                print(f"survived      {place}", flush=True)

    tried = len(chosen) - not_executed
    print(
        f"{survivors} of {tried} executed mutations survived; {not_executed} are executed by no test of these folders"
    )


if __name__ == "__main__":
    main()
