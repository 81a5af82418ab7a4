"""The first documents of each query of a run, with their scores: compact, because there may be millions; and the lines
of one query of a large run, found in the file, so that the rest of it is not read again."""

from __future__ import annotations

import io as streams
import mmap
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.conventions import Convention
from goldrank.data.blocks import BlockSource
from goldrank.data.run import Run
from goldrank.engine import ScoredEngine, engine_for
from goldrank.engine.counts import compared
from goldrank.io import read_run
from goldrank.io.sources import ByteSource

DEPTH = 100
"""Documents of each query that are kept."""


@dataclass(frozen=True)
class QueryHead:
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

    def _of(self, query: str) -> QueryHead:
        """The head of a query."""
        number = self._number[query]
        scores = self._scores[self._start[number] : self._start[number + 1]]
        equal = compared(scores, self._rules)
        if len(equal):
            fresh = np.concatenate(([True], equal[1:] != equal[:-1]))
        else:
            fresh = np.zeros(0, bool)

        first = np.flatnonzero(fresh) + 1
        group = np.cumsum(fresh) - 1
        last = np.append(first[1:] - 1, len(equal))
        if len(equal) and int(self._retrieved[number]) > len(equal):
            last[-1] = 0

        return QueryHead(self.docs(number), scores, first[group], last[group])


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


KEPT = 32
"""Queries whose lines are kept."""


class QueryLines:
    """Finds a query in a plain file of TREC lines, where its lines stand together; else in nothing."""

    def __init__(self, run: Run, retrieved: Mapping[str, int]) -> None:
        self._retrieved = retrieved
        self._kept: dict[str, Run | None] = {}
        if isinstance(run.source, BlockSource):
            files = list(run.source.files())
        else:
            files = []

        if len(files) == 1 and isinstance(files[0], ByteSource):
            only = files[0]
        else:
            only = None

        plain = only is not None and only.path is not None and only.compression is None and not only.old_mac
        if plain:
            self._source = only
        else:
            self._source = None

    def of(self, query: str) -> Run | None:
        """The query's lines as a run; None if they are not found all together."""
        if query not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[query] = run = self._found(query)
            return run
        return self._kept[query]

    def _found(self, query: str) -> Run | None:
        wanted, name = self._retrieved.get(query, 0), ids.encode(query)
        if self._source is None or not wanted:
            return None

        assert self._source.path is not None
        self._source.verify()
        with open(self._source.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            lines: list[bytes] = []
            for blank in (b" ", b"\t"):
                head = name + blank
                if data[: len(head)] == head:
                    at = 0
                else:
                    at = data.find(b"\n" + head) + 1
                if not at and data[: len(head)] != head:
                    continue
                data.seek(at)
                while len(lines) <= wanted and (line := data.readline()).startswith(head):
                    lines.append(line)
                break

        # As many as were placed: so they are all, and none is anywhere else.
        if len(lines) != wanted or any(len(line.split()) != 6 for line in lines):
            return None
        return read_run(streams.BytesIO(b"".join(lines)), format="trec")
