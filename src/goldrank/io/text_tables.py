"""CSV and TSV with a header. Every cell is text: what looks like a missing value ("NA") is an id like any other.

There is one reader of rows, `read_rows`. Beside it, tables without quotes, which may have millions of rows, are split
by polars.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank import ids, notes
from goldrank.data import budget
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.errors import InputError, Place
from goldrank.forking import check_polars
from goldrank.io.aliases import normal
from goldrank.io.formats import Reading, separator
from goldrank.io.records import Records
from goldrank.io.sources import MAX_RECORD, ByteSource
from goldrank.io.written_rows import header_of, rows_of
from goldrank.packages import needed

if TYPE_CHECKING:
    import polars as pl

    from goldrank.io.tables import InputTable


CELL, QUOTED_CELL = 40, 200
"""Bytes for each cell of a table while it is split, without quotes and with, beside four times the file. With 1.2
million cells it was 20 and 125."""


_BLANKS = np.frombuffer(b" \t\n\r\x0b\x0c", np.uint8)


def _by_tables(name: str) -> Callable[[ByteSource, Reading], Any]:
    """A function of `tables`, which brings polars, for files of this format."""
    return lambda source, how: getattr(import_module("goldrank.io.tables"), name)(_open_table(source), how)


read_run, read_qrels = _by_tables("read_run"), _by_tables("read_qrels")


def read_records(source: ByteSource, how: Reading) -> Records:
    """Records of questions, one per row."""

    def records(counts: Counter[str]) -> Iterator[tuple[int, dict[str, str]]]:
        # Closed here: an error keeps what it passed through, and with it would keep the file open.
        with closing(source.lines()) as lines, closing(read_rows(lines, source.name, counts)) as rows:
            _, header = next(rows, (0, []))
            for number, row in rows:
                yield number, dict(zip(header, row, strict=True))

    return Records.of_source(source, records, cells=True)


def dump(data: Run | Qrels, separator: str = ",") -> bytes:
    """A run or qrels as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(header_of(data))
    for query, doc, *rest in rows_of(data):
        writer.writerow((_cell(query, "query"), _cell(doc, "document"), *rest))
    return text.getvalue().encode()


dump_tsv = partial(dump, separator="\t")


def _cell(text: str, what: str) -> str:
    """An id, if a table of text gives it back as it is: no NUL, no CR, and UTF-8."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = b"\0"
    if b"\0" not in raw and b"\r" not in raw:
        return text
    hint = "Write JSON or Parquet instead."
    raise InputError(f"{what} id '{ids.show(text)}' cannot be kept in a table of text", hint=hint)


def read_rows(
    lines: Iterable[tuple[int, bytes]], name: str, counts: Counter[str]
) -> Generator[tuple[int, list[str]], None, None]:
    """The header and then every row that is not blank, each with the line that it begins in.

    `lines` have their numbers and no line ends; `counts` gets codes of notes. A row with fewer or more cells than the
    header is an error.
    """
    numbered = iter(lines)
    start, first = next(numbered, (0, b""))
    while start and not first.strip():
        counts["blank-lines"] += 1
        start, first = next(numbered, (0, b""))
    if not start:
        return
    texts = (_decoded(line, Place(name, number)) + "\n" for number, line in chain([(start, first)], numbered))
    reader = csv.reader(texts, delimiter=separator(first), strict=True)
    header: list[str] = []
    end = start - 1
    while (row := _next_row(reader, name, start)) is not None:
        begin, end = end + 1, start + reader.line_num - 1
        if not any(cell.strip() for cell in row) and (not header or len(row) in (0, 1, len(header))):
            counts["blank-lines"] += 1
            continue
        if not header:
            row = header = _header(row, Place(name, begin))
        elif len(row) == 1 and row[0].strip() and _is_quepid(header):
            counts["unrated-queries"] += 1
            continue
        elif len(row) != len(header):
            raise _wrong_width(row, header, Place(name, begin))
        yield begin, row


def _next_row(reader: Any, name: str, start: int) -> list[str] | None:
    usual = csv.field_size_limit(MAX_RECORD)
    try:
        row: list[str] | None = next(reader, None)
        return row
    except csv.Error as error:
        where, hint = Place(name, start + reader.line_num - 1), "Is a quote missing, or a cell cut off?"
        raise InputError(f"is no regular table: {error}", where=where, hint=hint) from None
    finally:
        csv.field_size_limit(usual)


def _decoded(line: bytes, where: Place) -> str:
    """A line as text, or the error that says which character is none."""
    wrong, what = line.find(b"\0"), "NUL byte"
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        wrong, what = error.start, "is not UTF-8 text"
    if wrong >= 0:
        column = len(ids.decode(line[:wrong])) + 1
        raise InputError(what, where=Place(where.file, where.line, column), hint="Save the table as UTF-8 text.")
    return text


def _header(cells: Sequence[str], where: Place) -> list[str]:
    header = [cell.strip() for cell in cells]
    repeated, times = next(iter(Counter(header).most_common(1)), ("", 1))
    if times > 1:
        raise InputError(f"column '{ids.show(repeated)}' is duplicated", where=where)
    return header


def _wrong_width(cells: Sequence[str], header: Sequence[str], where: Place) -> InputError:
    shown, expected = ids.show(" ".join(cells), 80), ids.show(", ".join(header), 200)
    hint = "A cell that holds the separator must be in double quotes."
    what = f"found {len(cells)} columns in '{shown}', expected {len(header)} ({expected})"
    return InputError(what, where=where, hint=hint)


def _open_table(source: ByteSource) -> InputTable:
    from goldrank.io.tables import InputTable

    check_polars()
    raw = source.read(lines=True)
    cells = max(map(raw.count, (b",", b"\t", b";", b"|"))) + raw.count(b"\n")
    each = QUOTED_CELL if b'"' in raw else CELL
    budget.reserve(4 * len(raw) + each * cells, f"holding a table of {cells:,} cells", source.name)
    counts = Counter({"no-line-end": int(raw[-1:] != b"\n")})
    comments = re.match(rb"(?:[ \t\v\f\r]*(?:#[^\n]*)?\n)*", raw)
    assert comments is not None
    before = raw.count(b"\n", 0, comments.end())
    body_header = raw[comments.end() :].split(b"\n", 1)[0].decode("utf-8", "replace")
    careful = b'"' in raw or _is_quepid([cell.strip() for cell in body_header.split(",")])
    split = _split_quoted if careful else _split_plain
    frame, lines = split(raw[comments.end() :], before, source.name, counts)
    noticed = [*source.notes, *notes.from_counts(counts)]
    held = int(frame.estimated_size())
    return InputTable(frame.lazy(), source, noticed, line_of=lambda row: int(lines[row]), held=held)


def _is_quepid(header: Sequence[str]) -> bool:
    """Whether it is Quepid's table of ratings, in which a query without ratings is a row with the query alone."""
    return tuple(map(normal, header)) in (("query", "docid", "rating"), ("query", "doc_id", "rating"))


