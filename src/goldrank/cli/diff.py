"""`goldrank diff`: what moved between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrank.base import satellites
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import named_file, open_qrels, open_whole
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    count_option,
    documents_option,
    k_option,
    known_queries,
    measures_option,
    one_measure,
    one_number,
    queries_option,
    reading_options,
    slice_option,
)
from goldrank.cli.output import Output, output_options

if TYPE_CHECKING:
    from goldrank.comparison.rank_changes import Diff
    from goldrank.data.table import Part

SHOWN = 10
"""Queries that are shown where -n does not say how many."""


@declared(usual="-m -k -o --as --queries --documents")
@click.argument("inputs", metavar="[QRELS] BEFORE AFTER", nargs=-1, required=True, type=FILE)
@measures_option
@k_option
@count_option
@option("--agreement", is_flag=True, heading=MEASURE, help="Also show how alike the two rankings are.")
@queries_option
@documents_option
@slice_option
@reading_options()
@output_options()
def command(
    inputs: tuple[str, ...],
    measures: tuple[str, ...],
    k: tuple[int, ...] | None,
    count: int | None,
    reading: ReadingOptions,
    output: Output,
    **options: Any,
) -> None:
    """Show what moved from run BEFORE to run AFTER: which relevant documents rose or fell, and why.

    Without QRELS it says which queries moved most and which documents came and went; not which run is better. It ends
    with the documents whose judgements would say it soonest, 10 of them or as many as -n says. --documents puts texts
    beside ids, and both rankings side by side.
    """
    documents, slices, agreement = options["documents"], options["slices"], options["agreement"]
    if len(inputs) == 2:
        if measures or agreement:
            raise click.UsageError("-m and --agreement need QRELS: nothing is measured without judgements")
        churn = _without_judgements(inputs, one_number(k, "-k") or 10, options["queries"], slices, reading)
        if documents is not None:
            churn = churn.with_documents(documents)
        if count is not None:
            churn = churn.with_listed(count)
        output.show(churn)
        return
    if documents is not None or slices:
        raise click.UsageError("--documents and --slice go with two runs without QRELS; compare has them with QRELS")
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
    inputs: tuple[str, ...], k: int, queries: str | None, slices: tuple[str, ...], reading: ReadingOptions
) -> Any:
    """What changed between two runs without judgements."""
    compared = satellites.provided("rankings compared")
    runs = open_whole(inputs, reading)
    paths = [named_file(text)[1] for text in inputs]
    return compared(runs, paths, k, known_queries(queries, slices), slices)
