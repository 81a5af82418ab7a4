"""Records, one per question, from files, frames and objects: read again and again, and piece by piece from files."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json as plain_json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goldrank import ids
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, Place, one_of
from goldrank.io import _is_file, _is_frame, parts, sources
from goldrank.io.fields import Fields
from goldrank.io.json import Parser
from goldrank.io.sources import MAX_RECORD, Source

FORMATS = ("jsonl", "json", "table", "parquet", "arrow")
WRAPPERS = ("examples", "items", "data", "samples", "test_cases", "goldens", "rows")
"""Under what name an object may hold the list of records."""
BATCH = 1000
"""Rows of a table that are in memory at a time."""
HINT = "Expected one object per line, or a list of objects, with retrieved texts and references."

_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, in text."""

Rows = Callable[[Counter[str]], Iterator[tuple[int, Any]]]


@dataclass
class Records:
    """Records with their numbers, whenever asked for anew; `place` turns a number into words for messages."""

    name: str
    label: str
    rows: Rows
    """Takes a counter of what was tolerated."""
    place: Callable[[int], str]
    digest: Callable[[], str] | None = None
    """SHA-256 of the file; None for objects."""
    notes: list[str] = field(default_factory=list)
    cells: bool = False
    """Whether values are cells of a text file, where a list is written in JSON."""


def open_records(data: Any, fields: Fields, format: str | None = None) -> Records:
    """Records from a path, a stream, a data frame, a dict of columns, one record, or an iterable of records."""
    if format is not None:
        one_of(format, FORMATS, "format")
    found = parts.find(data)
    if found is not None:
        return _of_parts(str(data), found, fields, format)
    if _is_file(data):
        return _of_file(sources.open_source(data), fields, format)
    name = getattr(data, "name", None)
    name = name if isinstance(name, str) else "items"
    if isinstance(data, Mapping):
        return _of_mapping(data, fields, name)
    if isinstance(data, TextItem):
        return _listed([data], name)
    if hasattr(data, "itertuples") and hasattr(data, "columns"):  # pandas: its objects are taken as they are
        return _of_columns({str(column): data[column] for column in data.columns}, name)
    if _is_frame(data):
        from goldrank.io import tables

        return _of_table(tables.Table(tables.to_lazy(data, name), name, name), fields)
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise InputError(
            f"{type(data).__name__} cannot be read as items",
            hint="Give a path, a list of dicts, a dict of columns or a data frame.",
        )
    return _listed(list(data) if isinstance(data, Iterator) else data, name)


def as_mapping(record: Any, where: str) -> Mapping[str, Any]:
    """A record as a mapping: a dict, a named tuple, or an object with fields."""
    if type(record) is dict or isinstance(record, Mapping):
        return record
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        named: Mapping[str, Any] = record._asdict()
        return named
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {one.name: getattr(record, one.name) for one in dataclasses.fields(record)}
    if hasattr(record, "__dict__") and not isinstance(record, type) and not callable(record):
        return {key: value for key, value in vars(record).items() if not key.startswith("_")}
    raise InputError(f"is {_shown(record)}, not an object with fields", where=where, hint=HINT)


def _shown(value: Any) -> str:
    text = repr(value)
    return ids.show(text, 60)


# Objects.


def _listed(data: Iterable[Any], name: str) -> Records:
    return Records(name, name, lambda counts: enumerate(data), lambda number: f"{name}[{number}]")


def _of_mapping(data: Mapping[Any, Any], fields: Fields, name: str, line: int | None = None) -> Records:
    """One record, a dict of columns, or an object with a list of records in it."""
    if not data:
        raise InputError("no items", where=name, hint="Is it the right file, and is it complete?")
    found = fields.find(data, name)
    wrapped = next((key for key in WRAPPERS if _is_list_of_records(data.get(key))), None)
    if wrapped is not None and not {"retrieved", "references"} & found.keys():
        listed = data[wrapped]
        return Records(name, name, lambda counts: enumerate(listed), lambda number: f"{name}: $.{wrapped}[{number}]")
    words = [found[role].value for role in ("question", "query") if role in found]
    texts = next((found[role].value for role in ("retrieved", "references") if role in found), None)
    if any(_is_column(word) for word in words) or (not words and _is_column_of_lists(texts)):
        return _of_columns(data, name)
    place = f"{name}[0]" if line is None else str(Place(name, line))
    return Records(name, name, lambda counts: iter([(0, data)]), lambda number: place)


