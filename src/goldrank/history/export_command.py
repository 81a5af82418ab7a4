"""`goldrank history export`: a history in a file that other programs read."""

from __future__ import annotations

from goldrank.cli.commands import command as declared
from goldrank.cli.options import by_query_option, db_option, label_option
from goldrank.cli.output import Output, export_options, say
from goldrank.history.opening import open_history


@declared(help_alone=True)
@by_query_option
@label_option
@db_option()
@export_options
def command(by_query: bool, label: str | None, db: str, output: Output) -> None:
    """Write the records to Parquet, CSV or JSON (-o history.parquet), by the file's ending.

    There is a row for each record and measure; with -q for each query too.

    A record that is damaged is named and left out, and the exit code is 3; the others are written.
    """
    from goldrank.base.errors import GoldrankError, StoreError
    from goldrank.data.table import count
    from goldrank.history.exporting import export
    from goldrank.history.history_file import RECOVER

    troubles: list[GoldrankError] = []
    with open_history(db) as history:
        for path in output.files:
            written, troubles = export(history, path, label=label, by_query=by_query)
            output.say(f"{path}: {count(written, 'record')}")
    if troubles:
        for trouble in troubles:
            say(f"left out: {trouble.what}")
        raise StoreError("what was left out is damaged", where=db, hint=RECOVER)
