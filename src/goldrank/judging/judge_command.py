"""`goldrank judge ask`: ask a model for the judgements that are missing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from goldrank.base.notes import Note
from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.judge_word import JudgeWord, judge_option, needed_judge
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import (
    FILE,
    MEASURE,
    ReadingOptions,
    documents_option,
    file_option,
    queries_option,
    reading_options,
)
from goldrank.cli.output import Output, deliver, output_options, written
from goldrank.data.table import note_sentences
from goldrank.judging.judge_options import calls_options

if TYPE_CHECKING:
    from goldrank.data.qrels import Qrels
    from goldrank.judging.item import Judge
    from goldrank.judging.pool_and_calls import Calls, Pool

POOL = NounOption("--pool", "goldrank.judging.pool_and_calls:Pool")
REPORTS = ("markdown", "html", "terminal")
"""Forms of files that hold a report; other files hold the judgements."""


@declared(usual="--judge --documents --queries --pool --calls -o")
@click.argument("qrels", type=FILE)
@click.argument("runs", nargs=-1, required=True, type=FILE)
@documents_option
@queries_option
@judge_option()
@option(
    "--pool",
    type=NounType(POOL),
    metavar="KEY=VALUE,...",
    heading=MEASURE,
    help="The pairs to ask about: which=unjudged|judged|all,measure=nDCG@10,depth=10,limit=100,repeats=1.",
)
@calls_options
@option(
    "--gullible",
    type=click.IntRange(1),
    metavar="N",
    heading=MEASURE,
    help="Instead, see whether N texts that people call not relevant gain by words of the query, or by an order.",
)
@file_option(
    "--doubts",
    heading="Output",
    help="With --pool repeats=2, write how far answers lie apart by query: strata for `judge corrected`.",
)
@reading_options()
@output_options()
def command(
    qrels: str,
    runs: tuple[str, ...],
    documents: str | None,
    queries: str | None,
    judge: JudgeWord | None,
    pool: Pool | None,
    calls: Calls,
    gullible: int | None,
    doubts: str | None,
    reading: ReadingOptions,
    output: Output,
) -> None:
    """Ask a model, or a program, to judge documents of RUNS that QRELS do not judge; -o writes QRELS and the grades.

    Answers are kept in --log, so that nothing is asked or paid twice. How far the model can be trusted:
    `goldrank judge agree`, and docs/judges.md.
    """
    from goldrank.io.writing_files import save_qrels
    from goldrank.judging.ask import judge as ask_judge
    from goldrank.judging.judged_report import doubts_lines
    from goldrank.judging.pool_and_calls import Pool

    if documents is None or queries is None:
        raise click.UsageError("give --documents and --queries: the texts that the judge reads")
    chosen_pool = pool or Pool()
    if gullible is not None and pool is not None:
        raise click.UsageError("--pool and --gullible are things to ask for; give one")
    if doubts and chosen_pool.repeats < 2:
        raise click.UsageError("--doubts needs --pool repeats=2 or more")

    asked_judge = needed_judge(judge).judge(prompt="relevance")
    judged = open_qrels(qrels, reading)
    if gullible is not None:
        if output.files or calls.dry_run:
            raise click.UsageError("--gullible writes no judgements, and has no --dry-run")
        _show_gullibility(judged, asked_judge, (documents, queries), gullible, calls, output)
        return

    result = ask_judge(
        judged,
        open_whole(runs, reading),
        asked_judge,
        documents=documents,
        queries=queries,
        pool=chosen_pool,
        calls=calls,
        convention=reading.convention,
    )

    not_kept: list[Note] = []
    reports, files = output.files_of(REPORTS)
    if calls.dry_run:
        files, doubts = (), None

    def shown() -> None:
        notes = note_sentences(not_kept)
        reports.show(result, notes=notes)

    def saved(path: str) -> None:
        not_kept.extend(save_qrels(result.qrels, path))

    deliver(*(partial(saved, path) for path in files), written(doubts, lambda: doubts_lines(result)), shown)


def _show_gullibility(
    people: Qrels, judge: Judge, texts: tuple[str, str], pairs: int, calls: Calls, output: Output
) -> None:
    from goldrank.judging.probes import judge_gullibility

    documents, queries = texts
    gullibility = judge_gullibility(people, judge, documents=documents, queries=queries, pairs=pairs, calls=calls)
    output.show(gullibility)
