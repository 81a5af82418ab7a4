"""`goldrank history show`: one record."""

from __future__ import annotations

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.options import by_query_option, db_option
from goldrank.cli.output import Output, output_options
from goldrank.history.opening import open_history


@declared()
@click.argument("record", metavar="REF")
@by_query_option
@db_option()
@output_options()
def command(record: str, by_query: bool, db: str, output: Output) -> None:
    """Show a record: by its number, or the newest with a label; -o x.json writes its scores."""
    from goldrank.history import trend_report as trend
    from goldrank.report.scores import ScoreTables
    from goldrank.report.show import render

    with open_history(db) as history:
        stored = history[record]
        scores = history.scores(stored)
        names = [name for name, number in history.baselines().items() if number == stored.id]
    tables = ScoreTables([scores], by_query)
    parts = [trend.about(stored, names), *tables.parts()]
    writers = {"csv": lambda _: render(tables, "csv")}
    output.show(scores, lambda _: parts, writers)
