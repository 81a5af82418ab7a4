"""What commands read: qrels, runs, NAME=FILE, and a bar while it takes long."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldrank import conventions, ids
from goldrank.conventions import Convention
from goldrank.data.blocks import BlockSource
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores
from goldrank.io.sources import ByteSource
from goldrank.packages import installed, needed

if TYPE_CHECKING:
    from goldrank.cli.options import ReadingOptions
    from goldrank.gating.baseline import Baseline
    from goldrank.gating.measuring import Way
    from goldrank.history import History

PROGRESS_DELAY = 1.0
"""Seconds before a progress bar appears."""
WORKING_DELAY = 2.0
"""Seconds before a command says that it is at work."""


def open_qrels(
    path: Any,
    policies: Mapping[str, Any],
    how: ReadingOptions,
    *,
    format: str | None = None,
    model: str | None = None,
) -> Qrels:
    """Judgements, by the policy for repeated ones; `model` is a file with those of a model."""
    from goldrank.io import read_qrels

    with working("reading the judgements"):
        judged, *models = (
            read_qrels(each, format=format, judgements=policy("judgements", policies), **how.of_judgements)
            for each in (path, model)
            if each is not None
        )
        return judged.with_model(models[0]) if models else judged


def policy(name: str, policies: Mapping[str, Any]) -> Any:
    """What was chosen, else what the convention says."""
    chosen: str | None = policies.get(name)
    return chosen or str(getattr(conventions.get(policies.get("convention", conventions.DEFAULT)), name))


def chosen_convention(policies: Mapping[str, Any]) -> Convention:
    """The convention that the options name, with the policies that they choose."""
    chosen = {name: word for name, word in policies.items() if name in conventions.POLICIES and word is not None}
    return conventions.get(policies.get("convention", conventions.DEFAULT)).with_policies(**chosen)


def without_had(run: Run, how: ReadingOptions) -> Run:
    """A run without what users had before."""
    return run if how.train is None else run.without(how.train)


def open_runs(given: Sequence[str], policies: Mapping[str, Any], how: ReadingOptions) -> Runs:
    """Runs by name: that of NAME=FILE, else the file's; told apart where files have the same name."""
    runs = open_systems(given, policies, how)
    for name, of_system in runs.systems.items():
        if len(of_system) > 1:
            raise click.UsageError(f"two runs are both named {name!r}")
    return runs


def open_systems(given: Sequence[str], policies: Mapping[str, Any], how: ReadingOptions) -> Runs:
    """The same where a system may have been run several times: its NAME=FILE is then repeated."""
    from goldrank.io import read_run

    once(given)
    if how.train_file is not None:
        assert how.train  # read before names of columns are called unused
    files = [named_file(text) for text in given]
    with working("reading the runs"):
        opened = [read_run(path, format=how.run_format, columns=how.columns) for _, path in files]
    how.columns.check_used()

    own_names = iter(Runs([path for name, path in files if name is None]).names)
    names = [name or next(own_names) for name, _ in files]
    for i, (name, _) in enumerate(files):
        if name is None and names.count(names[i]) > 1:
            raise click.UsageError(f"two runs are both named {names[i]!r}")
    return Runs([(name, run.renamed(name)) for name, run in zip(names, opened, strict=True)])


def open_run(given: str, policies: Mapping[str, Any], how: ReadingOptions) -> Run:
    """One run, from FILE or NAME=FILE."""
    runs = open_runs((given,), policies, how)
    return runs[runs.names[0]]


def open_whole(given: Sequence[str], policies: Mapping[str, Any], how: ReadingOptions) -> dict[str, Run]:
    """Runs without what users had before, for commands that take no catalogue."""
    opened = open_runs(given, policies, how)
    return {name: without_had(run, how) for name, run in opened.items()}


def is_saved(path: str) -> bool:
    """Whether a file holds saved scores."""
    try:
        with Path(path).open("rb") as file:
            return b'"goldrank-scores"' in file.read(100)
    except OSError:
        return False


def load_saved(given: Sequence[str]) -> list[Scores]:
    """Saved scores from FILE or NAME=FILE, which names them."""
    saved = []
    for name, path in map(named_file, given):
        scores = Scores.load(path)
        saved.append(scores if name is None else scores.renamed(name))
    return saved


def open_history(path: str, *, write: bool = False) -> History:
    """The history in a file, which must be there; it is written to only where that is asked for."""
    from goldrank.history import History

    return History(path, mode="a" if write and os.path.exists(path) else "r")


