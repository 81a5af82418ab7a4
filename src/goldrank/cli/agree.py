"""`goldrank agree`: how well matchers, or a model that judges, decide what people decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from goldrank.cli.inputs import key_values, open_qrels, open_runs
from goldrank.cli.options import ReadingOptions, alpha_of, choice_option, fields_option, file_option, measures_option
from goldrank.cli.output import echo, show, show_as
from goldrank.io.columns import Columns
from goldrank.match.matcher import NAMES
from goldrank.report.matchers import WRITERS

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.qrels import Qrels


@click.command(epilog=f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7.")
@click.argument("labels")
@click.option(
    "--match",
    "matchers",
    multiple=True,
    metavar="MATCHER",
    help="A matcher to judge; may be repeated. Without it, all of them.",
)
@fields_option
@click.option(
    "--show", "count", type=click.IntRange(0), default=0, metavar="N", help="List each matcher's first N disagreements."
)
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Parts for the thresholds' held-out values."
)
@click.option("--samples", type=click.IntRange(100), default=2_000, show_default=True, help="Samples of the bootstrap.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same numbers."
)
@file_option("--model", "model_qrels", help="A model's judgements: LABELS are then people's qrels.")
@file_option("--docs", help="With --model: texts of documents, as JSONL.")
@file_option("--queries", help="With --model: texts of queries, as JSONL.")
@click.option("--run", "runs", multiple=True, metavar="NAME=FILE", help="With --model: a system; may be repeated.")
@measures_option
@click.option("--scale", help="With --model: all grades that can be given, such as 0,1,2,3.")
@click.option("--format", "data_format", help="The labels' format, if it cannot be detected from their content.")
def command(
    labels: str,
    matchers: tuple[str, ...],
    fields: tuple[str, ...],
    count: int,
    output: str,
    data_format: str | None,
    model_qrels: str | None,
    docs: str | None,
    queries: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    scale: str | None,
    folds: int,
    samples: int,
    level: float,
    seed: int,
) -> None:
    """Say which matcher decides as people do, from labelled pairs of texts.

    LABELS has a retrieved text, a reference and a label (true or false, yes or no, 1 or 0) for each pair, as
    JSON Lines, JSON, CSV or Parquet. The matcher that agrees most, by Cohen's kappa, comes first.

    With --model LABELS are qrels by people, and it says how far the model's judgements agree with them, what its
    errors go with, and whether systems keep their order.
    """
    from goldrank.comparison.settings import Statistics

    statistics = Statistics(alpha=alpha_of(level), samples=samples, seed=seed)
    if model_qrels is not None:
        if matchers or count or data_format:
            raise click.UsageError("--match, --show and --format are for matchers, not for --model")
        columns = ReadingOptions(Columns(key_values(fields, "--map", "ROLE=COLUMN")))
        judged = open_qrels(labels, {}, columns, model=model_qrels)
        given = _Beside(docs, queries, runs, list(measures) or None, _grades(scale), statistics)
        _of_model(judged, columns, given, output)
        return
    if docs or queries or runs or measures or scale:
        raise click.UsageError("--docs, --queries, --run, --measure and --scale need --model")

    from goldrank.comparison.matching import describe_disagreements, matcher_agreement
    from goldrank.data.table import note_sentences
    from goldrank.report.matchers import parts

    where = key_values(fields, "--map") or None
    agreements = matcher_agreement(
        labels,
        list(matchers or NAMES),
        fields=where,
        format=data_format,
        folds=folds,
        statistics=statistics,
    )
    show_as(output, agreements, parts, WRITERS)
    if output != "table":
        show(note_sentences(agreements.notes), err=True)
    for result in agreements if count else ():
        echo("\n" + describe_disagreements(result, count), err=output != "table")


class _Beside(NamedTuple):
    """What a model is looked at by."""

    documents: str | None
    queries: str | None
    runs: tuple[str, ...]
    measures: list[str] | None
    scale: list[int] | None
    statistics: Statistics


def _grades(scale: str | None) -> list[int] | None:
    try:
        return [int(part) for part in scale.split(",")] if scale else None
    except ValueError:
        raise click.UsageError(f"--scale takes grades such as 0,1,2,3, not {scale!r}") from None


def _of_model(judged: Qrels, how: ReadingOptions, given: _Beside, output: str) -> None:
    from goldrank.judging.bias import judge_agreement
    from goldrank.report.judge_agreement import WRITERS as FORMS
    from goldrank.report.judge_agreement import parts

    if output not in FORMS:
        raise click.UsageError(f"--model is shown as {' or '.join(FORMS)}, not as {output}")
    runs = open_runs(given.runs, {}, how) if given.runs else None
    how.columns.check_used()
    agreement = judge_agreement(
        judged,
        runs=runs,
        measures=given.measures,
        documents=given.documents,
        queries=given.queries,
        scale=given.scale,
        statistics=given.statistics,
    )
    show_as(output, agreement, parts, FORMS)
