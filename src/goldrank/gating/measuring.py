"""Scores that are to be held to rules, or frozen: what `evaluate` gives, with the run read once for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goldrank.comparison.holes import depth_to_keep
from goldrank.conventions import Convention
from goldrank.data.catalogue import Catalogue
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import as_catalogue, resolve_measures, whole_depth
from goldrank.evaluation.rankings import score_runs
from goldrank.gating.rules import Rules
from goldrank.gating.top_documents import depth_of
from goldrank.measures import Measure


@dataclass(frozen=True)
class Way:
    """How a run is measured."""

    convention: Convention
    depth: int | None = None
    catalogue: Catalogue | None = None


def scores_to_gate(qrels: Qrels, run: Run, rules: Rules, way: Way, *, compared: bool) -> Scores:
    """The scores of a run with the measures of rules; `compared` if they are held against a baseline."""
    wanted = resolve_measures(rules.measures, way.convention)
    looks = compared and rules.statistics.unjudged == "check" and any(rule.kind == "drop" for rule in rules)
    return _scores(qrels, run, wanted, way, depth_to_keep(wanted, len(qrels)) if looks else 0)


def scores_to_freeze(qrels: Qrels, run: Run, measures: Sequence[str] | None, way: Way) -> Scores:
    """The scores of a run whose first documents a baseline keeps."""
    wanted = resolve_measures(measures, way.convention)
    return _scores(qrels, run, wanted, way, depth_of([str(measure) for measure in wanted]))


def _scores(qrels: Qrels, run: Run, wanted: Sequence[Measure], way: Way, top: int) -> Scores:
    catalogue = as_catalogue(way.catalogue)
    kept = max(top, pipeline.wanted_top(wanted, catalogue))
    asked = pipeline.Asked(wanted, way.convention, whole_depth(way.depth), kept)
    scores = score_runs(qrels, run, asked, catalogue)
    assert isinstance(scores, Scores)  # of one run
    return scores
