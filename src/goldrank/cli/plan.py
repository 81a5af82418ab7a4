"""`goldrank plan`: how many queries a difference needs."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.options import ReadingOptions, choice_option, measures_option, run_options, seed_option
from goldrank.cli.output import show_as
from goldrank.cli.record import scores_of
from goldrank.report import WIDTH
from goldrank.report.plan import WRITERS, parts


@click.command()
@click.argument("inputs", metavar="[SCORES SCORES... | QRELS RUN RUN...]", nargs=-1)
@measures_option
@click.option("--difference", "differences", type=float, multiple=True, help="A difference to find; may be repeated.")
@click.option("--queries", type=int, multiple=True, help="Say what so many queries find; may be repeated.")
@click.option("--tolerance", metavar="5%|0.02", help="Say how sure a gate with this tolerance is.")
@click.option("--power", type=float, default=0.8, show_default=True, help="The chance with which it should be found.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The chance of any false finding.")
@click.option("--baseline", metavar="NAME", help="Compare every other system with this one only.")
@click.option("--deviation", type=float, help="Without a pilot: the standard deviation of queries' differences.")
@click.option("--tests", type=int, default=1, show_default=True, help="Without a pilot: measures times pairs.")
@seed_option
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@run_options
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    differences: tuple[float, ...],
    power: float,
    alpha: float,
    baseline: str | None,
    deviation: float | None,
    seed: int,
    output: str,
    how: ReadingOptions,
    **options: Any,
) -> None:
    """Say how many queries a difference needs, from a pilot, and how sure a gate with so many queries is.

    The pilot is two or more runs on the queries that there are (or their scores, as `eval --save` wrote them): what
    matters is how much the differences of queries vary. The first run is the gate's baseline.
    """
    from goldrank.comparison.planning import DIFFERENCES, plan
    from goldrank.comparison.settings import Statistics

    pilot = None
    statistics = Statistics(alpha=alpha, power=power, seed=seed)
    wanted = {"n_queries": options.pop("queries"), **{name: options.pop(name) for name in ("tolerance", "tests")}}
    if inputs:
        from goldrank.comparison import compare

        scores = scores_of(inputs, measures, options, how)
        pilot = compare(scores, baseline=baseline, statistics=statistics)
    elif deviation is None:
        raise click.UsageError("give a pilot (QRELS RUN RUN), or --deviation")
    difference = differences or DIFFERENCES
    result = plan(pilot, difference=difference, deviation=deviation, statistics=statistics, **wanted)
    show_as(output, result, parts, WRITERS, WIDTH)
