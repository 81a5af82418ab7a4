"""The table of all file formats: what a format holds, how it is recognised, and which module reads and writes it.

A new format is one module and one entry of `FORMATS`. For each thing that the format `holds`, the module has a function
`read_<thing>(source, reading)`, and `dump(data)` if it can be written:

    read_run(source, reading) -> Run
    read_qrels(source, reading) -> Judgements, or Qrels where the reader holds all of them in memory
    read_aspects(source, reading) -> AspectQrels
    read_preferences(source, reading) -> Preferences
    read_records(source, reading) -> Records, one for each question with its texts
    dump(run_or_qrels) -> bytes, or another function that the entry names as its `writer`
    find_file(folder, split) -> the file to read, where the format is one of whole folders

`source` is a `ByteSource`, `reading` a `Reading`. A module is loaded when a file of its format arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, one_of
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io import aliases
from goldrank.io.columns import Columns, no_known_columns
from goldrank.io.sources import HEAD, MAX_LINE, ByteSource
from goldrank.io.text.number_text import NUMBER

if TYPE_CHECKING:
    from goldrank.io.records import RecordFields

KnownColumns = Callable[[Sequence[str]], bool]
"""A test whether the header of a text table has useful columns."""

Partition = Sequence[tuple[str, str | None]]
"""Columns and their values, from the names of the folders of a partitioned table."""


@dataclass(frozen=True)
class Reading:
    """Options for reading a file or an object."""

    format: str = "object"
    """The name of the format; "object" for data in memory."""
    partition: Partition = ()
    """Columns whose value is in the path and not in the file."""
    judgements: str = "error"
    real_grades: bool = False
    relevant_from: float | None = None
    """The least rating of a relevant document (1); documents with lower ratings are not relevant (0)."""
    columns: Columns = field(default_factory=Columns)
    """Columns that the user named."""
    fields: RecordFields | None = None
    """Finds the fields of records."""


def separator(header: bytes) -> str:
    """The separator of a table's cells: a tab or a comma, else the semicolon of some spreadsheets, or `|`."""
    return next((sign for sign in "\t,;|" if sign.encode() in header), ",")


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file and what the file should hold, from which its format is recognised."""

    source: ByteSource
    thing: str
    known_columns: KnownColumns

    @cached_property
    def text(self) -> bytes:
        """The first bytes, without leading white space."""
        head = self.source.head.lstrip()
        return head or next((line.lstrip() for _, line in self.source.filled_lines()), b"")

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines that are not blank; of runs and qrels, without comments."""
        filled = [line for line in re.split(rb"[\r\n]+", self.text) if line.strip()]
        if self.thing == "records":
            return filled
        return [line for line in filled if not _is_comment(line)]

    @cached_property
    def is_trec(self) -> bool:
        """Whether the first line is one of a TREC run or of TREC qrels; signs of other formats then belong to an id."""
        if self.thing not in _TREC_NUMBER or not self.lines:
            return False

        line = self.lines[0]
        if len(line) >= len(self.text.rstrip()):  # it may be cut off
            line = next(self.source.chunks(MAX_LINE)).lstrip().split(b"\n")[0]

        width, number = _TREC_NUMBER[self.thing]
        cells = line.split()
        if len(cells) < width or (len(cells) > width and self.thing != "run"):
            return False
        return b"\0" not in line and NUMBER.fullmatch(cells[number]) is not None

    def has_magic(self, *signs: bytes) -> bool:
        """Whether the file begins like files of a binary format."""
        return self.source.head.startswith(signs) and not self.is_trec

    @property
    def is_table(self) -> bool:
        return not self.is_trec and self.known_columns(self.header)

    @property
    def is_empty(self) -> bool:
        return not self.text or not (self.lines or self.source.has_line(DATA_LINE))

    @property
    def header(self) -> list[str]:
        """The cells of the first line."""
        line = next(iter(self.lines), b"")
        return [cell.strip().strip('"') for cell in line.decode("utf-8", "replace").split(separator(line))]


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str
    holds: tuple[str, ...]
    """Some of "run", "qrels", "aspects", "preferences", "records"."""
    module: str
    recognised: Callable[[Beginning], bool] | None = None
    """A test whether a file is of this format; without it the user must name the format."""
    fallback: bool = False
    """Whether files of no other format are read in this format."""
    writes: bool = False
    writer: str = "dump"
    suffixes: tuple[str, ...] = ()
    """Files with these endings are written in this format."""
    in_memory: bool = False
    """Whether a run is held in memory. Runs of other formats are read piece by piece."""
    counts_rows: bool = False
    """Whether opening a file that is not compressed checks it and counts its rows."""
    binary: bool = False
    """Whether its bytes are not text, so that it has no line ends."""
    keeps_judges: str = ""
    """What a written file stores about who judged: "all" grades of people and models, "one" of them, or nothing."""
    folder: str | None = None
    """For a format of whole folders: the inner folder by which it is recognised. Its module has `find_file`."""

    @property
    def implementation(self) -> Any:  # a module with the functions that the top of this file lists
        return import_module(self.module)

    def read(self, thing: str, source: ByteSource, reading: Reading | None = None) -> Any:
        """The content of a file of this format."""
        read_thing = getattr(self.implementation, f"read_{thing}")
        return read_thing(source, replace(reading or Reading(), format=self.name))


