"""Engines, which make `Placements` from `Qrels` and a `Run`: they rank and join, and contain no measure.

To add an engine: a file here with an object `ENGINE` that has the methods of `Engine`, and a line in `ENGINES`.
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
"""The module of each engine, by its name in sources of runs (`RunSource.engine`)."""


class Engine(Protocol):
    """Places the judged documents of a kind of run. All engines give equal placements for equal input."""

    holds_runs: bool = True
    """Whether runs are in memory or in Spark, so that reading them again opens no file."""

    def place(self, qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
        """The rank of each judged document in the run, and counts of other facts about the run."""
        ...

    def top_documents(self, run: Run, queries: Sequence[str], depth: int, convention: Convention) -> list[list[str]]:
        """The first `depth` documents of each query, best first; an empty list for a query that is not in the run."""
        ...

    def place_with_top(
        self, qrels: Qrels, run: Run, convention: Convention, top: TopRequest
    ) -> tuple[Placements, RunCounts, list[list[str]]]:
        """`place`, and the first documents of each judged query. A run that is read piece by piece is read once."""
        placements, counts = self.place(qrels, run, convention)
        return placements, counts, self.top_documents(run, placements.queries, top.depth, top.convention)


@dataclass(frozen=True)
class TopRequest:
    """A request for the first documents of each query: how many, and the rules of their order."""

    depth: int
    convention: Convention


class ScoredEngine(Engine, Protocol):
    """An engine whose runs are on this machine, so that it can return scores of documents."""

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
