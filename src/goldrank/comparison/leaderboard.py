"""Which of many systems is best? Systems in order, the ranks each may have, and which are clearly better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, overload

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import OptionError
from goldrank.base.notes import Note
from goldrank.comparison.design import Design
from goldrank.comparison.flips import smallest_reached, u_of_t, without_rounding
from goldrank.comparison.intervals import Interval, hall_t
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.comparison.statistics import Compared, facts_of
from goldrank.comparison.tabular import attributes
from goldrank.data.showing import Result
from goldrank.data.table import ChartPart, Part


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


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Result, Sequence[Standing]):
    """Systems from the best to the worst by one measure, as `Standing`s. Made by `Comparison.leaderboard`."""

    measure: str
    standings: tuple[Standing, ...]
    better: np.ndarray
    """Whether the row's system is clearly better than the column's system, in the order of the standings."""
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[int, int], ...]
    """Neighbours without a clear difference, as first and last position; single systems are left out."""
    queries: int
    method: str
    notes: tuple[Note, ...] = ()
    contenders: tuple[str, ...] = ()
    """The systems that comparisons with the best alone leave (Hsu). No report shows them beside `may_be_best`."""

    @overload
    def __getitem__(self, index: int) -> Standing: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Standing, ...]: ...
    def __getitem__(self, index: int | slice) -> Standing | tuple[Standing, ...]:
        return self.standings[index]

    def __len__(self) -> int:
        return len(self.standings)

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The systems that no other is shown to be better than: rank 1 is possible."""
        return tuple(standing.run for standing in self.standings if standing.rank[0] == 1)

    @property
    def told_apart(self) -> int:
        """How many pairs have a clear difference."""
        return int(self.better.sum())

    @property
    def words(self) -> str:
        """Which is best, in a sentence."""
        first, *others = self.may_be_best
        if not others:
            return f"Best by {self.measure}: {ids.show(first)}."

        size = len(self.standings)
        others_words = f"{len(others)} others are"
        if len(others) == 1:
            others_words = "1 other is"
        leads = f"{ids.show(first)} leads, {others_words} not told from it"
        return f"{len(others) + 1} of {size} may be best by {self.measure}: {leads}."

    @property
    def first_beaten(self) -> str | None:
        """The system from which on all are shown to be worse than another; None if some that may be best follow."""
        best = len(self.may_be_best)
        if best == len(self.standings) or any(standing.rank[0] > 1 for standing in self.standings[:best]):
            return None
        return self.standings[best].run

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.leaderboard import diagram, parts

        return [*parts(self), ChartPart("Systems that are not told apart", partial(diagram, self))]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each system."""
        return [
            {
                "place": standing.position,
                "run": standing.run,
                "measure": self.measure,
                "value": standing.value,
                **attributes(standing.interval, "low high"),
                "rank_low": standing.rank[0],
                "rank_high": standing.rank[1],
            }
            for standing in self.standings
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        pairs = [pair.to_dict() for pair in self.pairs]
        notes = [note.to_dict() for note in self.notes]

        return {
            "format": "goldrank-leaderboard",
            "version": 1,
            **attributes(self, "measure queries words method"),
            "systems": self.rows(),
            "better": self.better.astype(int).tolist(),
            "groups": list(map(list, self.groups)),
            "may_be_best": list(self.may_be_best),
            "contenders": list(self.contenders),
            "pairs": pairs,
            "notes": notes,
        }


def leaderboard(comparison: Comparison, measure: object = None) -> Leaderboard:
    """The systems of a comparison in order, by its primary or first measure unless another is named.

    Which system is better is what the comparison says of its pairs, so that ranks and pairs never contradict each
    other. With a baseline, systems are separated by their pairs with it alone.
    """
    name = comparison.primary
    if measure is not None:
        name = comparison.measure(measure)

    facts = facts_of(comparison.systems[0].columns[name], comparison.values[name])
    if facts.diagnostic:
        message = f"{name} is a diagnostic, by which no system is better"
        raise OptionError(message, hint="Name another measure.", code="diagnostic-measure")

    sign = 1
    if facts.higher_is_better:
        sign = -1
    means = {run: sign * comparison.summaries[name, run].mean for run in comparison.runs}
    ordered = sorted(comparison.runs, key=lambda run: means[run])
    pairs = tuple(comparison.of(name))
    better = _better(ordered, pairs)
    low, high = rank_intervals(better)

    standings = []
    for i, run in enumerate(ordered):
        summary = comparison.summaries[name, run]
        position = next(j for j, other in enumerate(ordered, 1) if means[other] == means[run])
        standings.append(Standing(position, run, summary.shown, summary.shown_interval, (int(low[i]), int(high[i]))))

    may_be_best = [run for run, best in zip(ordered, low, strict=True) if best == 1]
    return Leaderboard(
        measure=name,
        standings=tuple(standings),
        better=better,
        pairs=pairs,
        groups=tuple(unseparated(better)),
        queries=len(comparison.queries),
        method=comparison.method,
        notes=comparison.notes,
        contenders=_contenders(comparison, name, may_be_best),
    )


def _contenders(comparison: Comparison, measure: str, may_be_best: Sequence[str]) -> tuple[str, ...]:
    """Of the systems that may be best, those that comparisons with the best alone leave (Hsu 1984), in order.

    A system is compared with all others at once: if it were the best, the largest of its losses would be as large with
    probability alpha at most. So the set holds the best system with probability 1 - alpha.
    """
    if comparison.replicates or len(may_be_best) < 2:  # flips of queries know nothing of how runs vary
        return tuple(may_be_best)

    facts = facts_of(comparison.systems[0].columns[measure], comparison.values[measure])
    values = {measure: comparison.values[measure]}
    design = comparison.design or Design(np.argsort(np.array(comparison.queries, object), kind="stable"))
    all_pairs = list(combinations(comparison.runs, 2))
    compared = Compared(comparison.runs, values, {}, [facts], all_pairs, comparison.statistics, design)
    flipped = compared.flipped()
    is_open = {frozenset((pair.a, pair.b)) for pair in comparison.of(measure) if pair.could_be_turned}

    largest = {run: np.full(flipped.flips.shape[1], -np.inf) for run in may_be_best}
    observed = dict.fromkeys(may_be_best, -np.inf)
    for row, (a, b) in enumerate(all_pairs):
        if frozenset((a, b)) in is_open or not flipped.norms[row] > 0:
            continue
        loss_of_a = flipped.sums(row) / flipped.norms[row]
        if not facts.higher_is_better:
            loss_of_a = -loss_of_a
        demanded = np.inf
        if design.is_plain:
            demanded = _demanded_u(compared, measure, a, b)
        for run, loss in ((a, loss_of_a), (b, -loss_of_a)):
            if run in largest:
                np.maximum(largest[run], loss, out=largest[run])
                observed[run] = max(observed[run], min(float(loss[0]), demanded))

    alpha = comparison.statistics.alpha
    return tuple(run for run in may_be_best if observed[run] <= max(0.0, smallest_reached(largest[run], alpha)))


def _demanded_u(compared: Compared, measure: str, a: str, b: str) -> float:
    """The value of u that an interval that knows skewness gives two systems."""
    counted, matrix = compared.counted(measure), compared.values[measure]
    row_a, row_b = compared.names.index(a), compared.names.index(b)
    differences = without_rounding((matrix[row_b] - matrix[row_a])[counted])
    return u_of_t(max(0.0, hall_t(differences)), len(differences))


def _better(ordered: Sequence[str], pairs: Sequence[Pair]) -> np.ndarray:
    """Whether the system of the row is clearly better than the system of the column."""
    position_of = {run: i for i, run in enumerate(ordered)}
    better = np.zeros((len(ordered), len(ordered)), bool)
    for pair in pairs:
        a, b = position_of[pair.a], position_of[pair.b]
        if pair.verdict == "better":
            better[b, a] = True
        elif pair.verdict == "worse":
            better[a, b] = True
    return better


def rank_intervals(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest rank of each system, from which system (row) is surely better than which (column)."""
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
