"""What commands read: qrels, runs, NAME=FILE, and a bar while it takes long."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldrank.base import ids, satellites
from goldrank.base.errors import InputError
from goldrank.base.packages import installed, needed
from goldrank.base.types import JudgementsLike
from goldrank.data.blocks import BlockSource
from goldrank.data.catalogue import Catalogue
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores, ScoresByRun
from goldrank.io.sources import ByteSource, open_source
from goldrank.io.text.number_text import NUMBER

if TYPE_CHECKING:
    from goldrank.cli.options import ReadingOptions

PROGRESS_DELAY = 1.0
"""Seconds before a progress bar appears."""
WORKING_DELAY = 2.0
"""Seconds before a command says that it is at work."""


def open_qrels(path: Any, reading: ReadingOptions) -> Qrels:
    """Judgements, read by the options: whose they are, and which part of the queries."""
    from goldrank.io import read_qrels

    if reading.reader is not None:
        hint = "goldrank eval, compare, gate and record take them"
        raise click.UsageError(f"--convention {reading.reader} is for result files; {hint}")
    options: dict[str, Any] = {
        "format": reading.qrels_format,
        "columns": reading.columns,
        "real_grades": reading.real_grades,
        "relevant_from": reading.relevant_from,
        "judgements": reading.convention.policies["judgements"],
    }
    with working("reading the judgements"):
        judged = read_qrels(path, **options)
        if reading.model_qrels is not None:
            judged = judged.with_model(read_qrels(reading.model_qrels, **options))

    if "qrels" in reading.doc_of:
        judged = judged.rolled_up(reading.doc_of["qrels"])
    if reading.judged_by is not None:
        judged = judged.by(reading.judged_by)
    if reading.shard is not None:
        judged = judged.shard(*reading.shard)
    return judged


def open_judgements(file: str, measures: Sequence[str], reading: ReadingOptions) -> JudgementsLike:
    """Judgements, of documents or by aspect, or preferences: as the measures need, else told by the content."""
    from goldrank.evaluation.inputs import judgements_for
    from goldrank.io import read_aspects, read_preferences
    from goldrank.measures import parse_all

    judged = judgements_for(parse_all(measures or None), file)
    if judged is not file:
        return judged
    try:
        return open_qrels(file, reading)
    except InputError as error:
        if measures:
            raise
        if error.code == "judged-by-subtopic":
            return read_aspects(file)
        if _is_preferences(file):
            return read_preferences(file)
        raise


def _is_preferences(file: str) -> bool:
    """Whether a file has lines of trec_eval's preferences: query, judge, group, document and level."""
    first_lines = [line.split() for _, line in islice(open_source(file).filled_lines(), 5)]
    if not first_lines or any(len(cells) != 5 for cells in first_lines):
        return False
    return all(NUMBER.fullmatch(cells[4]) for cells in first_lines)


def open_runs(files: Sequence[str], reading: ReadingOptions) -> Runs:
    """Runs by name: the NAME of NAME=FILE, else the file's name, made unique where files have the same name."""
    runs = open_systems(files, reading)
    for name, runs_of_system in runs.systems.items():
        if len(runs_of_system) > 1:
            raise click.UsageError(f"two runs are both named {name!r}")
    return runs


def open_systems(texts: Sequence[str], reading: ReadingOptions) -> Runs:
    """Runs by name, where a system may have been run several times: its NAME=FILE is then repeated."""
    from goldrank.io import read_run, read_runs

    once(texts)
    catalogue_of(reading)  # read before names of columns are called unused
    if reading.by_tag:
        if len(texts) > 1:
            raise click.UsageError("--by-tag takes one file, folder or quoted pattern")
        tagged = read_runs(texts[0], format=reading.run_format, columns=reading.columns)
        reading.columns.check_used()
        return _rolled_up(tagged, reading)

    files = [named_file(text) for text in texts]
    with working("reading the runs"):
        opened = [read_run(path, format=reading.run_format, columns=reading.columns) for _, path in files]
    reading.columns.check_used()

    own_names = iter(Runs([path for name, path in files if name is None]).names)
    names = [name or next(own_names) for name, _ in files]
    for i, (name, _) in enumerate(files):
        if name is None and names.count(names[i]) > 1:
            raise click.UsageError(f"two runs are both named {names[i]!r}")
    return _rolled_up(Runs([(name, run.renamed(name)) for name, run in zip(names, opened, strict=True)]), reading)


