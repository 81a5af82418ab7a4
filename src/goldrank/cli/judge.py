"""`goldrank judge`: ask a model for the judgements that are missing."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.inputs import open_qrels, open_runs
from goldrank.cli.options import convention_option, file_option
from goldrank.cli.output import echo, show

if TYPE_CHECKING:
    from goldrank.judging.item import Judge
    from goldrank.judging.runner import Outcome


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@file_option("--docs", required=True, help="Texts of documents: JSONL with ids, and 'title' or 'text'.")
@file_option("--queries", required=True, help="Texts of queries: JSONL with ids and 'text'.")
@click.option("--model", help="The model to ask, at --base-url.")
@click.option(
    "--base-url",
    default=lambda: os.environ.get("OPENAI_BASE_URL", ""),
    show_default="the environment's OPENAI_BASE_URL",
    help="An OpenAI-compatible endpoint, such as http://localhost:8000/v1. The key is in the environment.",
)
@click.option(
    "--key-variable", default="OPENAI_API_KEY", show_default=True, help="Where in the environment the key is."
)
@click.option("--command", "words", help="A program that reads and writes JSON Lines, instead of a model.")
@click.option("--prompt", default="relevance", show_default=True, help="relevance, support, or a file of your own.")
@click.option("--criteria", default="", help="What counts as relevant, in words: given to the judge.")
@file_option("--log", default="judgements.db", show_default=True, help="Where answers are kept.")
@click.option("--all", "everything", is_flag=True, help="Ask for everything to --depth, judged or not.")
@click.option("--judged", is_flag=True, help="Ask for what people judged, to see how far the model agrees.")
@click.option("-m", "--measure", help="Ask first what could change this measure most. Default: nDCG at --depth.")
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="Documents of each query.")
@click.option("--limit", type=click.IntRange(0), help="Ask for no more than so many pairs.")
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Ask each question so often.")
@click.option("--prices", metavar="IN,OUT[,CACHED]", help="What a million tokens cost.")
@click.option("--budget", type=float, help="Spend no more than this, in the currency of --prices.")
@click.option("--max-calls", type=click.IntRange(0), help="Make no more calls than this.")
@click.option("--concurrency", type=click.IntRange(1), default=8, show_default=True, help="Calls at a time.")
@click.option("--rate", type=float, help="Calls a minute, at most.")
@click.option("--max-tokens", type=click.IntRange(1), default=500, show_default=True, help="Tokens of an answer.")
@click.option("--drop", multiple=True, metavar="FIELD", help="A field that the model refuses, such as temperature.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; ask nothing.")
@click.option("-o", "--output", "target", type=click.Path(dir_okay=False), help="Write QRELS and the model's grades.")
@convention_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    everything: bool,
    judged: bool,
    prices: str | None,
    target: str | None,
    convention: str,
    **options: Any,
) -> None:
    """Ask a model, or a program, to judge documents of RUNS that QRELS do not judge.

    Answers are kept in --log, so that nothing is asked or paid twice. How far the model can be trusted:
    `goldrank agree`, and docs/judges.md.
    """
    from goldrank import io
    from goldrank.judging.ask import judge
    from goldrank.report.judging import parts

    if everything and judged:
        raise click.UsageError("--all and --judged are two things to ask for; give one")
    policies = {"convention": convention, "judgements": None, "duplicates": None}
    made = _judge(options)
    kept = {name: options[name] for name in ("docs", "queries", "criteria", "log", "measure", "depth", "limit")}
    kept |= {name: options[name] for name in ("repeats", "budget", "max_calls", "concurrency", "rate", "dry_run")}
    found = judge(
        open_qrels(qrels, policies),
        open_runs(runs, policies),
        judge=made,
        which="all" if everything else "judged" if judged else "holes",
        prices=_prices(prices),
        progress=_Teller() if sys.stderr.isatty() else None,
        convention=convention,
        **kept,
    )
    if target and not options["dry_run"]:
        io.write_qrels(found.qrels, target)
    show(parts(found, dry_run=options["dry_run"]))


def _judge(options: dict[str, Any]) -> Judge:
    from goldrank.judging.command import Command
    from goldrank.judging.endpoint import Endpoint

    if (options["model"] is None) == (options["words"] is None):
        raise click.UsageError("give --model (with --base-url), or --command")
    if options["words"] is not None:
        return Command(options["words"])
    if not options["base_url"]:
        raise click.UsageError("--model needs --base-url, or OPENAI_BASE_URL in the environment")
    return Endpoint(
        options["model"], options["base_url"], prompt=options["prompt"], key_variable=options["key_variable"],
        max_tokens=options["max_tokens"], drop=options["drop"],
    )  # fmt: skip


def _prices(given: str | None) -> tuple[float, ...] | None:
    if given is None:
        return None
    try:
        return tuple(float(part) for part in given.split(","))
    except ValueError:
        raise click.UsageError(f"--prices takes numbers such as 0.15,0.60, not {given!r}") from None


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
