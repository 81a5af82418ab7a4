"""Scores for a gate or a baseline: what `evaluate` gives, with the run read once for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goldrank.base.types import JudgementsLike
from goldrank.comparison.holes import depth_to_keep
from goldrank.conventions import Convention
from goldrank.data.catalogue import Catalogue
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import as_catalogue, as_judgements, resolve_measures, usual_measures, whole_depth
from goldrank.evaluation.rankings import score_runs
from goldrank.gating.rules import Rules
from goldrank.gating.top_documents import depth_of
from goldrank.measures import Measure


@dataclass(frozen=True)
class MeasuringOptions:
    """How a run is measured."""

    convention: Convention
    depth: int | None = None
    catalogue: Catalogue | None = None


def scores_to_gate(
    qrels: JudgementsLike, run: Run, rules: Rules, options: MeasuringOptions, *, compared: bool
) -> Scores:
    """The scores of a run with the measures of rules; `compared` if there is a baseline."""
    measures = resolve_measures(rules.measures, options.convention)
    depth = 0
    is_checked = compared and rules.statistics.unjudged == "check" and any(rule.kind == "drop" for rule in rules)
    if is_checked and isinstance(qrels, Qrels):
        depth = depth_to_keep(measures, len(qrels))
    return _scores(qrels, run, measures, options, depth)


def scores_to_freeze(
    qrels: JudgementsLike, run: Run, measures: Sequence[str] | None, options: MeasuringOptions
) -> Scores:
    """The scores of a run whose first documents a baseline keeps."""
    resolved = resolve_measures(measures, options.convention, usual_measures(qrels))
    return _scores(qrels, run, resolved, options, depth_of([str(measure) for measure in resolved]))


def _scores(
    qrels: JudgementsLike, run: Run, measures: Sequence[Measure], options: MeasuringOptions, top: int
) -> Scores:
    catalogue = as_catalogue(options.catalogue)
    documents_kept = max(top, pipeline.wanted_top(measures, catalogue))
    request = pipeline.Asked(measures, options.convention, whole_depth(options.depth), documents_kept)
    scores = score_runs(as_judgements(qrels, options.convention), run, request, catalogue)
    assert isinstance(scores, Scores)  # of one run
    return scores
