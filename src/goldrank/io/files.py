"""Finding and opening input files: a path, a stream, a pattern, a folder of part files, a partitioned table.

Files count in the order of their paths. Files without data are ignored: names that begin with a dot or an underscore
(_SUCCESS, _metadata, _temporary) and checksums (.crc).
"""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, TypeGuard

import numpy as np

from goldrank.base.errors import InputError, cannot_open, did_you_mean
from goldrank.base.notes import Note
from goldrank.data.blocks import Block, BlockSource
from goldrank.data.id_column import IdColumn
from goldrank.data.qrels import Qrels
from goldrank.data.run import Alternatives, Run
from goldrank.io import formats, sources
from goldrank.io.formats import Format, KnownColumns, Partition, Reading
from goldrank.io.sources import ByteSource

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The text of a missing value in the path of a partitioned table."""

MOST_PATH = 4_096
"""Most characters of a pattern; Linux has no longer paths, and long patterns take long to match."""

MOST_FILES = 100_000
"""Most files and folders in a folder: a larger one is not a run but perhaps a home or a disk, and takes minutes."""

Part = tuple[Any, Partition]
"""A file, and the columns in its path: year=2026/part-0.parquet has ("year", "2026")."""


def find(path: Any) -> list[Part] | None:
    """The files of a pattern or a folder; None for anything else."""
    if not isinstance(path, str | os.PathLike):
        return None

    text = os.fsdecode(path)
    if "\0" in text or len(text) > MOST_PATH:
        return None

    if os.path.isdir(text):
        inside = list(_walk(Path(text), Path(text), itertools.count(1)))
        if not inside:
            hint = "Name a file, or a folder that has some."
            raise InputError("is a folder without data files", where=text, hint=hint, code="no-data-files")
        return inside

    if not glob.has_magic(text) or os.path.lexists(text):
        return None

    root = Path(*itertools.takewhile(lambda part: not glob.has_magic(part), Path(text).parts[:-1]))
    parts: list[Part] = []
    visited = itertools.count(1)
    matches = sorted(glob.glob(text, recursive=True))
    for match in map(Path, matches):
        if match.is_dir():
            # A pattern with ** matches folders and the files in them: each file counts once.
            if "**" not in text:
                parts += _walk(match, root, visited)
        elif not _is_without_data(match.name):
            parts.append(_part(match, root))

    if not parts:
        problem = "matches no file"
        if matches:
            problem = "matches no data file"
        hint = "Is the pattern right, and is this the folder it is relative to?"
        raise InputError(problem, where=text, hint=hint, code="matches-no-file")

    return parts


def _walk(folder: Path, root: Path, visited: Iterator[int], above: tuple[tuple[int, int], ...] = ()) -> Iterator[Part]:
    """The files of a folder and of its folders. A link to a folder above is not followed.

    `visited` counts files and folders, so that links that branch come to an end too.
    """
    try:
        status = folder.stat()
        with os.scandir(folder) as entries:  # a folder may be huge
            names = sorted(entry.name for entry in itertools.islice(entries, MOST_FILES + 1))
    except OSError as error:
        raise cannot_open(error, str(folder)) from None

    identity = status.st_dev, status.st_ino
    if identity in above:
        return

    for name in names:
        if _is_without_data(name):
            continue
        if next(visited) > MOST_FILES:
            problem = f"has more than {MOST_FILES:,} files"
            hint = "Name the folder that holds the data and nothing else."
            raise InputError(problem, where=str(root), hint=hint, code="too-many-files")
        if os.path.isdir(folder / name):
            yield from _walk(folder / name, root, visited, (*above, identity))
        else:
            yield _part(folder / name, root)


def _part(path: Path, root: Path) -> Part:
    if not path.is_relative_to(root):
        return path, ()

    from urllib.parse import unquote

    partition: list[tuple[str, str | None]] = []
    for folder in path.relative_to(root).parts[:-1]:
        name, sign, value = folder.partition("=")
        if not sign:
            continue
        if value == NO_VALUE:
            partition.append((name, None))
        else:
            partition.append((name, unquote(value)))
    return path, tuple(partition)


def _is_without_data(name: str) -> bool:
    return name.startswith((".", "_")) or name.endswith(".crc")


def find_file(folder: Path, split: str | None = None) -> Path:
    """The qrels/<split>.tsv of a BEIR folder: of the named split, else of the only one, else of test."""
    splits = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    chosen = split
    if chosen is None:
        chosen = "test"
        if len(splits) == 1:
            chosen = next(iter(splits))
    if chosen in splits:
        return splits[chosen]

    if not splits:
        problem = "is a folder without qrels/*.tsv"
        hint: str | None = "Name a file, or the folder of a BEIR data set."
    elif split is None:
        problem = f"has several splits: {', '.join(splits)}"
        hint = "Choose one with split=."
    else:
        problem = f"has no split {split!r}; there are: {', '.join(splits)}"
        hint = did_you_mean(split, splits)
    raise InputError(problem, where=str(folder), hint=hint)


# The kind of a source. Nothing is imported to find it.


def is_file(source: object) -> TypeGuard[str | os.PathLike[str] | IO[bytes]]:
    """Whether a source is a path or an open stream."""
    return isinstance(source, str | os.PathLike) or (hasattr(source, "read") and not is_frame(source))


def is_frame(source: object) -> bool:
    """Whether a source is a data frame of any library."""
    kind: Any = type(source)
    return _of_frames(kind)


def is_spark(source: object) -> bool:
    """Whether a source is a Spark DataFrame, classic or Connect, by the module of its class."""
    kind: Any = type(source)
    return _of_spark(kind)


# Cached, because a loop of evaluations has objects of few classes.


@lru_cache(64)
def _of_frames(kind: type) -> bool:
    return hasattr(kind, "__arrow_c_stream__") or (hasattr(kind, "columns") and not issubclass(kind, Mapping))


@lru_cache(64)
def _of_spark(kind: type) -> bool:
    classes = kind.__mro__
    return any(base.__name__ == "DataFrame" and base.__module__.startswith("pyspark.sql.") for base in classes)


# Opened files.


@dataclass(frozen=True)
class InputFiles:
    """The opened files of a path, pattern, folder or stream, all of one format."""

    name: str
    label: str
    format: Format
    opened: list[tuple[ByteSource, Partition]]
    several: bool = False
    """Whether they are the parts of a pattern or folder."""

    def readers(self, thing: str, reading: Reading) -> list[Callable[[], Any]]:
        """For each file a function that reads it."""
        return [
            partial(self.format.read, thing, source, replace(reading, partition=values))
            for source, values in self.opened
        ]

    def read(self, thing: str, reading: Reading) -> list[Any]:
        """The content of each file."""
        return [read() for read in self.readers(thing, reading)]


def open_files(
    path: Any, thing: str, format: str | None = None, known_columns: KnownColumns | None = None
) -> InputFiles:
    """Open the files of a path, pattern, folder or stream; the format is `format`, or is recognised."""
    chosen = None
    if format is not None:
        chosen = formats.chosen(format, thing)

    expanded = find(path)
    parts = expanded
    if parts is None:
        parts = [(path, ())]

    opened = [(sources.open_source(file), partition) for file, partition in parts]
    kinds = [chosen or formats.detect(source, thing, known_columns) for source, _ in opened]
    for (source, _), kind in zip(opened, kinds, strict=True):
        if kind.binary:
            source.as_binary()

    first = opened[0][0]
    for (source, _), kind in zip(opened, kinds, strict=True):
        if kind is not kinds[0]:
            example = f"{first.label} is {kinds[0].name}, {source.name} is {kind.name}"
            hint = "Name the files of one format by a pattern, such as 'runs/*.parquet'."
            raise InputError(f"has files of different formats: {example}", where=os.fsdecode(path), hint=hint)

    if expanded is None:
        return InputFiles(first.name, first.label, kinds[0], opened)
    name = os.fsdecode(path)
    return InputFiles(name, Path(name).name, kinds[0], opened, several=True)


class PartsRun(BlockSource):
    """A run in several files, read one after the other."""

    def __init__(self, name: str, parts: Sequence[Callable[[], Run]]) -> None:
        self.name = name
        self._parts = parts
        """Functions that open one file each: of formats that are held in memory, only one file is open at a time."""

    def _opened(self) -> Iterator[BlockSource]:
        for read in self._parts:
            blocks = read().source
            assert isinstance(blocks, BlockSource)
            yield blocks

    def pieces(self) -> Iterator[Callable[[], Block]]:
        for blocks in self._opened():
            yield from blocks.pieces()

    def keys(self, docs: IdColumn) -> np.ndarray:
        return next(self._opened()).keys(docs)

    def digest(self) -> str | None:
        """A hash of the hashes of the files."""
        import hashlib

        digests = [blocks.digest() for blocks in self._opened()]
        if None in digests:
            return None
        return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()

    def files(self) -> list[ByteSource]:
        return [file for blocks in self._opened() for file in blocks.files()]


def parts_run(name: str, label: str, parts: Sequence[Callable[[], Run]], notes: tuple[Note, ...]) -> Run:
    """A run in several files. If several columns could hold the ids, the choice is the same for all files."""
    first = parts[0]()
    run = Run(PartsRun(name, parts), name=label).with_facts(notes=notes)
    if first.alternatives is None:
        return run

    def matches(names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
        totals = [0] * len(names)
        for part in parts:
            alternatives = part().alternatives
            if alternatives is not None:
                counts = alternatives.matches(names, chosen, judged)
                totals = [total + count for total, count in zip(totals, counts, strict=True)]
        return totals

    def read_part(part: Callable[[], Run], columns: Mapping[str, str]) -> Run:
        run = part()
        if run.alternatives is None:
            return run
        return run.alternatives.read_from(columns)

    def read_from(columns: Mapping[str, str]) -> Run:
        readers = [partial(read_part, part, columns) for part in parts]
        return Run(PartsRun(name, readers), name=label).with_facts(notes=notes)

    alternatives = Alternatives(first.alternatives.candidates, read_from, matches)
    choices = [note for note in first.notes if note.code == "column-choice"]
    return run.with_facts(alternatives=alternatives, notes=(*run.notes, *choices))
