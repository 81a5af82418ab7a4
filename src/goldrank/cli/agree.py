"""`goldrank agree`: how well matchers, or a model that judges, decide what people decided."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import key_values, open_qrels, open_runs
from goldrank.cli.options import ReadingOptions, choice_option, fields_option, file_option, measures_option
from goldrank.cli.output import echo, show, show_as
from goldrank.io.columns import Columns
from goldrank.match.matcher import NAMES
from goldrank.report.matchers import WRITERS


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
@click.option("--samples", type=click.IntRange(1), default=2_000, show_default=True, help="Samples of the bootstrap.")
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
    **options: Any,
) -> None:  # fmt: skip
    """Say which matcher decides as people do, from labelled pairs of texts.

    LABELS has a retrieved text, a reference and a label (true or false, yes or no, 1 or 0) for each pair, as
    JSON Lines, JSON, CSV or Parquet. The matcher that agrees most, by Cohen's kappa, comes first.

    With --model LABELS are qrels by people, and it says how far the model's judgements agree with them, what its
    errors go with, and whether systems keep their order.
    """
    if model_qrels is not None:
        options.pop("folds")
        if matchers or count or data_format:
            raise click.UsageError("--match, --show and --format are for matchers, not for --model")
        given = {"docs": docs, "queries": queries, "measures": list(measures) or None, **options}
        columns = Columns(key_values(fields, "--map", "ROLE=COLUMN"))
        _of_model(labels, model_qrels, runs, ReadingOptions(columns), scale, output, given)
        return
    if docs or queries or runs or measures or scale:
        raise click.UsageError("--docs, --queries, --run, --measure and --scale need --model")
    from goldrank.comparison.matching import describe_disagreements, matcher_agreement
    from goldrank.comparison.settings import Statistics
    from goldrank.data.table import note_sentences
    from goldrank.report.matchers import parts

    where = key_values(fields, "--map") or None
    statistics = Statistics(alpha=_alpha(options["level"]), samples=options["samples"], seed=options["seed"])
    agreements = matcher_agreement(
        labels,
        list(matchers or NAMES),
        fields=where,
        format=data_format,
        folds=options["folds"],
        statistics=statistics,
    )
    show_as(output, agreements, parts, WRITERS)
    if output != "table":
        show(note_sentences(agreements.notes), err=True)
    for result in agreements if count else ():
        echo("\n" + describe_disagreements(result, count), err=output != "table")


def _alpha(level: float) -> float:
    """How often a level leaves something out; rounded, since 1 - 0.95 is not quite 0.05."""
    if not 0 < level < 1:
        raise click.UsageError(f"--level is {level}; it must be between 0 and 1, and 0.95 is usual")
    return round(1 - level, 12)


def _of_model(
    people: str,
    model: str,
    runs: tuple[str, ...],
    how: ReadingOptions,
    scale: str | None,
    output: str,
    options: dict[str, Any],
) -> None:
    from goldrank.judging.bias import judge_agreement
    from goldrank.report.judge_agreement import WRITERS as FORMS
    from goldrank.report.judge_agreement import parts

    if output not in FORMS:
        raise click.UsageError(f"--model is shown as {' or '.join(FORMS)}, not as {output}")
    try:
        grades = [int(part) for part in scale.split(",")] if scale else None
    except ValueError:
        raise click.UsageError(f"--scale takes grades such as 0,1,2,3, not {scale!r}") from None
    theirs, models = (open_qrels(path, {}, how) for path in (people, model))
    systems = open_runs(runs, {}, how) if runs else None
    how.columns.check_used()
    agreement = judge_agreement(theirs, models, scale=grades, runs=systems, **options)
    show_as(output, agreement, parts, FORMS)
