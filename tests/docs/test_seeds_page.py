"""docs/seeds.md: all rows are there, and what they name exists."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from typing import Any

import numpy as np
import places
import pytest

from goldrank.measures import REGISTRY

ROOT = places.ROOT
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.splitlines()
    if re.match(r"\| \d{3}\.", line)
]
SIZES = {"000": 31, "001": 33, "002": 19, "003": 16, "004": 14}
"""How many rows each document has."""


def test_all_rows_are_there() -> None:
    expected = [f"{seed}.{n:02}" for seed, size in SIZES.items() for n in range(1, size + 1)]
    assert [row[0] for row in ROWS] == expected
    assert len(ROWS) == 113


def resolve(name: str) -> Any:
    """What a dotted name means: the longest module, then attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} is nothing")


@cache
def names(path: str) -> set[str]:
    """The functions of a file of tests; hundreds of rows ask for few files."""
    return {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}


def test_rows_have_the_cells_of_their_table() -> None:
    """A bar too many moves what follows into the next column."""
    columns = None
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        found = line.count("|")
        assert found == (columns or found), line
        columns = columns or found


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_links_resolve(row: list[str]) -> None:
    where, test = row[2], row[3]
    assert len(row) == 6
    named = re.findall(r"`(goldrank\.[\w.]+)`", where)
    assert named, "a row names at least one place"
    for name in named:
        resolve(name)
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", test)
    assert tests
    assert test == ", ".join(f"`{path}::{function}`" for path, function in tests)
    for path, function in tests:
        assert function in names(path)


SETUP = dict(
    zip(SIZES, re.findall(r"^### \d{3} .*?\n\n```python\n(.*?)```", PAGE, re.MULTILINE + re.DOTALL), strict=True)
)


@cache
def names_of(seed: str) -> dict[str, Any]:
    """What the lines above a document's table define."""
    found: dict[str, Any] = {}
    exec(compile(SETUP[seed], f"docs/seeds.md, {seed}", "exec"), found)
    return found


def is_number(value: object) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(map(is_number, value))
    return isinstance(value, int | float | np.number | np.bool_)


def agree(ours: Any, theirs: Any) -> bool:
    """Equal numbers, one by one, or words on both sides."""
    if not is_number(ours):
        return bool(ours) and bool(theirs) and not is_number(theirs)
    if isinstance(ours, list | tuple):
        return is_number(theirs) and len(ours) == len(theirs) and all(map(agree, ours, theirs))
    return is_number(theirs) and type(ours) is not str and bool(ours == pytest.approx(theirs, rel=1e-12, nan_ok=True))


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_both_ways_give_the_same(row: list[str]) -> None:
    names = names_of(row[0][:3])
    facade, native = (cell.strip("`") for cell in row[4:])
    theirs = eval(native, dict(names))
    if facade == "words":
        assert theirs
        return
    assert agree(eval(facade, dict(names)), theirs), (eval(facade, dict(names)), theirs)


def test_most_rows_have_numbers_or_words_of_the_module() -> None:
    without = [row[0] for row in ROWS if row[4] == "words"]
    assert all(number.startswith("001.") or number == "003.11" for number in without)
    numeric = [row for row in ROWS if row[4] != "words" and is_number(eval(row[4].strip("`"), names_of(row[0][:3])))]
    assert len(numeric) > 70


def test_agree_can_fail() -> None:
    for ours, theirs in ((0.5, 0.4), ([1, 2], [1]), ("words", 1.0), (1.0, "words"), ("", "words"), ([], [])):
        assert not agree(ours, theirs)
    assert agree([0.5, True], (0.5, 1))


def test_resolve_can_fail() -> None:
    with pytest.raises(AttributeError):
        resolve("goldrank.compat.axion.NoSuchMetric")


def test_measures_cite_their_source() -> None:
    for name in ("P", "R", "RR", "AP", "nDCG", "Success"):
        assert re.search(r"\b(19|20)\d\d\b", REGISTRY[name].cite), name
