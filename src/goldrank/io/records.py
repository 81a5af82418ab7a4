"""Records, one per question, from files, frames and objects: read again and again, and piece by piece from files."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldrank import ids
from goldrank.data.texts import TextItem
from goldrank.errors import InputError, Place
from goldrank.io import formats
from goldrank.io.aliases import RECORD_LISTS
from goldrank.io.files import InputFiles, is_file, is_frame, open_files
from goldrank.io.record_fields import RecordFields
from goldrank.io.sources import ByteSource
from goldrank.notes import Note

HINT = "Expected one object per line, or a list of objects, with retrieved texts and references."

Rows = Callable[[Counter[str]], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class Records:
    """Records with their numbers, whenever asked for anew; `place` turns a number into words for messages."""

    name: str
    label: str
    rows: Rows
    """Takes a counter, which gets codes of notes on what was tolerated."""
    place: Callable[[int], str]
    digest: Callable[[], str] | None = None
    """SHA-256 of the file; None for objects."""
    notes: Sequence[Note] = ()
    cells: bool = False
    """Whether values are cells of a text file, where a list is written in JSON."""

    @classmethod
    def of_source(
        cls, source: ByteSource, rows: Rows, *, place: Callable[[int], str] | None = None, cells: bool = False
    ) -> Records:
        """The records of a file; without `place` they are numbered by lines."""
        place = place or (lambda number: str(Place(source.name, number)))
        return cls(source.name, source.label, rows, place, source.digest, source.notes, cells)


def open_records(data: Any, fields: RecordFields, format: str | None = None, *, name: str = "items") -> Records:
    """Records from a path, a stream, a data frame, a dict of columns, one record, or an iterable of records.

    `name` is what to call data that have no name of their own.
    """
    if format is not None:
        formats.chosen(format, "records")
    if is_file(data):
        files = open_files(data, "records", format, lambda header: any(map(fields.wants, header)))
        records: list[Records] = files.read("records", fields=fields)
        return _joined(records, files) if files.several else records[0]
    given_name = getattr(data, "name", None)
    name = given_name if isinstance(given_name, str) else name
    if isinstance(data, Mapping):
        return of_mapping(data, fields, name)
    if isinstance(data, TextItem):
        data = [data]
    if hasattr(data, "itertuples") and hasattr(data, "columns"):  # pandas: its objects are taken as they are
        return of_columns({str(column): data[column] for column in data.columns}, name)
    if is_frame(data):
        from goldrank.io import tables

        table = tables.InputTable(tables.to_lazy(data, name), name=name)
        return tables.read_records(table, formats.Reading("frame", fields=fields))
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        hint = "Give a path, a list of dicts, a dict of columns or a data frame."
        raise InputError(f"{type(data).__name__} cannot be read as {name}", hint=hint)
    entries = list(data) if isinstance(data, Iterator) else data
    return Records(name, name, lambda counts: enumerate(entries), lambda number: f"{name}[{number}]")


def as_mapping(record: Any, where: str) -> Mapping[str, Any]:
    """A record as a mapping: a dict, a named tuple, or an object with fields."""
    if type(record) is dict or isinstance(record, Mapping):
        return record
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        return dict(record._asdict())
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    if hasattr(record, "__dict__") and not isinstance(record, type) and not callable(record):
        return {key: value for key, value in vars(record).items() if not key.startswith("_")}
    raise InputError(f"is {_shown(record)}, not an object with fields", where=where, hint=HINT)


def _shown(value: Any) -> str:
    return ids.show(repr(value), 60)


def of_mapping(data: Mapping[Any, Any], fields: RecordFields, name: str, line: int | None = None) -> Records:
    """One record, a dict of columns, or an object with a list of records in it."""
    if not data:
        raise InputError("no items", where=name, hint="Is it the right file, and is it complete?")
    found = fields.find(data, name)
    key = next((key for key in RECORD_LISTS if _is_list_of_records(data.get(key))), None)
    if key is not None and not {"retrieved", "references"} & found.keys():
        return Records(name, name, lambda counts: enumerate(data[key]), lambda number: f"{name}: $.{key}[{number}]")
    words = [found[role].value for role in ("question", "query") if role in found]
    texts = next((found[role].value for role in ("retrieved", "references") if role in found), None)
    if any(_is_column(word) for word in words) or (not words and _is_column_of_lists(texts)):
        return of_columns(data, name)
    place = f"{name}[0]" if line is None else str(Place(name, line))
    return Records(name, name, lambda counts: iter([(0, data)]), lambda number: place)


def of_columns(data: Mapping[Any, Any], name: str) -> Records:
    """Records from a dict of columns."""
    for key, values in data.items():
        if not _is_column(values):
            raise InputError(f"column '{ids.show(str(key))}' is {_shown(values)}, not a list", where=name)
    columns = {key: list(values) for key, values in data.items()}
    if len({len(values) for values in columns.values()}) > 1:
        listed = ", ".join(f"{ids.show(str(key))} has {len(values):,}" for key, values in columns.items())
        raise InputError(f"columns are not equally long: {listed}", where=name)

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        return enumerate(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    return Records(name, name, rows, lambda number: f"{name}: row {number + 1}")


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def _is_column_of_lists(value: Any) -> bool:
    first = next((cell for cell in value if cell is not None), None) if _is_column(value) else None
    return first is not None and _is_column(first) and not isinstance(first, tuple)


def _is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _joined(files: list[Records], whole: InputFiles) -> Records:
    """The records of several files, one after the other."""

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for i, file in enumerate(files):
            for number, record in file.rows(counts):
                yield number * len(files) + i, record

    def place(number: int) -> str:
        return files[number % len(files)].place(number // len(files))

    def digest() -> str:
        return hashlib.sha256("".join(file.digest() for file in files if file.digest).encode()).hexdigest()

    notes = [note for file in files for note in file.notes]
    return Records(whole.name, whole.label, rows, place, digest, notes, files[0].cells)