def open_baseline(name: str, db: str | None) -> Baseline:
    """A baseline: of a file, or by the name or number that it has in a history."""
    from goldrank.errors import BaselineError
    from goldrank.gating.baseline import Baseline

    if name.endswith(".json") or os.sep in name or os.path.isfile(name):
        return Baseline.load(name)
    if db is None:
        raise BaselineError(
            f"there is no file {ids.show(name)!r}",
            hint="Name a baseline's file, or the history that has a baseline of that name: --db history.db.",
            code="no-baseline",
        )
    with open_history(db) as history:
        if not name.isdigit() or name in history.baselines():
            return history.baseline(name)
        record = history[int(name)]
        frozen = record.time.isoformat()
        return Baseline.of_record(history.scores(record), name, record.digest, frozen, record.label)


def measuring_way(options: Mapping[str, Any], how: ReadingOptions) -> Way:
    """How a run is measured: the convention with its policies, the depth, and what is known of users."""
    from goldrank.gating.measuring import Way

    policies = {name: options[name] for name in conventions.POLICIES if options.get(name) is not None}
    convention = conventions.get(options.get("convention", conventions.DEFAULT)).with_policies(**policies)
    return Way(convention, options.get("depth"), how.catalogue)


def refuse_policies(options: Mapping[str, Any], how: ReadingOptions) -> None:
    """Saved scores are as they were measured: an option that says how to read or to measure is a mistake."""
    if how.given is not None:
        raise click.UsageError(f"{how.given} is for runs; saved scores are measured already")
    chosen = {"depth": options.get("depth"), "format": how.run_format}
    chosen |= {name: options.get(name) for name in conventions.POLICIES}
    if options.get("convention", conventions.DEFAULT) != conventions.DEFAULT:
        chosen["convention"] = options["convention"]
    for name, value in chosen.items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is for runs; saved scores are measured already")


def once(paths: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if sum(named_file(path)[1] == "-" for path in paths) > 1:
        raise click.UsageError("standard input can be read only once")


def named_file(text: str) -> tuple[str | None, str]:
    """The name and the path of NAME=FILE, or of FILE alone. A file that has such a name is a FILE."""
    name, sign, path = text.partition("=")
    return (name, path) if sign and name and not os.path.exists(text) else (None, text)


def key_values(given: Sequence[str], option: str, form: str = "NAME=FIELD") -> dict[str, str]:
    """What repeated options of the form NAME=VALUE say; a comma begins another where a NAME= follows it."""
    by_key: dict[str, str] = {}
    for text in (part for whole in given for part in re.split(r",(?=[\w.]+=)", whole)):
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not key or not value:
            raise click.UsageError(f"{option} takes {form}, not {text!r}")
        if key in by_key:
            raise click.UsageError(f"{option} {key}=... is given twice")
        by_key[key] = value
    return by_key


def progress(*runs: Run) -> AbstractContextManager[None]:
    """A bar on the terminal for large files once they have taken a while; nothing in a pipe."""
    return watching([file for run in runs if isinstance(run.source, BlockSource) for file in run.source.files()])


@contextmanager
def working(what: str) -> Iterator[None]:
    """A word on the terminal about work that has taken a while and cannot say how far it is; nothing in a pipe."""
    if not (sys.stderr.isatty() and installed("rich")):
        yield
        return
    shown: list[Any] = []

    def begin() -> None:
        with needed("rich"):
            from rich.console import Console

        status = Console(stderr=True).status(what)
        status.start()
        shown.append(status)

    timer = threading.Timer(WORKING_DELAY, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


@contextmanager
def watching(sources: Sequence[ByteSource]) -> Iterator[None]:
    """The same for files that are read in other ways."""
    total = sum(source.size or 0 for source in sources)
    if not total or not (sys.stderr.isatty() and installed("rich")):
        with working("measuring"):
            yield
        return
    began = time.monotonic()
    bar: Any = None
    task: Any = None
    done = dict.fromkeys(range(len(sources)), 0)

    def watch(which: int, offset: int) -> None:
        nonlocal bar, task
        done[which] = offset
        if bar is None and time.monotonic() - began > PROGRESS_DELAY:
            with needed("rich"):
                from rich.console import Console
                from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task("reading", total=total)
        if bar is not None:
            bar.update(task, completed=sum(done.values()))

    # Rich draws a few times a second, however often it is updated.
    for i, source in enumerate(sources):
        source.watch = lambda offset, i=i: watch(i, offset)
    try:
        yield
    finally:
        for source in sources:
            source.watch = None
        if bar is not None:
            bar.stop()
