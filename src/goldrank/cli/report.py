"""`goldrank report`: a comparison from saved scores."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli import comparing


@click.command()
@click.argument("saved", metavar="SAVED SAVED...", nargs=-1, required=True, type=click.Path())
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@comparing.statistics_options
@comparing.output_options
def command(
    saved: tuple[str, ...],
    measures: tuple[str, ...],
    metadata: str | None,
    slices: tuple[str, ...],
    svg: str | None,
    save: str | None,
    **options: Any,
) -> None:
    """Compare systems from scores that `eval --save` or `compare --save` wrote; no run is needed any more."""
    from goldrank.comparison import compare
    from goldrank.data.scores import Scores

    files = comparing.take_files(options)
    scores = [Scores.load(path) for path in saved]
    result = compare(scores, measures=measures or None, **options, **comparing.slicing(slices, metadata))
    comparing.show(result, files, svg, save)
