"""`goldrank questions`: questions about documents, with the places of their answers."""

from __future__ import annotations

from functools import partial

import click

from goldrank.cli.judge_options import AskedJudge, judge_options
from goldrank.cli.options import file_option, seed_option
from goldrank.cli.output import deliver, show


@click.command()
@click.argument("sources")
@click.option("--n", "count", type=click.IntRange(1), default=200, show_default=True, help="How many questions.")
@file_option("-o", "--output", "target", help="Write the questions: one JSON object a line.")
@judge_options
@click.option("--prompt", default="question", show_default=True, help="How questions are asked for, or a file.")
@click.option("--check", default="answerable", show_default=True, help="How they are checked, or a file.")
@click.option(
    "--passage", type=click.IntRange(100), default=1_500, show_default=True, help="Characters that the model is shown."
)
@click.option("--copied", type=float, default=0.7, show_default=True, help="Leave out: this share in one run of words.")
@click.option("--similar", type=float, default=0.8, show_default=True, help="Leave out: words in common with another.")
@seed_option
def command(
    sources: str,
    count: int,
    target: str | None,
    asking: AskedJudge,
    prompt: str,
    check: str,
    passage: int,
    copied: float,
    similar: float,
) -> None:
    """Ask a model for questions about SOURCES, with quotations that answer them, and keep those that pass the checks.

    SOURCES is a folder of text files, or a file of records with source and text. A quotation must be there and must
    answer the question alone; copied and repeated questions are left out. What is written is evidence by place, for
    `goldrank texts --sources`. A program (--command) writes "question" and "quote" where the question that it reads is
    empty, and else a grade of 0 or 1: whether the text answers the question.
    """
    from goldrank.judging.questions import make_questions
    from goldrank.report.questions import parts

    dry_run = asking.calls.dry_run
    if target is None and not dry_run:
        raise click.UsageError("Missing option '-o' / '--output': where questions are written.")
    questions = make_questions(
        sources,
        asking.judge(prompt, name="writer"),
        asking.judge(check, scale=(0, 1), name="checker"),
        n=count,
        passage=passage,
        copied=copied,
        similar=similar,
        calls=asking.calls,
    )
    deliver(*([] if dry_run or target is None else [partial(questions.save, target)]), lambda: show(parts(questions)))
