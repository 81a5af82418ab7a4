"""Which system is best on many collections: on these with other questions, and on others like them?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from goldrank import io
from goldrank.base.errors import InputError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import JudgementsLike, MeasureLike, RunsLike
from goldrank.comparison.correction import adjust
from goldrank.comparison.intervals import mean_interval
from goldrank.comparison.leaderboard import rank_intervals
from goldrank.comparison.settings import Statistics
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.evaluation.rankings import evaluate
from goldrank.suites.flips import FEWEST, SAMPLES, by_collections, by_queries, by_t
from goldrank.suites.result import CollectionComparison, CollectionPair, CollectionStanding

Collections: TypeAlias = Mapping[str, tuple[JudgementsLike, RunsLike] | ScoresByRun | Mapping[str, float]]
"""By name of the collection, judgements and the runs by system; or scores that were made before, or their means."""


@named_arguments
def compare_collections(
    collections: Collections, measure: MeasureLike = "nDCG@10", *, statistics: Statistics = Statistics()
) -> CollectionComparison:
    """Compare systems on many collections, such as BEIR's or MTEB's.

    Each system gets two intervals of ranks: with other questions to these collections, and on other collections like
    these. Signs of differences are flipped for each query, or for each collection, jointly for all pairs. With 5
    collections or fewer no flip test can decide the second; it is then a paired t-test with Holm's correction, which
    assumes that differences are normal.

    Parameters
    ----------
    collections : mapping
        {"nfcorpus": (qrels, {"bm25": run, "dense": run})}; in place of the pair a `ScoresByRun`, or for all collections
        means such as {"bm25": 0.31}, which say nothing of other questions.
    measure : measure
        What is measured.
    statistics : Statistics
        alpha, samples and seed are used.

    Returns
    -------
    CollectionComparison

    Raises
    ------
    InputError
        If there are fewer than two systems, or no collection that all have.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "bad": {"q1": ["x", "a"], "q2": ["x", "a"]}}
    >>> compare_collections({"one": (qrels, runs), "two": (qrels, runs)}, "RR").mean
    {'good': 1.0, 'bad': 0.5}
    """
    of_type(collections, Mapping, "collections", "judgements and runs by the name of the collection")
    of_type(statistics, Statistics, "statistics", "Statistics(...)")
    if not collections:
        raise InputError("there are no collections", hint="Give {'name': (qrels, runs)}.", code="empty-input")

    if any(_are_means(collection) for collection in collections.values()):
        column_name, is_high_good = str(measure), True
        tables = {name: _Table.of_means(collection, name) for name, collection in collections.items()}
    else:
        scored = {name: _scores(collection, measure) for name, collection in collections.items()}  # type: ignore[arg-type]
        tables = {name: _Table.of(scores, name) for name, scores in scored.items()}
        first = next(iter(next(iter(scored.values())).values()))
        column = next(iter(first.columns.values()))
        column_name, is_high_good = column.measure, column.higher_is_better
    systems = list(dict.fromkeys(system for table in tables.values() for system in table.values))
    if len(systems) < 2:
        raise InputError("there are fewer than two systems", hint="Each collection has runs by system.")

    complete = tuple(name for name, table in tables.items() if table.values.keys() >= set(systems))
    if not complete:
        raise InputError("no collection has all systems", hint="Macro means need one.", code="no-complete-collection")

    if is_high_good:
        sign = 1
    else:
        sign = -1
    complete_tables = [tables[name] for name in complete]
    macro = {system: _macro_mean(system, complete_tables) for system in systems}
    ordered = sorted(systems, key=lambda system: -sign * macro[system])
    index_pairs = list(combinations(range(len(ordered)), 2))
    tested = _Tested.of(ordered, index_pairs, list(tables.values()), statistics)

    standings = []
    ranks = [_ranks(ordered, index_pairs, sign * tested.difference, p, statistics.alpha) for p in tested.p_values]
    for i, system in enumerate(ordered):
        standings.append(CollectionStanding(system, macro[system], ranks[0][i], ranks[1][i]))
    pairs = [
        CollectionPair(
            ordered[a],
            ordered[b],
            float(tested.difference[i]),
            int(tested.collections[i]),
            float(tested.p_queries[i]),
            float(tested.p_collections[i]),
        )
        for i, (a, b) in enumerate(index_pairs)
    ]

    cells = {}
    for name, table in tables.items():
        cells[name] = {system: table.mean(system) for system in ordered}

    intervals = {}
    for system in ordered:
        means = np.array([table.mean(system) for table in complete_tables])
        intervals[system] = mean_interval(means, level=1 - statistics.alpha, low=-math.inf, high=math.inf)

    return CollectionComparison(
        measure=column_name,
        standings=tuple(standings),
        cells=cells,
        queries={name: table.size for name, table in tables.items()},
        complete=complete,
        pairs=tuple(pairs),
        method=tested.method,
        alpha=statistics.alpha,
        notes=_notes(tables, systems, complete, tested),
        intervals=intervals,
        higher_is_better=is_high_good,
    )


def _are_means(collection: object) -> bool:
    """Whether a collection has one number for each system."""
    if not isinstance(collection, Mapping) or isinstance(collection, ScoresByRun):
        return False
    return all(isinstance(value, int | float) for value in collection.values())


def _scores(collection: tuple[JudgementsLike, RunsLike] | ScoresByRun, measure: MeasureLike) -> Mapping[str, Scores]:
    if isinstance(collection, ScoresByRun):
        return {system: _only(scores, measure) for system, scores in collection.items()}
    if not isinstance(collection, tuple | list) or len(collection) != 2:
        raise InputError("a collection is a pair of judgements and runs", hint="Give {'name': (qrels, runs)}.")
    qrels, runs = collection
    return evaluate(qrels, io.as_runs(runs), measure)


def _only(scores: Scores, measure: MeasureLike) -> Scores:
    """Scores with one measure."""
    column = scores.column(measure)
    return Scores(scores.run, scores.queries, {column.measure: column})


@dataclass(frozen=True)
class _Table:
    """One collection: for each system its values on the queries that count for all."""

    values: Mapping[str, np.ndarray]
    has_queries: bool = True

    @classmethod
    def of_means(cls, means: object, name: str) -> _Table:
        """A collection of which only means are known."""
        if not isinstance(means, Mapping) or not _are_means(means):
            hint = "Give means for all collections, or for none."
            raise InputError("has no means", where=name, hint=hint)
        return cls({system: np.array([float(value)]) for system, value in means.items()}, has_queries=False)

    @classmethod
    def of(cls, scores: Mapping[str, Scores], name: str) -> _Table:
        rows = {}
        for system, system_scores in scores.items():
            column = next(iter(system_scores.columns.values()))
            pairs = zip(system_scores.queries, column.values.tolist(), strict=True)
            rows[system] = {query: value for query, value in pairs if not math.isnan(value)}

        common = list(next(iter(rows.values())))
        for row in rows.values():
            common = [query for query in common if query in row]
        if not common:
            raise InputError("its systems have no query in common", where=name, code="no-common-queries")

        values = {}
        for system, row in rows.items():
            values[system] = np.array([row[query] for query in common])
        return cls(values)

    @property
    def size(self) -> int:
        """How many queries count; 0 if only means are known."""
        if not self.has_queries:
            return 0
        return len(next(iter(self.values.values())))

    def mean(self, system: str) -> float:
        """The mean of a system; NaN if it was not run."""
        if system in self.values:
            return float(self.values[system].mean())
        return math.nan

    def differences(self, a: str, b: str) -> np.ndarray:
        """B minus A on each query; NaN if one of them was not run."""
        if a in self.values and b in self.values:
            gained: np.ndarray = self.values[b] - self.values[a]
            return gained
        return np.full(len(next(iter(self.values.values()))), math.nan)


@dataclass(frozen=True)
class _Tested:
    """All pairs, tested for both questions."""

    difference: np.ndarray
    collections: np.ndarray
    p_queries: np.ndarray
    p_collections: np.ndarray
    method: str

    @property
    def p_values(self) -> tuple[np.ndarray, np.ndarray]:
        return self.p_queries, self.p_collections

    @classmethod
    def of(
        cls, ordered: list[str], index_pairs: list[tuple[int, int]], tables: list[_Table], statistics: Statistics
    ) -> _Tested:
        parts = []
        for table in tables:
            parts.append(np.array([table.differences(ordered[a], ordered[b]) for a, b in index_pairs]))
        means = np.array([part.mean(axis=1) for part in parts]).T
        counts = (~np.isnan(means)).sum(axis=1)
        difference = np.nansum(means, axis=1) / np.maximum(counts, 1)
        if statistics.samples is None:
            samples = SAMPLES
        else:
            samples = statistics.samples

        if all(table.has_queries for table in tables):
            p_queries = by_queries(parts, samples, statistics.seed)
        else:
            p_queries = np.full(len(index_pairs), math.nan)
        if len(tables) >= FEWEST:
            p_collections = by_collections(means, samples, statistics.seed)
            method = "sign flips of collections, step-down max-T"
        else:
            p_collections = adjust(by_t(means), "holm")
            method = "paired t-test with Holm's correction: assumes normal differences"

        return cls(difference, counts, p_queries, p_collections, method)


def _macro_mean(system: str, tables: list[_Table]) -> float:
    return float(np.mean([table.mean(system) for table in tables]))


def _ranks(
    ordered: list[str], index_pairs: list[tuple[int, int]], difference: np.ndarray, p: np.ndarray, alpha: float
) -> list[tuple[int, int]]:
    """The ranks that each system may have; `difference` is positive where the second of a pair is better."""
    is_ahead = np.zeros((len(ordered), len(ordered)), bool)
    for (a, b), gain, p_of_pair in zip(index_pairs, difference.tolist(), p.tolist(), strict=True):
        if not p_of_pair <= alpha:  # NaN decides nothing
            continue
        if gain > 0:
            is_ahead[b, a] = True
        if gain < 0:
            is_ahead[a, b] = True
    low, high = rank_intervals(is_ahead)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _notes(
    tables: Mapping[str, _Table], systems: list[str], complete: tuple[str, ...], tested: _Tested
) -> tuple[Note, ...]:
    notes = []
    lacking = []
    for name, table in tables.items():
        lacking += [f"{system} on {name}" for system in systems if system not in table.values]
    if lacking:
        left_out = ", ".join(name for name in tables if name not in complete)
        notes.append(Note.of("missing-cells", count=len(lacking), left_out=left_out, samples=lacking))
    if not all(table.has_queries for table in tables.values()):
        notes.append(Note.of("no-queries-known"))
    if len(tables) < FEWEST:
        notes.append(Note.of("few-collections", collections=len(tables)))
    return tuple(notes)
