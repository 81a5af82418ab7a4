"""`goldrank check`: is a history whole?"""

from __future__ import annotations

import click

from goldrank.cli.inputs import open_history
from goldrank.cli.options import db_option
from goldrank.cli.output import echo


@click.command()
@db_option
def command(db: str) -> None:
    """Read all of a history and compare it with its hashes.

    The exit code is 3 if anything is damaged or missing; the message says what, and what to do.
    """
    from goldrank.data.table import count

    with open_history(db) as history:
        records = history.check()
    echo(f"{db}: {count(records, 'record')}, all as they were recorded")
