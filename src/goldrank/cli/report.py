"""`goldrank report`: a comparison from saved scores."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.compare import compared
from goldrank.cli.inputs import load_saved
from goldrank.cli.options import (
    asked_comparison,
    comparison_files,
    file_options,
    measures_option,
    statistics_options,
)
from goldrank.cli.output import show_comparison


@click.command()
@click.argument("saved", metavar="SAVED SAVED...", nargs=-1, required=True)
@measures_option
@statistics_options
@file_options
def command(saved: tuple[str, ...], measures: tuple[str, ...], **options: Any) -> None:
    """Compare systems from scores that `eval`, `texts` or `compare --save` wrote; NAME=FILE names one."""
    outputs, rest = comparison_files(**options)
    show_comparison(compared(load_saved(saved), asked_comparison(measures, **rest)), **outputs)
