"""What unjudged documents could change in a gate: the rows of a drop rule under other judgements, and what to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from goldrank.comparison.holes import HoleFinder, PairHoles, System, ToJudge, wanted_depth
from goldrank.data.placements import Placements
from goldrank.evaluation.pipeline import Placed
from goldrank.gating.top_documents import KeptDocuments
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import copies

MOST_TO_JUDGE = 10


@dataclass(frozen=True)
class Sources:
    """Where the documents of a run and of its baseline are."""

    run: Placed
    before: Placed | None
    """The placed baseline; None if its documents are not known."""
    kept_documents: KeptDocuments | None
    """Set where the baseline is placed from what was kept of it."""
    depth: int | None


@dataclass(frozen=True)
class OtherJudgements:
    """A rule's differences under other judgements, one per common query, positive where the run is better."""

    condensed: np.ndarray
    worst: np.ndarray
    best: np.ndarray
    pair: PairHoles
    positions: np.ndarray
    """The positions of the common queries in the pair."""

    def judge_first(self, own: np.ndarray) -> tuple[ToJudge, ...]:
        """What to judge first, of the queries that the rule is about."""
        weight = np.zeros(len(self.pair.queries))
        weight[self.positions[own]] = 1.0
        return tuple(self.pair.judge_first(weight, MOST_TO_JUDGE))


class GateHoles:
    """The holes of a run and its baseline, for some measures."""

    def __init__(self, sources: Sources, measures: Sequence[Measure], queries: Sequence[str]) -> None:
        """`queries` are the queries that run and baseline share."""
        run, before, depth = sources.run, sources.before, sources.depth
        table = _cut(run, depth)
        self.knows_both = before is not None
        if before is None:
            # A system that returned nothing: what is left are the holes of the run itself.
            emptied = copies(table, np.arange(len(table)), emptied=True)
            old_table = replace(emptied, queries=table.queries, retrieved=np.zeros_like(table.retrieved))
            depth_known = wanted_depth(measures, [table])
            base = System(old_table, [()] * len(table), depth_known)
        else:
            old_table = _cut(before, depth)
            depth_known = wanted_depth(measures, [table, old_table])
            if sources.kept_documents:
                base = sources.kept_documents.system(old_table)
            else:
                base = System(old_table, before.top_documents(depth_known), depth_known)

        self.finder = HoleFinder([base, System(table, run.top_documents(depth_known), depth_known)])
        position = {query: i for i, query in enumerate(table.queries)}
        self._pairs: dict[tuple[Measure, float], PairHoles | None] = {}
        self.positions = np.array([position[query] for query in queries], np.int64)

    def same_documents(self) -> bool:
        """Whether run and baseline return the same first documents, as far as both are known."""
        if not self.knows_both:
            return True
        base, run = self.finder.systems
        depth = min(base.depth, run.depth)
        return _top_by_query(base, depth) == _top_by_query(run, depth)

    def look(
        self, measure: Measure, before: np.ndarray, direction: float, factor: float, shift: float
    ) -> OtherJudgements | None:
        """What direction * (after - factor * before) + shift could be; None if all that matters is judged.

        `before` has the baseline's values, which stay as they are if its documents are not known.
        """
        # If the baseline's documents are not known, its values are subtracted as they are, and not by the finder.
        finder_factor: float = factor
        fixed: np.ndarray | float = 0.0
        if not self.knows_both:
            finder_factor, fixed = 0.0, factor * before

        key = measure, finder_factor
        if key not in self._pairs:
            self._pairs[key] = self.finder.pair(measure, 0, 1, finder_factor)
        pair = self._pairs[key]
        if pair is None or not pair.any:
            return None

        condensed, worst, best = (
            direction * (differences[self.positions] - fixed) + shift
            for differences in (pair.condensed, pair.low, pair.high)
        )
        if direction < 0:
            worst, best = best, worst
        return OtherJudgements(condensed, worst, best, pair, self.positions)


def _top_by_query(system: System, depth: int) -> dict[str, list[str]]:
    top = zip(system.placements.queries, system.top_documents, strict=True)
    return {query: list(documents[:depth]) for query, documents in top}


def _cut(placed_run: Placed, depth: int | None) -> Placements:
    if depth is None:
        return placed_run.placements
    return placed_run.placements.cut(depth)
