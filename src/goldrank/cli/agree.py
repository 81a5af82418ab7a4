"""`goldrank agree`: how well matchers decide what people decided."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import click

from goldrank.cli.common import field_map
from goldrank.match.matcher import NAMES

OUTPUTS = ("table", "json", "csv", "markdown")


@click.command(epilog=f"Matchers: {', '.join(NAMES)}. A threshold follows as in rouge-l:0.7.")
@click.argument("labels")
@click.option(
    "--match",
    "matchers",
    multiple=True,
    metavar="MATCHER",
    help="A matcher to judge; may be repeated. Without it, all of them.",
)
@click.option(
    "--map",
    "fields",
    multiple=True,
    metavar="NAME=FIELD",
    help="Where retrieved, reference or label is, such as label=human; may be repeated.",
)
@click.option(
    "--show", "count", type=click.IntRange(0), default=0, metavar="N", help="List each matcher's first N disagreements."
)
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default="table", show_default=True, help="How to show it.")
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Parts for the thresholds' held-out values."
)
@click.option("--samples", type=click.IntRange(1), default=2_000, show_default=True, help="Samples of the bootstrap.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same numbers."
)
@click.option("--format", "data_format", help="The labels' format, if it cannot be told from their content.")
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

    found = matcher_agreement(labels, list(matchers or NAMES), fields=field_map(fields), format=data_format, **options)
    _say(RENDER[output](found))
    if output != "table":
        for note in found.notes:
            _say(str(note), err=True)
    for one in found if count else ():
        _say("\n" + describe_disagreements(one, count), err=output != "table")


def _json(found: Any) -> str:
    return json.dumps(found.to_dict(), indent=2)


def _csv(found: Any) -> str:
    text = io.StringIO()
    rows = found.rows()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _markdown(found: Any) -> str:
    from goldrank.cli.eval import markdown_cell

    lines = ["| matcher | kappa | F1 | precision | recall | accuracy |", "|---|---:|---:|---:|---:|---:|"]
    for one in found:
        c = one.confusion
        values = ("-" if v != v else f"{v:.3f}" for v in (c.kappa, c.f1, c.precision, c.recall, c.accuracy))
        lines.append(f"| {markdown_cell(one.matcher)} | {' | '.join(values)} |")
    return "\n".join(lines)


RENDER: dict[str, Callable[[Any], str]] = {"table": str, "json": _json, "csv": _csv, "markdown": _markdown}


def _say(text: str, err: bool = False) -> None:
    click.echo(text.encode("utf-8", "backslashreplace"), nl=not text.endswith("\n"), err=err)
