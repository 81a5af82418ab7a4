"""`goldrank judge`: ask a model for the judgements that are missing."""

from __future__ import annotations

from typing import Any

import click

from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.judge_options import job_arguments, judge_options, made_judge
from goldrank.cli.options import ReadingOptions, convention_option, file_option, reading_options
from goldrank.cli.output import deliver, show, written
from goldrank.data.table import note_sentences
from goldrank.notes import Note
from goldrank.types import ConventionName


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
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; ask nothing.")
@click.option("-o", "--output", "target", type=click.Path(dir_okay=False), help="Write QRELS and the model's grades.")
@reading_options
@convention_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    everything: bool,
    judged: bool,
    gullible: int | None,
    target: str | None,
    doubts: str | None,
    how: ReadingOptions,
    convention: ConventionName,
    **options: Any,
) -> None:
    """Ask a model, or a program, to judge documents of RUNS that QRELS do not judge.

    Answers are kept in --log, so that nothing is asked or paid twice. How far the model can be trusted:
    `goldrank agree`, and docs/judges.md.
    """
    from goldrank import io
    from goldrank.judging.ask import judge
    from goldrank.judging.probes import judge_gullibility
    from goldrank.report.judging import doubts_lines, gullible_parts, parts

    if everything + judged + (gullible is not None) > 1:
        raise click.UsageError("--all, --judged and --gullible are things to ask for; give one")
    if doubts and options["repeats"] < 2:
        raise click.UsageError("--doubts needs --repeats 2 or more")
    policies = {"convention": convention}
    who = made_judge(options, options["prompt"])
    kept = job_arguments(options) | {name: options[name] for name in ("docs", "queries")}
    if gullible is not None:
        if target or options["dry_run"]:
            raise click.UsageError("--gullible writes no judgements, and has no --dry-run")
        people = open_qrels(qrels, policies, how)
        show(gullible_parts(judge_gullibility(people, judge=who, pairs=gullible, **kept)))
        return
    kept |= {name: options[name] for name in ("measure", "depth", "limit", "repeats", "dry_run")}
    result = judge(
        open_qrels(qrels, policies, how),
        open_whole(runs, policies, how),
        judge=who,
        which="all" if everything else "judged" if judged else "holes",
        convention=convention,
        **kept,
    )
    not_kept: list[Note] = []
    if options["dry_run"]:
        target = doubts = None
    deliver(
        (lambda: not_kept.extend(io.write_qrels(result.qrels, target))) if target else None,
        written(doubts, lambda: doubts_lines(result)),
        lambda: show([*parts(result, dry_run=options["dry_run"]), *note_sentences(not_kept, target or "")]),
    )
