"""The examples in docstrings give what they show."""

from __future__ import annotations

import doctest
import inspect
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


@pytest.mark.usefixtures("registry")  # an example declares a measure
@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    count, wrong = run(import_module(name), name)
    assert not wrong, wrong
    assert count == MODULES[name].read_text("utf-8").count(">>> "), "an example is not found by doctest"


FUNCTIONS = [name for name in goldrank.__all__ if inspect.isfunction(getattr(goldrank, name))]
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_verb_says_what_it_takes_and_returns(name: str) -> None:
    verb = getattr(goldrank, name)
    text = inspect.getdoc(verb)
    assert text is not None
    missing = [section for section in SECTIONS if f"{section}\n{'-' * len(section)}" not in text]
    assert missing == []

    described = text.partition("Parameters\n---")[2].partition("Returns\n---")[0]
    names = {
        word.strip().lstrip("*") for line in described.splitlines() for word in line.partition(" : ")[0].split(",")
    }
    assert set(inspect.signature(verb).parameters) - names == set()


def test_verbs_are_found() -> None:
    assert {"evaluate", "compare", "gate", "judge", "fuse", "read_run"} <= set(FUNCTIONS)


def test_wrong_examples_are_seen() -> None:
    def wrong() -> None:
        """
        >>> 1 + 1
        3
        """

    count, said = run(wrong, "wrong")
    assert count == 1
    assert "Expected:\n    3\nGot:\n    2\n" in said
