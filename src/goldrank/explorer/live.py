"""Values that move with judgements: one query is placed and measured again, and means are made as everywhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from goldrank.conventions import tool_of
from goldrank.data.placements import Placements
from goldrank.data.qrels import Grade, Qrels
from goldrank.engine import engine_for
from goldrank.engine.counts import assemble
from goldrank.evaluation import pipeline
from goldrank.evaluation.pipeline import Placed
from goldrank.explorer.first_documents import DEPTH, FirstDocuments, Heads, QueryHead, QueryLines
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import reached_depth, unjudged_bounds

AT_ONCE = 250
"""Queries whose bounds are made at a time."""

MOST_FILLED = 100_000_000
"""Bounds that take more than so many filled documents are not made."""

Grades = Mapping[str, Grade]
QueryBounds = tuple[np.ndarray, np.ndarray]
"""Least and greatest values of queries over all ways to judge what is unjudged."""
Spot = tuple[int, int, int]
"""A document's rank and the first and last rank of its tie; rank 0 if it was not returned."""


def some(p: Placements, low: int, high: int) -> Placements:
    """Some consecutive queries of a table, as a table of their own; labels number their judgements from 0."""
    rows = slice(int(p.start[low]), int(p.start[high]))
    first, last = int(p.judged_start[low]), int(p.judged_start[high])

    return replace(
        p,
        queries=p.queries[low:high],
        retrieved=p.retrieved[low:high],
        answered=p.answered[low:high],
        judged_start=p.judged_start[low : high + 1] - first,
        judged=p.judged[first:last],
        query=p.query[rows] - low,
        rank=p.rank[rows],
        grade=p.grade[rows],
        tie_first=p.tie_first[rows],
        tie_last=p.tie_last[rows],
        label=None if p.label is None else p.label[rows] - first,
    )


def single(p: Placements, number: int) -> Placements:
    """One query of a table, as a table of its own."""
    return some(p, number, number + 1)


def has_pieces(measure: Measure) -> bool:
    """Whether a measure is about documents at ranks."""
    return measure.declaration.over == "placements" and not measure.option("judged_only")


@dataclass(frozen=True)
class HeadedPlaced(Placed):
    """A placed run whose first documents are kept: a comparison does not read the run again for them."""

    heads: Callable[[], Heads] = field(kw_only=True)

    def top_documents(self, depth: int) -> Sequence[Sequence[str]]:
        if depth > DEPTH or tool_of(self.rules).first_documents:
            return super().top_documents(depth)
        return FirstDocuments(self.heads(), depth)


