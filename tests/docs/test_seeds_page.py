"""docs/seeds.md: all rows are there, and what they name exists."""

from __future__ import annotations

import ast
import importlib
import re
from typing import Any

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
SIZES = {"000": 31, "001": 33, "002": 18, "003": 16, "004": 14}
"""How many rows each document has."""


def test_all_rows_are_there() -> None:
    expected = [f"{seed}.{n:02}" for seed, size in SIZES.items() for n in range(1, size + 1)]
    assert [row[0] for row in ROWS] == expected
    assert len(ROWS) == 112


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


def names(path: str) -> set[str]:
    return {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_links_resolve(row: list[str]) -> None:
    where, test = row[2], row[3]
    named = re.findall(r"`(goldrank\.[\w.]+)`", where)
    assert named, "a row names at least one place"
    for name in named:
        resolve(name)
    (path, function), *more = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", test)
    assert not more
    assert function in names(path)


def test_resolve_can_fail() -> None:
    with pytest.raises(AttributeError):
        resolve("goldrank.compat.axion.NoSuchMetric")


def test_measures_cite_their_source() -> None:
    for name in ("P", "R", "RR", "AP", "nDCG", "Success"):
        assert re.search(r"\b(19|20)\d\d\b", REGISTRY[name].cite), name
