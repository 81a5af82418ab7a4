"""Which of many systems is best? Systems in order, the ranks each may have, and who is clearly better than whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, overload

import numpy as np

from goldrank import ids
from goldrank.comparison.design import Design
from goldrank.comparison.intervals import Interval
from goldrank.comparison.pair import Pair
from goldrank.comparison.replicates import run_values
from goldrank.comparison.result import Comparison
from goldrank.comparison.statistics import Compared, facts_of
from goldrank.comparison.tabular import Tabular, attributes
from goldrank.errors import OptionError
from goldrank.notes import Note


@dataclass(frozen=True)
class Standing:
    """One system of a leaderboard."""

    position: int
    """From 1; systems with the same mean share it."""
    run: str
    value: float
    """The measure's summary, as reports show it."""
    interval: Interval
    rank: tuple[int, int]
    """The ranks that it may have: from 1 + the systems surely better, to all less those surely worse."""


@dataclass(frozen=True)
class Leaderboard(Tabular, Sequence[Standing]):
    """Systems from the best to the worst by one measure, as `Standing`s. Made by `Comparison.leaderboard`."""

    drawn_by = "leaderboard"

    measure: str
    standings: tuple[Standing, ...]
    better: np.ndarray
    """Whether the system of the row is clearly better than that of the column, in the order of the standings."""
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[int, int], ...]
    """Neighbours of which no two are told apart, as first and last position; single systems are left out."""
    queries: int
    method: str
    notes: tuple[Note, ...] = ()

    @overload
    def __getitem__(self, at: int) -> Standing: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Standing, ...]: ...
    def __getitem__(self, at: int | slice) -> Standing | tuple[Standing, ...]:
        return self.standings[at]

    def __len__(self) -> int:
        return len(self.standings)

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The systems that no other is clearly better than."""
        return tuple(standing.run for standing in self.standings if standing.rank[0] == 1)

    @property
    def words(self) -> str:
        """Which is best, in a sentence."""
        *others, last = map(ids.show, self.may_be_best)
        if not others:
            return f"Best by {self.measure}: {last}."
        return f"By {self.measure} {', '.join(others)} and {last} may be best: they are not told apart for sure."

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each system."""
        return [
            {
                "place": standing.position,
                **attributes(standing, "run value"),
                **attributes(standing.interval, "low high"),
                "rank_low": standing.rank[0],
                "rank_high": standing.rank[1],
            }
            for standing in self.standings
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "format": "goldrank-leaderboard",
            "version": 1,
            **attributes(self, "measure queries words method"),
            "systems": self.rows(),
            "better": self.better.astype(int).tolist(),
            "groups": [list(group) for group in self.groups],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "notes": [note.to_dict() for note in self.notes],
        }


def leaderboard(comparison: Comparison, measure: object = None) -> Leaderboard:
    """The systems of a comparison in order, by its primary or first measure unless another is named.

    All pairs of this one measure are corrected together, so that all rank intervals hold at once.
    """
    name = comparison.primary if measure is None else comparison.measure(measure)
    column, values = comparison.systems[0].columns[name], comparison.values
    facts = facts_of(column, values[name])
    if facts.diagnostic:
        what = f"{name} is a diagnostic, by which no system is better"
        raise OptionError(what, hint="Name another measure.", code="diagnostic-measure")
    design = comparison.design or Design(np.argsort(np.array(comparison.queries, object), kind="stable"))
    runs = run_values(comparison.replicates, {name: column.average}, comparison.queries)
    pairs = list(combinations(comparison.runs, 2))
    statistics = comparison.statistics
    tested = Compared(comparison.runs, {name: values[name]}, runs, [facts], pairs, statistics, design).tested()
    tested = _held_open(tested, comparison.of(name))
    sign = -1 if facts.higher_is_better else 1
    means = {run: sign * comparison.summaries[name, run].mean for run in comparison.runs}
    ordered = sorted(comparison.runs, key=lambda run: means[run])
    better = _better(ordered, tested)
    low, high = rank_intervals(better)
    standings = []
    for i, run in enumerate(ordered):
        summary = comparison.summaries[name, run]
        place = next(j for j, other in enumerate(ordered, 1) if means[other] == means[run])
        standings.append(Standing(place, run, summary.shown, summary.shown_interval, (int(low[i]), int(high[i]))))
    alone = replace(comparison, pairs=tuple(tested), named_primary=None)
    groups = tuple(unseparated(better))
    return Leaderboard(
        name, tuple(standings), better, alone.pairs, groups, len(comparison.queries), alone.method, comparison.notes
    )


def _held_open(tested: list[Pair], compared: list[Pair]) -> list[Pair]:
    """The pairs; those that unjudged documents could decide in the comparison are not decided here either."""
    undecided = {frozenset((pair.a, pair.b)): pair for pair in compared if pair.could_be_turned}
    held = []
    for pair in tested:
        known = undecided.get(frozenset((pair.a, pair.b)))
        if known is not None:
            why = tuple(note for note in known.caveats if note.code == "unjudged-decide")
            pair = replace(pair, withheld=True, caveats=(*pair.caveats, *why), judge_first=known.judge_first)
        held.append(pair)
    return held


def _better(ordered: list[str], pairs: list[Pair]) -> np.ndarray:
    """Who is clearly better than whom."""
    at = {run: i for i, run in enumerate(ordered)}
    better = np.zeros((len(ordered), len(ordered)), bool)
    for pair in pairs:
        if pair.verdict in ("better", "worse"):
            ahead, behind = (pair.b, pair.a) if pair.verdict == "better" else (pair.a, pair.b)
            better[at[ahead], at[behind]] = True
    return better


def rank_intervals(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest rank of each system, from who (rows) is surely better than whom (columns)."""
    better = np.asarray(better, bool)
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def unseparated(better: np.ndarray) -> list[tuple[int, int]]:
    """Maximal runs of neighbours in which no pair is separated, as first and last position."""
    apart = better | better.T
    groups: list[tuple[int, int]] = []
    last = 0
    for first in range(len(apart)):
        last = max(last, first)
        while last + 1 < len(apart) and not apart[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not groups or groups[-1][1] < last):
            groups.append((first, last))
    return groups
