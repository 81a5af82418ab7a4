"""`goldrank serve`: see the queries, judge the holes."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import file_option, format_option, measures_option, policy_options, slice_options
from goldrank.cli.output import say


@click.command()
@click.argument("qrels", required=False)
@click.argument("runs", metavar="RUN...", nargs=-1)
@click.option("--demo", is_flag=True, help="Show the data of `goldrank demo`.")
@click.option("--docs", type=click.Path(exists=True), help="Texts of documents: JSON Lines, TSV, Parquet or a BEIR folder.")
@click.option("--queries", "query_file", type=click.Path(exists=True), help="Texts of queries: TSV, JSON Lines or a BEIR folder.")
@click.option("--title", default="", help="What the first page is called.")
@measures_option
@slice_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others need --token.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; else 8642 or the next free one.")
@click.option("--token", help="The word that opens the pages; else a random one.")
@click.option("--no-token", is_flag=True, help="Let every user of this machine in (loopback only).")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@format_option
@policy_options
def command(**options: Any) -> None:
    """Show the queries of one or more runs in the browser: why they lost, and what nobody judged.

    It listens on this machine alone, loads nothing from anywhere, and ends with Ctrl-C.
    """
    from goldrank.web.start import Opening, serve

    serve(Opening(**options, open_qrels=open_qrels, open_runs=open_runs), say)
