"""`goldrank convert`: a run or qrels in another format."""

from __future__ import annotations

import click

from goldrank.cli.output import say


@click.command()
@click.argument("source")
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--qrels", "is_qrels", is_flag=True, help="The input is judgements, not a run.")
@click.option("--from", "from_format", help="The input's format, if it cannot be detected from its content.")
@click.option("--to", "to_format", help="The output's format: trec, json or parquet. Default: by the name of TARGET.")
def command(source: str, target: str, is_qrels: bool, from_format: str | None, to_format: str | None) -> None:
    """Read SOURCE, whatever its format, and write it to TARGET as TREC text, JSON or Parquet."""
    from goldrank import io

    if is_qrels:
        qrels = io.read_qrels(source, format=from_format)
        io.write_qrels(qrels, target, format=to_format)
        say(f"{target}: {len(qrels):,} queries, {sum(map(len, qrels.values())):,} judgements")
    else:
        run = io.read_run(source, format=from_format)
        io.write_run(run, target, format=to_format)
        say(f"{target}: {len(run):,} queries, {sum(map(len, run.values())):,} documents")
