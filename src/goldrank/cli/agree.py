"""`goldrank agree`: how well matchers decide what people decided."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import key_values
from goldrank.cli.options import choice_option, fields_option
from goldrank.cli.output import echo, echo_form, show
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
@click.option("--format", "data_format", help="The labels' format, if it cannot be detected from their content.")
def command(
    labels: str,
    matchers: tuple[str, ...],
    fields: tuple[str, ...],
    count: int,
    output: str,
    data_format: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Say which matcher decides as people do, from labelled pairs of texts.

    LABELS has a retrieved text, a reference and a label (true or false, yes or no, 1 or 0) for each pair, as
    JSON Lines, JSON, CSV or Parquet. The matcher that agrees most, by Cohen's kappa, comes first.
    """
    from goldrank.comparison.matching import describe_disagreements, matcher_agreement
    from goldrank.data.table import note_sentences
    from goldrank.report.matchers import parts, render

    where = key_values(fields, "--map") or None
    found = matcher_agreement(labels, list(matchers or NAMES), fields=where, format=data_format, **options)
    if output == "table":
        show(parts(found))
    else:
        echo_form(render(found, output), output)
        show(note_sentences(found.notes), err=True)
    for result in found if count else ():
        echo("\n" + describe_disagreements(result, count), err=output != "table")
