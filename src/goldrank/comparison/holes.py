"""What unjudged documents could change between two systems: bounds of each query's difference, and what to judge.

An unjudged document has one unknown grade, 0 or the query's highest, and it is the same in both rankings. So a
document that both systems return moves both of them, and judging more does not separate two systems that differ in
judged documents alone. Holes of a pair are unjudged documents within the measure's reach in either ranking.
How a measure follows them is declared beside its kernel (`Declaration.holes`):

- linear: the h holes that help one system most are the first h by effect, so that trying every h is exact;
- first: no hole or one: a second relevant document changes nothing that helps;
- any: all 2^h ways up to 8 holes; beyond, the bounds of each system by itself, which are then called "at most".

All pairs of a finder share the work, so that twelve systems take little longer than two: their bounds are then wider.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from goldrank.comparison.statistics import on_scale
from goldrank.data.placements import Placements
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import (
    BANDS,
    copies,
    count_holes,
    fill,
    find_holes,
    hole_reach,
    hole_rule,
    judging_order,
    relevance_level,
    relevant_shares,
    top_grade,
)

ALL_WAYS_UP_TO = 8
"""Up to this number of holes in a query, all ways to judge them are tried."""
MOST_WAYS = 2**16
"""How many ways are tried for a measure, shared by all pairs, queries with few holes first."""
FEWEST_WAYS = 2**8
"""How many are tried for each pair at least."""
AT_ONCE = 2**16
MOST_DOCUMENTS = 2_000_000
"""How many documents of a system are kept by their ids."""
MOST_FILLED = 3_000_000
"""Bounds 'at most' that take more work than this, shared by all systems, are the ends of the measure's scale."""


@dataclass(frozen=True)
class ToJudge:
    """An unjudged document, where the two systems have it, and what its judgement would do."""

    query: str
    doc: str
    before: int | None
    """Its rank in the first system; None if it is not within the measure's reach there."""
    after: int | None
    move: float
    """How far the query's difference moves if it turns out relevant."""
    chance: float
    """How often documents that were judged at such ranks are relevant."""


@dataclass(frozen=True)
class System:
    """What must be known about a system: where judged documents are, and the first documents by id."""

    placements: Placements
    top_documents: Sequence[Sequence[str]]
    """The first documents of each query, best first."""
    depth: int
    """How many of them are known, where a query has as many."""


class Ends(NamedTuple):
    """The least and greatest value of each query."""

    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class PairHoles:
    """One measure of two systems under all judgements of what is unjudged; arrays have one entry per query.

    Differences are the second system's value minus `factor` times the first one's, on the logarithm for geometric
    means.
    """

    queries: tuple[str, ...]
    observed: np.ndarray
    """The difference with unjudged documents as not relevant."""
    low: np.ndarray
    high: np.ndarray
    condensed: np.ndarray
    """The difference if unjudged documents are taken out of both rankings."""
    at_most: np.ndarray
    """Whether the bounds may be wider than what judgements can do."""
    query: np.ndarray
    """The query of each hole; these arrays have one entry per hole."""
    doc: Sequence[str]
    before: np.ndarray
    """Ranks in the first system, 0 where the document is not within reach."""
    after: np.ndarray
    moves: Callable[[], np.ndarray]
    """How far each hole, judged relevant, moves the difference of its query; computed on request."""
    shares: np.ndarray
    """By band of ranks, the share of relevant documents among the judged ones."""
    barren: np.ndarray
    """Whether a query has no relevant document."""
    judged_a: float
    """The share of documents within the measure's reach that are judged, in the first system."""
    judged_b: float
    ends: Callable[[], tuple[Ends, Ends]]
    """What each system could have, under the same judgements as the difference; computed on request."""

    @cached_property
    def each_system(self) -> tuple[Ends, Ends]:
        """What each of the two systems could have, if the documents of both are judged."""
        return self.ends()

    @cached_property
    def move(self) -> np.ndarray:
        """How far each hole, judged relevant, moves the difference of its query."""
        return self.moves()

    @property
    def any(self) -> bool:
        """Whether there is any hole."""
        return bool(len(self.query) or self.at_most.any())

    def judge_first(self, weight: np.ndarray, limit: int, verdict: float = 0.0) -> list[ToJudge]:
        """What to judge first: by chance of being relevant, times move, times the weight of its query.

        `verdict` is the difference that documents could turn: those that move it the other way come first. Queries
        without any relevant document come last.
        """
        best = _best_rank(self.before, self.after)
        move = self.move * weight[self.query]
        later = self.barren[self.query].astype(int)
        if verdict:
            later = 2 * later + (move * verdict > 0)

        order = judging_order(self.shares, best, move, self.query, later)
        return [
            ToJudge(
                self.queries[self.query[i]],
                self.doc[i],
                int(self.before[i]) or None,
                int(self.after[i]) or None,
                float(self.move[i]),
                float(self.shares[np.searchsorted(BANDS, best[i])]),
            )
            for i in order[:limit].tolist()
        ]

    def fewest_to_turn(self, weight: np.ndarray) -> int | None:
        """How many documents, if relevant, move the weighted sum of differences to 0; None if all are too few."""
        total = float(np.dot(weight, self.observed))
        moves = self.move * weight[self.query]
        helpful = np.sort(np.abs(moves[moves * total < 0]))[::-1]
        enough = np.flatnonzero(np.cumsum(helpful) >= abs(total))
        if len(enough):
            return int(enough[0]) + 1
        return None