def _rolled_up(runs: Runs, reading: ReadingOptions) -> Runs:
    """Runs with documents instead of chunks, if --doc-of says how to find the document of a chunk."""
    if "run" not in reading.doc_of:
        return runs
    return runs.rolled_up(reading.doc_of["run"])


def open_run(text: str, reading: ReadingOptions) -> Run:
    """One run, from FILE or NAME=FILE."""
    runs = open_runs((text,), reading)
    if len(runs.names) > 1:
        raise click.UsageError(f"{text} has {len(runs.names)} runs; this command takes one")
    return runs[runs.names[0]]


def open_whole(files: Sequence[str], reading: ReadingOptions) -> dict[str, Run]:
    """Runs without what users had before, for commands that take no catalogue."""
    opened = open_runs(files, reading)
    return {name: without_seen(run, reading) for name, run in opened.items()}


def without_seen(run: Run, reading: ReadingOptions) -> Run:
    """A run without what users had before."""
    catalogue = catalogue_of(reading)
    if catalogue is None or catalogue.removed is None:
        return run
    return run.without(catalogue.removed)


def catalogue_of(reading: ReadingOptions) -> Catalogue | None:
    """What --catalogue says; its files are read once."""
    if reading.catalogue is None:
        return None
    catalogue = vars(reading).get("_catalogue")
    if catalogue is None:
        catalogue = _catalogue(dict(reading.catalogue), reading)
        object.__setattr__(reading, "_catalogue", catalogue)
    assert isinstance(catalogue, Catalogue)
    return catalogue


def _catalogue(words: dict[str, Any], reading: ReadingOptions) -> Catalogue:
    """A catalogue whose fields are files: a list of ids, pairs of users and items, a run, and JSON by item."""
    from goldrank.io import read_run
    from goldrank.io.objects.user_history import as_history

    if "train" in words:
        words["train"] = as_history(words["train"], reading.columns)
    if "items" in words:
        words["items"] = item_ids(words["items"])
    if "against" in words:
        words["against"] = read_run(words["against"], columns=reading.columns)
    for name in ("vectors", "genres", "groups"):
        if name in words:
            words[name] = _json_by_item(words[name], f"--catalogue {name}=")
    return Catalogue(**words)


_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def item_ids(path: str) -> list[str]:
    """The ids of items: a line each, or the first column of a CSV or TSV file whose first line names columns.

    The file may be packed, as every other.
    """
    lines = [ids.decode(line) for _, line in open_source(path).lines()]
    endings = [ending.lower() for ending in Path(path).suffixes[-2:]]
    delimiter = next((sign for ending, sign in _DELIMITERS.items() if ending in endings), None)
    if delimiter is not None:
        import csv

        rows = csv.reader(lines[1:], delimiter=delimiter)
        return list(dict.fromkeys(row[0] for row in rows if row))
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _json_by_item(path: str, flag: str) -> dict[str, Any]:
    import json

    text = open_source(path).read()
    try:
        by_item = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{flag} is not JSON: {error}", where=path, hint='It is {"ITEM": ..., ...}.') from None
    if not isinstance(by_item, dict):
        raise InputError(f"{flag} is not an object", where=path, hint='It is {"ITEM": ..., ...}.')
    return by_item


_SAVED = (b'"goldrank-scores', b'"goldrank-baseline')


def is_saved(text: str) -> bool:
    """Whether FILE or NAME=FILE holds saved scores or a baseline."""
    try:
        with Path(named_file(text)[1]).open("rb") as file:
            beginning = file.read(100)
    except OSError:
        return False
    return any(mark in beginning for mark in _SAVED)


def is_run(text: str) -> bool:
    """Whether FILE is a run and not judgements, by its first line; NAME=FILE is always one."""
    from goldrank.io import aliases
    from goldrank.io.formats import Beginning, has_ranking_columns
    from goldrank.io.sources import open_source

    name, path = named_file(text)
    if name is not None:
        return True
    if not os.path.isfile(path):
        return False

    beginning = Beginning(open_source(path), "run", has_ranking_columns)
    if beginning.is_trec:
        return True
    columns = {column.lower() for column in beginning.header}
    has_scores = columns & {*aliases.ORDERED_BY} and not columns & {*aliases.ENTRY_GRADE}
    return bool(beginning.is_table and has_scores)


