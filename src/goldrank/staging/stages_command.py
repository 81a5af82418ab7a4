"""`goldrank stages`: what a re-ranker gains, what it throws out, and what the candidates lack."""

from __future__ import annotations

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.options import FILE, MEASURE, ReadingOptions, measures_option, one_measure, reading_options
from goldrank.cli.output import Output, output_options


@declared(usual="-m --candidates -o --as")
@click.argument("qrels", type=FILE)
@click.argument("candidates", type=FILE)
@click.argument("reranked", nargs=-1, required=True, type=FILE)
@measures_option
@option(
    "--candidates", "seen", type=click.IntRange(1), metavar="N", heading=MEASURE,
    help="How many candidates of a query the re-ranker saw.",
)  # fmt: skip
@reading_options()
@output_options()
def command(
    qrels: str,
    candidates: str,
    reranked: tuple[str, ...],
    measures: tuple[str, ...],
    seen: int | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """Say what each stage gains and loses: CANDIDATES, then the output of each later stage."""
    from goldrank.staging.stages import stages

    judged = open_qrels(qrels, reading)
    runs = list(open_whole((candidates, *reranked), reading).values())
    measure = one_measure(measures) or "nDCG@10"
    output.show(stages(judged, runs, measure, depth=seen, convention=reading.convention))