def _of_columns(data: Mapping[Any, Any], name: str) -> Records:
    columns = {key: list(values) for key, values in data.items() if _is_column(values)}
    sizes = {key: len(values) for key, values in columns.items()}
    other = next((key for key in data if key not in columns), None)
    if other is not None:
        raise InputError(f"column '{ids.show(str(other))}' is {_shown(data[other])}, not a list", where=name)
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{ids.show(str(key))} has {size:,}" for key, size in sizes.items())
        raise InputError(f"columns are not equally long: {listed}", where=name)

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for number, values in enumerate(zip(*columns.values(), strict=True)):
            yield number, dict(zip(columns, values, strict=True))

    return Records(name, name, rows, lambda number: f"{name}: row {number + 1}")


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _is_column_of_lists(value: Any) -> bool:
    first = next((one for one in value if one is not None), None) if _is_column(value) else None
    return first is not None and _is_column(first) and not isinstance(first, tuple)


def _is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


# Files.


def _of_parts(name: str, found: list[parts.Part], fields: Fields, format: str | None) -> Records:
    """The records of several files of one format, one after the other."""
    opened = [sources.open_source(part.path) for part in found]
    kinds = [format or _detect(source, fields) for source in opened]
    kind = parts.one_format(list(zip(found, kinds, strict=True)), name)
    made = [_of_file(source, fields, kind) for source in opened]

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for i, one in enumerate(made):
            for number, record in one.rows(counts):
                yield number * len(made) + i, record

    def place(number: int) -> str:
        return made[number % len(made)].place(number // len(made))

    def digest() -> str:
        whole = hashlib.sha256()
        for one in made:
            whole.update((one.digest() if one.digest else "").encode())
        return whole.hexdigest()

    notes = [note for one in made for note in one.notes]
    return Records(name, Path(name).name, rows, place, digest, notes, made[0].cells)


def _of_file(source: Source, fields: Fields, format: str | None) -> Records:
    kind = format or _detect(source, fields)
    if kind in ("parquet", "arrow"):
        from goldrank.io import tables

        return _of_table(tables.open_table(source, kind), fields, source.digest)
    if kind == "table":
        return _of_text_table(source)
    if kind == "json":
        if source.head.lstrip().startswith(b"["):
            return Records(
                source.name,
                source.label,
                lambda counts: _array(source, counts),
                lambda number: f"{source.name}[{number}]",
                source.digest,
                source.notes,
            )
        text = source.read().decode("utf-8", "surrogateescape")
        data = Parser().parse(text, source.name, 1)
        if not isinstance(data, Mapping):
            raise InputError(f"is {_shown(data)}, not an object", where=source.name, hint=HINT)
        made = _of_mapping(data, fields, source.name, 1)
        made.label, made.digest, made.notes = source.label, source.digest, source.notes
        return made
    return Records(
        source.name,
        source.label,
        lambda counts: _lines(source, counts),
        lambda number: f"{source.name}:{number}",
        source.digest,
        source.notes,
    )


def _detect(source: Source, fields: Fields) -> str:
    if source.table is not None:
        return source.table
    head = source.head
    text = head.lstrip()
    if not text:
        if all(not line.strip() for _, line in source.lines()):
            raise InputError("no items: the file is empty", where=source.name, hint="Did the system return anything?")
        return "jsonl"
    if text.startswith(b"["):
        return "json"
    if text.startswith(b"{"):
        return _one_or_many(source)
    header = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    names = [cell.strip().strip('"') for cell in header.split("\t" if "\t" in header else ",")]
    if any(map(fields.wants, names)):
        return "table"
    raise InputError(
        f"is neither JSON, JSON Lines, Parquet, Arrow nor a table with known columns; it begins with "
        f"'{ids.show(header, 40)}'",
        where=source.name,
        hint="Name the columns' fields with fields=... (--map), or say format=...",
    )


def _one_or_many(source: Source) -> str:
    """Whether objects stand in lines or the file is one object."""
    stem, suffix = os.path.splitext(source.name)
    if suffix in (".gz", ".zst", ".bz2", ".xz"):
        suffix = os.path.splitext(stem)[1]
    filled = (line for _, line in source.lines() if line.strip())
    first = next(filled)
    more = next(filled, None)
    try:
        plain_json.loads(first)
    except (ValueError, RecursionError):
        return "jsonl" if suffix in (".jsonl", ".ndjson") else "json"
    return "json" if more is None else "jsonl"


def _lines(source: Source, counts: Counter[str]) -> Iterator[tuple[int, Any]]:
    """Records that stand in a line each."""
    parser = Parser("Each field of an item has one name.")
    for number, line in source.lines():
        try:
            text = line.decode()
        except UnicodeDecodeError:
            counts["not_utf8"] += 1
            text = line.decode("utf-8", "surrogateescape")
        if not text.strip():
            counts["blank_lines"] += 1
            continue
        yield number, parser.parse(text, source.name, number)


def _array(source: Source, counts: Counter[str]) -> Iterator[tuple[int, Any]]:
    """Records of a JSON array, of which one piece of the file at a time is in memory."""
    parser = Parser("Each field of an item has one name.")
    pieces = source.texts()
    text = ""
    at = 0
    line, column = 1, 1
    ended = False

    def more() -> None:
        """Forget what was read and read on."""
        nonlocal text, at, line, column, ended
        done = text[:at]
        line += done.count("\n")
        column = len(done) - done.rfind("\n") if "\n" in done else column + len(done)
        piece = next(pieces, None)
        ended = piece is None
        text = text[at:] + (piece or "")
        at = 0
        if len(text) > MAX_RECORD + sources.PIECE:
            raise InputError(f"an item is longer than {MAX_RECORD:,} characters", where=Place(source.name, line))

    def upto(expected: str) -> str:
        """The next character that is not blank, which must be one of those."""
        nonlocal at
        while True:
            while at < len(text) and text[at] in " \t\r\n":
                at += 1
            if at < len(text):
                break
            if ended:
                raise InputError(
                    "is not JSON: the array has no end", where=Place(source.name, line), hint="Is the file complete?"
                )
            more()
        if expected and text[at] not in expected:
            fault = plain_json.JSONDecodeError(f"Expecting {' or '.join(expected)}", text, at)
            with parser.explained(text, source.name, line, column):
                raise fault
        return text[at]

    upto("[")
    at += 1
    number = 0
    if upto("") == "]":
        at += 1
    else:
        while True:
            upto("")
            try:
                data, end = parser.parse_first(text, at)
            except (ValueError, RecursionError) as error:
                if not ended and isinstance(error, plain_json.JSONDecodeError) and _may_go_on(error, text):
                    more()
                    continue
                with parser.explained(text, source.name, line, column):
                    raise
            place = f"{source.name}[{number}]"
            if not text.isascii() and _ESCAPED.search(text, at, end):
                counts["not_utf8"] += 1
            yield number, parser.checked(data, place)
            number += 1
            at = end
            closed = upto(",]") == "]"
            at += 1
            if closed:
                break
    while at < len(text) or not ended:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at < len(text):
            with parser.explained(text, source.name, line, column):
                raise plain_json.JSONDecodeError("Extra data", text, at)
        more()


def _may_go_on(error: plain_json.JSONDecodeError, text: str) -> bool:
    """Whether the text is perhaps only cut off, so that reading on may help."""
    return error.pos >= len(text) - 12 or error.msg.startswith("Unterminated")


# Tables.


def _of_table(table: Any, fields: Fields, digest: Callable[[], str] | None = None) -> Records:
    """Rows of a Parquet or Arrow file or of a data frame, of which only columns with known names are read."""
    from goldrank.io import tables

    present = table.columns()
    wanted = [name for name in present if fields.wants(name)]
    frame = table.frame.select(wanted or present)

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        number = 0
        with tables.reading(table.where):
            batches = frame.collect_batches(maintain_order=True, chunk_size=BATCH)
        while True:
            with tables.reading(table.where):
                batch = next(batches, None)
            if batch is None:
                return
            for row in batch.iter_rows(named=True):
                yield number, row
                number += 1

    return Records(
        table.where, table.label, rows, lambda number: f"{table.where}: row {number + 1}", digest, table.notes
    )


def _of_text_table(source: Source) -> Records:
    """CSV or TSV with a header."""

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        before = 0

        def lines() -> Iterator[str]:
            for number, line in source.lines():
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    where = Place(source.name, number, len(line[: error.start].decode()) + 1)
                    raise InputError("is not UTF-8 text", where=where, hint="Save the table as UTF-8.") from None
                if "\0" in text:
                    raise InputError("NUL byte", where=Place(source.name, number, text.index("\0") + 1))
                yield text + "\n"

        separator = "\t" if b"\t" in source.head.lstrip().split(b"\n", 1)[0] else ","
        reader = csv.reader(lines(), delimiter=separator, strict=True)
        header: list[str] | None = None
        while True:
            usual = csv.field_size_limit(MAX_RECORD)
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise InputError(
                    f"is no regular table: {error}",
                    where=Place(source.name, reader.line_num),
                    hint="Is a quote missing, or a cell cut off?",
                ) from None
            finally:
                csv.field_size_limit(usual)
            if row is None:
                return
            begin, before = before + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                counts["blank_lines"] += 1
            elif header is None:
                header = [cell.strip() for cell in row]
                twice = next((name for i, name in enumerate(header) if name in header[:i]), None)
                if twice is not None:
                    raise InputError(f"column '{ids.show(twice)}' is there twice", where=Place(source.name, begin))
            elif len(row) != len(header):
                raise InputError(
                    f"found {len(row)} columns, expected {len(header)} ({ids.show(', '.join(header), 200)})",
                    where=Place(source.name, begin),
                    hint="A cell that holds the separator must be in double quotes.",
                )
            else:
                yield begin, dict(zip(header, row, strict=True))

    return Records(
        source.name,
        source.label,
        rows,
        lambda number: f"{source.name}:{number}",
        source.digest,
        source.notes,
        cells=True,
    )
