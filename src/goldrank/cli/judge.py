"""`goldrank judge`: ask a model for the judgements that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.judge_options import AskedJudge, judge_options
from goldrank.cli.options import ReadingOptions, convention_option, file_option, reading_options
from goldrank.cli.output import deliver, show, written
from goldrank.data.table import note_sentences
from goldrank.notes import Note
from goldrank.types import ConventionName

if TYPE_CHECKING:
    from goldrank.data.qrels import Qrels
    from goldrank.judging.item import Judge
    from goldrank.judging.nouns import Calls, Which


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@file_option("--docs", required=True, help="Texts of documents: JSONL with ids, and 'title' or 'text'.")
@file_option("--queries", required=True, help="Texts of queries: JSONL with ids and 'text'.")
@click.option("--prompt", default="relevance", show_default=True, help="relevance, support, or a file of your own.")
@judge_options
@click.option("--all", "everything", is_flag=True, help="Ask for everything to --depth, judged or not.")
@click.option("--judged", is_flag=True, help="Ask for what people judged, to see how far the model agrees.")
@click.option("-m", "--measure", help="Ask first what could change this measure most. Default: nDCG at --depth.")
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="Documents of each query.")
@click.option("--limit", type=click.IntRange(0), help="Ask for no more than this many pairs.")
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="How often to ask each question.")
@click.option(
    "--gullible",
    type=click.IntRange(1),
    metavar="N",
    help="Instead, see whether N texts that people call not relevant gain by words of the query, or by an order.",
)
@file_option("--doubts", help="With --repeats, write how far answers lie apart by query: strata for `corrected`.")
@click.option("-o", "--output", "target", type=click.Path(dir_okay=False), help="Write QRELS and the model's grades.")
@reading_options
@convention_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    docs: str,
    queries: str,
    prompt: str,
    asking: AskedJudge,
    everything: bool,
    judged: bool,
    measure: str | None,
    depth: int,
    limit: int | None,
    repeats: int,
    gullible: int | None,
    doubts: str | None,
    target: str | None,
    how: ReadingOptions,
    convention: ConventionName,
) -> None:
    """Ask a model, or a program, to judge documents of RUNS that QRELS do not judge.

    Answers are kept in --log, so that nothing is asked or paid twice. How far the model can be trusted:
    `goldrank agree`, and docs/judges.md.
    """
    from goldrank.io.writing_files import save_qrels
    from goldrank.judging.ask import judge
    from goldrank.judging.nouns import Pool
    from goldrank.report.judging import doubts_lines, parts

    if everything + judged + (gullible is not None) > 1:
        raise click.UsageError("--all, --judged and --gullible are things to ask for; give one")
    if doubts and repeats < 2:
        raise click.UsageError("--doubts needs --repeats 2 or more")
    policies = {"convention": convention}
    who, dry_run = asking.judge(prompt), asking.calls.dry_run
    if gullible is not None:
        if target or dry_run:
            raise click.UsageError("--gullible writes no judgements, and has no --dry-run")
        _show_gullibility(open_qrels(qrels, policies, how), who, docs, queries, gullible, asking.calls)
        return

    which: Which = "unjudged"
    if everything:
        which = "all"
    elif judged:
        which = "judged"
    result = judge(
        open_qrels(qrels, policies, how),
        open_whole(runs, policies, how),
        who,
        documents=docs,
        queries=queries,
        pool=Pool(which, measure, depth, limit, repeats),
        calls=asking.calls,
        convention=convention,
    )

    not_kept: list[Note] = []
    if dry_run:
        target = doubts = None
    deliver(
        (lambda: not_kept.extend(save_qrels(result.qrels, target))) if target else None,
        written(doubts, lambda: doubts_lines(result)),
        lambda: show([*parts(result), *note_sentences(not_kept, target or "")]),
    )


def _show_gullibility(people: Qrels, who: Judge, docs: str, queries: str, pairs: int, calls: Calls) -> None:
    from goldrank.judging.probes import judge_gullibility
    from goldrank.report.gullibility import parts

    show(parts(judge_gullibility(people, who, documents=docs, queries=queries, pairs=pairs, calls=calls)))
