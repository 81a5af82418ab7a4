"""`goldrank history baseline`: the records that have a name, to compare runs with."""

from __future__ import annotations

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.options import db_option, dry_run_option
from goldrank.cli.output import Output, notes_options, show
from goldrank.data.table import Head, Part, Sentence, Table
from goldrank.history.opening import open_history


@declared()
@click.argument("name", required=False)
@click.argument("record", metavar="[REF]", required=False)
@dry_run_option
@db_option()
@notes_options
def command(name: str | None, record: str | None, dry_run: bool, db: str, output: Output) -> None:
    """List the baselines of a history, show the one called NAME, or give that name to a record (REF).

    REF is a record's number, its label (the newest with it) or its commit.
    """
    if name is not None and record is not None:
        parts = _set(db, name, record, dry_run)
    elif name is not None:
        parts = _shown(db, name)
    else:
        parts = _listed(db)
    if not output.is_quiet:
        show(parts)


def _listed(db: str) -> list[Part]:
    with open_history(db) as history:
        rows = [[name, str(number), history[number].label] for name, number in history.baselines().items()]
    if not rows:
        return [Sentence("There are no baselines. Set one:  goldrank history baseline NAME REF")]
    return [Table([*Head.names("baseline"), *Head.texts("record", "label")], rows)]


def _shown(db: str, name: str) -> list[Part]:
    from goldrank.gating.baseline_report import parts

    with open_history(db) as history:
        return parts(history.baseline(name))


def _set(db: str, name: str, record: str, dry_run: bool) -> list[Part]:
    from goldrank.gating.baseline import changes
    from goldrank.gating.baseline_report import change_parts

    with open_history(db, write=not dry_run) as history:
        old = None
        if name in history.baselines():
            old = history.baseline(name)
        changed = changes(old, history.scores(record))
        if not dry_run:
            history.set_baseline(name, history[record].id)
            old_digest = ""
            if old:
                old_digest = f"{old.digest[:12]} -> "
            changed.append(f"sha256: {old_digest}{history.baseline(name).digest[:12]}")
    return change_parts(name, changed, is_set=not dry_run)
