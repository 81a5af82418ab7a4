"""`goldrank history`, `show`, `export`, `check` and `prune`: what is in a history, and whether it is whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli import output
from goldrank.cli.options import db_option, file_option, seed_option, slice_arguments, slice_options
from goldrank.cli.output import deliver, echo, say, write

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

    by = slice_arguments(metadata, slices)
    if slices and not html_file:
        raise click.UsageError("--slice needs --html: slices are drawn on the page")
    with History.open(db, read_only=not can_be_written(db)) as history:

        def lines_of(measure: str | None) -> list[TrendLine]:
            return trend_lines(history, measure, alpha=alpha, **options)

        found = [lines_of(measure) for measure in measures or (None,)]
        baselines = history.baselines()
        if html_file:
            newest = found[0][-1].records[-1]
            others = [name for name in newest.summaries if name != found[0][0].measure] if not measures else []
            pages = [*found, *map(lines_of, others)]
            detailed = [[line_details(history, line, **by) for line in lines] for lines in pages]
    files: list[Callable[[], object]] = []
    if html_file:
        from goldrank.report import trend_page

        files.append(lambda: _write(html_file, trend_page.page(detailed, baselines, alpha)))
    if svg_file:
        from goldrank.report import trend_chart

        files.append(lambda: _write(svg_file, trend_chart.chart(found[0]).alone()))
    deliver(lambda: output.show(trend.parts(found, baselines, alpha), WIDTH), *files)


def _write(path: str, text: str) -> None:
    write(path, text)
    say(f"written: {path}")


@click.command()
@click.argument("record", metavar="ID|LABEL")
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every query.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as `eval --save` writes it.")
@db_option
def show(record: str, by_query: bool, as_json: bool, db: str) -> None:
    """Show a record: by its number, or the newest with a label."""
    from goldrank.history import History
    from goldrank.report import scores as report
    from goldrank.report import trend

    with History.open(db, read_only=True) as history:
        found = history.get(record)
        scores = history.scores(found)
        names = [name for name, number in history.baselines().items() if number == found.id]
    if as_json:
        output.echo_form(report.render([scores], "json", by_query=True), "json")
    else:
        output.show([trend.about(found, names), *report.parts([scores], by_query)])


@click.command()
@file_option("-o", "--output", required=True, help="A .parquet, .csv or .json file.")
@click.option("--label", help="Only the records with this label.")
@click.option("--summaries", is_flag=True, help="Without the values of single queries.")
@db_option
def export(output: str, label: str | None, summaries: bool, db: str) -> None:
    """Write the records to Parquet or CSV (one row per record, measure and query) or JSON, by the file's ending.

    A record that is damaged is named and left out, and the exit code is 3; the others are written.
    """
    from goldrank.errors import HistoryError
    from goldrank.history import History
    from goldrank.history.file import RECOVER
    from goldrank.report import exporting
    from goldrank.report.numbers import count

    with History.open(db, read_only=True) as history:
        written, troubles = exporting.export(history, output, label=label, by_query=not summaries)
    say(f"{output}: {count(written, 'record')}")
    if troubles:
        for trouble in troubles:
            say(f"left out: {trouble.what}")
        raise HistoryError("what was left out is damaged", where=db, hint=RECOVER)


@click.command()
@db_option
def check(db: str) -> None:
    """Read all of a history and compare it with its hashes.

    The exit code is 3 if anything is damaged or missing; the message says what, and what to do.
    """
    from goldrank.history import History
    from goldrank.report.numbers import count

    with History.open(db, read_only=True) as history:
        records = history.check()
    echo(f"{db}: {count(records, 'record')}, all as they were recorded")


@click.command()
@click.option("--keep", type=int, metavar="N", help="Keep the newest N records of each label.")
@click.option("--before", metavar="DATE", help="Remove only what was recorded before, such as 2026-01-31.")
@click.option("--label", help="Only records with this label.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@db_option
def prune(keep: int | None, before: str | None, label: str | None, dry_run: bool, db: str) -> None:
    """Remove old records; baselines always stay."""
    from goldrank.history import History
    from goldrank.report import trend
    from goldrank.report.numbers import count

    if keep is None and before is None:
        raise click.UsageError("say what to keep, with --keep N, --before DATE, or both")
    with History.open(db, read_only=dry_run) as history:
        gone = history.prune(keep=keep, before=before, label=label, dry_run=dry_run)
    for record in gone:
        echo(trend.brief(record))
    echo(f"{count(len(gone), 'record')} {'would be' if dry_run else 'were'} removed", err=True)
