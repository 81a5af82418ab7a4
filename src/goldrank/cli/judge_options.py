"""Options about asking a model that `judge` and `questions` share: which one, how fast, for how much."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.options import Function, decimals, file_option, with_options
from goldrank.cli.output import echo

if TYPE_CHECKING:
    from goldrank.judging.item import Judge
    from goldrank.judging.runner import JobOutcome


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

    def __call__(self, outcome: JobOutcome) -> None:
        now = time.monotonic()
        if now - self._last < 1 and outcome.done < outcome.total:
            return
        self._last = now
        left = outcome.seconds_left
        told = f"{outcome.done:,} of {outcome.total:,} judged, {outcome.calls:,} calls, {outcome.tokens_in:,} + "
        told += f"{outcome.tokens_out:,} tokens, cost {outcome.cost:.4f}"
        echo(told + (f", {left:.0f} s left" if left is not None else ""), err=True)
