"""`goldrank prune`: remove old records."""

from __future__ import annotations

import datetime

import click

from goldrank.cli.inputs import open_history
from goldrank.cli.options import db_option
from goldrank.cli.output import echo


@click.command()
@click.option("--keep", type=int, metavar="N", help="Keep the newest N records of each label.")
@click.option("--before", metavar="DATE", help="Remove only what was recorded before, such as 2026-01-31.")
@click.option("--label", help="Only records with this label.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@db_option
def command(keep: int | None, before: str | None, label: str | None, dry_run: bool, db: str) -> None:
    """Remove old records; baselines always stay."""
    from goldrank.data.table import count
    from goldrank.report import trend

    if keep is None and before is None:
        raise click.UsageError("say what to keep, with --keep N, --before DATE, or both")
    limit = None if before is None else _moment(before)
    with open_history(db, write=not dry_run) as history:
        gone = history.prune(keep=keep, before=limit, label=label, dry_run=dry_run)
    for record in gone:
        echo(trend.brief(record))
    echo(f"{count(len(gone), 'record')} {'would be' if dry_run else 'were'} removed", err=True)


def _moment(text: str) -> datetime.datetime:
    """The time that --before says, in UTC where it names no zone."""
    from goldrank.errors import OptionError

    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"{text!r} is not a time", hint="For example 2026-01-31 or 2026-01-31T12:00.") from None
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment
