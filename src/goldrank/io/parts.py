"""Several files as one run or one set of qrels: patterns, folders of part files, partitioned tables.

Files count in the order of their paths. Whatever a writer leaves beside its data is passed over: names that
begin with a dot or an underscore (_SUCCESS, _metadata, _temporary) and checksums (.crc).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from goldrank.data.blocks import Block, BlockSource
from goldrank.errors import InputError
from goldrank.io.formats import Format

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How partitioned tables spell a missing value in a path."""


@dataclass(frozen=True)
class Part:
    """One of several files."""

    path: Path
    partition: tuple[tuple[str, str | None], ...] = ()
    """Columns that are in the path: year=2026/part-0.parquet has ("year", "2026")."""


def find(given: Any) -> list[Part] | None:
    """The files that a pattern or a folder stands for; None for anything else."""
    if not isinstance(given, str | os.PathLike):
        return None
    text = os.fsdecode(given)
    if "\0" in text:
        return None
    if os.path.isdir(text):
        return _in_folder(text, Path(text))
    if not glob.has_magic(text) or os.path.lexists(text):
        return None
    root = Path(*_before_magic(Path(text)))
    found: list[Part] = []
    matched = sorted(glob.glob(text, recursive=True))
    for path in map(Path, matched):
        if path.is_dir():
            # A pattern with ** matches folders and the files in them: each file counts once.
            found += [part for part in _walk(path, root) if "**" not in text]
        elif not _is_beside(path.name):
            found.append(_part(path, root))
    if not found:
        what = "matches no data file" if matched else "matches no file"
        raise InputError(what, where=text, hint="Is the pattern right, and is this the folder it is relative to?")
    return found


def _in_folder(text: str, folder: Path) -> list[Part]:
    found = list(_walk(folder, folder))
    if not found:
        raise InputError("is a folder without data files", where=text, hint="Name a file, or a folder that has some.")
    return found


def _walk(folder: Path, root: Path) -> Iterator[Part]:
    for path in sorted(folder.iterdir()):
        if _is_beside(path.name):
            continue
        if path.is_dir():
            yield from _walk(path, root)
        else:
            yield _part(path, root)


def _part(path: Path, root: Path) -> Part:
    folders = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
    pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
    return Part(path, tuple((name, None if value == NO_VALUE else unquote(value)) for name, value in pairs))


def _is_beside(name: str) -> bool:
    """Whether a file is not data but lies beside it."""
    return name.startswith((".", "_")) or name.endswith(".crc")


def _before_magic(path: Path) -> Iterator[str]:
    for part in path.parts[:-1]:
        if glob.has_magic(part):
            return
        yield part


def one_format(kinds: Sequence[tuple[Part, Format]], where: str) -> Format:
    """The format that all parts have; an error names two that differ."""
    first, kind = kinds[0]
    for part, other in kinds:
        if other is not kind:
            raise InputError(
                f"has files of different formats: {first.path.name} is {kind.name}, {part.path} is {other.name}",
                where=where,
                hint="Name the files of one format by a pattern, such as 'runs/*.parquet'.",
            )
    return kind


class PartsRun:
    """A run in several files, read one after the other (a `BlockSource`)."""

    def __init__(self, name: str, parts: Sequence[Callable[[], BlockSource]]) -> None:
        self.name = name
        self._parts = parts
        """Each opens its file: formats that are held whole are so one at a time."""

    def pieces(self, share: float = 1.0) -> Iterator[Callable[[], Block]]:
        for opened in self._parts:
            yield from opened().pieces(share)

    def memory(self, threads: int, share: float) -> int:
        return max(opened().memory(threads, share) for opened in self._parts)

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        return self._parts[0]().keys(docs)

    def digest(self) -> str | None:
        """A hash of the hashes of the files."""
        import hashlib

        whole = hashlib.sha256()
        for opened in self._parts:
            digest = opened().digest()
            if digest is None:
                return None
            whole.update(digest.encode() + b"\n")
        return whole.hexdigest()

    @property
    def sources(self) -> list[Any]:
        """The files, for those who watch how far reading has come."""
        return [source for opened in self._parts if (source := getattr(opened(), "source", None)) is not None]
