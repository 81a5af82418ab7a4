"""The examples in docstrings give what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import goldrank

SOURCE = Path(goldrank.__file__).parent
MODULES = {
    ".".join(("goldrank", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
}
NAMES = ("evaluate", "evaluate_arrays", "evaluate_texts", "Answers", "Evidence", "Matching", "Catalogue")
"""What examples use without importing it, as a reader of the documentation would."""


def run(module: object, name: str) -> tuple[int, str]:
    """How many examples a module has, and what is wrong with them."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    wrong: list[str] = []
    known = {name: getattr(goldrank, name) for name in NAMES}
    tests = doctest.DocTestFinder().find(module, name, extraglobs=known)
    for test in tests:
        runner.run(test, out=wrong.append)
    return sum(len(test.examples) for test in tests), "".join(wrong)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    count, wrong = run(import_module(name), name)
    assert not wrong, wrong
    assert count == MODULES[name].read_text("utf-8").count(">>> "), "an example is not found by doctest"


def test_wrong_examples_are_seen() -> None:
    def wrong() -> None:
        """
        >>> 1 + 1
        3
        """

    count, said = run(wrong, "wrong")
    assert count == 1
    assert "Expected:\n    3\nGot:\n    2\n" in said
