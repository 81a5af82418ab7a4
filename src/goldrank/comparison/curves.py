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


def curve_measures(measures: Sequence[Measure]) -> list[Measure]:
    """What the curves of a report need: the first measure with a cut-off at several, and interpolated precision."""
    first = next((measure for measure in measures if isinstance(measure.k, int)), parse("nDCG@10"))
    at_cutoffs = [make(first.name, k, dict(first.options)) for k in CURVE_CUTOFFS]
    return at_cutoffs + [make("IPrec", level) for level in RECALL_LEVELS]


def curves_of_systems(scores: ScoresByRun, systems: Sequence[Scores]) -> Curves:
    """The curves of systems that were scored; more of them where their runs are still in memory."""
    placed_runs = placed_alike(list(scores.values()))
    if not placed_runs:
        return curves_of(systems)

    # Curves show values, no bounds or expectations, which not every measure has.
    rules = placed_runs[0].rules
    ties = rules.ties
    if ties in ("expected", "bounds"):
        ties = "docid"
    plain = rules.with_policies(ties=ties, bounds="none")
    measures = resolve_measures(curve_measures([parse(name) for name in systems[0].columns]), plain)
    scored = [pipeline.score(placed, measures, rules=plain) for placed in placed_runs]
    by_run = dict(zip(scores, scored, strict=True))

    means_of_runs = []
    for name, runs in scores.systems.items():
        means_of_runs.append(averaged(name, [by_run[run] for run in runs]))
    return curves_of(means_of_runs)


def curves_of(scores: Sequence[Scores]) -> Curves:
    """Means over cut-offs, for every measure that was taken at three or more."""
    families: dict[str, dict[float, str]] = {}
    for name in scores[0].columns:
        family, _, cutoff = name.rpartition("@")
        with suppress(ValueError):
            if all(name in system.columns for system in scores):
                families.setdefault(family, {})[float(cutoff)] = name

    curves: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {}
    for family, columns in families.items():
        if len(columns) < 3 or not family:
            continue
        curves[family] = {}
        for system in scores:
            points = ((k, system.columns[name].summary) for k, name in sorted(columns.items()))
            curves[family][system.run] = tuple(points)

    return curves
