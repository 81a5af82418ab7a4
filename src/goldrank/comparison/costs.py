"""What systems cost beside what they find: means, percentiles, and differences with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.comparison.intervals import UNKNOWN, Interval, mean_interval
from goldrank.data.query_costs import CostSummary, cost_summaries, costs_of, said_of_queries
from goldrank.data.query_facts import COSTS
from goldrank.data.scores import Scores

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison


@dataclass(frozen=True)
class CostDifference:
    """How much more one system costs than another, on the queries of which both are known."""

    kind: str
    a: str
    b: str
    n: int
    difference: float
    """The mean of B minus A: below 0, B costs less."""
    interval: Interval

    def row(self) -> dict[str, Any]:
        """A flat record."""
        return {
            "kind": self.kind,
            "a": self.a,
            "b": self.b,
            "n": self.n,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
        }


def system_costs(comparison: Comparison) -> dict[str, tuple[CostSummary, ...]]:
    """By system, what is known of its costs; empty if nothing is known of any."""
    costs = {name: cost_summaries(said_of_queries(system)) for name, system in _systems(comparison)}
    return {name: summaries for name, summaries in costs.items() if summaries}


def _systems(comparison: Comparison) -> list[tuple[str, Scores]]:
    return list(zip(comparison.runs, comparison.systems, strict=True))


def cost_differences(comparison: Comparison) -> list[CostDifference]:
    """The differences of the pairs that are compared."""
    systems = dict(_systems(comparison))
    level = 1 - comparison.statistics.alpha
    pairs = dict.fromkeys((pair.a, pair.b) for pair in comparison.pairs)
    return [
        difference
        for a, b in pairs
        for kind in COSTS
        if (difference := _difference(kind, systems[a], systems[b], level)) is not None
    ]


def _difference(kind: str, a: Scores, b: Scores, level: float) -> CostDifference | None:
    before, after = costs_of(a).get(kind), costs_of(b).get(kind)
    if before is None or after is None:
        return None
    by_query = dict(zip(a.queries, before.tolist(), strict=True))
    changes = []
    for query, value in zip(b.queries, after.tolist(), strict=True):
        changes.append(value - by_query.get(query, math.nan))
    known = np.array([change for change in changes if not math.isnan(change)])
    if not len(known):
        return None
    interval = UNKNOWN
    if len(known) > 1:
        interval = mean_interval(known, level=level, low=-math.inf, high=math.inf)
    return CostDifference(kind, a.run, b.run, len(known), float(known.mean()), interval)


def frontier(quality: Sequence[float], cost: Sequence[float], higher_is_better: bool = True) -> list[bool]:
    """Which systems no other is at least as good as for less, or better than for as much."""
    sign = 1.0
    if not higher_is_better:
        sign = -1.0
    points = [(sign * value, paid) for value, paid in zip(quality, cost, strict=True)]
    is_on = []
    for value, paid in points:
        beaten = any(
            other >= value and other_paid <= paid and (other > value or other_paid < paid)
            for other, other_paid in points
        )
        is_on.append(not beaten)
    return is_on
