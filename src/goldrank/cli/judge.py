"""`goldrank judge` and `questions`: ask a model for judgements that are missing, or for questions about documents."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import open_qrels, open_whole
from goldrank.cli.options import (
    Function,
    ReadingOptions,
    convention_option,
    decimals,
    file_option,
    reading_options,
    with_options,
)
from goldrank.cli.output import deliver, echo, show, written
from goldrank.data.table import note_sentences
from goldrank.notes import Note

if TYPE_CHECKING:
    from goldrank.judging.item import Judge
    from goldrank.judging.runner import Outcome
from functools import partial

from goldrank.cli.options import seed_option


def judge_options(function: Function) -> Function:
    """Options for a model or a program; `made_judge` and `job_arguments` make of them what functions take."""
    options = [
        click.option("--model", help="The model to ask, at --base-url."),
        click.option("--base-url", default=lambda: os.environ.get("OPENAI_BASE_URL", ""),
                     show_default="the environment's OPENAI_BASE_URL",
                     help="An OpenAI-compatible endpoint, such as http://localhost:8000/v1. The key is in the "
                     "environment."),
        click.option("--key-variable", default="OPENAI_API_KEY", show_default=True,
                     help="Where in the environment the key is."),
        click.option("--command", "words", help="A program that reads and writes JSON Lines, instead of a model."),
        click.option("--criteria", default="", help="What counts as relevant, in words: given to the judge."),
        file_option("--log", default="judgements.db", show_default=True, help="Where answers are kept."),
        click.option("--prices", metavar="IN,OUT[,CACHED]", help="What a million tokens cost."),
        click.option("--budget", type=float, help="Spend no more than this, in the currency of --prices."),
        click.option("--max-calls", type=click.IntRange(0), help="Make no more calls than this."),
        click.option("--concurrency", type=click.IntRange(1), default=8, show_default=True, help="Calls at a time."),
        click.option("--rate", type=float, help="Calls a minute, at most."),
        click.option("--max-tokens", type=click.IntRange(1), default=500, show_default=True,
                     help="Tokens of an answer."),
        click.option("--drop", multiple=True, metavar="FIELD",
                     help="A field that the model refuses, such as temperature."),
    ]  # fmt: skip
    return with_options(options, function)


def made_judge(options: dict[str, Any], prompt: str, **of_command: Any) -> Judge:
    """The judge that the options name, asked by a prompt; `of_command` is for a program."""
    from goldrank.judging.command import Command
    from goldrank.judging.endpoint import Endpoint

    if (options["model"] is None) == (options["words"] is None):
        raise click.UsageError("give --model (with --base-url), or --command")
    if options["words"] is not None:
        return Command(options["words"], **of_command)
    if not options["base_url"]:
        raise click.UsageError("--model needs --base-url, or OPENAI_BASE_URL in the environment")
    return Endpoint(
        options["model"], options["base_url"], prompt=prompt, key_variable=options["key_variable"],
        max_tokens=options["max_tokens"], drop=options["drop"],
    )  # fmt: skip


def job_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What a job takes."""
    names = ("criteria", "log", "budget", "max_calls", "concurrency", "rate")
    progress = _Teller() if sys.stderr.isatty() else None
    prices = options["prices"] and tuple(decimals(options["prices"], "--prices", "such as 0.15,0.60"))
    return {**{name: options[name] for name in names}, "prices": prices, "progress": progress}


class _Teller:
    """Says how far a job is, on a terminal, once a second at most."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, outcome: Outcome) -> None:
        now = time.monotonic()
        if now - self._last < 1 and outcome.done < outcome.total:
            return
        self._last = now
        left = outcome.seconds_left
        told = f"{outcome.done:,} of {outcome.total:,} judged, {outcome.calls:,} calls, {outcome.tokens_in:,} + "
        told += f"{outcome.tokens_out:,} tokens, cost {outcome.cost:.4f}"
        echo(told + (f", {left:.0f} s left" if left is not None else ""), err=True)


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
    convention: str,
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
    made = made_judge(options, options["prompt"])
    kept = job_arguments(options) | {name: options[name] for name in ("docs", "queries")}
    if gullible is not None:
        if target or options["dry_run"]:
            raise click.UsageError("--gullible writes no judgements, and has no --dry-run")
        people = open_qrels(qrels, policies, how)
        show(gullible_parts(judge_gullibility(people, judge=made, pairs=gullible, **kept)))
        return
    kept |= {name: options[name] for name in ("measure", "depth", "limit", "repeats", "dry_run")}
    found = judge(
        open_qrels(qrels, policies, how),
        open_whole(runs, policies, how),
        judge=made,
        which="all" if everything else "judged" if judged else "holes",
        convention=convention,
        **kept,
    )
    not_kept: list[Note] = []
    if options["dry_run"]:
        target = doubts = None
    deliver(
        (lambda: not_kept.extend(io.write_qrels(found.qrels, target))) if target else None,
        written(doubts, lambda: doubts_lines(found)),
        lambda: show([*parts(found, dry_run=options["dry_run"]), *note_sentences(not_kept, target or "")]),
    )


@click.command()
@click.argument("sources")
@click.option("--n", "count", type=click.IntRange(1), default=200, show_default=True, help="How many questions.")
@file_option("-o", "--output", "target", help="Write the questions: one JSON object a line.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; ask nothing.")
@judge_options
@click.option("--prompt", default="question", show_default=True, help="How questions are asked for, or a file.")
@click.option("--check", default="answerable", show_default=True, help="How they are checked, or a file.")
@click.option(
    "--passage", type=click.IntRange(100), default=1_500, show_default=True, help="Characters that the model is shown."
)
@click.option("--copied", type=float, default=0.7, show_default=True, help="Leave out: this share in one run of words.")
@click.option("--similar", type=float, default=0.8, show_default=True, help="Leave out: words in common with another.")
@seed_option
def questions(
    sources: str, count: int, target: str | None, dry_run: bool, prompt: str, check: str, **options: Any
) -> None:
    """Ask a model for questions about SOURCES, with quotations that answer them, and keep those that pass the checks.

    SOURCES is a folder of text files, or a file of records with source and text. A quotation must be there and must
    answer the question alone; copied and repeated questions are left out. What is written is evidence by place, for
    `goldrank texts --sources`. A program (--command) writes "question" and "quote" where the question that it reads is
    empty, and else a grade of 0 or 1: whether the text answers the question.
    """
    from goldrank.judging.questions import FIELDS, make_questions
    from goldrank.report.questions import parts

    if target is None and not dry_run:
        raise click.UsageError("Missing option '-o' / '--output': where questions are written.")
    found = make_questions(
        sources,
        writer=made_judge(options, prompt, fields=FIELDS, name="writer"),
        judge=made_judge(options, check, scale=(0, 1), name="checker"),
        n=count,
        dry_run=dry_run,
        **{name: options[name] for name in ("passage", "copied", "similar", "seed")},
        **job_arguments(options),
    )
    deliver(*([] if dry_run or target is None else [partial(found.save, target)]), lambda: show(parts(found)))
