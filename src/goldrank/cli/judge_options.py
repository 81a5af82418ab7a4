"""Options about asking a model that `judge` and `questions` share: which one, how fast, for how much."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from goldrank.cli.options import Function, decimals, file_option, with_options
from goldrank.cli.output import echo

if TYPE_CHECKING:
    from goldrank.judging.item import Judge
    from goldrank.judging.nouns import Calls


@dataclass(frozen=True)
class AskedJudge:
    """Who is asked, and on which terms, as `judge_options` says."""

    model: str | None
    base_url: str
    key_variable: str
    command: str | None
    criteria: str
    max_tokens: int
    drop: tuple[str, ...]
    calls: Calls

    def judge(self, prompt: str, *, scale: tuple[int, ...] = (0, 1, 2, 3), name: str | None = None) -> Judge:
        """The judge, asked by a prompt; `scale` and `name` are for a program."""
        from goldrank.judging.command import Command
        from goldrank.judging.endpoint import Endpoint

        if (self.model is None) == (self.command is None):
            raise click.UsageError("give --model (with --base-url), or --command")
        if self.command is not None:
            return Command(self.command, scale=scale, criteria=self.criteria, name=name)
        if not self.base_url:
            raise click.UsageError("--model needs --base-url, or OPENAI_BASE_URL in the environment")
        assert self.model is not None
        request = {"max_tokens": self.max_tokens, **dict.fromkeys(self.drop)}
        return Endpoint(
            self.model,
            self.base_url,
            prompt=prompt,
            criteria=self.criteria,
            key_variable=self.key_variable,
            request=request,
        )


def judge_options(function: Function) -> Function:
    """Options for a model or a program, and for calls of it. The command gets them as `asking`."""

    @wraps(function)
    def command(
        *args: Any,
        model: str | None,
        base_url: str,
        key_variable: str,
        words: str | None,
        criteria: str,
        max_tokens: int,
        drop: tuple[str, ...],
        seed: int = 0,
        dry_run: bool,
        log: str,
        prices: str | None,
        budget: float | None,
        max_calls: int | None,
        concurrency: int,
        rate: float | None,
        **more: Any,
    ) -> Any:
        from goldrank.judging.nouns import Calls

        calls = Calls(
            log=log,
            max_cost=budget,
            max_calls=max_calls,
            prices=_prices(prices),
            concurrency=concurrency,
            rate=rate,
            seed=seed,
            dry_run=dry_run,
            progress=_teller() if sys.stderr.isatty() else None,
        )
        asking = AskedJudge(model, base_url, key_variable, words, criteria, max_tokens, drop, calls)
        return function(*args, asking=asking, **more)

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
        click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; ask nothing."),
    ]  # fmt: skip
    return with_options(options, command)  # type: ignore[return-value]


def _prices(given: str | None) -> Any:  # two or three numbers; `Calls` says so if they are not
    return None if given is None else tuple(decimals(given, "--prices", "such as 0.15,0.60"))


def _teller() -> Callable[[int, int], None]:
    """Says how far a job is, on a terminal, once a second at most."""
    began = last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 1 and done < total:
            return
        last = now
        left = (now - began) / done * (total - done) if done else 0.0
        echo(f"{done:,} of {total:,} judged" + (f", {left:.0f} s left" if done < total else ""), err=True)

    return tell
