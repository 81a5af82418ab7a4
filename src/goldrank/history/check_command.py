"""`goldrank history check`: is a history undamaged?"""

from __future__ import annotations

from goldrank.cli.commands import command as declared
from goldrank.cli.options import db_option
from goldrank.cli.output import Output, echo, notes_options
from goldrank.history.opening import open_history


@declared()
@db_option()
@notes_options
def command(db: str, output: Output) -> None:
    """Read all of a history and compare it with its hashes.

    The exit code is 3 if anything is damaged or missing; the message says what, and what to do.
    """
    from goldrank.data.table import count

    with open_history(db) as history:
        records = history.check()
    if not output.is_quiet:
        echo(f"{db}: {count(records, 'record')}, all as they were recorded")
