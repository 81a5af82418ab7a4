"""`goldrank choose`: which measures fit, by use case or by answering questions."""

from __future__ import annotations

import sys

import click

from goldrank.cli.commands import command as declared
from goldrank.cli.commands import option
from goldrank.cli.options import k_option, one_number
from goldrank.cli.output import Output, echo, notes_options, show
from goldrank.guide import advice


def _flag(name: str, answer: bool) -> str:
    """An answer as an option of this command."""
    option_name = name.replace("_", "-")
    if answer:
        return f"--{option_name}"
    return f"--no-{option_name}"


@declared(usual="-k --list --short --texts --find-all --graded")
@click.argument("use_case", required=False)
@option("--find-all/--no-find-all", default=None, help="Must all relevant documents be found?")
@option("--order-matters/--no-order-matters", default=None, help="Is the order of the results important?")
@option("--graded/--no-graded", default=None, help="Are there grades of relevance?")
@option("--first-counts/--no-first-counts", default=None, help="Is the first relevant result what counts?")
@option("--one-is-enough/--no-one-is-enough", default=None, help="Is one relevant result enough?")
@k_option
@option(
    "--list", "listed", is_flag=True, heading="Output", help="Show the use cases, and binary and graded judgements."
)
@option("--short", is_flag=True, heading="Output", help="Print the measures only.")
@option("--texts", is_flag=True, heading="Output", help="With --short: those of retrieved texts, for goldrank texts.")
@notes_options
def command(
    use_case: str | None,
    k: tuple[int, ...] | None,
    listed: bool,
    short: bool,
    texts: bool,
    output: Output,
    **answers: bool | None,
) -> None:
    """Recommend measures and cut-offs.

    USE_CASE is one of: qa, search, legal, recommendation, fact-checking, rag, multi-hop, candidates, reranking.
    Without it, answer "what matters most?" by options, or at the terminal.
    """
    looked_at = one_number(k, "-k")
    if listed:
        from goldrank.data.table import Head, Table

        rows = [
            [key, case.title, " ".join(advice.choose(key, k=looked_at).measures)]
            for key, case in advice.USE_CASES.items()
        ]
        judged = [
            [key, kind.values, f"{kind.use} Measures: {', '.join(kind.measures)}."]
            for key, kind in advice.RELEVANCE.items()
        ]
        show([Table(Head.texts("", "", ""), rows), Table(Head.texts("", "", ""), judged)])
        return

    if texts and not short:
        raise click.UsageError("--texts goes with --short")
    ask = None
    if sys.stdin.isatty():
        ask = click.confirm
    choice = advice.advise(use_case, advice.QuestionAnswers(**answers), looked_at, ask, _flag)
    if texts and not choice.texts:
        raise click.UsageError("there is no advice on measures of texts here; there is for: rag, multi-hop")
    if output.is_quiet:
        return
    if not short:
        echo(str(choice))
        return

    measures = choice.measures
    if texts:
        measures = choice.texts
    echo(" ".join(measures))
