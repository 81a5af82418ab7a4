"""What came of an input on one route, and whether all routes agree."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import click

from goldrank import GoldrankError
from goldrank.core import core, portable
from goldrank.io import sources
from tests.fuzz import cannot_say

T = TypeVar("T")
MEASURES = ["AP", "nDCG@3", "P@2", "RR", "NumRet", "Bpref"]


@dataclass(frozen=True)
class Outcome:
    """A value that can be compared with `==`, or a refusal with its words."""

    value: Any = None
    refused: str = ""
    words: str = ""

    def __str__(self) -> str:
        return f"{self.refused}: {self.words}"[:300] if self.refused else f"value {self.value!r:.600}"


class Difference(Exception):  # noqa: N818 - what the fuzzer looks for
    """Two routes do not agree."""


def outcome(action: Callable[[], Any]) -> Outcome:
    """What an action gives. Exceptions that are not goldrank's are not caught: they are findings."""
    try:
        return Outcome(action())
    except (GoldrankError, click.UsageError) as error:
        return Outcome(refused=type(error).__name__, words=str(error))


def agree(outcomes: Mapping[str, Outcome]) -> None:
    """All routes must have the same value bit for bit, or all must refuse. The words may differ: cannot_say.FAULTS."""
    (first, one), *others = outcomes.items()
    for route, other in others:
        same = bool(one.refused) == bool(other.refused) and one.value == other.value
        if not same:
            where = "" if one.refused or other.refused else f"\n{_first_difference(one.value, other.value)}"
            raise Difference(f"{first} -> {one}\n{route} -> {other}{where}")


def _first_difference(one: Any, other: Any, path: str = "") -> str:
    """Where two values differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in one or key not in other or one[key] != other[key]:
                return _first_difference(one.get(key, "nothing"), other.get(key, "nothing"), f"{path}[{key!r:.60}]")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        at = next((i for i, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]), 0)
        return _first_difference(one[at], other[at], f"{path}[{at}]")
    return f"at {path}: {one!r:.200} | {other!r:.200}"


@cache
def _holders(modules: int) -> list[Any]:
    """Modules that hold the core; sought again where modules came."""
    named = [module for name, module in list(sys.modules.items()) if name.startswith("goldrank.")]
    return [module for module in named if vars(module).get("core") is core]


@contextlib.contextmanager
def without_core() -> Iterator[None]:
    """As with GOLDRANK_PURE=1."""
    holders = _holders(len(sys.modules))
    for module in holders:
        module.core = portable
    try:
        yield
    finally:
        for module in holders:
            module.core = core


@contextlib.contextmanager
def pieces_of(size: int, data: bytes = b"") -> Iterator[None]:
    """Files are read in pieces of so many bytes. Joining thousands of them for one line takes long: that is no hang."""
    before = sources.PIECE
    sources.PIECE = max(size, len(data) // 500)
    try:
        yield
    finally:
        sources.PIECE = before


def drawn(routes: Sequence[T], seed: int) -> list[T]:
    """The routes of a mutation that are tried: all, or as many as GOLDRANK_FUZZ_ROUTES says, drawn by its seed."""
    most = int(os.environ.get("GOLDRANK_FUZZ_ROUTES") or len(routes))
    return list(routes) if most >= len(routes) else random.Random(seed).sample(routes, most)


def bits(value: float) -> str:
    """A double, exactly. -0 and 0 are one number, as they are in every comparison; JSON has no -0."""
    return (float(value) + 0.0).hex() if value == value else "nan"


def run_value(run: Any) -> Any:
    """Everything that a run holds. Its documents are in the order of the file; queries are not in any."""
    return {query: [(doc, bits(score)) for doc, score in docs.items()] for query, docs in run.results.items()}


def qrels_value(qrels: Any) -> Any:
    return {query: {doc: (type(grade).__name__, grade) for doc, grade in docs.items()} for query, docs in qrels.items()}


def scores_value(scores: Any, notes: bool = False) -> Any:
    """Every value of every query, the summaries and counts; with `notes`, also what only the format can say."""
    found = {
        name: (bits(column.summary), dict(zip(scores.queries, map(bits, column.values), strict=True)))
        for name, column in scores.columns.items()
    }
    if notes:
        return found, dict(scores.counts), sorted(note.code for note in scores.notes)
    return found, {name: count for name, count in scores.counts.items() if name not in cannot_say.COUNTS}
