"""`goldrank compare`: is one system better than another?"""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli import comparing
from goldrank.cli.common import memory_option, policy_options, progress


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@comparing.statistics_options
@comparing.output_options
@click.option("--agreement", "agree", is_flag=True, help="Also show how alike the rankings are, and the measures.")
@click.option("--format", "run_format", help="The runs' format, if it cannot be told from their content.")
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
    from goldrank.io import read_qrels

    files = comparing.take_files(options)
    judged = read_qrels(qrels, judgements=options["judgements"] or "error")
    opened = comparing.open_runs(runs, run_format, options["duplicates"] or "error")
    with progress(list(opened.values())):
        result = compare(
            judged,
            opened,
            measures or None,
            curves=bool(svg or files["html"]),
            **options,
            **comparing.slicing(slices, metadata),
        )
    comparing.show(result, files, svg, save)
    if agree:
        comparing.show_agreement(result, opened)
