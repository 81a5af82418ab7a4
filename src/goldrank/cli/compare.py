"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_systems, progress
from goldrank.cli.options import (
    comparison_arguments,
    file_options,
    format_option,
    measures_option,
    memory_option,
    policy_options,
    statistics_options,
)
from goldrank.cli.output import echo, show, show_comparison


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@measures_option
@statistics_options
@file_options
@click.option("--agreement", "agree", is_flag=True, help="Also show how alike the rankings are, and the measures.")
@format_option
@memory_option
@policy_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    agree: bool,
    run_format: str | None,
    **options: Any,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    """
    from goldrank.comparison import compare

    how, outputs = comparison_arguments(**options)
    judged = open_qrels(qrels, how)
    opened = open_systems(runs, how, run_format)
    with progress(*(run for several in opened.values() for run in several)):
        drawn = bool(outputs["svg"] or outputs["files"]["html"])
        result = compare(judged, opened, measures or None, curves=drawn, **how)
    show_comparison(result, **outputs)
    if agree:
        from goldrank.report.comparison import agreement_parts

        echo("")
        show(agreement_parts(result, {name: several[0] for name, several in opened.items()}))
