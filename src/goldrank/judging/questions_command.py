"""`goldrank judge questions`: questions about documents, with the positions of their answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.judge_word import JudgeWord, judge_option, needed_judge
from goldrank.cli.options import FILE, MEASURE, count_option
from goldrank.cli.output import Output, deliver, output_options
from goldrank.data.table import plain
from goldrank.judging.judge_options import calls_options

if TYPE_CHECKING:
    from goldrank.judging.pool_and_calls import Calls

USUAL = 200
"""The number of questions without -n."""
REPORTS = ("markdown", "html", "terminal")
"""Forms of files that hold a report; other files hold the questions."""


@declared(usual="-n --judge --calls --dry-run -o --log")
@click.argument("sources", type=FILE)
@count_option
@judge_option(multiple=True)
@calls_options
@option(
    "--passage",
    type=click.IntRange(100),
    default=1_500,
    show_default=True,
    heading=MEASURE,
    help="Characters that the model is shown.",
)
@option(
    "--copied",
    type=float,
    default=0.7,
    show_default=True,
    heading=MEASURE,
    help="Leave out: this share in one run of words.",
)
@option(
    "--similar",
    type=float,
    default=0.8,
    show_default=True,
    heading=MEASURE,
    help="Leave out: words in common with another.",
)
@output_options()
def command(
    sources: str,
    count: int | None,
    judge: tuple[JudgeWord, ...],
    calls: Calls,
    passage: int,
    copied: float,
    similar: float,
    output: Output,
) -> None:  # fmt: skip
    """Ask a model for questions about SOURCES, with quotations that answer them, and keep those that pass the checks.

    SOURCES is a folder of text files, or a file of records with source and text. A quotation must be there and must
    answer the question alone; copied and repeated questions are left out. The output (-o questions.jsonl) has evidence
    by position, for `goldrank texts --evidence SOURCES`. A second --judge checks what the first writes. A program
    writes "question" and "quote" where the question that it reads is empty, and else a grade of 0 or 1: whether the
    text answers the question.
    """
    from goldrank.judging.questions import make_questions
    from goldrank.judging.questions_report import parts

    if len(judge) > 2:
        raise click.UsageError("--judge is given once or twice: who writes, and who checks")
    reports, files = output.files_of(REPORTS)
    if not files and not calls.dry_run:
        raise click.UsageError("Missing option '-o' / '--output': where questions are written.")
    writer, checker = None, None
    if judge:
        writer, checker = judge[0], judge[-1]
    number = USUAL
    if count is not None:
        number = count
    questions = make_questions(
        sources,
        needed_judge(writer).judge(prompt="question", name="writer"),
        needed_judge(checker).judge(prompt="answerable", scale=(0, 1), name="checker"),
        n=number,
        passage=passage,
        copied=copied,
        similar=similar,
        calls=calls,
    )
    if calls.dry_run:
        files = ()
    writers = {"terminal": lambda result: plain(parts(result)) + "\n"}
    deliver(*(partial(questions.save, path) for path in files), partial(reports.show, questions, parts, writers))
