"""Where texts stand in files that are too large to hold: a sorted table of (hash of id, place), memory-mapped.

The table is made once and kept in the cache (`texts` in `writing.cache_folder`). A place is an offset of a line, or the
number of a row. Each reading compares the id that stands there with the one that was looked for, so that equal hashes
and a file that was changed are seen.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.packages import needed
from goldrank.base.writing import cache_folder, private_file
from goldrank.data.documents import TEXT_FIELDS, TITLE_FIELDS, Document, document_of
from goldrank.io.json.json_text import JsonParser
from goldrank.io.sources import MAX_RECORD, ByteSource, open_source
from goldrank.io.tables.table_checks import check_parquet

VERSION = 1
MOST_IDS = 20_000_000
"""Up to so many lines all of them are in the table, which serves the next run too."""
CACHE_LIMIT = 2_000_000_000
"""Bytes of the cache folder; the oldest tables go first."""
SAMPLED, SAMPLES = 4_096, 16
MAGIC = b"goldrank-texts\n"
ID_FIELDS = ("_id", "id", "docid", "doc_id", "docno", "pid")
_QUICK_ID = re.compile(
    rb'\s*\{\s*"(?:_id|id|docid|doc_id|docno|pid)"\s*:\s*(?:"([^"\\\x00-\x1f]*)"|(\d{1,18})(?=\s*[,}]))'
)
_PARSER = JsonParser("Each field has one name.")


@dataclass(frozen=True)
class Stamp:
    """What tells that a file is the one that was indexed."""

    size: int
    mtime: int
    sample: str

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Of a file as it is now; some blocks of it are read."""
        status = path.stat()
        digest = hashlib.blake2b(digest_size=16)
        with path.open("rb") as file:
            for offset in np.linspace(0, max(0, status.st_size - SAMPLED), SAMPLES).astype(np.int64).tolist():
                file.seek(offset)
                digest.update(file.read(SAMPLED))
        return cls(status.st_size, status.st_mtime_ns, digest.hexdigest())


def hash_of(raw: bytes) -> int:
    """The 64 bits by which an id is looked up."""
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")


def table_folder() -> Path:
    """Where tables are kept."""
    return cache_folder() / "texts"


class TextIndex:
    """A table of places, sorted by hash."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            magic = file.readline()
            about = json.loads(file.readline()) if magic == MAGIC else {}
            start = file.tell()
        count = int(about.get("count", -1))
        if about.get("version") != VERSION or path.stat().st_size != start + 16 * count:
            raise InputError("is no index of texts, or was cut", where=str(path), hint="Delete it.")
        self.stamp = Stamp(about["size"], about["mtime"], about["sample"])
        self.count, self.duplicated, self.whole = count, int(about["duplicated"]), bool(about["whole"])
        both = np.memmap(path, np.uint64, "r", start, (2, count)) if count else np.zeros((2, 0), np.uint64)
        self._keys, self._places = both[0], both[1]

    def places(self, doc: str) -> list[int]:
        """Where an id may stand, the first in the file first."""
        key = np.uint64(hash_of(ids.encode(doc)))
        low = int(np.searchsorted(self._keys, key))
        places = []
        while low < self.count and self._keys[low] == key:
            places.append(int(self._places[low]))
            low += 1
        return sorted(places)


def index_of(
    path: Path,
    rows: Callable[[], Iterator[tuple[bytes, int]]],
    wanted: Collection[str] | None,
    watch: Callable[[int], None] | None = None,
) -> TextIndex:
    """The table of a file: the one that is kept, or a new one. `rows` gives ids and places, in the file's order."""
    stamp = Stamp.of(path)
    kept = table_folder() / f"{hashlib.blake2b(os.fsencode(path.resolve()), digest_size=16).hexdigest()}.index"
    with contextlib.suppress(OSError, ValueError, KeyError):  # InputError is a ValueError
        index = TextIndex(kept)
        if index.stamp == stamp and index.whole:
            os.utime(kept)
            return index

    keys, places = array("Q"), array("Q")
    only = None
    blake, from_bytes = hashlib.blake2b, int.from_bytes
    for i, (raw, place) in enumerate(rows()):
        key = from_bytes(blake(raw, digest_size=8).digest(), "little")
        if only is None or key in only:
            keys.append(key)
            places.append(place)
        if watch is not None and i % 65_536 == 0:
            watch(place)
        if i == MOST_IDS and wanted is not None:
            only = {hash_of(ids.encode(doc)) for doc in wanted}

    if Stamp.of(path) != stamp:
        raise InputError("was changed while it was read", where=str(path), hint="Start again when it is complete.")
    return _kept(kept, keys, places, stamp, only is None)


