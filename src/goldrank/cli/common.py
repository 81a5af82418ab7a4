"""What several commands share: options for policies, and the progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from goldrank.conventions import CONVENTIONS, DEFAULT, POLICIES
from goldrank.data.blocks import BlockSource
from goldrank.data.run import Run
from goldrank.io.sources import ByteSource

Function = TypeVar("Function", bound=Callable[..., Any])

PATIENCE = 1.0
"""Seconds before a progress bar appears."""


def policy_options(function: Function) -> Function:
    """Options for the convention and for each policy."""
    for policy, words in reversed(POLICIES.items()):
        listed = "; ".join(f"{word}: {meaning}" for word, meaning in words.items())
        option = click.option(f"--{policy.replace('_', '-')}", policy, type=click.Choice(list(words)), help=listed)
        function = option(function)
    return click.option(
        "--convention",
        type=click.Choice(list(CONVENTIONS)),
        default=DEFAULT.name,
        show_default=True,
        help="Whose rules to follow.",
    )(function)


def memory_option(function: Function) -> Function:
    """The option for how much memory may be taken."""
    return click.option(
        "--max-memory", metavar="SIZE", help="Take no more memory than this (500MB, 2GiB), or say what is needed."
    )(function)


@contextmanager
def progress(runs: Sequence[Run]) -> Iterator[None]:
    """A bar on the terminal for large files once they have taken a while; nothing in a pipe."""
    with watching([file for run in runs if isinstance(run.source, BlockSource) for file in run.source.files()]):
        yield


@contextmanager
def watching(sources: Sequence[ByteSource]) -> Iterator[None]:
    """The same for files that are read in other ways."""
    total = sum(source.size or 0 for source in sources)
    if not sys.stderr.isatty() or not total:
        yield
        return
    began = time.monotonic()
    bar: Any = None
    task: Any = None
    done = dict.fromkeys(range(len(sources)), 0)

    def watch(which: int, offset: int) -> None:
        nonlocal bar, task
        done[which] = offset
        if bar is None and time.monotonic() - began > PATIENCE:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task("reading", total=total)
        if bar is not None:
            bar.update(task, completed=sum(done.values()))

    # Rich draws a few times a second, however often it is told.
    for i, source in enumerate(sources):
        source.watch = lambda offset, i=i: watch(i, offset)
    try:
        yield
    finally:
        for source in sources:
            source.watch = None
        if bar is not None:
            bar.stop()


def field_map(given: Sequence[str]) -> dict[str, str] | None:
    """What options of the form NAME=FIELD say."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, field = text.partition("=")
        if not sign or not name.strip() or not field.strip():
            raise click.UsageError(f"--map takes NAME=FIELD, not {text!r}")
        if name.strip() in found:
            raise click.UsageError(f"--map says twice where {name.strip()!r} is")
        found[name.strip()] = field.strip()
    return found or None
