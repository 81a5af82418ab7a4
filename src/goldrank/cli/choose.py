"""`goldrank choose`: which measures fit, by use case or by answering questions."""

from __future__ import annotations

import sys

import click

from goldrank.cli.output import echo, show
from goldrank.guide import advice
from goldrank.measures.options import MAX_CUTOFF


def _flag(name: str, answer: bool) -> str:
    """An answer as this command takes it."""
    return f"--{'' if answer else 'no-'}{name.replace('_', '-')}"


@click.command("choose")
@click.argument("use_case", required=False)
@click.option("--find-all/--no-find-all", default=None, help="Must all relevant documents be found?")
@click.option("--order-matters/--no-order-matters", default=None, help="Is the order of the results important?")
@click.option("--graded/--no-graded", default=None, help="Are there grades of relevance?")
@click.option("--first-counts/--no-first-counts", default=None, help="Is the first relevant result what counts?")
@click.option("--one-is-enough/--no-one-is-enough", default=None, help="Is one relevant result enough?")
@click.option(
    "-k",
    type=click.IntRange(1, MAX_CUTOFF),
    help=f"How many results are looked at; default: what goes with the use case, else {advice.DEFAULT_K}.",
)
@click.option("--list", "listed", is_flag=True, help="Show the use cases, and binary and graded judgements.")
@click.option("--short", is_flag=True, help="Print the measures only.")
@click.option("--texts", is_flag=True, help="With --short: those of retrieved texts, for goldrank texts.")
def command(
    use_case: str | None, k: int | None, listed: bool, short: bool, texts: bool, **answers: bool | None
) -> None:
    """Recommend measures and cut-offs.

    USE_CASE is one of: qa, search, legal, recommendation, fact-checking, rag, multi-hop, candidates, reranking.
    Without it, answer "what matters most?" by options, or at the terminal.
    """
    if listed:
        from goldrank.data.table import Head, Table

        rows = [[key, case.title, " ".join(advice.choose(key, k=k).measures)] for key, case in advice.USE_CASES.items()]
        judged = [
            [key, kind.values, f"{kind.use} Measures: {', '.join(kind.measures)}."]
            for key, kind in advice.RELEVANCE.items()
        ]
        show([Table(Head.texts("", "", ""), rows), Table(Head.texts("", "", ""), judged)])
        return
    if texts and not short:
        raise click.UsageError("--texts goes with --short")
    ask = click.confirm if sys.stdin.isatty() else None
    choice = advice.advise(use_case, advice.QuestionAnswers(**answers), k, ask, _flag)
    if texts and not choice.texts:
        raise click.UsageError("there is no advice on measures of texts here; there is for: rag, multi-hop")
    echo(" ".join(choice.texts if texts else choice.measures) if short else str(choice))
