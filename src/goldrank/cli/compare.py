"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_runs, progress
from goldrank.cli.options import (
    file_options,
    format_option,
    measures_option,
    memory_option,
    policy_options,
    slicing,
    statistics_options,
    take_files,
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
    metadata: str | None,
    slices: tuple[str, ...],
    svg: str | None,
    save: str | None,
    agree: bool,
    run_format: str | None,
    **options: Any,
) -> None:
    """Compare two or more runs on the same judgements: differences, intervals, tests and what they mean.

    Runs go by the names of their files; NAME=FILE gives another one.
    """
    from goldrank.comparison import compare

    files = take_files(options)
    judged = open_qrels(qrels, options)
    opened = open_runs(runs, options, run_format)
    with progress(*opened.values()):
        result = compare(
            judged,
            opened,
            measures or None,
            curves=bool(svg or files["html"]),
            **options,
            **slicing(slices, metadata),
        )
    show_comparison(result, files, svg, save)
    if agree:
        from goldrank.report.comparison import agreement_parts

        echo("")
        show(agreement_parts(result, opened))
