"""Every format of files in one table: what it holds, how it is recognised, and which module reads and writes it.

A new format is one module and one entry of `FORMATS`. For each thing that the format `holds`, the module has a function
`read_<thing>(source, how)`, and `dump(data)` if it can be written:

    read_run(source, how) -> Run
    read_qrels(source, how) -> Judgements, or Qrels where the reader holds them whole anyway
    read_aspects(source, how) -> AspectQrels
    read_preferences(source, how) -> Preferences
    read_records(source, how) -> Records, one for each question with its texts
    dump(run_or_qrels) -> bytes, or another function that the entry names as its `writer`
    find_file(folder, split) -> the file to read, where the format is one of whole folders

`source` is a `ByteSource`, `how` a `Reading`. A module is loaded when a file of its format arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""Whether the header of a text table has columns of use."""

Partition = Sequence[tuple[str, str | None]]
"""Columns and their values, as the folders of a partitioned table name them."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read."""

    format: str = "object"
    """The name of the format; "object" for what is in memory."""
    partition: Partition = ()
    """Columns whose one value is in the path and not in the file."""
    judgements: str = "error"
    real_grades: bool = False
    relevant_from: float | None = None
    """The rating from which on a document is relevant (1), the others are not (0)."""
    columns: Columns = field(default_factory=Columns)
    """Columns that the user named."""
    fields: RecordFields | None = None
    """Finds the fields of records."""


def separator(header: bytes) -> str:
    """What stands between the cells of a table: tabs or commas, else the semicolons of some spreadsheets, or `|`."""
    return next((sign for sign in "\t,;|" if sign.encode() in header), ",")


@dataclass(frozen=True)
class Beginning:
    """What a format is recognised by: the beginning of a file, and what it should hold."""

    source: ByteSource
    thing: str
    known_columns: KnownColumns

    @cached_property
    def text(self) -> bytes:
        """The first bytes, from the first that is not blank."""
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
        """Whether the first line reads as one of a run or of qrels, so that other signs are no more than an id."""
        width, number = _TREC_NUMBER.get(self.thing, (0, 0))
        line = self.lines[0] if self.lines and width else b""
        if line and len(line) >= len(self.text.rstrip()):  # cut off, perhaps
            line = next(self.source.chunks(MAX_LINE)).lstrip().split(b"\n")[0]
        cells = line.split()
        is_wide_enough = len(cells) >= width if self.thing == "run" else len(cells) == width
        return bool(cells) and is_wide_enough and b"\0" not in line and NUMBER.fullmatch(cells[number]) is not None

    def has_magic(self, *signs: bytes) -> bool:
        """Whether the file begins as those of a binary format do."""
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
        line = self.lines[0] if self.lines else b""
        return [cell.strip().strip('"') for cell in line.decode("utf-8", "replace").split(separator(line))]


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str
    holds: tuple[str, ...]
    """Of: "run", "qrels", "aspects", "preferences", "records"."""
    module: str
    recognised: Callable[[Beginning], bool] | None = None
    """Whether a file is of this format; without it the format must be asked for by name."""
    fallback: bool = False
    """Whether files that are of no other format are taken to be of this one."""
    writes: bool = False
    writer: str = "dump"
    suffixes: tuple[str, ...] = ()
    """File names that end so are written in this format."""
    in_memory: bool = False
    """Whether a run is held in memory whole. Others are read piece by piece."""
    counts_rows: bool = False
    """Whether opening a file that is not compressed shows that it is sound, and how many rows it has."""
    binary: bool = False
    """Whether its bytes are no text, so that nothing in them is a line end."""
    keeps_judges: str = ""
    """What a file that is written keeps of who judged: "all" grades of people and models, "one" of them, or nothing."""
    folder: str | None = None
    """For a format of whole folders: the folder inside by which it is recognised. Its module has `find_file`."""

    @property
    def implementation(self) -> Any:  # a module: what it has is said at the top of this file
        return import_module(self.module)

    def read(self, thing: str, source: ByteSource, reading: Reading | None = None) -> Any:
        """What a file of this format holds."""
        read_thing = getattr(self.implementation, f"read_{thing}")
        return read_thing(source, replace(reading or Reading(), format=self.name))


_TREC_NUMBER = {"run": (6, 4), "qrels": (4, 3)}
"""How many fields a line of TREC text has at least, and which of them is a number, counted from 0."""


DATA_LINE = re.compile(rb"^[ \t\r\x0b\x0c]*+[^\s#]", re.MULTILINE)
"""The beginning of a line that is neither blank nor a comment."""


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


def _is_json(seen: Beginning) -> bool:
    if not seen.text.startswith((b"{", b"[")):
        return False
    from goldrank.io.json import json_text

    return not seen.is_trec or json_text.begins_so(seen.text, len(seen.source.head) == HEAD)


def _is_json_lines(seen: Beginning) -> bool:
    if not seen.text.startswith(b"{") or not _is_json(seen):
        return False
    from goldrank.io.json import json_text

    return json_text.is_lines(seen.source)


def _is_msmarco(seen: Beginning) -> bool:
    first = [line.split() for line in seen.lines[:3]]
    return bool(first) and len(first[0]) == 3 and all(cells[-1].isdigit() for cells in first)


def _is_ratings(seen: Beginning) -> bool:
    if not seen.lines or not (b"\t" in seen.lines[0] or b"::" in seen.lines[0]):
        return False
    from goldrank.io.text.judged_lines import is_rating

    return all(map(is_rating, seen.lines[:3]))


