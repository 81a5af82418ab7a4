"""`goldrank diff`: what moved between two runs."""

from __future__ import annotations

import json
from typing import Any

import click

from goldrank.cli.inputs import chosen_convention, open_qrels, open_whole
from goldrank.cli.options import ReadingOptions, file_option, run_options
from goldrank.cli.output import deliver, show, written


@click.command()
@click.argument("qrels")
@click.argument("before")
@click.argument("after")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="The measure whose change is explained.")
@click.option(
    "-k", type=click.IntRange(1), help="Ranks below this do not count; default: the measure's cut-off, or 10."
)
@click.option("-n", "--count", type=click.IntRange(0), default=10, show_default=True, help="How many queries to show.")
@file_option("--json", "json_file", help="Write all queries and documents as JSON.")
@run_options
def command(
    qrels: str,
    before: str,
    after: str,
    measure: str,
    k: int | None,
    count: int,
    json_file: str | None,
    how: ReadingOptions,
    **policies: Any,
) -> None:
    """Show what moved from run BEFORE to run AFTER: which relevant documents rose or fell, and why."""
    from goldrank.comparison.rank_changes import diff
    from goldrank.report import WIDTH
    from goldrank.report.diff import parts

    judged = open_qrels(qrels, policies, how)
    old, new = open_whole((before, after), policies, how).values()
    changes = diff(judged, old, new, measure, k=k, convention=chosen_convention(policies))
    in_file = written(json_file, lambda: json.dumps(changes.to_dict()) + "\n")
    deliver(in_file, lambda: show(parts(changes, count), WIDTH))
