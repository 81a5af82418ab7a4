"""`goldrank eval`: score runs against judgements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from goldrank.cli.inputs import once, open_qrels, open_runs, progress
from goldrank.cli.options import (
    ReadingOptions,
    choice_option,
    file_option,
    format_option,
    judges_options,
    measures_option,
    parse_shard,
    policy_options,
    reading_options,
    slice_options,
    slice_queries,
)
from goldrank.cli.output import deliver, echo_form, show, show_as, written
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores
from goldrank.data.table import note_sentences
from goldrank.errors import InputError
from goldrank.report.scores import WRITERS, notes, parts, render

if TYPE_CHECKING:
    from goldrank.comparison.one_system import RunIntervals


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@measures_option
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every query.")
@file_option("--by-query-file", help="Write every query's values to a CSV file.")
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@click.option("--interval", is_flag=True, help="Show how sure each mean is.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@slice_options
@file_option("--save", help="Save the scores of one run, with all they are made of.")
@format_option
@reading_options
@click.option("--qrels-format", help="The qrels' format, if it cannot be detected from its content.")
@click.option("--by-tag", is_flag=True, help="RUN holds several runs: score each tag (column 6 of TREC) on its own.")
@click.option(
    "--shard",
    metavar="I/N",
    callback=parse_shard,
    help="Score part I of N parts of the queries; put them together with merge.",
)
@judges_options
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by_query: bool,
    by_query_file: str | None,
    output: str,
    interval: bool,
    level: float,
    metadata: str | None,
    slices: tuple[str, ...],
    save: str | None,
    qrels_format: str | None,
    by_tag: bool,
    shard: tuple[int, int] | None,
    how: ReadingOptions,
    judged_by: Literal["human", "model"] | None,
    model_qrels: str | None,
    **policies: Any,
) -> None:
    """Score one or more runs against judgements.

    QRELS and RUN are files of almost any kind (TREC, MS MARCO, BEIR, JSON, CSV, Parquet, also .gz and .zst);
    - is standard input, and NAME=FILE names a run. Folders of part files and quoted patterns
    ('runs/part-*.parquet') are read as one. Without -m the usual measures are shown. Without RUN, QRELS holds both:
    records of questions with the ids that were expected and those that were retrieved.
    """
    from goldrank.evaluation.documents import evaluate
    from goldrank.io import read_runs
    from goldrank.io.sources import open_source

    once([qrels, *runs])
    both: Any = qrels
    if not runs:
        if by_tag:
            raise click.UsageError("--by-tag needs a RUN")
        both = open_source(qrels) if qrels == "-" else qrels
    if by_query and (interval or slices):
        raise click.UsageError("-q shows single queries; --interval and --slice are about their means")
    if save and len(runs) > 1:
        raise click.UsageError("--save takes one run")
    if by_tag and len(runs) > 1:
        raise click.UsageError("--by-tag takes one file, folder or quoted pattern")

    judged = open_qrels(both, policies, how, format=qrels_format, model=model_qrels)
    if judged_by is not None:
        judged = judged.by(judged_by)
    if shard is not None:
        judged = judged.shard(*shard)
    if by_tag:
        opened = read_runs(runs[0], format=how.run_format, columns=how.columns)
        how.columns.check_used()
    elif runs:
        opened = open_runs(runs, policies, how)
    else:
        opened = Runs([_retrieved(both, qrels_format, how)])
    watched = [] if by_tag else [run for _, run in opened.items()]
    with progress(*watched):
        measured = evaluate(judged, opened, measures or None, catalogue=how.catalogue, **policies)
    scores = list(measured.values())
    if save and len(scores) > 1:
        raise click.UsageError("--save takes one run")

    def shown() -> None:
        if interval or slices:
            from goldrank.comparison.one_system import score_intervals
            from goldrank.comparison.settings import Statistics

            statistics = Statistics(alpha=1 - level)
            known = slice_queries(metadata, slices)
            found = [score_intervals(run, queries=known, slice_by=slices, statistics=statistics) for run in scores]
            show_intervals(found, output)
        else:
            show_scores(scores, output, by_query)

    saved = partial(scores[0].save, save) if save else None
    deliver(saved, written(by_query_file, lambda: render(scores, "csv", by_query=True)), shown)


def _retrieved(both: Any, format: str | None, how: ReadingOptions) -> Run:
    """The run that stands in one file with its judgements."""
    from goldrank.io import read_run

    try:
        run = read_run(both, format=format, columns=how.columns)
        how.columns.check_used()
        len(run)  # of some formats nothing was read so far
    except InputError as error:
        what = "Missing argument 'RUN...'. Without it, QRELS must hold both the ids that were expected and those that "
        place = "" if error.where is None else f"{error.where}: "
        raise click.UsageError(f"{what}were retrieved: {place}{error.what}") from None
    return run


def show_intervals(found: Sequence[RunIntervals], form: str) -> None:
    """Print means with their intervals; where the form is one for programs, notes go to standard error."""
    from goldrank.report import WIDTH, one_system

    show_as(form, found, one_system.all_parts, one_system.WRITERS, WIDTH)
    if form != "table":
        show([sentence for run in found for sentence in note_sentences(run.notes, run.run)], err=True)


def show_scores(scores: Sequence[Scores], form: str, by_query: bool) -> None:
    """Print scores; where the form is one for programs, notes go to standard error."""
    if form == "table":
        show(parts(scores, by_query))
    else:
        echo_form(render(scores, form, by_query), form)
        show(notes(scores), err=True)
