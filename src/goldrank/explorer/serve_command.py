"""`goldrank serve`: see the queries, judge the unjudged documents."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import is_run, named_file, open_qrels, open_whole
from goldrank.cli.options import (
    FILE,
    OUTPUT,
    ReadingOptions,
    db_option,
    documents_option,
    file_option,
    known_queries,
    log_option,
    measures_option,
    queries_option,
    reading_options,
    slice_option,
)
from goldrank.cli.output import Output, notes_options, output_option, say
from goldrank.cli.text_options import evidence_option, gold_option, matching_option
from goldrank.evaluation.text_settings import Evidence, Matching

SERVING = "Serving"


@declared(usual="--documents --queries -m --demo --db -o", help_alone=True)
@click.argument("inputs", metavar="[QRELS] RUN...", nargs=-1, type=FILE)
@option("--demo", is_flag=True, help="Show the data of `goldrank demo`.")
@db_option(usual=False)
@file_option("--rules", "rules", heading="What to measure", help="A TOML file with the rules.")
@documents_option
@queries_option
@gold_option
@matching_option()
@evidence_option()
@option("--title", default="", heading=OUTPUT, help="What the first page is called.")
@log_option
@file_option("--criteria", help="What grades mean: grade, name and a sentence a line, with tabs between them.")
@option("--me", metavar="NAME", heading=SERVING, help="Your name as a judge; by default the name of your account.")
@option(
    "--per-pair",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    heading=SERVING,
    help="How many judges a document gets.",
)
@option("--read-only", is_flag=True, heading=SERVING, help="Do not let people judge.")
@measures_option
@slice_option
@option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    heading=SERVING,
    help="The address to listen on; others need --token.",
)
@option("--port", type=click.IntRange(0, 65_535), heading=SERVING, help="The port; else 8642 or the next free one.")
@option(
    "--token",
    envvar="GOLDRANK_TOKEN",
    heading=SERVING,
    help="The token that opens the pages. Default: GOLDRANK_TOKEN, which other users do not see, or a random one.",
)
@option("--no-token", is_flag=True, heading=SERVING, help="Let every user of this machine in (loopback only).")
@option("--no-browser", is_flag=True, heading=SERVING, help="Do not open the browser.")
@reading_options()
@output_option()
@notes_options
def command(
    inputs: tuple[str, ...],
    demo: bool,
    db: str | None,
    rules: str | None,
    documents: str | None,
    queries: str | None,
    gold: str | None,
    matching: Matching | None,
    evidence: Evidence | None,
    log: str | None,
    me: str | None,
    per_pair: int,
    read_only: bool,
    measures: tuple[str, ...],
    slices: tuple[str, ...],
    host: str,
    port: int | None,
    token: str | None,
    no_token: bool,
    no_browser: bool,
    reading: ReadingOptions,
    output: Output,
    **shown: Any,
) -> None:  # fmt: skip
    """Show the queries of one or more runs in the browser: why they got worse, and which documents are unjudged.

    Without QRELS it shows what changed between the runs, and people judge from zero. NAME=FILE is always a run.

    It listens on this machine alone, loads nothing from anywhere, and ends with Ctrl-C. Judgements go to a separate log
    (--log, else judgements.db beside the first file), never into the file of judgements; `goldrank judgements export`
    makes qrels of it. --db shows a history, alone or beside runs; -o FOLDER writes the pages as files, and ends.
    """
    from goldrank.explorer import start
    from goldrank.explorer.text_session import is_items

    qrels: str | None = None
    runs = inputs
    if inputs and not is_run(inputs[0]):
        qrels, *others = inputs
        runs = tuple(others)
    if len(output.files) > 1:
        raise click.UsageError("-o takes one folder here")
    folder = next(iter(output.files), None)
    if demo and inputs:
        raise click.UsageError("--demo brings its own data")
    if not (demo or inputs or db):
        raise click.UsageError("give runs, judgements and runs, questions with texts, --db or --demo")
    if rules and not db:
        raise click.UsageError("--rules are for the records of a history: --db")
    if token is not None and no_token:
        raise click.UsageError("--token and --no-token exclude each other")
    if token == "":
        raise click.UsageError("the token is empty; --no-token does without one")

    if no_token:
        token = ""
    access = start.Access(host, port, token, not no_browser)
    if folder is None:
        access.checked()
    if not (demo or inputs):
        assert db is not None
        start.run_history(db, access, lambda text: say(text, err=False), rules)
        return

    if demo:
        session = start.demo_session(measures)
    elif qrels is not None and (gold or evidence is not None or is_items(named_file(qrels)[1])):
        reading.refuse(f"{qrels} has questions with texts")
        files = [named_file(text) for text in (qrels, *runs)]
        session = start.text_session_of(
            files,
            measures=measures,
            title=shown["title"],
            matching=matching or Matching(),
            gold=gold,
            evidence=evidence,
        )
        read_only = True
    else:
        attributes = None
        if slices:
            attributes = known_queries(queries, slices)
        judged = None
        if qrels is not None:
            judged = open_qrels(qrels, reading)
        session = start.session_of(
            judged,
            open_whole(runs, reading),
            start.PageTexts(documents, queries, **shown),
            rules=reading.convention,
            measures=measures,
            attributes=attributes,
            slice_by=slices,
            paths=[named_file(text)[1] for text in runs],
        )

    if folder is not None:
        say(start.export(session, folder), err=False)
        return
    judging = None
    if not read_only:
        beside = None
        if inputs:
            beside = named_file(inputs[0])[1]
        judging = start.judging_of(session, log, me, per_pair, beside)
    start.run(session, access, judging, lambda text: say(text, err=False), db, rules)
