"""`goldrank report`: a comparison from saved scores."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import load_saved
from goldrank.cli.options import comparison_arguments, file_options, measures_option, statistics_options
from goldrank.cli.output import show_comparison


@click.command()
@click.argument("saved", metavar="SAVED SAVED...", nargs=-1, required=True)
@measures_option
@statistics_options
@file_options
def command(saved: tuple[str, ...], measures: tuple[str, ...], **options: Any) -> None:
    """Compare systems from scores that `eval`, `texts` or `compare --save` wrote; NAME=FILE names one."""
    from goldrank.comparison import compare

    how, outputs = comparison_arguments(**options)
    show_comparison(compare(load_saved(saved), measures=measures or None, **how), **outputs)
