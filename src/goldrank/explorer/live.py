"""Values that move with judgements: one query is placed and measured again; means are those of the command line."""

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
from goldrank.engine.counts import PlacedRows, assemble
from goldrank.evaluation import pipeline
from goldrank.evaluation.pipeline import Placed
from goldrank.explorer.first_documents import DEPTH, FirstDocuments, QueryLines, QueryTop, RunTops
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import reached_depth, unjudged_bounds

AT_ONCE = 250
"""Queries whose bounds are computed at a time."""

MOST_FILLED = 100_000_000
"""Bounds that need more filled documents than this are not computed."""

Grades = Mapping[str, Grade]
QueryBounds = tuple[np.ndarray, np.ndarray]
"""Least and greatest values of queries over all grades of unjudged documents."""
Spot = tuple[int, int, int]
"""A document's rank and the first and last rank of its tie; rank 0 if it was not returned."""


def some(p: Placements, low: int, high: int) -> Placements:
    """Some consecutive queries of a table, as a new table; labels number their judgements from 0."""
    rows = slice(int(p.start[low]), int(p.start[high]))
    first, last = int(p.judged_start[low]), int(p.judged_start[high])
    label = None
    if p.label is not None:
        label = p.label[rows] - first

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
        label=label,
    )


def single(p: Placements, number: int) -> Placements:
    """One query of a table, as a new table."""
    return some(p, number, number + 1)


def has_pieces(measure: Measure) -> bool:
    """Whether a measure is about documents at ranks."""
    return measure.declaration.over == "placements" and not measure.option("judged_only")


@dataclass(frozen=True)
class PlacedWithTops(Placed):
    """A placed run that keeps its first documents: a comparison does not read the run again for them."""

    tops: Callable[[], RunTops] = field(kw_only=True)

    def top_documents(self, depth: int) -> Sequence[Sequence[str]]:
        if depth > DEPTH or tool_of(self.rules).first_documents:
            return super().top_documents(depth)
        return FirstDocuments(self.tops(), depth)


