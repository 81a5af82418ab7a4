"""`goldrank plan`: how many queries a difference needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.eval import scores_of
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    baseline_option,
    decimals,
    measures_option,
    reading_options,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, output_options

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics


def _numbers(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(number for text in texts for number in decimals(text, param.opts[-1]))


@declared(usual="-m --difference --n-queries --tolerance --statistics -o", help_alone=True)
@click.argument("inputs", metavar="[QRELS RUN RUN... | SCORES SCORES...]", nargs=-1, type=FILE)
@measures_option
@option(
    "--difference",
    "differences",
    multiple=True,
    callback=_numbers,
    metavar="X,X",
    heading=MEASURE,
    help="Differences to find; may be repeated.",
)
@option(
    "--n-queries",
    multiple=True,
    callback=_numbers,
    metavar="N,N",
    heading=MEASURE,
    help="Say what this number of queries finds; may be repeated.",
)
@option("--tolerance", metavar="5%|0.02", heading=MEASURE, help="Say how sure a gate with this tolerance is.")
@baseline_option
@option(
    "--deviation", type=float, heading=MEASURE, help="Without a pilot: the standard deviation of queries' differences."
)
@option(
    "--tests", type=int, default=1, show_default=True, heading=MEASURE, help="Without a pilot: measures times pairs."
)
@statistics_option
@reading_options(scored=True)
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    differences: tuple[float, ...],
    n_queries: tuple[float, ...],
    baseline: str | None,
    deviation: float | None,
    statistics: Statistics | None,
    reading: ReadingOptions,
    output: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Say how many queries a difference needs, from a pilot, and how certain a gate with this number of queries is.

    The pilot is two or more runs on the queries that there are (or their scores, as `eval -o x.json` wrote them): what
    matters is how much the differences of queries vary. The first run is the gate's baseline.
    """
    from goldrank.comparison.planning import DIFFERENCES, Plan, plan

    output.check(Plan)
    chosen = statistics_of(statistics)
    pilot = None
    if inputs:
        from goldrank.comparison.build import compare

        scores = scores_of(inputs, measures, reading)
        pilot = compare(scores, baseline=baseline, statistics=chosen)
    elif deviation is None:
        raise click.UsageError("give a pilot (QRELS RUN RUN), or --deviation")

    result = plan(
        pilot,
        difference=differences or DIFFERENCES,
        n_queries=tuple(int(number) for number in n_queries),
        deviation=deviation,
        statistics=chosen,
        **options,
    )
    output.show(result)
