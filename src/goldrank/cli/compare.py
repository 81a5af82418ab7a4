"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from goldrank.cli.inputs import (
    is_saved,
    load_saved,
    named_file,
    open_history,
    open_qrels,
    open_systems,
    progress,
    refuse_policies,
)
from goldrank.cli.options import (
    AskedComparison,
    ReadingOptions,
    asked_comparison,
    comparison_files,
    file_options,
    format_option,
    judges_options,
    measures_option,
    policy_options,
    reading_options,
    statistics_options,
)
from goldrank.cli.output import echo, show, show_comparison
from goldrank.data.qrels import Qrels
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores
from goldrank.types import MeasuresLike

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison


@click.command()
@click.argument("qrels", metavar="SCORES | QRELS")
@click.argument("runs", metavar="SCORES... | RUN RUN...", nargs=-1, required=True)
@click.option(
    "--history",
    "db",
    metavar="DB",
    type=click.Path(),
    help="Compare records of a history: RECORD RECORD..., by number, label or commit.",
)
@measures_option
@statistics_options
@file_options
@click.option("--agreement", "agree", is_flag=True, help="Also show how alike the rankings are, and the measures.")
@format_option
@reading_options
@judges_options
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    db: str | None,
    measures: tuple[str, ...],
    agree: bool,
    how: ReadingOptions,
    judged_by: Literal["human", "model"] | None,
    model_qrels: str | None,
    **options: Any,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    SCORES are what `texts --save` or `eval --save` wrote; these are compared as they are.
    """
    outputs, rest = comparison_files(**options)
    asked = asked_comparison(measures, **rest)
    if judged_by and (db is not None or is_saved(named_file(qrels)[1])):
        raise click.UsageError("--judged-by is about judgements, not records or saved scores")
    if db is not None:
        if agree or how.run_format or how.given:
            raise click.UsageError(f"{how.given or '--agreement and --format'} is about runs, not records")
        show_comparison(_of_records(db, (qrels, *runs), asked), **outputs)
        return
    if is_saved(named_file(qrels)[1]):
        refuse_policies(asked.policies, how)
        if agree:
            raise click.UsageError("--agreement is about runs, not saved scores")
        show_comparison(compared(load_saved((qrels, *runs)), asked), **outputs)
        return

    judged = open_qrels(qrels, asked.policies, how, model=model_qrels)
    if judged_by is not None:
        judged = judged.by(judged_by)
    opened = open_systems(runs, asked.policies, how)
    with progress(*(run for _, run in opened.items())):
        result = compared_runs(judged, opened, measures or None, asked, how)
    if asked.documents is not None:
        result = result.with_documents(asked.documents)
    show_comparison(result, **outputs)
    if agree:
        from goldrank.report.comparison import agreement_parts

        echo("")
        show(agreement_parts(result, {name: opened[names[0]] for name, names in opened.systems.items()}))


def compared_runs(
    qrels: Qrels, runs: Runs, measures: MeasuresLike, asked: AskedComparison, how: ReadingOptions
) -> Comparison:
    """The comparison of runs, each of which is read once."""
    from goldrank import conventions
    from goldrank.comparison.build import compare_scores, scores_to_compare
    from goldrank.data.scores import ScoresByRun
    from goldrank.evaluation.inputs import as_catalogue

    policies = dict(asked.policies)
    rules = conventions.get(policies.pop("convention")).with_policies(**policies)
    catalogue = as_catalogue(how.catalogue)
    scores = scores_to_compare(qrels, runs, measures, asked.request.statistics, rules, catalogue)
    if asked.same_queries:
        scores = ScoresByRun(scores, queries="same")
    return compare_scores(scores, asked.request)


def compared(scores: Sequence[Scores], asked: AskedComparison) -> Comparison:
    """The comparison of scores that were measured before; those of one name are runs of one system."""
    from goldrank.comparison.build import compare_scores
    from goldrank.data.scores import ScoresByRun

    if asked.documents is not None:
        raise click.UsageError("--documents is about runs, not saved scores")
    by_run = ScoresByRun(scores, queries="same" if asked.same_queries else "common")
    return compare_scores(by_run, asked.request)


def _of_records(db: str, refs: tuple[str, ...], asked: AskedComparison) -> Comparison:
    """The comparison of records; their scores have their policies already."""
    from goldrank.history.comparing import record_name, record_scores

    with open_history(db) as history:
        scores = record_scores(history, refs)
        if asked.request.baseline is not None:
            baseline = record_name(history[asked.request.baseline])
            asked = asked._replace(request=replace(asked.request, baseline=baseline))
    return compared(list(scores.values()), asked)