@dataclass
class LiveSystem:
    """A run, where it put judged documents, and the values of its queries as judgements stand now."""

    name: str
    original: Placed
    measures: Sequence[Measure]
    values: dict[str, np.ndarray] = field(default_factory=dict)
    """By measure, a value for each query; NaN where it does not count."""
    eager: bool = True
    """Whether bounds are made when a page asks; else pages do without them until somebody made them."""
    changed: dict[str, Placements] = field(default_factory=dict)
    """Queries that were judged here, placed again."""
    _spots: dict[str, dict[str, Spot]] = field(default_factory=dict)
    _bounds: dict[str, QueryBounds] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _heads: Heads | None = None

    def __post_init__(self) -> None:
        known = {part.name: getattr(self.original, part.name) for part in fields(Placed)}
        self.original = HeadedPlaced(**known, heads=lambda: self.heads)
        tables = pipeline.tables_of(self.original, self.measures)
        for measure in self.measures:
            values = pipeline.values_of(measure, tables, self.original.rules)
            self.values[str(measure)] = np.where(self.counted, values, np.nan)

    @property
    def queries(self) -> tuple[str, ...]:
        """All judged queries."""
        return self.original.placements.queries

    @cached_property
    def counted(self) -> np.ndarray:
        """Which queries count."""
        answered = self.original.placements.answered
        if self.original.rules.missing == "skip":
            return answered
        return np.ones(len(answered), bool)

    @property
    def heads(self) -> Heads:
        """The first documents of each query; at first this reads the run once more."""
        with self._lock:
            if self._heads is None:
                placed = self.original
                self._heads = Heads(placed.run, self.queries, placed.placements.retrieved, placed.rules)
            return self._heads

    def head(self, query: str) -> QueryHead:
        """The first documents of one query; from its own lines, if those of all queries are not there yet."""
        if self._heads is None and not self.eager:
            run = self._lines.of(query)
            if run is not None:
                placed, at = self.original, self.numbers[query]
                return Heads(run, [query], placed.placements.retrieved[at : at + 1], placed.rules).of(query)
        return self.heads.of(query)

    @cached_property
    def _lines(self) -> QueryLines:
        placed = self.original
        return QueryLines(placed.run, dict(zip(self.queries, placed.placements.retrieved.tolist(), strict=True)))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each query."""
        return {query: i for i, query in enumerate(self.queries)}

    def table(self, query: str) -> Placements:
        """The placements of one query as judgements stand now."""
        placements = self.changed.get(query)
        if placements is None:
            return single(self.original.placements, self.numbers[query])
        return placements

    def rank(self, query: str, doc: str, judged: Sequence[str]) -> int | None:
        """The rank of a judged document, None if it was not returned."""
        table = self.table(query).per_label
        assert table.label is not None
        if doc in judged:
            at = judged.index(doc)
        else:
            at = -1
        rows = np.flatnonzero(table.label == at)
        if len(rows):
            return int(table.rank[rows[0]])
        return None

    def measured(self, measure: Measure, table: Placements) -> float:
        """The value of a table of one query."""
        return float(pipeline.values_of(measure, {"placements": table}, self.original.rules)[0])

    def mean(self, measure: Measure) -> float:
        """The summary over queries, by the function of the command line."""
        return self.summary(measure, self.values[str(measure)])

    def summary(self, measure: Measure, values: np.ndarray) -> float:
        """The summary of other values of the same queries."""
        rules = self.original.rules
        if self.counted.all():
            queries = self.queries
        else:
            queries = tuple(np.array(self.queries, object)[self.counted])
        return pipeline.column_of(measure, values[self.counted], rules, queries, self.name).summary

    def bounds(self, measure: Measure) -> QueryBounds | None:
        """How far each query's value could move, None for measures that have no bounds."""
        name = str(measure)
        if not self._has_bounds(measure) or self.too_many(measure):
            return None
        if name not in self._bounds:
            p = self.original.placements.per_label
            # A few queries at a time: each may have a thousand documents that could turn out relevant.
            parts = [unjudged_bounds(measure, some(p, i, min(i + AT_ONCE, len(p)))) for i in range(0, len(p), AT_ONCE)]
            low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
            self._bounds[name] = low, high
            for query in self.changed:
                self._bound_again(measure, query)
        return self._bounds[name]

    def _has_bounds(self, measure: Measure) -> bool:
        return measure.declaration.monotone and has_pieces(measure) and self.original.rules.ties != "expected"

    def too_many(self, measure: Measure) -> bool:
        """Whether bounds would take too long, because so many documents could turn out relevant."""
        p = self.original.placements
        reached = np.minimum(p.retrieved, reached_depth(measure, p))
        return self._has_bounds(measure) and int(reached.sum()) * int(reached.max(initial=0)) > MOST_FILLED

    def mean_bounds(self, measure: Measure) -> tuple[float, float] | None:
        """The bounds of the summary; None too if they are not made yet and take long."""
        if not self.eager and str(measure) not in self._bounds:
            return None
        bounds = self.bounds(measure)
        if bounds is None:
            return None
        return (self.summary(measure, bounds[0]), self.summary(measure, bounds[1]))

    def query_bounds(self, measure: Measure, query: str) -> tuple[float, float]:
        """How far one query's value could move."""
        bounds, at = self._bounds.get(str(measure)), self.numbers[query]
        if bounds is not None:
            return float(bounds[0][at]), float(bounds[1][at])
        (low,), (high,) = unjudged_bounds(measure, self.table(query).per_label)
        return float(low), float(high)

    def _bound_again(self, measure: Measure, query: str) -> None:
        at, (low, high) = self.numbers[query], self._bounds[str(measure)]
        (low[at],), (high[at],) = unjudged_bounds(measure, self.table(query).per_label)

    def regrade(self, query: str, grades: Grades) -> None:
        """Place and measure one query again, with other judgements."""
        self.changed[query] = self.placed_with(query, grades)
        at = self.numbers[query]
        for measure in self.measures:
            if measure.declaration.over == "placements" and self.counted[at]:
                fresh = self.values[str(measure)].copy()  # a page may be reading the old ones
                fresh[at] = self.measured(measure, self.changed[query])
                self.values[str(measure)] = fresh
            if str(measure) in self._bounds:
                self._bound_again(measure, query)

    def placed_with(self, query: str, grades: Grades, *, exact: bool = True) -> Placements:
        """The placements of one query under other judgements.

        Unless it must be `exact`, documents below the head that nobody judged before count as not returned.
        """
        old = single(self.original.placements, self.numbers[query])
        spots = self._spots.setdefault(query, _spots(old, list(self.original.qrels.text[query])))
        asked = [doc for doc in grades if doc not in spots]
        if asked or self.original.placements.shared:
            head = self.head(query)
            ranks = head.ranks()
            for doc in asked:
                spot = self._in_head(query, head, ranks.get(doc, 0))
                if spot is None and not exact:
                    continue
                if spot is None or self.original.placements.shared:
                    # Too deep to be known: the engine reads the query's lines, or all of the run, once more.
                    rules = self.original.rules
                    run = self._lines.of(query) or self.original.run
                    qrels = Qrels({query: dict(grades)}, real_grades=True)
                    placements = engine_for(run).place(qrels, run, rules)[0]
                    spots.update(_spots(placements, list(grades)))
                    return placements
                spots[doc] = spot
        rows = [(spots[doc], label) for label, doc in enumerate(grades) if doc in spots and spots[doc][0]]
        rank, first, last = (np.array([spot[i] for spot, _ in rows], np.int64) for i in range(3))
        return assemble(
            Qrels({query: dict(grades)}, real_grades=True).arrays,
            old.retrieved,
            old.answered,
            np.zeros(len(rows), np.int64),
            rank,
            np.array([label for _, label in rows], np.int64),
            first,
            last,
        )

    def _in_head(self, query: str, head: QueryHead, rank: int) -> Spot | None:
        """Where a document of the head is; not returned if it is not there and the head is all; else None."""
        if not rank:
            whole = len(head.docs) >= int(self.original.placements.retrieved[self.numbers[query]])
            if whole:
                return (0, 0, 0)
            return None
        first, last = int(head.tie_first[rank - 1]), int(head.tie_last[rank - 1])
        if last:
            return (rank, first, last)
        return None


