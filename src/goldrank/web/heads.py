"""The first documents of each query of a run, with their scores: compact, because there may be millions."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.conventions import Convention
from goldrank.data.run import Run
from goldrank.engine import ScoredEngine, engine_for
from goldrank.engine.counts import compared
from goldrank.errors import InputError

DEPTH = 100
"""Documents of each query that are kept."""


@dataclass(frozen=True)
class Head:
    """The first documents of one query."""

    docs: tuple[str, ...]
    scores: np.ndarray
    tie_first: np.ndarray
    """The first rank of each document's group of equal scores."""
    tie_last: np.ndarray
    """The last one; of a group that goes on below the head it is not known, and is 0."""

    def ranks(self) -> dict[str, int]:
        """The rank of each document; of one that is repeated the first."""
        return {doc: rank for rank, doc in zip(range(len(self.docs), 0, -1), reversed(self.docs), strict=True)}


class Heads:
    """The heads of all queries of a run. Ids are one stretch of bytes."""

    def __init__(self, run: Run, queries: Sequence[str], retrieved: np.ndarray, rules: Convention) -> None:
        engine: ScoredEngine = engine_for(run)  # type: ignore[assignment]
        if not hasattr(engine, "top_scored"):
            raise InputError("a run in Spark cannot be explored", where=run.name, hint="Write it to a file.")
        self._rules = rules
        self._retrieved = retrieved
        self._number = {query: i for i, query in enumerate(queries)}
        raw, ends, scores = bytearray(), array("q", [0]), array("d")
        counts = np.zeros(len(queries), np.int64)
        for i, (docs, values) in enumerate(engine.top_scored(run, queries, DEPTH, rules)):
            for doc in docs:
                raw += ids.encode(doc)
                ends.append(len(raw))
            counts[i] = len(docs)
            scores.extend(values)
        self._raw = bytes(raw)
        self._ends = np.array(ends)
        self._start = np.concatenate(([0], np.cumsum(counts)))
        self._scores = np.array(scores)
        self.of = lru_cache(maxsize=512)(self._of)

    def __len__(self) -> int:
        return len(self._number)

    def docs(self, number: int, depth: int = DEPTH) -> tuple[str, ...]:
        """The first documents of a query, by its number."""
        low = int(self._start[number])
        high = min(int(self._start[number + 1]), low + depth)
        ends = self._ends[low : high + 1].tolist()
        return ids.decode_all(self._raw[a:b] for a, b in pairwise(ends))

    def _of(self, query: str) -> Head:
        """The head of a query."""
        number = self._number[query]
        scores = self._scores[self._start[number] : self._start[number + 1]]
        equal = compared(scores, self._rules)
        fresh = np.concatenate(([True], equal[1:] != equal[:-1])) if len(equal) else np.zeros(0, bool)
        first = np.flatnonzero(fresh) + 1
        group = np.cumsum(fresh) - 1
        last = np.append(first[1:] - 1, len(equal))
        if len(equal) and int(self._retrieved[number]) > len(equal):
            last[-1] = 0
        return Head(self.docs(number), scores, first[group], last[group])


@dataclass(frozen=True)
class FirstDocuments(Sequence[Sequence[str]]):
    """The first documents of each query, which are made texts when somebody looks."""

    heads: Heads
    depth: int

    def __len__(self) -> int:
        return len(self.heads)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if number >= len(self):
            raise IndexError(number)
        return self.heads.docs(number, self.depth)
