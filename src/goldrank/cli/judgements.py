"""`goldrank judgements`: what is in a log of judgements."""

from __future__ import annotations

import click

from goldrank.cli.options import choice_option, explained, file_option
from goldrank.cli.output import say, show, write
from goldrank.judgements.merge import BY, MERGES


@click.group()
def command() -> None:
    """Judgements by people and models: what the log of `goldrank judge` and `goldrank serve` holds."""


@command.command("export")
@click.argument("log", type=click.Path(dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--qrels", help="Judgements that the log's are put on top of.")
@choice_option("--by", BY, "person", f"Whose grades: {explained(BY)}.")
@choice_option("--merge", MERGES, "median", f"Several judges: {explained(MERGES)}.")
@click.option("--adjudicator", metavar="JUDGE", help="Where this judge has a grade, it counts.")
@click.option("--as-of", type=click.IntRange(0), metavar="SEQ", help="As it was after this event.")
@file_option("--table", "table_file", help="Write judges, spread and comments of each pair to this TSV file.")
@click.option("--format", "qrels_format", help="The format of TARGET: trec, json or parquet. Default: by its name.")
def export(
    log: str,
    target: str,
    qrels: str | None,
    by: str,
    merge: str,
    adjudicator: str | None,
    as_of: int | None,
    table_file: str | None,
    qrels_format: str | None,
) -> None:
    """Write the grades of LOG as qrels to TARGET, one for each pair."""
    from goldrank import io
    from goldrank.data.table import note_sentences
    from goldrank.judgements.log import JudgementLog
    from goldrank.report import separated

    with JudgementLog.open(log, read_only=True) as opened:
        found = opened.export(qrels, merge=merge, adjudicator=adjudicator, as_of=as_of, by=by)
    io.write_qrels(found.qrels, target, format=qrels_format)
    if table_file:
        write(table_file, separated.write(found.table, "\t"))
    say(f"{target}: {len(found.qrels):,} queries, {sum(map(len, found.qrels.values())):,} judgements")
    show(note_sentences(found.notes), err=True)