def _split_quoted(body: bytes, before: int, name: str, counts: Counter[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The rows of a table that comes after `before` lines, and the line of each."""
    with needed("polars"):
        import polars as pl

    numbered = ((before + n, line.removesuffix(b"\n")) for n, line in enumerate(io.BytesIO(body), 1))
    found = read_rows(numbered, name, counts)
    _, header = next(found, (0, []))
    rows = list(found)
    columns = {column: [row[i] for _, row in rows] for i, column in enumerate(header)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
    return frame, np.array([number for number, _ in rows], np.int64)


def _split_plain(body: bytes, before: int, name: str, counts: Counter[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The same for a table without quotes."""
    with needed("polars"):
        import polars as pl

    at: Callable[[int], Place] = partial(Place, name)
    if not _is_utf8_without_nul(body):
        for number, raw in enumerate(body.split(b"\n"), before + 1):
            _decoded(raw, at(number))
    first = body.split(b"\n", 1)[0]
    sign = separator(first)
    header = _header(first.decode().split(sign), at(before + 1))
    odd = _first_odd_line(body, ord(sign), len(header))
    if odd is not None:
        cells = body.split(b"\n", odd + 1)[odd].decode().rstrip("\r").split(sign)
        raise _wrong_width(cells, header, at(before + 1 + odd))
    try:
        frame = pl.read_csv(
            io.BytesIO(body), separator=sign, quote_char=None, infer_schema=False, **_keep_empty_cells()
        )
    except pl.exceptions.PolarsError as error:
        raise InputError(f"is no regular table: {error}", where=at(before + 1)) from None
    frame.columns = header
    lines = np.arange(before + 2, before + len(frame) + 2)
    filled = frame.select(pl.any_horizontal(pl.all() != "")).to_series().to_numpy()
    counts["blank-lines"] += int((~filled).sum())
    return frame if filled.all() else frame.filter(filled), lines[filled]


def _first_odd_line(body: bytes, separator: int, width: int) -> int | None:
    """The first line, counted from 0, that has neither `width` cells nor nothing in it."""
    if not body:
        return None
    data = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if not body.endswith(b"\n"):
        ends = np.append(ends, len(data))
    starts = np.concatenate(([0], ends[:-1] + 1))
    separators = np.searchsorted(np.flatnonzero(data == separator), np.append(0, ends))
    filled = np.logical_or.reduceat(~np.isin(data, _BLANKS), starts)
    odd = np.flatnonzero((np.diff(separators) != width - 1) & filled)
    return int(odd[0]) if len(odd) else None


def _is_utf8_without_nul(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in raw


@cache
def _keep_empty_cells() -> dict[str, Any]:
    """The option that keeps empty cells apart from missing ones; polars 2 renamed it."""
    import inspect

    with needed("polars"):
        import polars as pl

    renamed = "empty_string_is_null" in inspect.signature(pl.read_csv).parameters
    return {"empty_string_is_null": False} if renamed else {"missing_utf8_is_empty_string": True}