def _kept(path: Path, keys: Any, places: Any, stamp: Stamp, whole: bool) -> TextIndex:
    """Write a table into the cache, whole or not at all."""
    key, place = np.frombuffer(keys, np.uint64), np.frombuffer(places, np.uint64)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    duplicated = int((ordered[1:] == ordered[:-1]).sum())
    about = {"version": VERSION, "count": len(key), "duplicated": duplicated, "whole": whole, **vars(stamp)}

    def write(file: BinaryIO) -> None:
        file.write(MAGIC + json.dumps(about).encode() + b"\n")
        file.write(ordered.data)
        for low in range(0, len(order), 1 << 20):
            file.write(place[order[low : low + (1 << 20)]].data)

    return TextIndex(_put(path, write))


def _put(path: Path, write: Callable[[BinaryIO], None]) -> Path:
    """Make a file of the cache, whole or not at all, that only its owner reads; where it is.

    Windows does not replace a file that a session has mapped or open: the new one then keeps a name of its own.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.new")
    try:
        with private_file(temporary) as file:
            write(file)
        try:
            os.replace(temporary, path)
        except PermissionError:
            path = temporary
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _prune(path)
    return path


def _prune(newest: Path) -> None:
    files = sorted(newest.parent.glob("*.*"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > CACHE_LIMIT and file != newest:
            with contextlib.suppress(OSError):
                file.unlink()


# Lines of text files.


def json_id(line: bytes) -> bytes | None:
    """The id of a line of JSON; None if it has none."""
    quick = _QUICK_ID.match(line)
    if quick is not None:
        if quick[1] is not None:
            return quick[1]
        return quick[2]
    value = _PARSER.parse(line, "", 1)
    doc = _field(value, ID_FIELDS) if isinstance(value, dict) else None
    if doc is None:
        return None
    return ids.encode(ids.as_text(doc, "document id"))


def _field(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def document_of_columns(columns: list[str]) -> Document:
    """A document from what follows the id in a line: a text, or a title and a text."""
    if len(columns) == 2:
        return Document(columns[1], columns[0])
    return Document(columns[0] if columns else "")


class LineFile:
    """A file with one text a line: JSON Lines, or columns with tabs between them."""

    def __init__(self, source: ByteSource, wanted: Collection[str] | None) -> None:
        assert source.path is not None
        self.path: Path = Path(source.path)
        self.name = source.name
        self._start = source.start
        self._is_json = source.head.lstrip()[:1] == b"{"
        self.index = index_of(self.path, self._rows, wanted, source.watch)

    def _rows(self) -> Iterator[tuple[bytes, int]]:
        place, number = self._start, 0
        with self.path.open("rb", buffering=1 << 20) as file:
            file.seek(self._start)
            for line in file:
                number += 1
                if len(line) > MAX_RECORD:
                    raise InputError(f"a line of {len(line):,} bytes", where=Position(self.name, number))
                if not line.isspace():
                    yield _id_of_line(line, self._is_json, Position(self.name, number)), place
                place += len(line)

    def get(self, doc: str) -> Document | None:
        """The text of an id; None if the file has none."""
        wanted = ids.encode(doc)
        for place in self.index.places(doc):
            with self.path.open("rb") as file:
                file.seek(place)
                line = file.readline(MAX_RECORD)
            if self._is_json:
                value = _PARSER.parse(line, self.name, 1)
                if isinstance(value, dict) and ids.encode(ids.as_text(_field(value, ID_FIELDS), "id")) == wanted:
                    return document_of(value, self.name)
            else:
                raw, *columns = ids.decode(line.rstrip(b"\r\n")).split("\t", 2)
                if ids.encode(raw) == wanted:
                    return document_of_columns(columns)

        return None

    def is_stale(self) -> bool:
        """Whether the file is another one than was indexed."""
        return _is_stale(self.path, self.index)


class ParquetFile:
    """A Parquet file with a row for each text."""

    def __init__(self, path: Path, wanted: Collection[str] | None) -> None:
        with needed("polars"):
            import polars as pl

        self.path, self.name = path, str(path)
        with path.open("rb") as file:
            check_parquet(file, self.name)
        self._scan: Callable[[], pl.LazyFrame] = partial(pl.scan_parquet, path)
        schema = self._scan().collect_schema().names()
        column = next((name for name in ID_FIELDS if name in schema), None)
        if column is None:
            hint = f"Ids are in one of: {', '.join(ID_FIELDS)}."
            raise InputError(f"no column with ids: {', '.join(schema[:8])}", where=self.name, hint=hint)
        self._id: str = column
        self._columns = [name for name in (*TITLE_FIELDS, *TEXT_FIELDS) if name in schema]
        self.index = index_of(path, self._rows, wanted)

    def _rows(self) -> Iterator[tuple[bytes, int]]:
        row = 0
        for batch in self._scan().select(self._id).collect_batches():
            for value in batch[self._id]:
                yield ids.encode(ids.as_text(value, "document id", self.name)), row
                row += 1

    def get(self, doc: str) -> Document | None:
        """The text of an id; None if the file has none."""
        for place in self.index.places(doc):
            frame = self._scan().select(self._id, *self._columns).slice(place, 1).collect()
            for row in frame.to_dicts():
                if ids.as_text(row[self._id], "document id") == doc:
                    return document_of(row, self.name)
        return None

    def is_stale(self) -> bool:
        """Whether the file is another one than was indexed."""
        return _is_stale(self.path, self.index)


def _is_stale(path: Path, index: TextIndex) -> bool:
    try:
        status = path.stat()
    except OSError:
        return True
    return (status.st_size, status.st_mtime_ns) != (index.stamp.size, index.stamp.mtime)


def plain_copy(source: ByteSource, wanted: Collection[str] | None) -> ByteSource:
    """The lines of a compressed file whose texts are wanted (None: all), as a plain file beside the cache.

    It is unpacked within the limits of all compressed files, and only its owner reads it.
    """
    assert source.path is not None
    stamp = Stamp.of(Path(source.path))
    keys = None if wanted is None else {ids.encode(doc) for doc in wanted}
    name = hashlib.blake2b(digest_size=16)
    for part in (os.fsencode(os.path.realpath(source.path)), repr(stamp).encode(), *sorted(keys or ())):
        name.update(part + b"\0")
    target = table_folder() / f"{name.hexdigest()}.copy"
    if not os.access(target, os.R_OK):
        target = _put(target, partial(_copy_lines, source, keys))
    return open_source(target)


def _copy_lines(source: ByteSource, keys: Collection[bytes] | None, file: BinaryIO) -> None:
    """Write the lines of these documents (None: of all)."""
    is_json = source.head.lstrip()[:1] == b"{"
    for number, line in source.filled_lines():
        raw = _id_of_line(line, is_json, Position(source.name, number))
        if keys is None or raw in keys:
            file.write(line + b"\n")


def _id_of_line(line: bytes, is_json: bool, where: Position) -> bytes:
    """The id of a line of JSON or of columns; an error where there is none."""
    if not is_json:
        return line.partition(b"\t")[0].rstrip(b"\r\n")
    try:
        raw = json_id(line)
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", where=where) from None
    if raw is None:
        raise InputError("a text has no id", where=where, hint=f"Ids are in one of: {', '.join(ID_FIELDS)}.")
    return raw
