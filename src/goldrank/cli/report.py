"""`goldrank report`: a comparison from saved scores."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.options import comparison_arguments, file_options, measures_option, statistics_options
from goldrank.cli.output import show_comparison


@click.command()
@click.argument("saved", metavar="SAVED SAVED...", nargs=-1, required=True, type=click.Path())
@measures_option
@statistics_options
@file_options
def command(saved: tuple[str, ...], measures: tuple[str, ...], **options: Any) -> None:
    """Compare systems from scores that `eval --save` or `compare --save` wrote; no run is needed any more."""
    from goldrank.comparison import compare
    from goldrank.data.scores import Scores

    how, outputs = comparison_arguments(**options)
    scores = [Scores.load(path) for path in saved]
    show_comparison(compare(scores, measures=measures or None, **how), **outputs)
