"""`goldrank judgements export`: the judgements that people and models gave, as qrels."""

from __future__ import annotations

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import FILE, OUTPUT, choice_option, explained, input_option
from goldrank.cli.output import Output, deliver, output_options
from goldrank.data.table import Sentence, count, note_sentences
from goldrank.judging.log_merge import BY, MERGES, By, Merge


@declared(usual="-o --by --merge --adjudicator --as-of --as")
@click.argument("log", type=click.Path(dir_okay=False))
@click.argument("qrels", required=False, type=FILE)
@choice_option("--by", BY, "person", f"Whose grades: {explained(BY)}.")
@choice_option("--merge", MERGES, "median", f"Several judges: {explained(MERGES)}.")
@option("--adjudicator", metavar="JUDGE", help="Where this judge has a grade, it counts.")
@option("--as-of", type=click.IntRange(0), metavar="SEQ", help="As it was after this event.")
@option(
    "--to",
    "to_format",
    heading=OUTPUT,
    help="The output's format: trec, json, jsonl, csv, tsv, parquet or arrow. Default: by the name of TARGET.",
)
@input_option
@output_options()
def command(
    log: str,
    qrels: str | None,
    by: By,
    merge: Merge,
    adjudicator: str | None,
    as_of: int | None,
    to_format: str | None,
    formats: dict[str, str],
    output: Output,
) -> None:  # fmt: skip
    """Write the grades of LOG as qrels (-o qrels.txt), one for each pair; with QRELS, on top of those.

    --as csv shows judges, spread and comments of each pair.
    """
    from goldrank.io import read_qrels
    from goldrank.io.writing_files import save_qrels
    from goldrank.judging.log import JudgementLog
    from goldrank.judging.log_merge import exported as exported_from
    from goldrank.report import separated

    with JudgementLog(log, mode="r") as opened:
        standing = opened.latest(as_of=as_of)
    base = None
    if qrels is not None:
        base = read_qrels(qrels, format=formats.get("qrels", formats.get("")))
    exported = exported_from(standing, base, merge=merge, adjudicator=adjudicator, by=by, where=log)

    not_kept: list[object] = []
    deliver(*(lambda path=path: not_kept.extend(save_qrels(exported.qrels, path, to_format)) for path in output.files))

    judgements = sum(map(len, exported.qrels.values()))
    size = f"{count(len(exported.qrels), 'query')}, {count(judgements, 'judgement')}"
    notes = note_sentences((*exported.notes, *not_kept))
    if output.form == "terminal":
        for path in output.files:
            output.say(f"{path}: {size}")
        if not output.files:
            output.print_parts([Sentence(size)])
        output.print_notes(notes)
        return

    writers = {"csv": lambda _: separated.write(exported.table)}
    Output((), output.form, output.is_quiet, output.shows_notes).show(None, lambda _: [exported.table], writers, notes)
