"""The options --calls, --log and --dry-run, which `judge ask` and `judge questions` share."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from goldrank.cli.commands import option
from goldrank.cli.nouns import NounOption, NounType
from goldrank.cli.options import MEASURE, Function, dry_run_option, log_option, with_options
from goldrank.cli.output import echo

CALLS = NounOption(
    "--calls",
    "goldrank.judging.pool_and_calls:Calls",
    elsewhere={
        "log": "It has an option of its own: --log.",
        "dry_run": "It has an option of its own: --dry-run.",
        "progress": "The terminal shows the progress.",
    },
)
DEFAULT_LOG = "judgements.db"


def calls_options(function: Function) -> Function:
    """`--calls`, `--log` and `--dry-run`. The command gets them as `calls`, a `Calls`."""

    @wraps(function)
    def command(*args: Any, calls: dict[str, Any] | None, log: str | None, dry_run: bool, **more: Any) -> Any:
        from goldrank.judging.pool_and_calls import Calls

        terms = Calls(log=log or DEFAULT_LOG, dry_run=dry_run, progress=teller(), **(calls or {}))
        return function(*args, calls=terms, **more)

    options = [
        option(
            "--calls",
            type=NounType(CALLS, CALLS.arguments),
            metavar="KEY=VALUE,...",
            heading=MEASURE,
            help="On which terms a judge is asked: max_cost=5,prices=0.5+1.5,max_calls=100,rate=60,seed=1.",
        ),
        log_option,
        dry_run_option,
    ]
    return with_options(options, command)  # type: ignore[return-value]


IN_PIPES = 10.0
"""Seconds between two lines of progress where there is no terminal."""


def teller() -> Callable[[int, int], None]:
    """A function that shows the progress of a job: each second on a terminal, each ten seconds in a pipe."""
    began = last = time.monotonic()
    pause = IN_PIPES
    if sys.stderr.isatty():
        pause = 1.0

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        is_end = done == total and sys.stderr.isatty()
        if now - last < pause and not is_end:
            return

        last = now
        line = f"{done:,} of {total:,} judged"
        if not done:
            line += f", no answer for {now - began:.0f} s"
        elif done < total:
            line += f", {(now - began) / done * (total - done):.0f} s left"
        echo(line, err=True)

    return tell


# `Any`: the core does not import this package; it asks for this function by its name.
def telling_matcher(judge: Any) -> Any:
    """A judge that decides pairs of texts, and shows its progress."""
    from goldrank.judging.judge_matcher import JudgeMatcher
    from goldrank.judging.pool_and_calls import Calls

    return JudgeMatcher(judge, calls=Calls(progress=teller()))