@dataclass
class LiveSystem:
    """A run, where it put judged documents, and the values of its queries under the judgements of now."""

    name: str
    original: Placed
    measures: Sequence[Measure]
    values: dict[str, np.ndarray] = field(default_factory=dict)
    """By measure, a value for each query; NaN where it does not count."""
    eager: bool = True
    """Whether bounds are computed when a page asks; else pages have none until a worker computed them."""
    changed: dict[str, Placements] = field(default_factory=dict)
    """Queries that were judged here, placed again."""
    _spots: dict[str, dict[str, Spot]] = field(default_factory=dict)
    _bounds: dict[str, QueryBounds] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _top_documents: RunTops | None = None

    def __post_init__(self) -> None:
        known = {part.name: getattr(self.original, part.name) for part in fields(Placed)}
        self.original = PlacedWithTops(**known, tops=lambda: self.top_documents)
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
        """Whether each query counts."""
        answered = self.original.placements.answered
        if self.original.rules.missing == "skip":
            return answered
        return np.ones(len(answered), bool)

    @property
    def top_documents(self) -> RunTops:
        """The first documents of each query; the first call reads the run again."""
        with self._lock:
            if self._top_documents is None:
                placed = self.original
                self._top_documents = RunTops(placed.run, self.queries, placed.placements.retrieved, placed.rules)
            return self._top_documents

    def query_top(self, query: str) -> QueryTop:
        """The first documents of one query; from its own lines, if those of all queries are not read yet."""
        if self._top_documents is None and not self.eager:
            run = self._lines.of(query)
            if run is not None:
                placed, number = self.original, self.numbers[query]
                return RunTops(run, [query], placed.placements.retrieved[number : number + 1], placed.rules).of(query)
        return self.top_documents.of(query)

    @cached_property
    def _lines(self) -> QueryLines:
        placed = self.original
        return QueryLines(placed.run, dict(zip(self.queries, placed.placements.retrieved.tolist(), strict=True)))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each query."""
        return {query: i for i, query in enumerate(self.queries)}

    def table(self, query: str) -> Placements:
        """The placements of one query under the judgements of now."""
        placements = self.changed.get(query)
        if placements is None:
            return single(self.original.placements, self.numbers[query])
        return placements

    def rank(self, query: str, doc: str, judged: Sequence[str]) -> int | None:
        """The rank of a judged document, None if it was not returned."""
        if doc not in judged:
            return None
        table = self.table(query).per_label
        assert table.label is not None
        rows = np.flatnonzero(table.label == judged.index(doc))
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
        """The summary of other values of these queries."""
        rules = self.original.rules
        queries = self.queries
        if not self.counted.all():
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
        """Whether bounds would take too long, because too many documents could be relevant."""
        p = self.original.placements
        reached = np.minimum(p.retrieved, reached_depth(measure, p))
        return self._has_bounds(measure) and int(reached.sum()) * int(reached.max(initial=0)) > MOST_FILLED

    def mean_bounds(self, measure: Measure) -> tuple[float, float] | None:
        """The bounds of the summary; also None if they take long and are not computed yet."""
        if not self.eager and str(measure) not in self._bounds:
            return None
        bounds = self.bounds(measure)
        if bounds is None:
            return None
        return self.summary(measure, bounds[0]), self.summary(measure, bounds[1])

    def query_bounds(self, measure: Measure, query: str) -> tuple[float, float]:
        """How far one query's value could move."""
        bounds, number = self._bounds.get(str(measure)), self.numbers[query]
        if bounds is not None:
            return float(bounds[0][number]), float(bounds[1][number])
        (low,), (high,) = unjudged_bounds(measure, self.table(query).per_label)
        return float(low), float(high)

    def _bound_again(self, measure: Measure, query: str) -> None:
        number, (low, high) = self.numbers[query], self._bounds[str(measure)]
        (low[number],), (high[number],) = unjudged_bounds(measure, self.table(query).per_label)

    def regrade(self, query: str, grades: Grades) -> None:
        """Place and measure one query again, with other judgements."""
        self.changed[query] = self.placed_with(query, grades)
        number = self.numbers[query]
        for measure in self.measures:
            if measure.declaration.over == "placements" and self.counted[number]:
                fresh = self.values[str(measure)].copy()  # a page may be reading the old ones
                fresh[number] = self.measured(measure, self.changed[query])
                self.values[str(measure)] = fresh
            if str(measure) in self._bounds:
                self._bound_again(measure, query)

    def placed_with(self, query: str, grades: Grades, *, exact: bool = True) -> Placements:
        """The placements of one query under other judgements.

        Unless it must be `exact`, unjudged documents below the first ones count as not returned.
        """
        old = single(self.original.placements, self.numbers[query])
        spots = self._spots.setdefault(query, _spots(old, list(self.original.qrels.text[query])))
        unplaced = [doc for doc in grades if doc not in spots]
        if unplaced or self.original.placements.shared:
            top = self.query_top(query)
            ranks = top.ranks()
            for doc in unplaced:
                spot = self._in_top(query, top, ranks.get(doc, 0))
                if spot is None and not exact:
                    continue
                if spot is None or self.original.placements.shared:
                    placements = self._placed_by_engine(query, grades)
                    spots.update(_spots(placements, list(grades)))
                    return placements
                spots[doc] = spot

        placed = [(label, *spots[doc]) for label, doc in enumerate(grades) if doc in spots and spots[doc][0]]
        label, rank, first, last = np.ascontiguousarray(np.array(placed, np.int64).reshape(-1, 4).T)
        arrays = Qrels({query: dict(grades)}, real_grades=True).arrays
        query_number = np.zeros(len(placed), np.int64)
        rows = PlacedRows(query_number, rank, label, first, last)
        return assemble(arrays, old.retrieved, old.answered, rows)

    def _placed_by_engine(self, query: str, grades: Grades) -> Placements:
        """The placements of one query for documents too deep to be known: its lines, or the run, are read again."""
        run = self._lines.of(query) or self.original.run
        qrels = Qrels({query: dict(grades)}, real_grades=True)
        return engine_for(run).place(qrels, run, self.original.rules)[0]

    def _in_top(self, query: str, top: QueryTop, rank: int) -> Spot | None:
        """The spot of a document by its rank among the first documents; None if these do not tell.

        Rank 0 is a document that is not among them: it was not returned if these are all documents.
        """
        if not rank:
            if len(top.docs) >= int(self.original.placements.retrieved[self.numbers[query]]):
                return 0, 0, 0
            return None
        first, last = int(top.tie_first[rank - 1]), int(top.tie_last[rank - 1])
        if last:
            return rank, first, last
        return None


def _spots(p: Placements, docs: Sequence[str]) -> dict[str, Spot]:
    """The spots of the judged documents of a table of one query."""
    spots: dict[str, Spot] = dict.fromkeys(docs, (0, 0, 0))
    assert p.label is not None
    columns = p.label.tolist(), p.rank.tolist(), p.tie_first.tolist(), p.tie_last.tolist()
    for label, rank, first, last in zip(*columns, strict=True):
        spots[docs[label]] = (rank, first, last)
    return spots


def placed_now(system: LiveSystem, qrels: Qrels) -> Placed:
    """The system's whole table under the judgements of now: queries that were judged here are replaced."""
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
    unchanged = (getattr(p, name)[keep] for name in ("query", "rank", "tie_first", "tie_last"))
    columns = [[column] for column in (*unchanged, p.label[keep] + shift[p.query[keep]])]
    for query, table in system.changed.items():
        number = numbers[query]
        assert table.label is not None
        label = table.label + arrays.start[number]
        new = (np.full(len(table.rank), number), table.rank, table.tie_first, table.tie_last, label)
        for column, values in zip(columns, new, strict=True):
            column.append(values)

    of_query, rank, first, last, label = map(np.concatenate, columns)
    rows = PlacedRows(of_query, rank, label, first, last)
    placements = assemble(arrays, p.retrieved, p.answered, rows)
    return replace(system.original, judgements=qrels, placements=placements)
