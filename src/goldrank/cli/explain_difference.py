"""`goldrank explain-difference`: which rule makes two conventions disagree."""

from __future__ import annotations

import click

from goldrank.cli.output import echo
from goldrank.conventions import NAMES
from goldrank.types import ConventionName


@click.command("explain-difference")
@click.argument("qrels")
@click.argument("run")
@click.option("-m", "--measure", "measures", multiple=True, required=True, help="A measure such as nDCG@10.")
@click.option(
    "--conventions",
    nargs=2,
    type=click.Choice(NAMES),
    required=True,
    help="The two conventions to compare.",
)
def command(
    qrels: str, run: str, measures: tuple[str, ...], conventions: tuple[ConventionName, ConventionName]
) -> None:
    """Say why two conventions give different numbers for the same run."""
    from goldrank import read_qrels, read_run
    from goldrank.comparison.convention_difference import explain_difference

    # Standard input comes only once; files are read by the rules of each convention.
    judged, ranked = read_qrels(qrels) if qrels == "-" else qrels, read_run(run) if run == "-" else run
    for i, measure in enumerate(measures):
        echo(("\n" if i else "") + str(explain_difference(judged, ranked, measure, *conventions)))
