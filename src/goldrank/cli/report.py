"""`goldrank report`: a comparison from saved scores."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.options import file_options, measures_option, slicing, statistics_options, take_files
from goldrank.cli.output import show_comparison


@click.command()
@click.argument("saved", metavar="SAVED SAVED...", nargs=-1, required=True, type=click.Path())
@measures_option
@statistics_options
@file_options
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

    files = take_files(options)
    scores = [Scores.load(path) for path in saved]
    result = compare(scores, measures=measures or None, **options, **slicing(slices, metadata))
    show_comparison(result, files, svg, save)
