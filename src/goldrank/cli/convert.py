"""`goldrank convert`: a run or qrels in another format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from goldrank.cli.inputs import without_had
from goldrank.cli.options import ReadingOptions, reading_options
from goldrank.cli.output import say, show
from goldrank.data.table import count, note_sentences
from goldrank.errors import InputError


@click.command()
@click.argument("source")
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--qrels", "is_qrels", is_flag=True, help="The input is judgements, not a run.")
@click.option("--from", "from_format", help="The input's format, if it cannot be detected from its content.")
@click.option(
    "--to",
    "to_format",
    help="The output's format: trec, json, jsonl, csv, tsv, parquet or arrow. Default: by the name of TARGET.",
)
@reading_options
def command(
    source: str, target: str, is_qrels: bool, from_format: str | None, to_format: str | None, how: ReadingOptions
) -> None:
    """Read SOURCE, whatever its format, and write it to TARGET: in the format of its ending, else as TREC text."""
    from goldrank import io
    from goldrank.io.writing_files import save_qrels

    if is_qrels:
        if how.train_file is not None:
            raise click.UsageError("--train is about a run: leave --qrels out")
        qrels = io.read_qrels(source, format=from_format, **how.of_judgements)
        how.columns.check_used()
        not_kept = save_qrels(qrels, target, to_format)
        say(f"{target}: {count(len(qrels), 'query')}, {count(sum(map(len, qrels.values())), 'judgement')}")
        show([*note_sentences(qrels.notes, source), *note_sentences(not_kept, target)], err=True)
    else:
        if how.real_grades or how.relevant_from is not None:
            raise click.UsageError("--real-grades and --relevant-from are about judgements: say --qrels")
        with _way_out(source, how):
            run = io.read_run(source, format=from_format, columns=how.columns)
            how.columns.check_used()
            run = without_had(run, how)
            run.save(target, format=to_format)
        say(f"{target}: {count(len(run), 'query')}, {count(sum(map(len, run.values())), 'document')}")
        show(note_sentences(run.notes, source), err=True)


@contextmanager
def _way_out(source: str, how: ReadingOptions) -> Iterator[None]:
    """Where what is no run can be read as judgements, the error says so."""
    from goldrank import io

    try:
        yield
    except InputError as error:
        if source == "-" or "--qrels" in (error.hint or ""):
            raise
        try:
            io.read_qrels(source, real_grades=True, columns=how.columns)
        except ValueError:
            raise error from None
        hint = f"It can be read as judgements: say --qrels. {error.hint or ''}".strip()
        raise InputError(error.what, where=error.where, hint=hint, code=error.code) from None