_TREC_NUMBER = {"run": (6, 4), "qrels": (4, 3)}
"""The least number of fields of a line of TREC text, and the index of its number."""

_COLUMN_NAME = re.compile(r"[^\W\d]")
"""The beginning of a column's name: a letter."""

DATA_LINE = re.compile(rb"^[ \t\r\x0b\x0c]*+[^\s#]", re.MULTILINE)
"""The beginning of a line that is neither blank nor a comment."""


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


def _is_json(beginning: Beginning) -> bool:
    if not beginning.text.startswith((b"{", b"[")):
        return False

    from goldrank.io.json import json_text

    return not beginning.is_trec or json_text.begins_so(beginning.text, len(beginning.source.head) == HEAD)


def _is_json_lines(beginning: Beginning) -> bool:
    if not beginning.text.startswith(b"{") or not _is_json(beginning):
        return False

    from goldrank.io.json import json_text

    return json_text.is_lines(beginning.source)


def _is_msmarco(beginning: Beginning) -> bool:
    first = [line.split() for line in beginning.lines[:3]]
    return bool(first) and len(first[0]) == 3 and all(cells[-1].isdigit() for cells in first)


def _is_ratings(beginning: Beginning) -> bool:
    if not beginning.lines or not (b"\t" in beginning.lines[0] or b"::" in beginning.lines[0]):
        return False

    from goldrank.io.text.judged_lines import is_rating

    return all(map(is_rating, beginning.lines[:3]))


def _is_letor(beginning: Beginning) -> bool:
    return bool(beginning.lines) and re.match(rb"\s*[-+.\d]+\s+qid:\S+", beginning.lines[0]) is not None


_NOT_WRITTEN = (
    *(".xlsx", ".xls", ".ods", ".html", ".xml", ".yaml", ".yml", ".pkl", ".pickle", ".npy", ".npz", ".h5", ".hdf5"),
    *(".orc", ".avro", ".db", ".sqlite"),
)
"""Endings of other formats, under which TREC text would be misleading."""

_IO = "goldrank.io."
_TABLE = ("run", "qrels", "records")

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("parquet", _TABLE, _IO + "tables.binary_tables", lambda file: file.has_magic(b"PAR1"), writes=True,
               suffixes=(".parquet", ".pq"), counts_rows=True, binary=True, keeps_judges="all"),
        Format("arrow", _TABLE, _IO + "tables.binary_tables",
               lambda file: file.has_magic(b"ARROW1", b"\xff\xff\xff\xff"), writes=True, writer="dump_arrow",
               suffixes=(".arrow", ".feather"), binary=True, keeps_judges="all"),
        Format("jsonl", _TABLE, _IO + "json.json_files", _is_json_lines, writes=True, writer="dump_lines",
               suffixes=(".jsonl", ".ndjson"), in_memory=True, keeps_judges="all"),
        Format("json", _TABLE, _IO + "json.json_files", _is_json, writes=True, suffixes=(".json",), in_memory=True),
        Format("table", _TABLE, _IO + "text.delimited", lambda file: file.is_table),
        Format("csv", _TABLE, _IO + "text.delimited", writes=True, suffixes=(".csv",), keeps_judges="all"),
        Format("tsv", _TABLE, _IO + "text.delimited", writes=True, writer="dump_tsv", suffixes=(".tsv",),
               keeps_judges="all"),
        Format("ratings", ("qrels",), _IO + "text.judged_lines", _is_ratings),
        Format("letor", ("qrels",), _IO + "text.judged_lines", _is_letor),
        Format("trec", ("run", "qrels"), _IO + "text.trec", fallback=True, writes=True, keeps_judges="one"),
        Format("trec-no-tag", ("run",), _IO + "text.trec"),
        Format("trec-3col", ("qrels",), _IO + "text.trec"),
        Format("msmarco", ("run",), _IO + "text.trec", _is_msmarco),
        Format("aspects", ("aspects",), _IO + "text.trec"),
        Format("prefs", ("preferences",), _IO + "text.trec"),
        Format("qrels_prefs", ("preferences",), _IO + "text.trec"),
        Format("beir", ("qrels",), _IO + "files", folder="qrels"),
    )
}  # fmt: skip
"""Formats by name. They are recognised in this order: the most reliable signs come first."""


