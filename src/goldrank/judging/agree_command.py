"""`goldrank judge agree`: how well matchers, or a model that judges, decide what people decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import key_values, open_qrels, open_runs
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    count_option,
    documents_option,
    input_option,
    map_option,
    measures_option,
    model_qrels_option,
    queries_option,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, echo, output_options
from goldrank.cli.text_options import matching_option
from goldrank.io.columns import Columns
from goldrank.match.matcher import NAMES

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.data.qrels import Qrels


@declared(
    usual="--matching --model-qrels -n -m -o --statistics",
    epilog=f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7.",
)
@click.argument("labels", metavar="LABELS | QRELS", type=FILE)
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=FILE)
@matching_option(multiple=True)
@model_qrels_option
@documents_option
@queries_option
@measures_option
@count_option
@option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    heading=MEASURE,
    help="Parts of the cross-validation.",
)
@option("--scale", heading=MEASURE, metavar="N,N,...", help="All grades that can be given, such as 0,1,2,3.")
@statistics_option
@input_option
@map_option
@output_options()
def command(
    labels: str,
    runs: tuple[str, ...],
    matching: tuple[Any, ...],
    model_qrels: str | None,
    documents: str | None,
    queries: str | None,
    measures: tuple[str, ...],
    count: int | None,
    folds: int,
    scale: str | None,
    statistics: Statistics | None,
    formats: dict[str, str],
    fields: tuple[str, ...],
    output: Output,
) -> None:  # fmt: skip
    """Say which matcher decides as people do, from labelled pairs of texts.

    LABELS has a retrieved text, a reference and a label (true or false, yes or no, 1 or 0) for each pair, as
    JSON Lines, JSON, CSV or Parquet. The matcher that agrees most, by Cohen's kappa, comes first. Without --matching
    all of them are tried; -n lists each one's first disagreements.

    With --model-qrels, it says how far that model agrees
    with people, what its errors go with, and whether systems (RUN) keep their order.
    """
    chosen = statistics_of(statistics)
    if model_qrels is not None:
        if matching or count:
            raise click.UsageError("--matching and -n are for matchers, not for --model-qrels")
        reading = ReadingOptions(
            columns=Columns(key_values(fields, "--map", "ROLE=COLUMN")),
            qrels_format=formats.get("qrels", formats.get("")),
            run_format=formats.get("run", formats.get("")),
            model_qrels=model_qrels,
        )
        opened = None
        if runs:
            opened = open_runs(runs, reading)
        options = {
            "runs": opened,
            "measures": list(measures) or None,
            "documents": documents,
            "queries": queries,
            "scale": _grades(scale),
            "statistics": chosen,
        }
        _show_model_agreement(open_qrels(labels, reading), reading, options, output)
        return

    if documents or queries or runs or measures or scale:
        raise click.UsageError("--documents, --queries, RUN, -m and --scale need --model-qrels")

    from goldrank.rag.matcher_agreement import MatcherAgreements, describe_disagreements, matcher_agreement

    output.check(MatcherAgreements)
    agreements = matcher_agreement(
        labels,
        [choice.matcher for choice in matching] or list(NAMES),
        fields=key_values(fields, "--map") or None,
        format=formats.get(""),
        folds=folds,
        statistics=chosen,
    )
    output.show(agreements)
    if count:
        for result in agreements:
            echo("\n" + describe_disagreements(result, count), err=output.form != "terminal")


def _grades(scale: str | None) -> list[int] | None:
    if not scale:
        return None
    try:
        return [int(part) for part in scale.split(",")]
    except ValueError:
        raise click.UsageError(f"--scale takes grades such as 0,1,2,3, not {scale!r}") from None


def _show_model_agreement(judged: Qrels, reading: ReadingOptions, options: dict[str, Any], output: Output) -> None:
    from goldrank.judging.bias import JudgeAgreement, judge_agreement

    output.check(JudgeAgreement)
    reading.columns.check_used()
    output.show(judge_agreement(judged, **options))
