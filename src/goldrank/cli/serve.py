"""`goldrank serve`: see the queries, judge the holes."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import (
    file_option,
    format_option,
    measures_option,
    policy_options,
    slice_arguments,
    slice_options,
)
from goldrank.cli.output import say


@click.command()
@click.argument("qrels", required=False)
@click.argument("runs", metavar="RUN...", nargs=-1)
@click.option("--demo", is_flag=True, help="Show the data of `goldrank demo`.")
@click.option(
    "--docs", type=click.Path(exists=True), help="Texts of documents: JSON Lines, TSV, Parquet or a BEIR folder."
)
@click.option(
    "--queries", "query_file", type=click.Path(exists=True), help="Texts of queries: TSV, JSON Lines or a BEIR folder."
)
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
@click.option("--token", help="The word that opens the pages; else a random one.")
@click.option("--no-token", is_flag=True, help="Let every user of this machine in (loopback only).")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--export", type=click.Path(file_okay=False), help="Write the pages as files into this folder, and end.")
@format_option
@policy_options
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    demo: bool,
    docs: str | None,
    query_file: str | None,
    title: str,
    log: str | None,
    criteria: str | None,
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
    run_format: str | None,
    convention: str,
    **policies: Any,
) -> None:
    """Show the queries of one or more runs in the browser: why they lost, and what nobody judged.

    It listens on this machine alone, loads nothing from anywhere, and ends with Ctrl-C. Judgements go to a log of their
    own, never into the file of judgements; `goldrank judgements export` makes qrels of it.
    """
    from goldrank import conventions
    from goldrank.web import start

    if demo == bool(qrels):
        raise click.UsageError("give judgements and runs, or --demo" if not demo else "--demo brings its own data")
    if token is not None and no_token:
        raise click.UsageError("--token and --no-token exclude each other")
    if token == "":
        raise click.UsageError("the token is empty; --no-token does without one")
    access = start.Access(host, port, "" if no_token else token, not no_browser)
    if not export:
        access.checked()
    if demo:
        session = start.demo_session(measures)
    else:
        assert qrels is not None
        rules = conventions.get(convention).having(**policies)
        session = start.session_of(
            open_qrels(qrels, policies | {"convention": convention}),
            open_runs(runs, policies | {"convention": convention}, run_format),
            rules=rules,
            measures=measures,
            docs=docs,
            queries=query_file,
            title=title,
            criteria=criteria,
            slice_by=slice_arguments(metadata, slices).get("slice_by"),
        )
    if export:
        say(start.export(session, export), err=False)
        return
    judging = None if read_only else start.judging_of(session, log, judge, per_pair, qrels)
    start.run(session, access, judging, lambda text: say(text, err=False))