def _judged_share(p: Placements, depth: int) -> float:
    """The share of the documents to this depth that are judged; 1 if there are none."""
    returned = int(np.minimum(p.retrieved, depth).sum())
    if returned:
        return 1 - int(count_holes(p, depth).sum()) / returned
    return 1.0


def _best_rank(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The better of two ranks, where 0 is no rank."""
    return np.asarray(np.where((before > 0) & (after > 0), np.minimum(before, after), np.maximum(before, after)))


def wanted_depth(measures: Sequence[Measure], placements: Sequence[Placements]) -> int:
    """How many documents of each query must be known by their ids: as deep as measures reach, and memory allows."""
    if not placements:
        return 0

    # Holes are of use if all of a query's are known; so a query that goes deeper than memory allows needs no ids.
    most = MOST_DOCUMENTS // max(1, len(placements[0]))
    deepest = 0
    for measure in measures:
        if hole_rule(measure) is None:
            continue
        reach = max(hole_reach(measure, p) for p in placements)
        for p in placements:
            needed = np.minimum(p.retrieved, reach)
            deepest = max(deepest, int(needed[needed <= most].max(initial=0)))
    return deepest


def depth_to_keep(measures: Sequence[Measure], queries: int) -> int:
    """How many first documents `wanted_depth` can ask for, before a run was placed."""
    most = MOST_DOCUMENTS // max(1, queries)
    reaches = [_reach_before(measure, most) for measure in measures if hole_rule(measure) is not None]
    return min(most, max(reaches, default=0))


def _reach_before(measure: Measure, most: int) -> int:
    ranked = measure.declaration.cutoff in ("optional", "needed") and measure.k is not None
    if not ranked or measure.declaration.holes_unless:
        return most
    return int(measure.k or most)


@dataclass(frozen=True)
class _Holes:
    """The holes of a pair, by query; ranks are 0 where a document is not within reach."""

    query: np.ndarray
    before: np.ndarray
    after: np.ndarray
    count: np.ndarray
    """Per query."""

    def stretches(self) -> Iterator[slice]:
        """The holes of some whole queries at a time, so that work on them needs little memory."""
        ends, begin = np.cumsum(self.count), 0
        while begin < len(self.query):
            last = int(np.searchsorted(ends, begin + AT_ONCE, side="right")) - 1
            end = int(ends[max(last, int(self.query[begin]))])
            yield slice(begin, end)
            begin = end


@dataclass(frozen=True)
class _Documents(Sequence[str]):
    """The ids of holes, each looked up on request: there may be millions, of which a few are named."""

    first: Sequence[Sequence[str]]
    second: Sequence[Sequence[str]]
    holes: _Holes

    def __len__(self) -> int:
        return len(self.holes.query)

    def __getitem__(self, hole: Any) -> Any:
        query, before = int(self.holes.query[hole]), int(self.holes.before[hole])
        if before:
            return self.first[query][before - 1]
        return self.second[query][int(self.holes.after[hole]) - 1]


@dataclass
class HoleFinder:
    """The holes of every pair of some systems with the same judgements."""

    systems: Sequence[System]
    pairs: int = 1
    """How many pairs will be asked for, which share the work."""
    _codes: list[np.ndarray] = field(default_factory=list, init=False)
    """By system a row for each query: its documents, numbered within the query in the order of all systems."""
    _sizes: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    """How many documents of each query are numbered."""
    _reached: dict[tuple[Measure, int], Ends] = field(default_factory=dict, init=False)
    """By measure and system, its least and greatest value."""

    def __post_init__(self) -> None:
        sizes: list[list[int]] = [[] for _ in self.systems]
        flat = [array("i") for _ in self.systems]
        numbered = array("q")
        for rows in zip(*(system.top_documents for system in self.systems), strict=True):
            numbers: dict[str, int] = {}
            for i, row in enumerate(rows):
                sizes[i].append(len(row))
                flat[i].extend([numbers.setdefault(doc, len(numbers)) for doc in row])
            numbered.append(len(numbers))

        self._sizes = np.array(numbered, np.int64)
        for size, documents in zip(map(np.array, sizes), flat, strict=True):
            width = int(size.max(initial=0))
            codes = np.full((len(size), width), -1, np.int32)
            codes[np.arange(width) < size[:, None]] = documents
            self._codes.append(codes)

    def pair(self, measure: Measure, a: int, b: int, factor: float = 1.0) -> PairHoles | None:
        """How far the differences of two systems could move; None for measures that are not about documents."""
        rule = hole_rule(measure)
        if rule is None:
            return None

        first, second = self.systems[a].placements, self.systems[b].placements
        depth = max(hole_reach(measure, first), hole_reach(measure, second))
        most_ways = max(FEWEST_WAYS, MOST_WAYS // self.pairs)
        pair = _Pair(measure, first, second, factor, depth, most_ways)
        known = np.ones(len(first), bool)
        for system in (self.systems[a], self.systems[b]):
            known &= np.minimum(system.placements.retrieved, depth) <= system.depth

        holes = self._union(a, b, depth, known)
        observed = pair.difference(first, second)
        low, high = observed.copy(), observed.copy()
        at_most = ~known & ((count_holes(first, depth) > 0) | (count_holes(second, depth) > 0))
        if rule == "any":
            at_most |= pair.all_ways(holes, low, high)
            moves = partial(pair.single_moves, holes, observed)
        else:
            bound = pair.first_only
            if rule == "linear":
                bound = pair.linear
            moves = partial(np.asarray, bound(holes, low, high))

        if at_most.any():
            pair.each_alone(at_most, self._ends(measure, a), self._ends(measure, b), low, high)

        return PairHoles(
            queries=first.queries,
            observed=observed,
            low=low,
            high=high,
            condensed=pair.difference(first.condensed, second.condensed),
            at_most=at_most,
            query=holes.query,
            doc=_Documents(self.systems[a].top_documents, self.systems[b].top_documents, holes),
            before=holes.before,
            after=holes.after,
            moves=moves,
            shares=relevant_shares(measure, (first, second)),
            barren=first.relevant(relevance_level(measure)) == 0,
            judged_a=_judged_share(first, depth),
            judged_b=_judged_share(second, depth),
            ends=partial(pair.each_system, holes),
        )

    def _ends(self, measure: Measure, index: int) -> Ends:
        """The least and greatest values of a system by itself, whatever the other systems have found."""
        key = measure, index
        if key not in self._reached:
            tables = [system.placements for system in self.systems]
            depth = max(hole_reach(measure, p) for p in tables)
            others = [count_holes(p, depth) for i, p in enumerate(tables) if i != index]
            most_filled = MOST_FILLED // len(tables)
            self._reached[key] = _ends_alone(measure, tables[index], depth, np.max(others, axis=0), most_filled)
        return self._reached[key]

    def _union(self, a: int, b: int, depth: int, known: np.ndarray) -> _Holes:
        """The unjudged documents of both, each once, with its ranks; of queries whose documents are known."""
        start = np.concatenate(([0], np.cumsum(self._sizes)))
        columns = []
        for i in (a, b):
            query, rank = find_holes(self.systems[i].placements, depth, known)
            column = np.zeros(int(start[-1]), np.int32)
            # A repeated document counts at its first rank.
            column[(start[query] + self._codes[i][query, rank - 1])[::-1]] = rank[::-1]
            columns.append(column)

        numbers = np.flatnonzero(columns[0] + columns[1])
        query = np.repeat(np.arange(len(known), dtype=np.int32), self._sizes)[numbers]
        return _Holes(query, columns[0][numbers], columns[1][numbers], np.bincount(query, minlength=len(known)))


@dataclass(frozen=True)
class _Pair:
    """A measure of two systems, whose holes are filled in several ways."""

    measure: Measure
    first: Placements
    second: Placements
    factor: float
    depth: int
    most_ways: int

    @cached_property
    def grade(self) -> np.ndarray:
        """What a hole is filled with."""
        return top_grade(self.measure, self.first)

    def values(self, p: Placements) -> np.ndarray:
        """The measure, on the logarithm if its means are geometric."""
        return _values(self.measure, p)

    def difference(self, first: Placements, second: Placements) -> np.ndarray:
        """What is compared, per query."""
        return np.asarray(self.values(second) - self.factor * self.values(first))

    # Measures of which more is known.

    def _alone(self, p: Placements, query: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The value of a ranking in which one hole alone is relevant, for the holes at these queries and ranks.

        What a rank is worth does not depend on the query, so that one made-up query per rank and grade shows it.
        """
        grades, grade_index = np.unique(self.grade, return_inverse=True)
        deepest = int(rank.max(initial=1))
        ranks = np.tile(np.arange(1, deepest + 1), len(grades))
        size = len(ranks)
        made_up = Placements(
            queries=("",) * size,
            retrieved=np.full(size, deepest),
            answered=np.ones(size, bool),
            judged_start=np.arange(size + 1),
            judged=np.repeat(grades, deepest),
            query=np.arange(size),
            rank=ranks,
            grade=np.repeat(grades, deepest),
            tie_first=ranks,
            tie_last=ranks,
        )

        worth = self.measure(made_up).reshape(len(grades), deepest)
        on_top = self._on_top(p, np.arange(len(p)), 0)
        best = worth[grade_index[query], 0]
        share = np.divide(worth[grade_index[query], rank - 1], best, out=np.zeros(len(query)), where=best != 0)
        return np.where(rank > 0, on_top[query] * share, 0.0)

    def _on_top(self, p: Placements, queries: np.ndarray, beyond: int) -> np.ndarray:
        """The value of some queries if one hole, ranked first, is relevant alone, and `beyond` others are not found."""
        emptied = copies(p, queries, emptied=True)
        copy_of = np.arange(len(queries))
        return self.measure(fill(emptied, copy_of, np.ones(len(copy_of), np.int64), self.grade[queries], beyond))

    def _with_one_more(self, p: Placements) -> np.ndarray:
        """The values if there were one more relevant document, which is not within reach."""
        no_holes = np.zeros(0, np.int64)
        return self.measure(fill(p, no_holes, no_holes, self.grade, 1))

    def linear(self, holes: _Holes, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Exact bounds where each document adds its worth, over something that depends on how many there are.

        The bounds are widened in place; returns how far each hole moves the difference.
        """
        one_more = self._with_one_more(self.second) - self.factor * self._with_one_more(self.first)
        shrunk, kind = self._shrunk(holes)
        observed, move = low.copy(), np.zeros(len(holes.query))
        start = np.cumsum(holes.count) - holes.count
        for rows in holes.stretches():
            query = holes.query[rows]
            effect = self._alone(self.second, query, holes.after[rows])
            effect -= self.factor * self._alone(self.first, query, holes.before[rows])
            move[rows] = (one_more - observed)[query] + effect
            share = shrunk[kind[query], np.arange(rows.start, rows.stop) - start[query]]
            for ends, sign, better in ((low, 1.0, np.minimum), (high, -1.0, np.maximum)):
                running = np.cumsum(effect[np.lexsort((sign * effect, query))])
                before = np.concatenate(([0.0], running))[start[query] - rows.start]
                better.at(ends, query, share * (one_more[query] + running - before))
        return move

    def _shrunk(self, holes: _Holes) -> tuple[np.ndarray, np.ndarray]:
        """What a document is worth with n relevant holes, as a share of its worth with one; and each query's kind.

        The table has a row for each kind of query. The share depends on the judged grades alone, so that queries with
        the same grades are of one kind.
        """
        p, most = self.first, int(holes.count.max(initial=0))
        if most < 2:
            return np.ones((1, 1)), np.zeros(len(p), np.int64)

        alike: dict[bytes, int] = {}
        bounds = zip(p.judged_start[:-1].tolist(), p.judged_start[1:].tolist(), strict=True)
        kind = np.array([alike.setdefault(p.judged[low:high].tobytes(), len(alike)) for low, high in bounds])
        example = np.unique(kind, return_index=True)[1]
        count = np.zeros(len(alike), np.int64)
        np.maximum.at(count, kind, holes.count)

        table = np.ones((len(alike), most))
        fully_returned = replace(p, retrieved=np.full(len(p), self.depth))
        single = self._on_top(fully_returned, example, 0)
        for extra in range(1, most):
            larger = np.flatnonzero(count > extra)
            value = self._on_top(fully_returned, example[larger], extra)
            table[larger, extra] = np.divide(
                value, single[larger], out=np.zeros(len(larger)), where=single[larger] != 0
            )
        return table, kind

    def first_only(self, holes: _Holes, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Exact bounds where nothing but the first relevant document counts; as `linear` otherwise."""
        filled = [
            np.maximum(self.measure(p)[holes.query], self._alone(p, holes.query, rank))
            for p, rank in ((self.first, holes.before), (self.second, holes.after))
        ]
        apart = filled[1] - self.factor * filled[0]
        move: np.ndarray = apart - low[holes.query]
        np.minimum.at(low, holes.query, apart)
        np.maximum.at(high, holes.query, apart)
        return move

    # Any other.

    def all_ways(self, holes: _Holes, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Bounds by all ways to fill the holes, in place; returns which queries have too many for that."""
        ways_left = self._most_ways
        too_many = holes.count > ALL_WAYS_UP_TO
        start = np.cumsum(holes.count) - holes.count
        for size in np.unique(holes.count[(holes.count > 0) & ~too_many]).tolist():
            queries = np.flatnonzero(holes.count == size)
            ways_left -= len(queries) << size
            if ways_left < 0:
                too_many[queries] = True
                continue
            ways = (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool)
            step = max(1, AT_ONCE // len(ways))
            for begin in range(0, len(queries), step):
                block = queries[begin : begin + step]
                copy_of, hole = np.nonzero(np.tile(ways, (len(block), 1)))
                rows = start[block[copy_of // len(ways)]] + hole
                apart = self._filled(holes, np.repeat(block, len(ways)), copy_of, rows).reshape(len(block), len(ways))
                low[block] = np.minimum(low[block], apart.min(axis=1))
                high[block] = np.maximum(high[block], apart.max(axis=1))

        return too_many

    @property
    def _most_ways(self) -> int:
        if self.measure.declaration.per_query:
            return self.most_ways // 16
        return self.most_ways

    def single_moves(self, holes: _Holes, observed: np.ndarray) -> np.ndarray:
        """How far each hole moves the difference; 0 for the lowest ranks where there are too many holes to try."""
        move = np.zeros(len(holes.query))
        tried = np.argsort(_best_rank(holes.before, holes.after), kind="stable")[: self._most_ways // 4]
        for begin in range(0, len(tried), AT_ONCE):
            rows = np.sort(tried[begin : begin + AT_ONCE])
            apart = self._filled(holes, holes.query[rows], np.arange(len(rows)), rows)
            move[rows] = apart - observed[holes.query[rows]]
        return move

    def _filled(self, holes: _Holes, owner: np.ndarray, copy_of: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The difference of copies of queries, one for each `owner`, of which some holes (`rows`) are filled."""
        values = []
        for p, ranks in ((self.first, holes.before), (self.second, holes.after)):
            rank = ranks[rows]
            inside = rank > 0
            beyond = np.bincount(copy_of[~inside], minlength=len(owner))
            values.append(self.values(fill(copies(p, owner), copy_of[inside], rank[inside], self.grade[owner], beyond)))
        return np.asarray(values[1] - self.factor * values[0])

    def each_system(self, holes: _Holes) -> tuple[Ends, Ends]:
        """The least and greatest values of both: documents that only the other found may be relevant as well."""
        ends = []
        for p, ranks in ((self.first, holes.before), (self.second, holes.after)):
            others = np.bincount(holes.query[ranks == 0], minlength=len(p))
            ends.append(_ends_alone(self.measure, p, self.depth, others, MOST_FILLED))
        return ends[0], ends[1]

    def each_alone(self, queries: np.ndarray, first: Ends, second: Ends, low: np.ndarray, high: np.ndarray) -> None:
        """Bounds from those of each system by itself, as if a document could have a grade in each ranking."""
        scaled = sorted((self.factor * first.low, self.factor * first.high), key=lambda end: float(end.sum()))
        low[queries] = np.minimum(low, second.low - scaled[1])[queries]
        high[queries] = np.maximum(high, second.high - scaled[0])[queries]


def _values(measure: Measure, p: Placements) -> np.ndarray:
    """A measure, on the logarithm if its means are geometric."""
    return on_scale(measure(p), measure.declaration.average)


def _ends_alone(measure: Measure, p: Placements, depth: int, others: np.ndarray, most_filled: int) -> Ends:
    """The least and greatest value of each query, with up to `others` relevant documents that only others found."""
    declared = measure.declaration
    count = count_holes(p, depth)
    most = int(count.max(initial=0))
    is_too_much = most * int(count.sum()) > most_filled
    if is_too_much or not declared.monotone or measure.option("judged_only"):
        scale = on_scale(np.array([declared.low, declared.high]), declared.average)
        return Ends(np.full(len(p), scale[0]), np.full(len(p), scale[1]))

    grade = top_grade(measure, p)
    query, rank = find_holes(p, depth)
    from_top = np.arange(len(query)) - (np.cumsum(count) - count)[query]
    from_bottom = count[query] - 1 - from_top
    low = high = _values(measure, p)
    for filled in range(most + 1):
        first, last = from_top < filled, from_bottom < filled
        high = np.maximum(high, _values(measure, fill(p, query[first], rank[first], grade)))
        low = np.minimum(low, _values(measure, fill(p, query[last], rank[last], grade, others)))
    return Ends(low, high)


# What it means for a verdict.

HOLES = {
    "none": "every document within reach is judged",
    "closed": "judging more documents cannot change it",
    "extreme": "only extreme judgements of unjudged documents could change it",
    "open": "unjudged documents could decide this",
}
"""What unjudged documents mean for a verdict; 'open': the verdict does not hold."""


def standing(observed: object, condensed: object, worst: object, best: object) -> str:
    """One of `HOLES`, from the verdicts on four sets of differences.

    Those are: unjudged documents are not relevant; they are taken out of the rankings; and each query is as bad, or as
    good, for the second system as judgements could make it.
    """
    if condensed != observed:
        return "open"
    if worst == observed == best:
        return "closed"
    return "extreme"


def finder_of(placed_runs: Sequence[Placed], measures: Sequence[Measure], pairs: int = 1) -> HoleFinder:
    """The holes of placed runs with the same judgements; reads the first documents of each run by their ids.

    `pairs` is the number of pairs that will be asked for.
    """
    depth = wanted_depth(measures, [run.placements for run in placed_runs])
    return HoleFinder([System(run.placements, run.top_documents(depth), depth) for run in placed_runs], pairs)
