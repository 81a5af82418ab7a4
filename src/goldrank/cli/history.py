"""`goldrank history`: a measure over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import open_history
from goldrank.cli.options import db_option, file_option, seed_option, slice_options, slice_queries
from goldrank.cli.output import deliver, say, show, write

if TYPE_CHECKING:
    from goldrank.history.over_time import Trend


@click.command()
@click.option("-m", "--measure", "measures", multiple=True, help="Default: the newest record's first; all in --html.")
@click.option("--label", help="Only the records with this label.")
@click.option("--limit", type=int, help="Show only the newest so many records.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="A line's chance of a false alarm.")
@seed_option
@click.option("--reanalyse", is_flag=True, help="Forget the marks that were set, and look at all records again.")
@slice_options
@file_option("--html", "html_file", help="Write a page with charts, slices, tables and all records.")
@file_option("--svg", "svg_file", help="Write the first measure's chart.")
@db_option
def command(
    measures: tuple[str, ...],
    alpha: float,
    seed: int,
    metadata: str | None,
    slices: tuple[str, ...],
    html_file: str | None,
    svg_file: str | None,
    db: str,
    **options: Any,
) -> None:
    """Show how measures went over time, and where they changed by more than chance does.

    Marks stay where they were set when records are added. Records with other judgements, relevance rules, convention
    or depth are never joined into one line.
    """
    from goldrank.comparison.settings import Statistics
    from goldrank.history.file import can_be_written
    from goldrank.history.over_time import trend_of
    from goldrank.report import WIDTH, trend

    known = slice_queries(metadata, slices)
    if slices and not html_file:
        raise click.UsageError("--slice needs --html: slices are drawn on the page")
    statistics = Statistics(alpha=alpha, seed=seed)
    detailed: dict[str, Any] = {"queries": known, "slice_by": slices, "detailed": bool(html_file)}
    with open_history(db, write=can_be_written(db)) as history:

        def measured(measure: str | None) -> Trend:
            return trend_of(history, measure, statistics=statistics, **options, **detailed)

        shown = [measured(measure) for measure in measures or (None,)]
        pages = list(shown)
        if html_file and not measures:
            newest = shown[0].lines[-1].line.records[-1]
            pages += [measured(name) for name in newest.mean if name != shown[0].measure]
    files: list[Callable[[], object]] = []
    if html_file:
        from goldrank.report import trend_page

        files.append(lambda: _write(html_file, trend_page.page(pages)))
    if svg_file:
        from goldrank.report import trend_chart

        lines = [of.line for of in shown[0].lines]
        files.append(lambda: _write(svg_file, trend_chart.chart(lines).alone()))
    deliver(lambda: show(trend.several_parts(shown), WIDTH), *files)


def _write(path: str, text: str) -> None:
    write(path, text)
    say(f"written: {path}")
