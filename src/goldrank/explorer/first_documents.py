"""The first documents of each query of a run, with their scores: compact, because there may be millions; and the lines
of one query of a large run, found in its file without reading the whole file again."""

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
class QueryTop:
    """The first documents of one query."""

    docs: tuple[str, ...]
    scores: np.ndarray
    tie_first: np.ndarray
    """The first rank of each document's group of equal scores."""
    tie_last: np.ndarray
    """The last rank of the group; 0 if the group goes on below the first documents, where it is not known."""

    def ranks(self) -> dict[str, int]:
        """The rank of each document; the first rank if it is repeated."""
        return {doc: rank for rank, doc in zip(range(len(self.docs), 0, -1), reversed(self.docs), strict=True)}


class RunTops:
    """The first documents of all queries of a run. All ids are in one bytes object."""

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

    def _of(self, query: str) -> QueryTop:
        """The first documents of a query."""
        number = self._number[query]
        scores = self._scores[self._start[number] : self._start[number + 1]]
        equal = compared(scores, self._rules)
        begins_group = np.zeros(0, bool)
        if len(equal):
            begins_group = np.concatenate(([True], equal[1:] != equal[:-1]))

        first = np.flatnonzero(begins_group) + 1
        group = np.cumsum(begins_group) - 1
        last = np.append(first[1:] - 1, len(equal))
        if len(equal) and int(self._retrieved[number]) > len(equal):
            last[-1] = 0

        return QueryTop(self.docs(number), scores, first[group], last[group])


@dataclass(frozen=True)
class FirstDocuments(Sequence[Sequence[str]]):
    """The first documents of each query; bytes become texts when they are read."""

    top_documents: RunTops
    depth: int

    def __len__(self) -> int:
        return len(self.top_documents)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if number >= len(self):
            raise IndexError(number)
        return self.top_documents.docs(number, self.depth)


MOST_CACHED = 32
"""Queries in the cache."""


class QueryLines:
    """Finds a query in a plain file of TREC lines, if its lines are adjacent; finds nothing in other files."""

    def __init__(self, run: Run, retrieved: Mapping[str, int]) -> None:
        self._retrieved = retrieved
        self._runs: dict[str, Run | None] = {}
        self._source: ByteSource | None = None
        if not isinstance(run.source, BlockSource):
            return

        files = list(run.source.files())
        if len(files) == 1 and isinstance(files[0], ByteSource):
            file = files[0]
            if file.path is not None and file.compression is None and not file.old_mac:
                self._source = file

    def of(self, query: str) -> Run | None:
        """The query's lines as a run; None if they are not found all together."""
        if query not in self._runs:
            while len(self._runs) >= MOST_CACHED:
                self._runs.pop(next(iter(self._runs)), None)
            self._runs[query] = self._read(query)
        return self._runs[query]

    def _read(self, query: str) -> Run | None:
        count, name = self._retrieved.get(query, 0), ids.encode(query)
        if self._source is None or not count:
            return None

        assert self._source.path is not None
        self._source.verify()
        with open(self._source.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            lines = _lines_with(data, name + b" ", count) or _lines_with(data, name + b"\t", count)

        # As many lines as were placed: these are all lines of the query.
        if len(lines) != count or any(len(line.split()) != 6 for line in lines):
            return None
        return read_run(streams.BytesIO(b"".join(lines)), format="trec")


def _lines_with(data: mmap.mmap, prefix: bytes, count: int) -> list[bytes]:
    """The adjacent lines that begin with a prefix, one more than `count` at most."""
    offset = 0
    if data[: len(prefix)] != prefix:
        offset = data.find(b"\n" + prefix) + 1
        if offset == 0:
            return []

    data.seek(offset)
    lines: list[bytes] = []
    for line in iter(data.readline, b""):
        if len(lines) > count or not line.startswith(prefix):
            break
        lines.append(line)
    return lines
