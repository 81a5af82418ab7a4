"""`goldrank choose`: which measures fit, by use case or by answering questions."""

from __future__ import annotations

import sys

import click

from goldrank.cli.output import echo, show
from goldrank.guide import advice


@click.command("choose")
@click.argument("use_case", required=False)
@click.option("--find-all/--no-find-all", default=None, help="Must all relevant documents be found?")
@click.option("--order-matters/--no-order-matters", default=None, help="Is the order of the results important?")
@click.option("--graded/--no-graded", default=None, help="Are there grades of relevance?")
@click.option("--first-counts/--no-first-counts", default=None, help="Is the first relevant result what counts?")
@click.option("--one-is-enough/--no-one-is-enough", default=None, help="Is one relevant result enough?")
@click.option("-k", default=advice.DEFAULT_K, show_default=True, help="How many results are looked at.")
@click.option("--list", "listed", is_flag=True, help="Show the use cases.")
@click.option("--short", is_flag=True, help="Print the measures only.")
def command(use_case: str | None, k: int, listed: bool, short: bool, **answers: bool | None) -> None:
    """Recommend measures and cut-offs.

    USE_CASE is one of: qa, search, legal, recommendation, fact-checking, rag, multi-hop, candidates, reranking.
    Without it, answer "what matters most?" by options, or at the terminal.
    """
    if listed:
        from goldrank.data.table import Head, Table

        rows = [
            [key, case.title, f"{', '.join(case.primary)}; {', '.join(case.secondary)}"]
            for key, case in advice.USE_CASES.items()
        ]
        show([Table(Head.texts("", "", ""), rows)])
        return
    found = advice.choose(use_case, k=k, ask=click.confirm if sys.stdin.isatty() else None, **answers)
    echo(" ".join(found.measures) if short else str(found))
