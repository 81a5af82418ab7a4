"""`goldrank judge corrected`: values from a model's judgements, corrected by people's on some queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import click

from goldrank.base import ids
from goldrank.base.errors import InputError, did_you_mean
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import is_saved, load_saved, open_qrels, open_runs
from goldrank.cli.options import (
    FILE,
    OUTPUT,
    ReadingOptions,
    baseline_option,
    choice_option,
    measures_option,
    queries_option,
    reading_options,
    statistics_of,
    statistics_option,
)
from goldrank.cli.output import Output, echo, output_options
from goldrank.judging.corrected import Drawn

if TYPE_CHECKING:
    from goldrank.comparison.settings import Statistics
    from goldrank.judging.corrected import CorrectedValues

USUAL_DEPTH = 10
"""The depth where a measure has no cut-off."""


@declared(usual="-m --model-qrels --queries --next -o --statistics")
@click.argument("qrels", type=FILE)
@click.argument("runs", nargs=-1, required=True, type=FILE)
@measures_option
@queries_option
@baseline_option
@choice_option(
    "--drawn",
    get_args(Drawn),
    None,
    "How the queries that people judged were drawn: from all, or within "
    "the strata of --queries. Default: within strata, if there are some.",
)
@option(
    "--next",
    "following",
    type=click.IntRange(1),
    metavar="N",
    heading=OUTPUT,
    help="Name N queries for people to judge next.",
)
@statistics_option
@reading_options(scored=True)
@output_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    queries: str | None,
    baseline: str | None,
    drawn: Drawn | None,
    following: int | None,
    statistics: Statistics | None,
    reading: ReadingOptions,
    output: Output,
) -> None:  # fmt: skip
    """Estimate means and differences of RUNS from a model's judgements, corrected by people's judgements of some.

    QRELS has both (`judge ask` writes them so), or people's, and --model-qrels the model's. The queries that people
    judged must have been drawn at random, or at random within the strata of --queries (--next draws some), and to the
    measure's depth every document of all runs must be judged. Where the model does not help, people's values alone are
    shown. Saved scores of one system, people's and then the model's, do for retrieved texts.
    """
    from goldrank.judging.corrected import CorrectedValues, corrected_scores, corrected_values

    output.check(CorrectedValues)
    chosen = statistics_of(statistics)
    if is_saved(qrels):
        if len(runs) != 1 or measures or baseline is not None:
            raise click.UsageError("saved scores are two files, by people and by the model, without -m and --baseline")
        people, model = load_saved((qrels, *runs))
        corrected = corrected_scores(people, model, queries=queries, drawn=drawn, statistics=chosen)
        _show(corrected, corrected, following, chosen.seed, output)
        return

    opened = open_runs(runs, reading)
    if baseline is not None:
        opened = opened.only(_known(baseline, opened.names), *(name for name in opened.names if name != baseline))

    corrected = corrected_values(
        open_qrels(qrels, reading),
        opened,
        list(measures) or None,
        queries=queries,
        drawn=drawn,
        depth=reading.depth or USUAL_DEPTH,
        convention=reading.convention,
        statistics=chosen,
    )

    shown = corrected
    if baseline is not None:
        shown = replace(shown, values=tuple(value for value in shown.values if value.against in (None, baseline)))
    _show(corrected, shown, following, chosen.seed, output)


def _show(corrected: CorrectedValues, shown: CorrectedValues, following: int | None, seed: int, output: Output) -> None:
    """Show values, and the queries to judge next."""
    output.show(shown)
    if following:
        for query in corrected.next_queries(following, seed=seed):
            echo(query, err=output.form != "terminal")


def _known(baseline: str, names: Sequence[str]) -> str:
    if baseline in names:
        return baseline
    hint = did_you_mean(baseline, names)
    raise InputError(f"no system is named '{ids.show(baseline)}'", hint=hint or f"There are: {', '.join(names)}.")
