"""`goldrank interleave`: which of two interleaved rankings users click."""

from __future__ import annotations

from typing import get_args

import click

from goldrank.cli.options import choice_option, seed_option
from goldrank.cli.output import show_as
from goldrank.comparison.interleaving import Method
from goldrank.report import WIDTH
from goldrank.report.interleaving import WRITERS, parts


@click.command()
@click.argument("log")
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    help="How lists were made; without it, that of a log with the field team is team-draft.",
)
@click.option("--names", nargs=2, default=("A", "B"), metavar="A B", help="What the two rankings are called.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="1 - the confidence of the interval.")
@seed_option
@choice_option("-o --output", WRITERS, "table", "How to show it.")
def command(log: str, method: Method | None, names: tuple[str, str], alpha: float, seed: int, output: str) -> None:
    """Say which of two rankings users prefer, from clicks on lists that mix both.

    LOG has a JSON object in each line: shown and clicks (document ids), for team draft team ("a" or "b" for each
    shown document), for probabilistic interleaving a and b (the two rankings), and user and query if they are known.
    """
    from goldrank.comparison.interleaving import analyse_interleaving
    from goldrank.comparison.settings import Statistics

    preference = analyse_interleaving(log, method, names=names, statistics=Statistics(alpha=alpha, seed=seed))
    show_as(output, preference, parts, WRITERS, WIDTH)
