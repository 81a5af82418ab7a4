"""`goldrank leaderboard`: which of many systems is best?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from goldrank.cli.compare import compared_runs
from goldrank.cli.inputs import open_qrels, open_systems, progress
from goldrank.cli.options import (
    ReadingOptions,
    asked_comparison,
    file_option,
    leaderboard_options,
    run_options,
)
from goldrank.cli.output import show, write
from goldrank.errors import one_of


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="The measure that systems are ordered by.")
@leaderboard_options
@file_option("-o", "--output", multiple=True, help="Write it to a .md, .tex, .csv, .json, .txt or .svg file (diagram).")
@run_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    output: tuple[str, ...],
    how: ReadingOptions,
    **options: Any,
) -> None:
    """Order runs from the best to the worst, with the ranks that each may have and a matrix of all pairs.

    Runs go by the names of their files; NAME=FILE gives another one, and a repeated NAME another run of that system.
    """
    from goldrank.report import WIDTH
    from goldrank.report.leaderboard import ENDINGS, parts, render

    for path in output:
        one_of(Path(path).suffix, ENDINGS, "the ending of --output")
    asked = asked_comparison(**options)
    judged, opened = open_qrels(qrels, asked.policies, how), open_systems(runs, asked.policies, how)
    with progress(*(run for _, run in opened.items())):
        board = compared_runs(judged, opened, measure, asked, how).leaderboard()
    for path in output:
        write(path, render(board, ENDINGS[Path(path).suffix]))
    show(parts(board), WIDTH)
