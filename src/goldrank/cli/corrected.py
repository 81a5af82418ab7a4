"""`goldrank corrected`: values from a model's judgements, corrected by people's on some queries."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import (
    ReadingOptions,
    choice_option,
    convention_option,
    file_option,
    measures_option,
    seed_option,
)
from goldrank.cli.output import echo, show_corrected
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
@click.option("--baseline", metavar="NAME", help="Compare every other run with this one only.")
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
    count: int | None,
    next_by: str | None,
    seed: int,
    output: str,
    convention: ConventionName,
    **options: Any,
) -> None:
    """Means and differences of RUNS over all queries, from PEOPLE's judgements of some and a MODEL's of all.

    Both are qrels. The queries that people judged must have been drawn at random, or at random within --strata (--next
    draws some), and to the measure's depth every document of all runs must be judged. Where the model does not help,
    people's values alone are shown. `goldrank compare --judged-by corrected` shows the same.
    """
    from goldrank.comparison.corrected import corrected_values

    policies, how = {"convention": convention}, ReadingOptions()
    given = open_qrels(people, policies, how), open_qrels(model, policies, how), open_runs(runs, policies, how)
    corrected = corrected_values(*given, list(measures) or None, convention=convention, **options)
    show_corrected(corrected, output)
    for query in corrected.next_queries(count, seed, next_by) if count else ():
        echo(query, err=output != "table")
