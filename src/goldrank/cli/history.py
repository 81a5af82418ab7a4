"""`goldrank history`: a measure over time."""

from __future__ import annotations

import click

from goldrank.cli.options import db_option, file_option, seed_option
from goldrank.cli.output import echo, show, write


@click.command()
@click.option("-m", "--measure", "measures", multiple=True, help="Default: the newest record's first measure.")
@click.option("--label", help="Only the records with this label.")
@click.option("--limit", type=int, help="Only the newest so many records.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="A line's chance of a false alarm.")
@seed_option
@click.option("--reanalyse", is_flag=True, help="Forget the marks that were set, and look at all records anew.")
@slice_options
@file_option("--html", "html_file", help="Write tables and charts to an HTML file: all measures, unless -m names some.")
@file_option("--svg", "svg_file", help="Write the first measure's chart.")
@db_option
def command(
    measures: tuple[str, ...],
    label: str | None,
    limit: int | None,
    alpha: float,
    html_file: str | None,
    svg_file: str | None,
    db: str,
) -> None:
    """Show how measures went over time, and where they changed by more than chance does.

    Records with other judgements, relevance rules, convention or depth are never joined into one line.
    """
    from goldrank.history import History
    from goldrank.history.trends import trend_lines
    from goldrank.report import WIDTH, trend

    with History.open(db, read_only=True) as history:
        found = [
            trend_lines(history, measure, label=label, limit=limit, alpha=alpha) for measure in measures or (None,)
        ]
        baselines = history.baselines()
    show(trend.parts(found, baselines, alpha), WIDTH)
    if html_file:
        write(html_file, trend.page(found, baselines, alpha))
        echo(f"written: {html_file}", err=True)
    if svg_file:
        write(svg_file, trend.chart(found[0]).alone())
        echo(f"written: {svg_file}", err=True)
