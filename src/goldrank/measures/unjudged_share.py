"""What unjudged documents could change: how far a measure can move, and which of them to judge first.

A returned document without a judgement (a hole) counts as not relevant, and it may be relevant. A measure is taken here
with some of these holes filled by documents of the query's highest grade. With a given number of them filled,
a monotone measure is greatest if they are the first ones and least if they are the last ones; so trying each
number gives the exact bounds over all ways to judge them right or wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.placements import Placements
from goldrank.measures.spelling import Measure


def check_monotone(measure: Measure, noun: str) -> None:
    """Refuse measures that do not follow relevant documents up and down."""
    declared = measure.declaration
    if not declared.monotone or declared.over != "placements" or measure.option("judged_only"):
        raise MeasureError(
            f"{measure} has no {noun}: nothing says that a relevant document further up never lowers it",
            hint="They exist for measures that are declared monotone, such as P, R, RR, AP, nDCG and RBP.",
            code="no-bounds",
        )


def find_holes(p: Placements, depth: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Query and rank of each document among the first `depth` that was not judged, in that order.

    `among` says for each query whether it is looked at.
    """
    if among is None:
        size = np.minimum(p.retrieved, depth)
    else:
        size = np.where(among, np.minimum(p.retrieved, depth), 0)
    start = np.cumsum(size) - size
    empty = np.ones(int(size.sum()), bool)
    judged = np.flatnonzero((p.grade >= 0) & (p.rank <= size[p.query]))
    empty[start[p.query[judged]] + p.rank[judged] - 1] = False

    rows = np.flatnonzero(empty)
    query = np.repeat(np.arange(len(p)), size)[rows]
    return query, rows - start[query] + 1


