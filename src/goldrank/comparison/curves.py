"""Curves of a comparison: means over cut-offs, and precision over recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from goldrank.comparison.replicates import averaged
from goldrank.comparison.unjudged import placed_alike
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve_measures
from goldrank.measures import Measure, make, parse

Curves: TypeAlias = "Mapping[str, Mapping[str, tuple[tuple[float, float], ...]]]"
"""Points of curves by measure and system."""

CURVE_CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
RECALL_LEVELS = tuple(i / 10 for i in range(11))


def curve_measures(wanted: Sequence[Measure]) -> list[Measure]:
    """What the curves of a report need: the first measure with a cut-off at several, and interpolated precision."""
    first = next((measure for measure in wanted if isinstance(measure.k, int)), None) or parse("nDCG@10")
    at_cutoffs = [make(first.name, k, dict(first.options)) for k in CURVE_CUTOFFS]
    return at_cutoffs + [make("IPrec", level) for level in RECALL_LEVELS]


def curves_of_systems(scores: ScoresByRun, systems: Sequence[Scores]) -> Curves:
    """The curves of systems that were scored; more of them where their runs are still at hand."""
    placed = placed_alike(list(scores.values()))
    if not placed:
        return curves_of(systems)

    # Curves show values, no bounds or expectations, which not every measure has.
    rules = placed[0].rules
    ties = "docid" if rules.ties in ("expected", "bounds") else rules.ties
    plain = rules.with_policies(ties=ties, bounds="none")
    measures = resolve_measures(curve_measures([parse(name) for name in systems[0].columns]), plain)
    by_run = {run.run.name: pipeline.score(run, measures, rules=plain) for run in placed}
    return curves_of([averaged(name, [by_run[run] for run in runs]) for name, runs in scores.systems.items()])


def curves_of(scores: Sequence[Scores]) -> Curves:
    """Means over cut-offs, for every measure that was taken at three or more."""
    families: dict[str, dict[float, str]] = {}
    for name in scores[0].columns:
        head, _, cutoff = name.rpartition("@")
        with suppress(ValueError):
            if all(name in system.columns for system in scores):
                families.setdefault(head, {})[float(cutoff)] = name

    return {
        head: {
            system.run: tuple((k, system.columns[name].summary) for k, name in sorted(columns.items()))
            for system in scores
        }
        for head, columns in families.items()
        if len(columns) >= 3 and head
    }