def names(thing: str) -> tuple[str, ...]:
    return tuple(name for name, entry in FORMATS.items() if thing in entry.holds)


def chosen(name: str, thing: str) -> Format:
    """The format that a user named."""
    return FORMATS[one_of(name, names(thing), "format")]


def has_ranking_columns(header: Sequence[str]) -> bool:
    """Whether a header has columns for queries, and for documents or grades."""
    if aliases.find(header, "query") is None:
        return False
    return bool(aliases.find(header, "doc") or aliases.find(header, "grade"))


def detect(source: ByteSource, thing: str, known_columns: KnownColumns | None = None) -> Format:
    """The format of a file, from its first bytes. By default, `known_columns` are the columns of runs and qrels."""
    beginning = Beginning(source, thing, known_columns or has_ranking_columns)
    if beginning.is_empty:
        raise source.empty()

    candidates = [entry for entry in FORMATS.values() if thing in entry.holds]
    for entry in candidates:
        if entry.recognised is not None and entry.recognised(beginning):
            return entry
    if thing in ("run", "qrels") and _is_header(beginning):
        raise no_known_columns(thing, beginning.header, source.name)
    for entry in candidates:
        if entry.fallback:
            return entry

    first_line = ids.show(beginning.lines[0].decode("utf-8", "replace"), 40)
    problem = f"is of no known format ({', '.join(names(thing))} with known columns); it begins with '{first_line}'"
    hint = "Name the columns' fields with fields=... (--map), or say format=..."
    raise InputError(problem, where=source.name, hint=hint)


def _is_header(beginning: Beginning) -> bool:
    """Whether a file begins with names of columns and a row below, and is not TREC text."""
    if beginning.is_trec or len(beginning.lines) < 2:
        return False

    first, *names = beginning.header
    if first:  # pandas writes its index without a name
        names = [first, *names]
    if len(beginning.header) < 2 or not all(map(_COLUMN_NAME.match, names)):
        return False

    sign = separator(beginning.lines[0])
    return _cells(beginning.lines[0], sign) == _cells(beginning.lines[1], sign)


def _cells(line: bytes, sign: str) -> int:
    """The number of cells of a line, in which quotes may hold separators."""
    import csv

    try:
        return len(next(csv.reader([line.decode("utf-8", "replace")], delimiter=sign), []))
    except csv.Error:
        return 0


def to_write(path: Path, name: str | None) -> Format:
    """The format to write a file in: the named format, else the format of the file's ending, else TREC text."""
    writable = {entry.name: entry for entry in FORMATS.values() if entry.writes}
    if name is not None:
        return writable[one_of(name, writable, "format")]

    suffix = path.suffix.lower()
    if suffix in _NOT_WRITTEN:
        endings = ", ".join(f"{ending} ({entry.name})" for entry in writable.values() for ending in entry.suffixes)
        hint = f"Files that end so are written: {endings}; others as TREC text. format='csv' (--to csv) wins."
        raise OptionError(f"files that end in {suffix} are not written", hint=hint)

    for entry in writable.values():
        if suffix in entry.suffixes:
            return entry
    return next(entry for entry in writable.values() if entry.fallback)


def of_folder(path: Path) -> Format | None:
    """The format of a folder that is a whole data set; None for a folder of part files."""
    return next((entry for entry in FORMATS.values() if entry.folder and (path / entry.folder).is_dir()), None)


# Runs and qrels as rows, for the formats that have a row for each document.


def header_of(data: Run | Qrels) -> list[str]:
    """The names of the columns: query, doc and score or grade; `judged_by` where a model judged."""
    if isinstance(data, Run):
        return ["query", "doc", "score"]
    if data.judges:
        return ["query", "doc", "grade", "judged_by"]
    return ["query", "doc", "grade"]


def rows_of(data: Run | Qrels) -> Iterator[tuple[Any, ...]]:
    """A row for each document of each query; if people and a model judged it, a row for each of them."""
    if not isinstance(data, Qrels) or not data.judges:
        yield from _rows_of_one(data)
        return

    for judge, qrels in data.judges.items():
        for query, doc, grade in _rows_of_one(qrels):
            yield query, doc, grade, judge


def columns_of(data: Run | Qrels) -> dict[str, list[Any]]:
    """The rows as columns by name, for data frames."""
    header = header_of(data)
    columns: list[list[Any]] = [[] for _ in header]
    for row in rows_of(data):
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return dict(zip(header, columns, strict=True))


def _rows_of_one(data: Run | Qrels) -> Iterator[tuple[str, str, float]]:
    for query, docs in data.items():
        for doc, number in docs.items():
            yield query, doc, number
