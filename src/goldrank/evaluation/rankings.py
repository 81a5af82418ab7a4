"""Judgements and rankings in, `Scores` out."""

from __future__ import annotations

from typing import Unpack, overload

from goldrank import conventions, io
from goldrank.base.errors import InputError, OptionError
from goldrank.base.keywords import named_arguments_or
from goldrank.base.types import CatalogueLike, ConventionLike, JudgementsLike, MeasuresLike, Policies, RunLike
from goldrank.data.catalogue import Catalogue
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import (
    NO_CATALOGUE,
    Inputs,
    as_catalogue,
    judgements_for,
    resolve,
    resolve_measures,
    usual_measures,
    whole_depth,
)
from goldrank.io.grouped_ids import Groups, groups_of


@overload
def evaluate(
    qrels: JudgementsLike,
    run: Runs,
    measures: MeasuresLike = None,
    *,
    convention: ConventionLike = "trec_eval-10",
    depth: int | None = None,
    catalogue: CatalogueLike | None = None,
    **policies: Unpack[Policies],
) -> ScoresByRun: ...
@overload
def evaluate(
    qrels: JudgementsLike,
    run: RunLike,
    measures: MeasuresLike = None,
    *,
    convention: ConventionLike = "trec_eval-10",
    depth: int | None = None,
    catalogue: CatalogueLike | None = None,
    **policies: Unpack[Policies],
) -> Scores: ...
@named_arguments_or(conventions.POLICIES)
def evaluate(
    qrels: JudgementsLike,
    run: RunLike | Runs,
    measures: MeasuresLike = None,
    *,
    convention: ConventionLike = "trec_eval-10",
    depth: int | None = None,
    catalogue: CatalogueLike | None = None,
    **policies: Unpack[Policies],
) -> Scores | ScoresByRun:
    """Score a run, or several, against judgements.

    Parameters
    ----------
    qrels : judgements
        `Qrels`, a file, a data frame (Spark's too), {"q1": {"d1": 2}}, {"q1": ["d1"]} or rows of (query, doc, grade);
        {"q1": [["a1", "a2"], ["b"]]} wants a1 or a2, and b.
        `read_qrels` has options for how they are read. `AspectQrels` and `Preferences` are for measures that need them.
    run : run, or Runs
        `Run`, a file, a data frame, {"q1": {"d1": 0.9}}, {"q1": ["d1", "d2"]}, {"q1": [("d1", 0.9)]} or rows. A dict is
        one run; several runs are `Runs`.
    measures : measures, optional
        "nDCG@10", a `Measure`, a function, or a list of these; by default the usual ones.
    convention : str or Convention
        Whose rules hold: "trec_eval-10" by default.
    depth : int, optional
        How many documents of a query count (trec_eval -M).
    catalogue : Catalogue or ids, optional
        For recommendations: all items, the histories of users, and what is known of items.
    **policies
        Policies that differ from the convention's: ties, score_type, duplicates, judgements, missing, empty, bounds,
        overlap.

    Returns
    -------
    Scores
        For one run.
    ScoresByRun
        For `Runs`.

    Raises
    ------
    InputError
        If something cannot be read, or run and judgements do not match.
    MeasureError
        If a measure is unknown, or cannot be measured with this input.
    OptionError
        If a policy, convention or depth is not one of the choices.

    Examples
    --------
    >>> scores = evaluate({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 0.3, "d2": 0.7}}, ["nDCG@10", "RR"])
    >>> round(scores["nDCG@10"], 4), scores["RR"]
    (0.6309, 0.5)
    """
    rules = conventions.get(convention).with_policies(**policies)
    groups = None
    if not isinstance(qrels, Qrels):
        groups = groups_of(qrels)
    if groups is not None:
        return _by_groups(groups, run, measures, rules)
    parsed_measures = resolve_measures(measures, rules, usual_measures(qrels))
    known_items = as_catalogue(catalogue)
    top = pipeline.wanted_top(parsed_measures, known_items)
    request = pipeline.Asked(parsed_measures, rules, whole_depth(depth), top)
    return score_runs(qrels, run, request, known_items)


def _by_groups(
    groups: Groups, run: RunLike | Runs, measures: MeasuresLike, rules: conventions.Convention
) -> Scores | ScoresByRun:
    """Scores against judgements with groups of ids."""
    from goldrank.evaluation.grouped import scores_by_groups

    if not isinstance(run, Runs):
        return scores_by_groups(groups, io.as_run(run), measures, rules)
    return ScoresByRun([(name, scores_by_groups(groups, each, measures, rules)) for name, each in run.items()])


@overload
def score_runs(qrels: JudgementsLike, run: Runs, request: pipeline.Asked, catalogue: Catalogue) -> ScoresByRun: ...
@overload
def score_runs(
    qrels: JudgementsLike, run: RunLike | Runs, request: pipeline.Asked, catalogue: Catalogue
) -> Scores | ScoresByRun: ...
def score_runs(
    qrels: JudgementsLike, run: RunLike | Runs, request: pipeline.Asked, catalogue: Catalogue
) -> Scores | ScoresByRun:
    """The result of `evaluate`, for callers that also say how many first documents are kept."""
    qrels = judgements_for(request.measures, qrels)
    pipeline.check_asked(request.measures, qrels, request.rules)
    try:
        inputs = resolve(qrels, run, request.rules, catalogue)
    except InputError as error:
        if error.code != "judgements-stay-in-spark" or isinstance(run, Runs) or not _is_in_spark(run):
            raise
        return _on_executors(qrels, io.as_run(run), request, catalogue, error)

    placed_runs = pipeline.place_all(inputs, request.top)
    scores = [pipeline.score(placed, request.measures, request.depth) for placed in placed_runs]
    if not isinstance(run, Runs):
        return scores[0]
    return ScoresByRun(_with_systems(run, inputs, scores))


def _with_systems(runs: Runs, inputs: Inputs, scores: list[Scores]) -> list[tuple[str, Scores]]:
    """Scores with the names of the systems that made the runs."""
    if inputs.tagged is not None:
        return [(run_scores.run, run_scores) for run_scores in scores]
    system_of = {run: system for system, names in runs.systems.items() for run in names}
    return [(system_of[run_scores.run], run_scores) for run_scores in scores]


def _is_in_spark(run: object) -> bool:
    if isinstance(run, Run):
        return run.source.engine == "spark"
    return io.is_spark(run)


def _on_executors(
    qrels: JudgementsLike, run: Run, request: pipeline.Asked, catalogue: Catalogue, why: InputError
) -> Scores:
    """Scores of a run in Spark by judgements that are too many for the driver."""
    if catalogue is not NO_CATALOGUE:
        hint = f"Here {why.what}, which are shared out by Spark."
        raise OptionError("catalogue= is for judgements that fit on one machine", hint=hint) from None
    from goldrank.evaluation import executors

    return executors.evaluate(qrels, run, request)
