"""An index of the texts in files that are too large for memory: a sorted table of (hash of id, position).

The table is made once, stored in the cache (`texts` in `writing.cache_folder`) and memory-mapped. A position is the
offset of a line, or the number of a row. Each reading compares the id at the position with the requested id, so equal
hashes and a changed file are noticed.
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
"""A table has all lines of files with up to this number of lines, and is cached for later runs."""
CACHE_LIMIT = 2_000_000_000
"""Most bytes of the cache folder; the oldest tables are deleted first."""
SAMPLED, SAMPLES = 4_096, 16
MAGIC = b"goldrank-texts\n"
ID_FIELDS = ("_id", "id", "docid", "doc_id", "docno", "pid")
_QUICK_ID = re.compile(
    rb'\s*\{\s*"(?:_id|id|docid|doc_id|docno|pid)"\s*:\s*(?:"([^"\\\x00-\x1f]*)"|(\d{1,18})(?=\s*[,}]))'
)
_PARSER = JsonParser("Each field has one name.")


@dataclass(frozen=True)
class Stamp:
    """Identifies the state of a file that was indexed."""

    size: int
    mtime: int
    sample: str

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file now; some blocks of it are read."""
        status = path.stat()
        digest = hashlib.blake2b(digest_size=16)
        with path.open("rb") as file:
            for offset in np.linspace(0, max(0, status.st_size - SAMPLED), SAMPLES).astype(np.int64).tolist():
                file.seek(offset)
                digest.update(file.read(SAMPLED))
        return cls(status.st_size, status.st_mtime_ns, digest.hexdigest())


def hash_of(raw: bytes) -> int:
    """The 64-bit hash of an id."""
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")


def table_folder() -> Path:
    """The folder of the tables."""
    return cache_folder() / "texts"


class TextIndex:
    """A table of positions, sorted by hash."""

    def __init__(self, path: Path) -> None:
        header: dict[str, Any] = {}
        with path.open("rb") as file:
            if file.readline() == MAGIC:
                header = json.loads(file.readline())
            start = file.tell()
        count = int(header.get("count", -1))
        if header.get("version") != VERSION or path.stat().st_size != start + 16 * count:
            raise InputError("is not an index of texts, or was cut", where=str(path), hint="Delete it.")

        self.stamp = Stamp(header["size"], header["mtime"], header["sample"])
        self.count = count
        self.duplicated = int(header["duplicated"])
        self.is_complete = bool(header["whole"])
        """Whether the table has all texts of the file."""
        table: np.ndarray = np.zeros((2, 0), np.uint64)
        if count:
            table = np.memmap(path, np.uint64, "r", start, (2, count))
        self._keys, self._positions = table[0], table[1]

    def positions(self, doc: str) -> list[int]:
        """The possible positions of an id, ascending."""
        key = np.uint64(hash_of(ids.encode(doc)))
        low = int(np.searchsorted(self._keys, key))
        positions = []
        while low < self.count and self._keys[low] == key:
            positions.append(int(self._positions[low]))
            low += 1
        return sorted(positions)


def index_of(
    path: Path,
    rows: Callable[[], Iterator[tuple[bytes, int]]],
    doc_ids: Collection[str] | None,
    watch: Callable[[int], None] | None = None,
) -> TextIndex:
    """The table of a file, from the cache or new. `rows` yields ids and positions, in the order of the file.

    If the file has more than `MOST_IDS` lines, later lines are in the table only if they are of `doc_ids`.
    """
    stamp = Stamp.of(path)
    cached = table_folder() / f"{hashlib.blake2b(os.fsencode(path.resolve()), digest_size=16).hexdigest()}.index"
    with contextlib.suppress(OSError, ValueError, KeyError):  # InputError is a ValueError
        index = TextIndex(cached)
        if index.stamp == stamp and index.is_complete:
            os.utime(cached)
            return index

    keys, positions = array("Q"), array("Q")
    needed_keys = None
    blake, from_bytes = hashlib.blake2b, int.from_bytes
    for i, (raw, position) in enumerate(rows()):
        key = from_bytes(blake(raw, digest_size=8).digest(), "little")
        if needed_keys is None or key in needed_keys:
            keys.append(key)
            positions.append(position)
        if watch is not None and i % 65_536 == 0:
            watch(position)
        if i == MOST_IDS and doc_ids is not None:
            needed_keys = {hash_of(ids.encode(doc)) for doc in doc_ids}

    if Stamp.of(path) != stamp:
        raise InputError("was changed while it was read", where=str(path), hint="Start again when it is complete.")
    return _write_table(cached, keys, positions, stamp, needed_keys is None)


def _write_table(path: Path, keys: Any, positions: Any, stamp: Stamp, is_complete: bool) -> TextIndex:
    """Write a table into the cache, completely or not at all."""
    key = np.frombuffer(keys, np.uint64)
    position = np.frombuffer(positions, np.uint64)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    duplicated = int((ordered[1:] == ordered[:-1]).sum())
    header = {"version": VERSION, "count": len(key), "duplicated": duplicated, "whole": is_complete, **vars(stamp)}

    def write(file: BinaryIO) -> None:
        file.write(MAGIC + json.dumps(header).encode() + b"\n")
        file.write(ordered.data)
        for low in range(0, len(order), 1 << 20):
            file.write(position[order[low : low + (1 << 20)]].data)

    return TextIndex(_put(path, write))


