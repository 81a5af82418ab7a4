"""`goldrank history`: a measure over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.options import db_option, file_option, seed_option, slice_options, slice_queries
from goldrank.cli.output import deliver, say, show, write

if TYPE_CHECKING:
    from goldrank.history.trends import TrendLine


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
    from goldrank.history import History
    from goldrank.history.details import line_details
    from goldrank.history.file import can_be_written
    from goldrank.history.trends import trend_lines
    from goldrank.report import WIDTH, trend

    known = slice_queries(metadata, slices)
    if slices and not html_file:
        raise click.UsageError("--slice needs --html: slices are drawn on the page")
    with History.open(db, read_only=not can_be_written(db)) as history:

        def lines_of(measure: str | None) -> list[TrendLine]:
            return trend_lines(history, measure, alpha=alpha, **options)

        trends = [lines_of(measure) for measure in measures or (None,)]
        baselines = history.baselines()
        if html_file:
            newest = trends[0][-1].records[-1]
            others = [name for name in newest.summaries if name != trends[0][0].measure] if not measures else []
            pages = [*trends, *map(lines_of, others)]
            detailed = [
                [line_details(history, line, slice_by=slices, queries=known) for line in lines] for lines in pages
            ]
    files: list[Callable[[], object]] = []
    if html_file:
        from goldrank.report import trend_page

        files.append(lambda: _write(html_file, trend_page.page(detailed, baselines, alpha)))
    if svg_file:
        from goldrank.report import trend_chart

        files.append(lambda: _write(svg_file, trend_chart.chart(trends[0]).alone()))
    deliver(lambda: show(trend.parts(trends, baselines, alpha), WIDTH), *files)


def _write(path: str, text: str) -> None:
    write(path, text)
    say(f"written: {path}")