def holds_texts(text: str) -> bool:
    """Whether FILE or NAME=FILE begins with a JSON record that has texts of a question, and no ids."""
    import json

    from goldrank.io import aliases
    from goldrank.io.columns import Columns
    from goldrank.io.objects.id_lists import IdLists, texts_error

    try:
        with Path(named_file(text)[1]).open("rb") as file:
            record = json.loads(file.readline(MOST_OF_RECORD))
    except (OSError, ValueError):
        return False
    if not isinstance(record, dict) or IdLists("run", Columns()).is_record(record):
        return False
    names = set(map(aliases.normal, record))
    is_readable = any(not names.isdisjoint(group) for group in aliases.ITEM_FIELDS["retrieved"])
    return is_readable and texts_error(record, text) is not None


def load_saved(texts: Sequence[str]) -> list[Scores]:
    """Saved scores from FILE or NAME=FILE, which names them; a file may hold those of several runs."""
    saved: list[Scores] = []
    for name, path in map(named_file, texts):
        scores_of_file = _loaded(path)
        if name is not None and len(scores_of_file) > 1:
            raise click.UsageError(f"{path} has {len(scores_of_file)} runs, which have their own names")
        if name is not None:
            scores_of_file = [scores_of_file[0].renamed(name)]
        saved += scores_of_file
    return saved


def _loaded(path: str) -> list[Scores]:
    with Path(path).open("rb") as file:
        if _SAVED[1] in file.read(100):
            return [satellites.provided("baseline scores")(path)]
    return list(ScoresByRun.load(path).values())


MOST_OF_RECORD = 1_000_000
"""Bytes of a first line that are looked at."""
SAVED_ALREADY = "saved scores are measured already"
"""Why an option about judgements and runs is refused."""


def once(paths: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if sum(named_file(path)[1] == "-" for path in paths) > 1:
        raise click.UsageError("standard input can be read only once")


def named_file(text: str) -> tuple[str | None, str]:
    """The name and the path of NAME=FILE, or of FILE alone. A file that has such a name is a FILE."""
    name, sign, path = text.partition("=")
    if sign and name and not os.path.exists(text):
        return (name, path)
    return (None, text)


def key_values(option_values: Sequence[str], option: str, form: str = "NAME=FIELD") -> dict[str, str]:
    """The values of repeated options of the form NAME=VALUE; a comma begins another where a NAME= follows it."""
    by_key: dict[str, str] = {}
    texts = [text for option_value in option_values for text in re.split(r",(?=[\w.]+=)", option_value)]
    for text in texts:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not key or not value:
            raise click.UsageError(f"{option} takes {form}, not {text!r}")
        if key in by_key:
            sides = ""
            if option == "--map":
                sides = f"; qrels.{key}=... and run.{key}=... name one side"
            raise click.UsageError(f"{option} {key}=... is given twice{sides}")
        by_key[key] = value
    return by_key


def progress(*runs: Run) -> AbstractContextManager[None]:
    """A bar on the terminal for large files once they have taken a while; nothing in a pipe."""
    return watching([file for run in runs if isinstance(run.source, BlockSource) for file in run.source.files()])


@contextmanager
def working(activity: str) -> Iterator[None]:
    """A word on the terminal about work that has taken a while and cannot say how far it is; nothing in a pipe."""
    if not (sys.stderr.isatty() and installed("rich")):
        yield
        return

    started: list[Any] = []

    def begin() -> None:
        with needed("rich"):
            from rich.console import Console

        status = Console(stderr=True).status(activity)
        status.start()
        started.append(status)

    timer = threading.Timer(WORKING_DELAY, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in started:
            status.stop()


@contextmanager
def watching(sources: Sequence[ByteSource]) -> Iterator[None]:
    """`progress` for files that are read in other ways."""
    total = sum(source.size or 0 for source in sources)
    if not total or not (sys.stderr.isatty() and installed("rich")):
        with working("measuring"):
            yield
        return

    start_time = time.monotonic()
    bar: Any = None
    task: Any = None
    done = dict.fromkeys(range(len(sources)), 0)

    def watch(number: int, offset: int) -> None:
        nonlocal bar, task
        done[number] = offset
        if bar is None and time.monotonic() - start_time > PROGRESS_DELAY:
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