def _put(path: Path, write: Callable[[BinaryIO], None]) -> Path:
    """Write a file of the cache completely or not at all, readable by its owner only; return its path.

    Windows does not replace a file that a session has mapped or open: the new file then has another name.
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
    """The id of a line of JSON; None if it has no id."""
    quick = _QUICK_ID.match(line)
    if quick is not None:
        if quick[1] is not None:
            return quick[1]
        return quick[2]

    value = _PARSER.parse(line, "", 1)
    if not isinstance(value, dict):
        return None
    doc = _field(value, ID_FIELDS)
    if doc is None:
        return None
    return ids.encode(ids.as_text(doc, "document id"))


def _field(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def document_of_columns(columns: list[str]) -> Document:
    """A document from the columns after the id in a line: a text, or a title and a text."""
    if len(columns) == 2:
        return Document(columns[1], columns[0])
    if columns:
        return Document(columns[0])
    return Document()


class LineFile:
    """A file with one text a line: JSON Lines, or columns with tabs between them."""

    def __init__(self, source: ByteSource, doc_ids: Collection[str] | None) -> None:
        assert source.path is not None
        self.path: Path = Path(source.path)
        self.name = source.name
        self._start = source.start
        self._is_json = source.head.lstrip()[:1] == b"{"
        self.index = index_of(self.path, self._rows, doc_ids, source.watch)

    def _rows(self) -> Iterator[tuple[bytes, int]]:
        offset = self._start
        number = 0
        with self.path.open("rb", buffering=1 << 20) as file:
            file.seek(self._start)
            for line in file:
                number += 1
                if len(line) > MAX_RECORD:
                    raise InputError(f"a line of {len(line):,} bytes", where=Position(self.name, number))
                if not line.isspace():
                    yield _id_of_line(line, self._is_json, Position(self.name, number)), offset
                offset += len(line)

    def get(self, doc: str) -> Document | None:
        """The document of an id; None if the file does not have it."""
        for offset in self.index.positions(doc):
            with self.path.open("rb") as file:
                file.seek(offset)
                line = file.readline(MAX_RECORD)
            if self._is_json:
                value = _PARSER.parse(line, self.name, 1)
                if isinstance(value, dict) and ids.as_text(_field(value, ID_FIELDS), "id") == doc:
                    return document_of(value, self.name)
            else:
                line_id, *columns = ids.decode(line.rstrip(b"\r\n")).split("\t", 2)
                if line_id == doc:
                    return document_of_columns(columns)

        return None

    def is_stale(self) -> bool:
        """Whether the file changed since it was indexed."""
        return _is_stale(self.path, self.index)


class ParquetFile:
    """A Parquet file with a row for each text."""

    def __init__(self, path: Path, doc_ids: Collection[str] | None) -> None:
        with needed("polars"):
            import polars as pl

        self.path = path
        self.name = str(path)
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
        self.index = index_of(path, self._rows, doc_ids)

    def _rows(self) -> Iterator[tuple[bytes, int]]:
        row = 0
        for batch in self._scan().select(self._id).collect_batches():
            for value in batch[self._id]:
                yield ids.encode(ids.as_text(value, "document id", self.name)), row
                row += 1

    def get(self, doc: str) -> Document | None:
        """The document of an id; None if the file does not have it."""
        for number in self.index.positions(doc):
            frame = self._scan().select(self._id, *self._columns).slice(number, 1).collect()
            for row in frame.to_dicts():
                if ids.as_text(row[self._id], "document id") == doc:
                    return document_of(row, self.name)
        return None

    def is_stale(self) -> bool:
        """Whether the file changed since it was indexed."""
        return _is_stale(self.path, self.index)


def _is_stale(path: Path, index: TextIndex) -> bool:
    try:
        status = path.stat()
    except OSError:
        return True
    return (status.st_size, status.st_mtime_ns) != (index.stamp.size, index.stamp.mtime)


def plain_copy(source: ByteSource, doc_ids: Collection[str] | None) -> ByteSource:
    """The lines of some documents (None: all) of a compressed file, as an uncompressed file in the cache.

    The limits of all compressed files apply, and only its owner can read it.
    """
    assert source.path is not None
    stamp = Stamp.of(Path(source.path))
    keys = None
    if doc_ids is not None:
        keys = {ids.encode(doc) for doc in doc_ids}

    name = hashlib.blake2b(digest_size=16)
    for part in (os.fsencode(os.path.realpath(source.path)), repr(stamp).encode(), *sorted(keys or ())):
        name.update(part + b"\0")

    target = table_folder() / f"{name.hexdigest()}.copy"
    if not os.access(target, os.R_OK):
        target = _put(target, partial(_copy_lines, source, keys))
    return open_source(target)


def _copy_lines(source: ByteSource, keys: Collection[bytes] | None, file: BinaryIO) -> None:
    """Write the lines of some documents (None: of all)."""
    is_json = source.head.lstrip()[:1] == b"{"
    for number, line in source.filled_lines():
        raw = _id_of_line(line, is_json, Position(source.name, number))
        if keys is None or raw in keys:
            file.write(line + b"\n")


def _id_of_line(line: bytes, is_json: bool, where: Position) -> bytes:
    """The id of a line of JSON or of columns; an error if it has no id."""
    if not is_json:
        return line.partition(b"\t")[0].rstrip(b"\r\n")
    try:
        raw = json_id(line)
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", where=where) from None
    if raw is None:
        raise InputError("a text has no id", where=where, hint=f"Ids are in one of: {', '.join(ID_FIELDS)}.")
    return raw
