"""`goldrank diff`: what moved between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.base import satellites
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    count_option,
    k_option,
    measures_option,
    one_measure,
    one_number,
    queries_option,
    reading_options,
)
from goldrank.cli.output import Output, output_options

if TYPE_CHECKING:
    from goldrank.comparison.rank_changes import Diff
    from goldrank.data.table import Part

SHOWN = 10
"""Queries that are shown where -n does not say how many."""


@declared(usual="-m -k -n -o --as --agreement")
@click.argument("inputs", metavar="[QRELS] BEFORE AFTER", nargs=-1, required=True, type=FILE)
@measures_option
@k_option
@count_option
@option("--agreement", is_flag=True, heading=MEASURE, help="Also show how alike the two rankings are.")
@queries_option
@reading_options()
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    k: tuple[int, ...] | None,
    count: int | None,
    agreement: bool,
    queries: str | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """Show what moved from run BEFORE to run AFTER: which relevant documents rose or fell, and why.

    Without QRELS it says which queries moved most and which documents came and went; not which run is better. -n 40
    then lists the 40 documents whose judgements would say it soonest.
    """
    if len(inputs) == 2:
        _without_judgements(inputs, measures, k, count, queries, reading, output)
        return
    if len(inputs) != 3:
        raise click.UsageError(f"give QRELS and two runs, or two runs; {len(inputs)} files were given")

    from goldrank.comparison.agreement import rank_agreement
    from goldrank.comparison.rank_changes import diff
    from goldrank.data.table import Sentence
    from goldrank.report.diff import parts

    judged = open_qrels(inputs[0], reading)
    old, new = open_whole(inputs[1:], reading).values()
    measure = one_measure(measures) or "nDCG@10"
    changes = diff(judged, old, new, measure, k=one_number(k, "-k"), convention=reading.convention)
    agreement_parts = []
    if agreement:
        agreement_parts = [Sentence(f"How alike the rankings are: {rank_agreement(old, new).words}.")]
    limit = SHOWN
    if count is not None:
        limit = count

    def shown_parts(result: Diff) -> list[Part]:
        return [*parts(result, limit), *agreement_parts]

    output.show(changes, shown_parts)


def _without_judgements(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    k: tuple[int, ...] | None,
    count: int | None,
    queries: str | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """What changed between two runs without judgements; with -n also what to judge first."""
    if measures:
        raise click.UsageError("-m needs QRELS: nothing is measured without judgements")
    before, after = open_whole(inputs, reading).values()
    compared = satellites.provided("rankings compared")
    churn = compared(before, after, k=one_number(k, "-k") or 10, queries=queries)

    def shown_parts(result: Any) -> list[Part]:
        if count is None:
            return list(result.parts())
        return [*result.parts(), *result.judging_parts(count)]

    output.show(churn, shown_parts)