def _spots(p: Placements, docs: Sequence[str]) -> dict[str, Spot]:
    """Where the judged documents of a table of one query are."""
    spots: dict[str, Spot] = dict.fromkeys(docs, (0, 0, 0))
    assert p.label is not None
    for label, *spot in zip(*(c.tolist() for c in (p.label, p.rank, p.tie_first, p.tie_last)), strict=True):
        spots[docs[label]] = (spot[0], spot[1], spot[2])
    return spots


def placed_now(system: LiveSystem, qrels: Qrels) -> Placed:
    """The system's whole table as judgements stand now: what was judged here put in place of what was."""
    if not system.changed:
        return system.original

    p = system.original.placements
    assert p.label is not None
    arrays = qrels.arrays
    numbers = system.numbers
    changed = np.zeros(len(p), bool)
    changed[[numbers[query] for query in system.changed]] = True
    keep = ~changed[p.query]
    shift = arrays.start[:-1] - p.judged_start[:-1]
    kept = (getattr(p, name)[keep] for name in ("query", "rank", "tie_first", "tie_last"))
    columns = [[column] for column in (*kept, p.label[keep] + shift[p.query[keep]])]
    for query, table in system.changed.items():
        at = numbers[query]
        assert table.label is not None
        label = table.label + arrays.start[at]
        new = (np.full(len(table.rank), at), table.rank, table.tie_first, table.tie_last, label)
        for column, values in zip(columns, new, strict=True):
            column.append(values)

    of_query, rank, first, last, label = map(np.concatenate, columns)
    whole = assemble(arrays, p.retrieved, p.answered, of_query, rank, label, first, last)
    return replace(system.original, judgements=qrels, placements=whole)
