"""Qrels x Run -> Placements. An engine ranks and joins; it contains no measure.

To add one: a file here with an object `ENGINE` that has the methods of `Engine`, and a line in `ENGINES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol

from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine.counts import RunCounts

ENGINES = {
    "memory": "goldrank.engine.memory",
    "streaming": "goldrank.engine.streaming",
    "spark": "goldrank.engine.spark_engine",
    "arrays": "goldrank.engine.array_engine",
}
"""Where each engine lives, by the name that sources of runs give (`RunSource.engine`)."""


class Engine(Protocol):
    """What places the judged documents of a kind of run. Equal input gives equal placements, whichever engine."""

    holds_runs: bool = True
    """Whether runs are at hand, so that looking at them again reads no file."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        """Where the run put each judged document, and what was seen on the way."""
        ...

    def top_documents(self, run: Run, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
        """The first `depth` documents of each query, best first; none for a query that is not in the run."""
        ...

    def place_with_top(
        self, qrels: Qrels, run: Run, convention: Convention, top: TopRequest
    ) -> tuple[Placements, RunCounts, list[list[str]]]:
        """As `place`, and the first documents of each judged query. A run that is read piece by piece is read once."""
        placements, counts = self.place(qrels, run, convention)
        return placements, counts, self.top_documents(run, placements.queries, top.depth, top.convention)


@dataclass(frozen=True)
class TopRequest:
    """How many first documents of each query are wanted, and by which rules they are ordered."""

    depth: int
    convention: Convention


class ScoredEngine(Engine, Protocol):
    """An engine whose runs are on this machine, so that scores of single documents can be had."""

    def top_scored(
        self, run: Run, queries: Sequence[str], depth: int, convention: Convention
    ) -> Iterator[tuple[list[str], list[float]]]:
        """For each query its first `depth` documents, best first, and their scores."""
        ...

    def top_documents(self, run: Run, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
        return [docs for docs, _ in self.top_scored(run, queries, depth, convention)]


def engine_for(run: Run) -> Engine:
    """The engine that places a run."""
    return _engine(run.source.engine)


@cache
def _engine(name: str) -> Engine:
    engine: Engine = import_module(ENGINES[name]).ENGINE
    return engine


__all__ = ["ENGINES", "Engine", "RunCounts", "ScoredEngine", "TopRequest", "engine_for"]
