"""Result files that a satellite reads and scores by itself, such as those of a benchmark."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from goldrank.base import satellites
from goldrank.base.errors import GoldrankError, InputError, OptionError, did_you_mean
from goldrank.cli.inputs import named_file
from goldrank.conventions import NAMES as CONVENTION_NAMES
from goldrank.data.scores import Scores

if TYPE_CHECKING:
    from goldrank.cli.options import ReadingOptions


MOST_FIRST_LINE = 16 << 20
"""Bytes of the first record that are looked at: a record of LongMemEval holds a whole haystack."""
BEGINNING = 1 << 16


@dataclass(frozen=True)
class ReaderName:
    """A word of --convention that names a reader of a satellite."""

    reader: str


@dataclass(frozen=True)
class FileRequest:
    """What is to be scored, and how."""

    reader: str
    files: tuple[tuple[str | None, str], ...]
    """Names, where they were given, and paths; the first file may hold what is expected."""
    measures: tuple[str, ...] = ()


class FileResult(Protocol):
    """What a reader returns for one file: a `Result` with scores."""

    @property
    def scores(self) -> Scores: ...


def as_reader(word: str) -> ReaderName | None:
    """The reader that a word names, if it is one; a word that is nearly one is an error."""
    names = satellites.readers()
    if word in names:
        return ReaderName(word)
    suggestion = did_you_mean(word, names)
    if suggestion is not None and did_you_mean(word, CONVENTION_NAMES) is None:
        raise OptionError(f"convention is {word!r:.80}", hint=suggestion, code="unknown-choice")
    return None


def results_of_files(inputs: Sequence[str], measures: tuple[str, ...], reading: ReadingOptions) -> list[Any] | None:
    """The results of files that a satellite reads; None for judgements and runs, and for saved scores.

    --convention names the reader. Without it the content of the last file tells it, if no other option says how it is
    read.
    """
    reader = reading.reader
    if reader is None and not reading.flags:
        reader = _told_by_content(inputs[-1], measures)
    if reader is None:
        return None

    entry = satellites.readers()[reader]
    if set(reading.flags) - {"--convention"}:
        raise click.UsageError(f"{reading.flags[0]} is for judgements and runs, not for {entry.about}")
    files = tuple(named_file(text) for text in inputs)
    reading_module = import_module(entry.module)
    try:
        results: list[Any] = reading_module.read(FileRequest(reader, files, measures))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        if isinstance(error, GoldrankError):
            raise
        # Files of other programs may have any shape: what a reader stumbles over is in the file.
        problem = f"does not look like {entry.about} ({type(error).__name__}: {error})"
        raise InputError(problem, where=files[-1][1], hint="Was it written by another program?") from error
    return results


def scores_of_files(inputs: Sequence[str], measures: tuple[str, ...], reading: ReadingOptions) -> list[Scores] | None:
    """The scores of such files; None for all others."""
    results = results_of_files(inputs, measures, reading)
    if results is None:
        return None
    return [chosen(result.scores, measures) for result in results]


def chosen(scores: Scores, measures: tuple[str, ...]) -> Scores:
    """The columns that -m names: by their whole names, or by the last word, such as recall_any@5 of every level."""
    if not measures:
        return scores
    names: list[str] = []
    for measure in measures:
        same = [name for name in scores.columns if measure in (name, name.rpartition(" ")[2], name.removeprefix("1/"))]
        if not same:
            hint = did_you_mean(measure, scores.columns) or f"There are: {', '.join(scores.columns)}."
            raise OptionError(f"-m {measure} is not a number of this file", hint=hint, code="not-measured")
        names += same
    return replace(scores, columns={name: scores.columns[name] for name in dict.fromkeys(names)})


def _told_by_content(text: str, measures: tuple[str, ...]) -> str | None:
    from goldrank.measures import known

    _, path = named_file(text)
    if os.path.isdir(path):
        path = _first_json(path)
    beginning = first_record(path)
    if not beginning or any(known(measure) is not None for measure in measures):
        return None
    for name, entry in satellites.readers().items():
        if entry.keys and all(re.search(rb'"(?:%s)"\s*:' % key.encode(), beginning) for key in entry.keys):
            return name
    return None


def first_record(path: str) -> bytes:
    """The beginning of a JSON file with at least its first line; empty if it is not JSON or not a plain file."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            if file.read(64).lstrip()[:1] not in (b"{", b"["):
                return b""
            file.seek(0)
            line = file.readline(MOST_FIRST_LINE)
            if len(line) < BEGINNING:
                line += file.read(BEGINNING)
    except OSError:
        return b""
    return line


def _first_json(folder: str) -> str:
    """The first JSON file of a folder; the folder if it has none."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            return os.path.join(folder, name)
    return folder


# Targets and truths.

_TARGET = re.compile(r"P\[(.+?)\s*(>=|<=)\s*([^\]]+)\]")


class Target(NamedTuple):
    """A measure, and the value that its queries should reach."""

    measure: str
    value: float


def as_target(text: str) -> Target | None:
    """`P[nDCG@10 >= 0.5]` as a target; None for any other text."""
    matched = _TARGET.fullmatch(text.strip())
    if matched is None:
        return None
    try:
        return Target(matched[1].strip(), float(matched[3]))
    except ValueError:
        raise OptionError(f"{matched[3]!r:.60} in {text!r:.80} is not a number", hint="P[nDCG@10 >= 0.5]") from None


@dataclass(frozen=True)
class ScoresOfFile:
    """Scores that stand for a result."""

    scores: Scores


def is_truth(inputs: Sequence[str], reading: ReadingOptions) -> bool:
    """Whether the first file is a run as the others are: exact search, against which approximate search is measured."""
    if reading.flags or len(inputs) < 2:
        return False
    return all(_is_trec_run(named_file(text)[1]) for text in inputs)


def _is_trec_run(path: str) -> bool:
    """Whether the first line has the six columns of a TREC run."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            columns = file.readline(4096).split()
    except OSError:
        return False
    return len(columns) == 6 and columns[1].upper() == b"Q0" and _is_number(columns[4])


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
