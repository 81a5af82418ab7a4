"""`goldrank export`: a history in a file that other programs read."""

from __future__ import annotations

import click

from goldrank.cli.inputs import open_history
from goldrank.cli.options import db_option, file_option
from goldrank.cli.output import say


@click.command()
@file_option("-o", "--output", required=True, help="A .parquet, .csv or .json file.")
@click.option("--label", help="Only the records with this label.")
@click.option("--summaries", is_flag=True, help="Without the values of single queries.")
@db_option
def command(output: str, label: str | None, summaries: bool, db: str) -> None:
    """Write the records to Parquet or CSV (one row per record, measure and query) or JSON, by the file's ending.

    A record that is damaged is named and left out, and the exit code is 3; the others are written.
    """
    from goldrank.data.table import count
    from goldrank.errors import StoreError
    from goldrank.history.file import RECOVER
    from goldrank.report.exporting import export

    with open_history(db) as history:
        written, troubles = export(history, output, label=label, by_query=not summaries)
    say(f"{output}: {count(written, 'record')}")
    if troubles:
        for trouble in troubles:
            say(f"left out: {trouble.what}")
        raise StoreError("what was left out is damaged", where=db, hint=RECOVER)
