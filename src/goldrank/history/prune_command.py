"""`goldrank history prune`: remove old records."""

from __future__ import annotations

import datetime

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import HISTORY, db_option, dry_run_option, label_option
from goldrank.cli.output import Output, echo, notes_options
from goldrank.history.opening import open_history


@declared(help_alone=True)
@option("--keep", type=int, metavar="N", heading=HISTORY, help="Keep the newest N records of each label.")
@option("--before", metavar="DATE", heading=HISTORY, help="Remove only what was recorded before, such as 2026-01-31.")
@label_option
@dry_run_option
@db_option()
@notes_options
def command(keep: int | None, before: str | None, label: str | None, dry_run: bool, db: str, output: Output) -> None:
    """Remove old records; baselines always stay."""
    from goldrank.data.table import count
    from goldrank.history import trend_report as trend

    if keep is None and before is None:
        raise click.UsageError("say what to keep, with --keep N, --before DATE, or both")

    limit = None
    if before is not None:
        limit = _moment(before)
    with open_history(db, write=not dry_run) as history:
        removed = history.prune(keep=keep, before=limit, label=label, dry_run=dry_run)
    if output.is_quiet:
        return

    for record in removed:
        echo(trend.brief(record))
    verb = "were"
    if dry_run:
        verb = "would be"
    echo(f"{count(len(removed), 'record')} {verb} removed", err=True)


def _moment(text: str) -> datetime.datetime:
    """The time that --before says, in UTC where it names no zone."""
    from goldrank.base.errors import OptionError

    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"{text!r} is not a time", hint="For example 2026-01-31 or 2026-01-31T12:00.") from None
    if moment.tzinfo is None:
        return moment.replace(tzinfo=datetime.UTC)
    return moment
