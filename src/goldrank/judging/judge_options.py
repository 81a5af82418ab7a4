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

        progress = None
        if sys.stderr.isatty():
            progress = _teller()
        terms = Calls(log=log or DEFAULT_LOG, dry_run=dry_run, progress=progress, **(calls or {}))
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


def _teller() -> Callable[[int, int], None]:
    """A function that shows the progress of a job on the terminal, once a second at most."""
    began = last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 1 and done < total:
            return

        last = now
        line = f"{done:,} of {total:,} judged"
        if done < total:
            seconds_left = 0.0
            if done:
                seconds_left = (now - began) / done * (total - done)
            line += f", {seconds_left:.0f} s left"
        echo(line, err=True)

    return tell
