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
    kept: KeptDocuments | None
    """Set where the baseline is placed from what was kept of it."""
    depth: int | None


@dataclass(frozen=True)
class OtherJudgements:
    """A rule's differences under other judgements, one per common query, positive where the run is better."""

    condensed: np.ndarray
    worst: np.ndarray
    best: np.ndarray
    pair: PairHoles
    at: np.ndarray
    """Where the common queries are in the pair."""

    def judge_first(self, own: np.ndarray) -> tuple[ToJudge, ...]:
        """What to judge first, of the queries that the rule is about."""
        weight = np.zeros(len(self.pair.queries))
        weight[self.at[own]] = 1.0
        return tuple(self.pair.judge_first(weight, MOST_TO_JUDGE))


class GateHoles:
    """The holes of a run and its baseline, for some measures."""

    def __init__(self, found: Sources, measures: Sequence[Measure], queries: Sequence[str]) -> None:
        """`queries` are those of run and baseline."""
        run, before, depth = found.run, found.before, found.depth
        table = _cut(run, depth)
        self.knows_both = before is not None
        if before is None:
            # A system that returned nothing: what is left are the holes of the run itself.
            nothing = copies(table, np.arange(len(table)), emptied=True)
            other = replace(nothing, queries=table.queries, retrieved=np.zeros_like(table.retrieved))
            known = wanted_depth(measures, [table])
            base = System(other, [()] * len(table), known)
        else:
            other = _cut(before, depth)
            known = wanted_depth(measures, [table, other])
            base = found.kept.system(other) if found.kept else System(other, before.top_documents(known), known)

        self.finder = HoleFinder([base, System(table, run.top_documents(known), known)])
        position = {query: i for i, query in enumerate(table.queries)}
        self._pairs: dict[tuple[Measure, float], PairHoles | None] = {}
        self.at = np.array([position[query] for query in queries], np.int64)

    def same_documents(self) -> bool:
        """Whether run and baseline return the same first documents, as far as both are known."""
        if not self.knows_both:
            return True
        base, run = self.finder.systems
        depth = min(base.depth, run.depth)
        tops = [{query: list(head[:depth]) for query, head in zip(side.placements.queries, side.heads, strict=True)}
                for side in (base, run)]  # fmt: skip
        return tops[0] == tops[1]

    def look(
        self, measure: Measure, before: np.ndarray, direction: float, factor: float, shift: float
    ) -> OtherJudgements | None:
        """What direction * (after - factor * before) + shift could be; None if all that matters is judged.

        `before` has the baseline's values, which stay as they are if its documents are not known.
        """
        key = measure, factor if self.knows_both else 0.0
        if key not in self._pairs:
            self._pairs[key] = self.finder.pair(measure, 0, 1, key[1])
        pair = self._pairs[key]
        if pair is None or not pair.any:
            return None
        fixed = 0.0 if self.knows_both else factor * before
        rows = [direction * (ends[self.at] - fixed) + shift for ends in (pair.condensed, pair.low, pair.high)]
        worst, best = rows[1:] if direction > 0 else rows[:0:-1]
        return OtherJudgements(rows[0], worst, best, pair, self.at)


def _cut(placed: Placed, depth: int | None) -> Placements:
    if depth is None:
        return placed.placements
    return placed.placements.cut(depth)
