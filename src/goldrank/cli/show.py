"""`goldrank show`: one record."""

from __future__ import annotations

import click

from goldrank.cli import output
from goldrank.cli.inputs import open_history
from goldrank.cli.options import db_option


@click.command()
@click.argument("record", metavar="ID|LABEL")
@click.option("-q", "--by-query", is_flag=True, help="Show the value of every query.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as `eval --save` writes it.")
@db_option
def command(record: str, by_query: bool, as_json: bool, db: str) -> None:
    """Show a record: by its number, or the newest with a label."""
    from goldrank.report import scores as report
    from goldrank.report import trend

    with open_history(db) as history:
        shown = history[record]
        scores = history.scores(shown)
        names = [name for name, number in history.baselines().items() if number == shown.id]
    if as_json:
        output.echo_form(report.render([scores], "json", by_query=True), "json")
    else:
        output.show([trend.about(shown, names), *report.parts([scores], by_query)])
