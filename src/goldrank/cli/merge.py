"""`goldrank merge`: put the scores of shards together."""

from __future__ import annotations

from functools import partial

import click

from goldrank.cli.options import file_option
from goldrank.cli.output import deliver, show


@click.command()
@click.argument("scores", metavar="SCORES...", nargs=-1, required=True, type=click.Path())
@file_option("-o", "--output", help="Save the merged scores here.")
@click.option("--name", help="The name of the merged run, if the shards go by different names.")
def command(scores: tuple[str, ...], output: str | None, name: str | None) -> None:
    """Merge the saved scores of shards that share no query: the result is that of evaluating all at once.

    Shards are made with `goldrank eval QRELS RUN --shard 1/8 --save 1.json`, or with judgements that were split.
    """
    from goldrank.data.score_table import score_parts
    from goldrank.data.scores import Scores

    merged = Scores.merge([Scores.load(path) for path in scores], run=name)
    deliver(partial(merged.save, output) if output else None, lambda: show(score_parts([merged])))
