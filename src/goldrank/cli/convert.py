"""`goldrank convert`: a run or qrels in another format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from goldrank.base.errors import InputError
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import open_qrels, without_seen
from goldrank.cli.options import FILE, OUTPUT, ReadingOptions, reading_options
from goldrank.cli.output import Output, notes_options
from goldrank.data.table import count, note_sentences


@declared(usual="--qrels --to --map --input --relevant-from --catalogue")
@click.argument("source", type=FILE)
@click.argument("target", type=click.Path(dir_okay=False))
@option("--qrels", "is_qrels", is_flag=True, help="The input is judgements, not a run.")
@option(
    "--to",
    "to_format",
    heading=OUTPUT,
    help="The output's format: trec, json, jsonl, csv, tsv, parquet or arrow. Default: by the name of TARGET.",
)
@reading_options(convention=False)
@notes_options
def command(
    source: str, target: str, is_qrels: bool, to_format: str | None, reading: ReadingOptions, output: Output
) -> None:
    """Read SOURCE, whatever its format, and write it to TARGET: in the format of its ending, else as TREC text."""
    from goldrank import io
    from goldrank.io.writing_files import save_qrels

    if is_qrels:
        if reading.catalogue is not None:
            raise click.UsageError("--catalogue is about a run: leave --qrels out")
        qrels = open_qrels(source, reading)
        reading.columns.check_used()
        not_kept = save_qrels(qrels, target, to_format)
        output.say(f"{target}: {count(len(qrels), 'query')}, {count(sum(map(len, qrels.values())), 'judgement')}")
        output.print_notes([*note_sentences(qrels.notes, source), *note_sentences(not_kept, target)])
    else:
        about_qrels = [flag for flag in reading.flags if flag in OF_JUDGEMENTS]
        if about_qrels:
            raise click.UsageError(f"{about_qrels[0]} is about judgements: say --qrels")
        with _way_out(source, reading):
            run = io.read_run(source, format=reading.run_format, columns=reading.columns)
            reading.columns.check_used()
            run = without_seen(run, reading)
            run.save(target, format=to_format)
        output.say(f"{target}: {count(len(run), 'query')}, {count(sum(map(len, run.values())), 'document')}")
        output.print_notes(note_sentences(run.notes, source))


OF_JUDGEMENTS = ("--real-grades", "--relevant-from", "--judged-by", "--model-qrels")


@contextmanager
def _way_out(source: str, reading: ReadingOptions) -> Iterator[None]:
    """Where a file that is not a run can be read as judgements, the error says so."""
    from goldrank import io

    try:
        yield
    except InputError as error:
        if source == "-" or "--qrels" in (error.hint or ""):
            raise
        try:
            io.read_qrels(source, real_grades=True, columns=reading.columns)
        except ValueError:
            raise error from None
        hint = f"It can be read as judgements: say --qrels. {error.hint or ''}".strip()
        raise InputError(error.what, where=error.where, hint=hint, code=error.code) from None
