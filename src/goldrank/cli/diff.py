"""`goldrank diff`: what moved between two runs."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from goldrank.cli import comparing
from goldrank.cli.common import policy_options


@click.command()
@click.argument("qrels")
@click.argument("before")
@click.argument("after")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="The measure whose change is explained.")
@click.option(
    "-k", type=click.IntRange(1), help="Ranks below this do not count; default: the measure's cut-off, or 10."
)
@click.option("-n", "--count", type=click.IntRange(0), default=10, show_default=True, help="How many queries to show.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write all queries and documents as JSON.")
@click.option("--format", "run_format", help="The runs' format, if it cannot be told from their content.")
@policy_options
def command(
    qrels: str,
    before: str,
    after: str,
    measure: str,
    k: int | None,
    count: int,
    json_file: str | None,
    run_format: str | None,
    **policies: Any,
) -> None:
    """Show what moved from run BEFORE to run AFTER: which relevant documents rose or fell, and why."""
    import io

    from rich.console import Console

    from goldrank.comparison.rank_changes import diff
    from goldrank.report.terminal import view_diff

    opened = comparing.open_runs((before, after), run_format, policies["duplicates"] or "error")
    old, new = opened.values()
    changes = diff(qrels, old, new, measure, k=k, names=(old.name, new.name), **policies)
    if json_file:
        comparing.write(json_file, json.dumps(changes.to_dict()) + "\n")
    view = view_diff(changes, count)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        Console().print(view)
        return
    text = io.StringIO()
    Console(file=text, width=120, color_system=None).print(view)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    click.echo("\n".join(lines).encode("utf-8", "backslashreplace"))
