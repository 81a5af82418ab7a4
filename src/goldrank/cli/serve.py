"""`goldrank serve`: see the queries, judge the holes."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import named_file, open_qrels, open_whole
from goldrank.cli.options import (
    ReadingOptions,
    file_option,
    measures_option,
    run_options,
    slice_options,
    slice_queries,
)
from goldrank.cli.output import say
from goldrank.types import ConventionName


@click.command()
@click.argument("qrels", required=False)
@click.argument("runs", metavar="RUN...", nargs=-1)
@click.option("--demo", is_flag=True, help="Show the data of `goldrank demo`.")
@click.option("--history", type=click.Path(exists=True, dir_okay=False), help="Show a history, alone or beside runs.")
@file_option("--rules", help="Rules of a gate, to check the records of --history with.")
@click.option(
    "--docs", type=click.Path(exists=True), help="Texts of documents: JSON Lines, TSV, Parquet or a BEIR folder."
)
@click.option("--queries", type=click.Path(exists=True), help="Texts of queries: TSV, JSON Lines or a BEIR folder.")
@click.option("--match", "matcher", default="rouge-l:0.7", show_default=True, help="When a text covers a reference.")
@click.option("--title", default="", help="What the first page is called.")
@file_option("--log", help="The log that judgements go to; else judgements.db beside the qrels.")
@file_option("--criteria", help="What grades mean: grade, name and a sentence a line, with tabs between them.")
@click.option("--judge", help="Your name as a judge; else that of your account.")
@click.option(
    "--per-pair", type=click.IntRange(1), default=1, show_default=True, help="How many judges a document gets."
)
@click.option("--read-only", is_flag=True, help="Let nobody judge.")
@measures_option
@slice_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others need --token.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; else 8642 or the next free one.")
@click.option(
    "--token",
    envvar="GOLDRANK_TOKEN",
    help="The token that opens the pages. Default: GOLDRANK_TOKEN, which other users do not see, or a random one.",
)
@click.option("--no-token", is_flag=True, help="Let every user of this machine in (loopback only).")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--export", type=click.Path(file_okay=False), help="Write the pages as files into this folder, and end.")
@run_options
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    demo: bool,
    history: str | None,
    rules: str | None,
    matcher: str,
    log: str | None,
    judge: str | None,
    per_pair: int,
    read_only: bool,
    measures: tuple[str, ...],
    metadata: str | None,
    slices: tuple[str, ...],
    host: str,
    port: int | None,
    token: str | None,
    no_token: bool,
    no_browser: bool,
    export: str | None,
    how: ReadingOptions,
    convention: ConventionName,
    **policies: Any,
) -> None:
    """Show the queries of one or more runs in the browser: why they got worse, and what nobody judged.

    It listens on this machine alone, loads nothing from anywhere, and ends with Ctrl-C. Judgements go to a log of their
    own, never into the file of judgements; `goldrank judgements export` makes qrels of it.
    """
    from goldrank import conventions
    from goldrank.web import start
    from goldrank.web.text_session import is_items

    shown = {name: policies.pop(name) for name in ("docs", "queries", "title", "criteria")}
    if demo and qrels:
        raise click.UsageError("--demo brings its own data")
    if not (demo or qrels or history):
        raise click.UsageError("give judgements and runs, questions with texts, --history or --demo")
    if rules and not history:
        raise click.UsageError("--rules are for the records of a --history")
    if token is not None and no_token:
        raise click.UsageError("--token and --no-token exclude each other")
    if token == "":
        raise click.UsageError("the token is empty; --no-token does without one")
    access = start.Access(host, port, "" if no_token else token, not no_browser)
    if not export:
        access.checked()
    if not (demo or qrels):
        assert history is not None
        start.run_history(history, access, lambda text: say(text, err=False), rules)
        return
    if demo:
        session = start.demo_session(measures)
    elif qrels is not None and is_items(named_file(qrels)[1]):
        if how.given:
            raise click.UsageError(f"{how.given} is for judgements and runs; {qrels} has questions with texts")
        files = [named_file(text) for text in (qrels, *runs)]
        session = start.text_session_of(files, measures=measures, title=shown["title"], matching=matcher)
        read_only = True
    else:
        assert qrels is not None
        convention_rules = conventions.get(convention).with_policies(**policies)
        reading = policies | {"convention": convention}
        session = start.session_of(
            open_qrels(qrels, reading, how),
            open_whole(runs, reading, how),
            rules=convention_rules,
            measures=measures,
            **shown,
            attributes=slice_queries(metadata, slices),
            slice_by=slices,
        )
    if export:
        say(start.export(session, export), err=False)
        return
    judging = None if read_only else start.judging_of(session, log, judge, per_pair, qrels)
    start.run(session, access, judging, lambda text: say(text, err=False), history, rules)