def _is_letor(seen: Beginning) -> bool:
    return bool(seen.lines) and re.match(rb"\s*[-+.\d]+\s+qid:\S+", seen.lines[0]) is not None


_NOT_WRITTEN = (
    *(".xlsx", ".xls", ".ods", ".html", ".xml", ".yaml", ".yml", ".pkl", ".pickle", ".npy", ".npz", ".h5", ".hdf5"),
    *(".orc", ".avro", ".db", ".sqlite"),
)
"""Endings of other formats: TREC text under such a name would be a surprise."""

_IO = "goldrank.io."
_TABLE = ("run", "qrels", "records")

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("parquet", _TABLE, _IO + "tables.binary_tables", lambda seen: seen.has_magic(b"PAR1"), writes=True,
               suffixes=(".parquet", ".pq"), counts_rows=True, binary=True, keeps_judges="all"),
        Format("arrow", _TABLE, _IO + "tables.binary_tables",
               lambda seen: seen.has_magic(b"ARROW1", b"\xff\xff\xff\xff"), writes=True, writer="dump_arrow",
               suffixes=(".arrow", ".feather"), binary=True, keeps_judges="all"),
        Format("jsonl", _TABLE, _IO + "json.json_files", _is_json_lines, writes=True, writer="dump_lines",
               suffixes=(".jsonl", ".ndjson"), in_memory=True, keeps_judges="all"),
        Format("json", _TABLE, _IO + "json.json_files", _is_json, writes=True, suffixes=(".json",), in_memory=True),
        Format("table", _TABLE, _IO + "text.delimited", lambda seen: seen.is_table),
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
"""By name. Formats are recognised in this order: the surest signs come first."""


def names(thing: str) -> tuple[str, ...]:
    return tuple(name for name, entry in FORMATS.items() if thing in entry.holds)


def chosen(name: str, thing: str) -> Format:
    """The format that a user asked for."""
    return FORMATS[one_of(name, names(thing), "format")]


def has_ranking_columns(header: Sequence[str]) -> bool:
    """Whether a header has columns for queries, and for documents or grades."""
    query, *others = (aliases.find(header, word) for word in ("query", "doc", "grade"))
    return query is not None and any(others)


def detect(source: ByteSource, thing: str, known_columns: KnownColumns | None = None) -> Format:
    """The format of a file, from its first bytes. Without `known_columns` those of runs and qrels are."""
    seen = Beginning(source, thing, known_columns or has_ranking_columns)
    if seen.is_empty:
        raise source.empty()

    able = [entry for entry in FORMATS.values() if thing in entry.holds]
    detected = next((entry for entry in able if entry.recognised is not None and entry.recognised(seen)), None)
    if detected is None and thing in ("run", "qrels") and _is_header(seen):
        raise no_known_columns(thing, seen.header, source.name)

    detected = detected or next((entry for entry in able if entry.fallback), None)
    if detected is None:
        first = ids.show(seen.lines[0].decode("utf-8", "replace"), 40)
        what = f"is of no known format ({', '.join(names(thing))} with known columns); it begins with '{first}'"
        hint = "Name the columns' fields with fields=... (--map), or say format=..."
        raise InputError(what, where=source.name, hint=hint)

    return detected


def _is_header(seen: Beginning) -> bool:
    """Whether a file begins with names of columns and a row under them, and no line of it is TREC text."""
    name = re.compile(r"[^\W\d][\w .:/@#-]*")
    if seen.is_trec or len(seen.header) < 2 or not all(map(name.fullmatch, seen.header)):
        return False
    sign = separator(seen.lines[0]).encode()
    return len(seen.lines) > 1 and seen.lines[1].count(sign) == seen.lines[0].count(sign)


def to_write(path: Path, name: str | None) -> Format:
    """The format to write a file in: the one that is named, else the one that goes with the file's name."""
    able = {entry.name: entry for entry in FORMATS.values() if entry.writes}
    if name is not None:
        return able[one_of(name, able, "format")]
    suffix = path.suffix.lower()
    if suffix in _NOT_WRITTEN:
        endings = ", ".join(f"{ending} ({entry.name})" for entry in able.values() for ending in entry.suffixes)
        hint = f"Files that end so are written: {endings}; others as TREC text. format='csv' (--to csv) wins."
        raise OptionError(f"files that end in {suffix} are not written", hint=hint)
    by_suffix = (entry for entry in able.values() if suffix in entry.suffixes)
    return next(by_suffix, next(entry for entry in able.values() if entry.fallback))


def of_folder(path: Path) -> Format | None:
    """The format of a folder that is a whole data set; None for a folder of part files."""
    return next((entry for entry in FORMATS.values() if entry.folder and (path / entry.folder).is_dir()), None)


# Runs and qrels as rows, for the formats that have a row for each document.


def header_of(data: Run | Qrels) -> list[str]:
    """The names of the columns: query, doc and score or grade; `judged_by` where a model judged."""
    value = "score" if isinstance(data, Run) else "grade"
    return ["query", "doc", value, *(["judged_by"] if isinstance(data, Qrels) and data.judges else [])]


def rows_of(data: Run | Qrels) -> Iterator[tuple[Any, ...]]:
    """A row for each document of each query; where people and a model judged it, one for each of them."""
    parts: Mapping[str, Run | Qrels] = data.judges if isinstance(data, Qrels) and data.judges else {"": data}
    for who, part in parts.items():
        said = (who,) if who else ()
        for query in part:
            for doc, number in part[query].items():
                yield query, doc, number, *said
