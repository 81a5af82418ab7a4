"""Files as they are named: a path, a stream, or several as one: patterns, folders of part files, partitioned tables.

Files count in the order of their paths. What writers leave there that is no data is passed over: names that
begin with a dot or an underscore (_SUCCESS, _metadata, _temporary) and checksums (.crc).
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
"""How partitioned tables spell a missing value in a path."""


MOST_PATH = 4_096
"""Characters of a pattern; Linux has no longer paths, and long patterns take long to match."""

MOST_FILES = 100_000
"""Files and folders in one folder: with more it is hardly a run, but a home or a whole disk, minutes to go through."""

Part = tuple[Any, Partition]
"""What to open, and the columns that are in its path: year=2026/part-0.parquet has ("year", "2026")."""


def find(given: Any) -> list[Part] | None:
    """The files that a pattern or a folder stands for; None for anything else."""
    if not isinstance(given, str | os.PathLike):
        return None

    text = os.fsdecode(given)
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
    looked = itertools.count(1)
    matched = sorted(glob.glob(text, recursive=True))
    for path in map(Path, matched):
        if path.is_dir():
            # A pattern with ** matches folders and the files in them: each file counts once.
            parts += _walk(path, root, looked) if "**" not in text else ()
        elif not _is_no_data(path.name):
            parts.append(_part(path, root))

    if not parts:
        if matched:
            what = "matches no data file"
        else:
            what = "matches no file"
        hint = "Is the pattern right, and is this the folder it is relative to?"
        raise InputError(what, where=text, hint=hint, code="matches-no-file")

    return parts


def _walk(folder: Path, root: Path, looked: Iterator[int], above: tuple[tuple[int, int], ...] = ()) -> Iterator[Part]:
    """The files of a folder and of those in it. A link to a folder that it lies in is not followed.

    `looked` counts files and folders, so that links that branch come to an end too.
    """
    try:
        about = folder.stat()
        with os.scandir(folder) as entries:  # a folder may be huge
            inside = sorted(entry.name for entry in itertools.islice(entries, MOST_FILES + 1))
    except OSError as error:
        raise cannot_open(error, str(folder)) from None
    here = about.st_dev, about.st_ino
    if here in above:
        return
    for name in inside:
        if _is_no_data(name):
            continue
        if next(looked) > MOST_FILES:
            what, hint = f"has more than {MOST_FILES:,} files", "Name the folder that holds the data and nothing else."
            raise InputError(what, where=str(root), hint=hint, code="too-many-files")
        if os.path.isdir(folder / name):
            yield from _walk(folder / name, root, looked, (*above, here))
        else:
            yield _part(folder / name, root)


def _part(path: Path, root: Path) -> Part:
    if path.is_relative_to(root):
        folders = path.relative_to(root).parts[:-1]
    else:
        folders = ()
    pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
    if not pairs:
        return path, ()
    from urllib.parse import unquote

    return path, tuple((name, None if value == NO_VALUE else unquote(value)) for name, value in pairs)


def _is_no_data(name: str) -> bool:
    return name.startswith((".", "_")) or name.endswith(".crc")


def find_file(folder: Path, split: str | None = None) -> Path:
    """The qrels/<split>.tsv of a BEIR folder: of the split that is named, else of test, else the only one."""
    splits = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    named = split is not None
    if split is None:
        if len(splits) == 1:
            split = next(iter(splits))
        else:
            split = "test"

    if split in splits:
        return splits[split]

    what, hint = f"has no split {split!r}; there are: {', '.join(splits)}", did_you_mean(split, splits)
    if not splits:
        what, hint = "is a folder without qrels/*.tsv", "Name a file, or the folder of a BEIR data set."
    elif not named:
        what, hint = f"has several splits: {', '.join(splits)}", "Choose one with split=."

    raise InputError(what, where=str(folder), hint=hint)


# What kind of thing was given. Nothing is imported to find out.


def is_file(given: object) -> TypeGuard[str | os.PathLike[str] | IO[bytes]]:
    """Whether it is a path or an open stream."""
    return isinstance(given, str | os.PathLike) or (hasattr(given, "read") and not is_frame(given))


def is_frame(given: object) -> bool:
    """Whether it is a data frame of any library."""
    kind: Any = type(given)
    return _of_frames(kind)


def is_spark(given: object) -> bool:
    """Whether it is a Spark DataFrame, classic or Connect, by the module of its class."""
    kind: Any = type(given)
    return _of_spark(kind)


# Whoever evaluates in a loop gives objects of the same few classes each time.


@lru_cache(64)
def _of_frames(kind: type) -> bool:
    return hasattr(kind, "__arrow_c_stream__") or (hasattr(kind, "columns") and not issubclass(kind, Mapping))


@lru_cache(64)
def _of_spark(kind: type) -> bool:
    classes = kind.__mro__
    return any(base.__name__ == "DataFrame" and base.__module__.startswith("pyspark.sql.") for base in classes)


# Opened.


@dataclass(frozen=True)
class InputFiles:
    """What a path, pattern, folder or stream stands for: one file or several, all of one format."""

    name: str
    label: str
    format: Format
    opened: list[tuple[ByteSource, Partition]]
    several: bool = False
    """Whether they are the parts of a pattern or folder."""

    def readers(self, thing: str, reading: Reading) -> list[Callable[[], Any]]:
        """For each file what reads it."""
        return [
            partial(self.format.read, thing, source, replace(reading, partition=values))
            for source, values in self.opened
        ]

    def read(self, thing: str, reading: Reading) -> list[Any]:
        """What each file holds."""
        return [read() for read in self.readers(thing, reading)]


def open_files(
    given: Any, thing: str, format: str | None = None, known_columns: KnownColumns | None = None
) -> InputFiles:
    """Whatever names files, opened and with its format, which is the one asked for or is recognised."""
    if format is None:
        asked = None
    else:
        asked = formats.chosen(format, thing)

    expanded = find(given)
    parts: list[Part]
    if expanded is None:
        parts = [(given, ())]
    else:
        parts = expanded

    opened = [(sources.open_source(path), partition) for path, partition in parts]
    kinds = [asked or formats.detect(source, thing, known_columns) for source, _ in opened]
    for (source, _), kind in zip(opened, kinds, strict=True):
        if kind.binary:
            source.as_binary()

    first = opened[0][0]
    for (source, _), kind in zip(opened, kinds, strict=True):
        if kind is not kinds[0]:
            both = f"{first.label} is {kinds[0].name}, {source.name} is {kind.name}"
            hint = "Name the files of one format by a pattern, such as 'runs/*.parquet'."
            raise InputError(f"has files of different formats: {both}", where=os.fsdecode(given), hint=hint)

    several = expanded is not None
    name, label = (os.fsdecode(given), Path(os.fsdecode(given)).name) if several else (first.name, first.label)
    return InputFiles(name, label, kinds[0], opened, several)


class PartsRun(BlockSource):
    """A run in several files, read one after the other."""

    def __init__(self, name: str, parts: Sequence[Callable[[], Run]]) -> None:
        self.name = name
        self._parts = parts
        """Each opens its file: formats that are held whole are so one at a time."""

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
    """A run in several files. Where columns leave a choice, it is one choice for all files."""
    first = parts[0]()
    run = Run(PartsRun(name, parts), name=label, notes=notes)
    if first.alternatives is None:
        return run

    def matches(names: Sequence[str], chosen: Mapping[str, str], judged: Qrels) -> list[int]:
        choices = (part().alternatives for part in parts)
        return [sum(counts) for counts in zip(*(o.matches(names, chosen, judged) for o in choices if o), strict=True)]

    def part_taken(part: Callable[[], Run], columns: Mapping[str, str]) -> Run:
        run = part()
        if run.alternatives is None:
            return run
        return run.alternatives.taken(columns)

    def taken(columns: Mapping[str, str]) -> Run:
        return Run(PartsRun(name, [partial(part_taken, part, columns) for part in parts]), name=label, notes=notes)

    run.alternatives = Alternatives(first.alternatives.candidates, taken, matches)
    run.notes += tuple(note for note in first.notes if note.code == "column-choice")
    return run