def count_holes(p: Placements, depth: int) -> np.ndarray:
    """How many documents of each query's first `depth` were not judged, without a list of them."""
    size = np.minimum(p.retrieved, depth)
    rows = np.flatnonzero((p.grade >= 0) & (p.rank <= size[p.query]))
    judged_ranks = np.unique(p.query[rows] * (depth + 1) + p.rank[rows])  # a rank may have several judgements
    return np.asarray(size - np.bincount(judged_ranks // (depth + 1), minlength=len(p)))


def fill(
    p: Placements, query: np.ndarray, rank: np.ndarray, grade: np.ndarray, beyond: np.ndarray | int = 0
) -> Placements:
    """Placements in which some holes are judged with a query's grade, and `beyond` more documents further down."""
    keep = p.grade >= 0
    queries = np.concatenate((p.query[keep], query))
    ranks = np.concatenate((p.rank[keep], rank))
    grades = np.concatenate((p.grade[keep], grade[query]))
    order = np.lexsort((ranks, queries))
    more = np.bincount(query, minlength=len(p)) + beyond

    return replace(
        p,
        query=queries[order],
        rank=ranks[order],
        grade=grades[order],
        tie_first=ranks[order],
        tie_last=ranks[order],
        label=None,
        judged=np.insert(p.judged, np.repeat(p.judged_start[:-1], more), np.repeat(grade, more)),
        judged_start=p.judged_start + np.concatenate(([0], np.cumsum(more))),
    )


def top_grade(measure: Measure, p: Placements) -> np.ndarray:
    """The highest grade of each query, relevant in any case."""
    level = measure.option("rel")
    if level is None:
        level = 1
    grade = np.full(len(p), max(level, 1), p.judged.dtype)
    has_judged = np.diff(p.judged_start) > 0
    grade[has_judged] = np.maximum(grade[has_judged], p.judged[p.judged_start[:-1][has_judged]])
    return grade


def reached_depth(measure: Measure, p: Placements) -> int:
    """The rank down to which a measure looks."""
    ranked = measure.declaration.cutoff in ("optional", "needed") and measure.k is not None
    if ranked and measure.k is not None:
        return int(measure.k)
    return int(p.retrieved.max(initial=0))


def hole_rule(measure: Measure) -> str | None:
    """How documents that turn out relevant move the measure, as declared.

    None if it is not about documents of known grades, or leaves unjudged ones out by itself.
    """
    declared = measure.declaration
    if declared.over != "placements" or measure.option("judged_only"):
        return None
    if _is_exception(measure):
        return "any"
    return declared.holes


def hole_reach(measure: Measure, p: Placements) -> int:
    """The rank down to which unjudged documents could move the measure."""
    if _is_exception(measure):
        return int(p.retrieved.max(initial=0))
    return reached_depth(measure, p)


def _is_exception(measure: Measure) -> bool:
    return any(measure.option(key) == value for key, value in measure.declaration.holes_unless.items())


def copies(p: Placements, owner: np.ndarray, *, emptied: bool = False) -> Placements:
    """One copy of a query for each entry of `owner`; with `emptied`, without any judged document returned."""
    sizes = np.diff(p.judged_start)[owner]
    judged_start = np.concatenate(([0], np.cumsum(sizes)))
    judged_rows = np.arange(judged_start[-1]) + np.repeat(p.judged_start[:-1][owner] - judged_start[:-1], sizes)

    if emptied:
        returned = np.zeros(len(owner), np.int64)
    else:
        returned = np.diff(p.start)[owner]

    start = np.concatenate(([0], np.cumsum(returned)))
    rows = np.arange(start[-1]) + np.repeat(p.start[:-1][owner] - start[:-1], returned)
    columns = {name: getattr(p, name)[rows] for name in ("rank", "grade", "tie_first", "tie_last")}
    return replace(
        p,
        queries=("",) * len(owner),
        retrieved=p.retrieved[owner],
        answered=p.answered[owner],
        judged_start=judged_start,
        judged=p.judged[judged_rows],
        query=np.repeat(np.arange(len(owner)), returned),
        label=None,
        **columns,
    )


BANDS = (3, 10)
"""The last ranks of the bands for which the chance of being relevant is estimated; beyond them is one more."""


def relevance_level(measure: Measure) -> float:
    """The grade from which on a document is relevant to the measure."""
    level = measure.option("rel")
    if level is None:
        return 1
    return float(level)


def relevant_shares(measure: Measure, tables: Sequence[Placements]) -> np.ndarray:
    """For each band of ranks the share of relevant documents among the judged ones, with one of each kind added."""
    relevant, judged = np.ones(len(BANDS) + 1), np.full(len(BANDS) + 1, 2.0)
    for p in tables:
        known = p.grade >= 0
        band = np.searchsorted(BANDS, p.rank[known])
        judged += np.bincount(band, minlength=len(judged))
        is_relevant = p.grade[known] >= relevance_level(measure)
        relevant += np.bincount(band[is_relevant], minlength=len(relevant))
    return np.asarray(relevant / judged)


OF_ONE_QUERY = 3
"""How many documents of a query are judged before it is another query's turn."""


def judging_order(
    shares: np.ndarray, rank: np.ndarray, move: np.ndarray, query: np.ndarray, later: np.ndarray | None = None
) -> np.ndarray:
    """Which holes to judge first: by the chance of being relevant times how far that would move the value.

    `later` has a number for each hole; holes with a lower number come first, whatever they are worth. Of one query
    `OF_ONE_QUERY` come before those of other queries are asked for, so that no query takes all first places.
    """
    worth = shares[np.searchsorted(BANDS, rank)] * np.abs(move)
    if later is None:
        group = np.zeros(len(move), int)
    else:
        group = later
    moving = np.flatnonzero(move != 0)
    of_queries = moving[np.lexsort((rank[moving], -worth[moving], group[moving], query[moving]))]
    turns = _turns(query[of_queries], group[of_queries]) // OF_ONE_QUERY
    order = np.lexsort((query[of_queries], rank[of_queries], -worth[of_queries], turns, group[of_queries]))
    return np.asarray(of_queries[order])


def _turns(query: np.ndarray, group: np.ndarray) -> np.ndarray:
    """How many holes of the same query and group stand before each; those of one stand together."""
    positions = np.arange(len(query))
    begins = np.ones(len(query), bool)
    begins[1:] = (query[1:] != query[:-1]) | (group[1:] != group[:-1])
    first = np.maximum.accumulate(np.where(begins, positions, 0))
    return np.asarray(positions - first)


AT_ONCE = 5_000
"""Rows of copies of queries that are measured at a time: one call measures many ways to judge, and fits in a cache."""


def _portions(p: Placements, owner: np.ndarray, filled: np.ndarray | int) -> Iterator[slice]:
    """Ranges of copies of queries (`owner`), with their numbers of filled holes, that are measured together."""
    rows = np.cumsum((np.diff(p.judged_start) + np.diff(p.start))[owner] + filled + 1)
    begin = measured_rows = 0
    while begin < len(owner):
        end = max(begin + 1, int(np.searchsorted(rows, measured_rows + AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end
        measured_rows = int(rows[end - 1])


def unjudged_bounds(measure: Measure, p: Placements) -> tuple[np.ndarray, np.ndarray]:
    """Per query, the least and greatest value over all ways to judge the unjudged documents right or wrong."""
    check_monotone(measure, "bounds from unjudged documents")
    depth = reached_depth(measure, p)
    grade = top_grade(measure, p)
    query, rank = find_holes(p, depth)
    count = np.bincount(query, minlength=len(p))
    first = np.cumsum(count) - count
    judged_beyond = p.count((p.grade >= 0) & (p.rank > depth))
    beyond = np.maximum(p.retrieved - depth, 0) - judged_beyond

    # A copy of a query for each number of filled holes, from none to all.
    owner = np.repeat(np.arange(len(p)), count + 1)
    filled = np.arange(len(owner)) - (first + np.arange(len(p)))[owner]
    value = measure(p)
    low, high = value.copy(), value.copy()
    for part in _portions(p, owner, filled):
        owners, fills = owner[part], filled[part]
        copied = copies(p, owners)
        copy_number = np.repeat(np.arange(len(owners)), fills)
        nth = np.arange(len(copy_number)) - (np.cumsum(fills) - fills)[copy_number]
        first_hole, last_hole = first[owners][copy_number], (first + count)[owners][copy_number] - 1
        best = fill(copied, copy_number, rank[first_hole + nth], grade[owners])
        worst = fill(copied, copy_number, rank[last_hole - nth], grade[owners], beyond[owners])
        np.maximum.at(high, owners, measure(best))
        np.minimum.at(low, owners, measure(worst))

    return low, high


def single_moves(measure: Measure, p: Placements, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, rank and effect of each hole among the first `depth`: how far judging it relevant moves the query."""
    check_monotone(measure, "effect of single documents")
    depth = min(depth, reached_depth(measure, p))
    grade = top_grade(measure, p)
    query, rank = find_holes(p, depth)
    move = np.zeros(len(query))
    base = measure(p)
    for part in _portions(p, query, 1):
        owners = query[part]
        filled = fill(copies(p, owners), np.arange(len(owners)), rank[part], grade[owners])
        move[part] = measure(filled) - base[owners]
    return query, rank, move
