"""`goldrank corrected`: values from a model's judgements, corrected by people's on some queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from goldrank import ids
from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import (
    ReadingOptions,
    alpha_of,
    choice_option,
    convention_option,
    file_option,
    measures_option,
    seed_option,
)
from goldrank.cli.output import echo, show_as
from goldrank.errors import InputError, did_you_mean
from goldrank.report.corrected import WRITERS
from goldrank.types import ConventionName


@click.command()
@click.argument("people")
@click.argument("model")
@click.argument("runs", nargs=-1, required=True)
@measures_option
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="Where a measure has no cut-off.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@file_option("--strata", help="People judge by strata: JSONL with each query's id and 'stratum' (judge --doubts).")
@click.option("--baseline", metavar="NAME", help="Show only differences to this run.")
@click.option("--next", "count", type=click.IntRange(1), metavar="N", help="Name N queries for people to judge next.")
@file_option("--next-by", help="Draw --next within these strata, which --strata names from then on.")
@seed_option
@choice_option("-o --output", WRITERS, "table", "How to show it.")
@convention_option
def command(
    people: str,
    model: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    depth: int,
    level: float,
    strata: str | None,
    baseline: str | None,
    count: int | None,
    next_by: str | None,
    seed: int,
    output: str,
    convention: ConventionName,
) -> None:
    """Means and differences of RUNS over all queries, from PEOPLE's judgements of some and a MODEL's of all.

    Both are qrels. The queries that people judged must have been drawn at random, or at random within --strata (--next
    draws some), and to the measure's depth every document of all runs must be judged. Where the model does not help,
    people's values alone are shown.
    """
    from goldrank.comparison.corrected import corrected_values
    from goldrank.comparison.settings import Statistics
    from goldrank.report.corrected import parts

    if strata is not None and next_by is not None:
        raise click.UsageError("--next-by is for queries that were drawn at random; with --strata leave it out")
    policies, how = {"convention": convention}, ReadingOptions()
    opened = open_runs(runs, policies, how)
    if baseline is not None:
        opened = opened.only(_known(baseline, opened.names), *(name for name in opened.names if name != baseline))
    corrected = corrected_values(
        open_qrels(people, policies, how, model=model),
        opened,
        list(measures) or None,
        queries=strata or next_by,
        drawn="strata" if strata is not None else "random",
        depth=depth,
        convention=convention,
        statistics=Statistics(alpha=alpha_of(level)),
    )

    shown = corrected
    if baseline is not None:
        shown = replace(shown, values=tuple(value for value in shown.values if value.against in (None, baseline)))
    show_as(output, shown, parts, WRITERS)
    for query in corrected.next_queries(count, seed=seed) if count else ():
        echo(query, err=output != "table")


def _known(baseline: str, names: Sequence[str]) -> str:
    if baseline in names:
        return baseline
    hint = did_you_mean(baseline, names)
    raise InputError(f"no system is named '{ids.show(baseline)}'", hint=hint or f"There are: {', '.join(names)}.")
