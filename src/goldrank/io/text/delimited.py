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
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base import ids, notes
from goldrank.base.errors import InputError, Position
from goldrank.base.forking import check_polars
from goldrank.base.machine import fits
from goldrank.base.packages import needed
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io.aliases import normal
from goldrank.io.formats import DATA_LINE, Reading, header_of, rows_of, separator
from goldrank.io.records import Records
from goldrank.io.sources import FILLED, MAX_RECORD, ByteSource

if TYPE_CHECKING:
    import polars as pl

    from goldrank.io.tables.polars_tables import InputTable


CELL, QUOTED_CELL = 40, 200
"""Bytes for each cell of a table while it is split, without quotes and with, beside four times the file. With 1.2
million cells it was 20 and 125."""


_BLANK = " \t\n\r\x0b\x0c"
"""A line, or a row of cells, that holds nothing else is blank."""
_BLANKS = np.frombuffer(_BLANK.encode(), np.uint8)
_WHITE_SPACE = rb"[ \t\n\r\x0b\x0c]"
_LEAST_GAP = 1_000
_GAP = re.compile(rb"(?<!%b)%b{%d,}+" % (_WHITE_SPACE, _WHITE_SPACE, _LEAST_GAP))
"""So much white space, looked at once from its beginning; the blank lines in it are taken out at once."""

Blocks = Iterable[tuple[int, int, bytes]]
"""Lines that follow each other, without the last one's LF, with the first one's number and offset."""


def _by_tables(name: str) -> Callable[[ByteSource, Reading], Any]:
    """A function of `tables`, which brings polars, for files of this format."""
    return lambda source, how: getattr(import_module("goldrank.io.tables.polars_tables"), name)(
        _open_table(source), how
    )


read_run, read_qrels = _by_tables("read_run"), _by_tables("read_qrels")


def read_records(source: ByteSource, how: Reading) -> Records:
    """Records of questions, one per row."""

    def records(counts: Counter[str]) -> Iterator[tuple[int, dict[str, str]]]:
        # Closed here: an error keeps what it passed through, and with it would keep the file open.
        with closing(source.blocks()) as blocks, closing(read_rows(blocks, source.name, counts, source.told)) as rows:
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
    blocks: Blocks, name: str, counts: Counter[str], told: Callable[[int], None] | None = None
) -> Generator[tuple[int, list[str]], None, None]:
    """The header and then every row that is not blank, each with the line that it begins in.

    `counts` gets codes of notes; `told` gets how far it has come. A row with fewer or more cells than the header is an
    error.
    """
    lines = _Lines(blocks, counts)
    numbered = iter(lines)
    first = next(numbered, None)
    if first is None:
        return
    texts = (_decoded(line, Position(name, number)) + "\n" for number, line in chain([first], numbered))
    reader = csv.reader(texts, delimiter=separator(first[1]), strict=True)
    header: list[str] = []
    while (row := _next_row(reader, lines, name)) is not None:
        begin = lines.begin
        if told is not None:
            told(lines.offset)
        if not any(cell.strip(_BLANK) for cell in row) and (not header or len(row) in (0, 1, len(header))):
            counts["blank-lines"] += 1
            continue
        if not header:
            row = header = _header(row, Position(name, begin))
        elif len(row) == 1 and row[0].strip() and _is_quepid(header):
            counts["unrated-queries"] += 1
            continue
        elif len(row) != len(header):
            raise _wrong_width(row, header, Position(name, begin))
        yield begin, row


class _Lines:
    """Lines of blocks with their numbers. Before a row blank ones are skipped at once: there may be millions."""

    def __init__(self, blocks: Blocks, counts: Counter[str]) -> None:
        self._blocks, self._counts = blocks, counts
        self.is_new_row = True
        self.begin = 0
        """The first line of the row that is read."""
        self.number = 0
        self.offset = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for number, offset, block in self._blocks:
            at = 0
            while at <= len(block):
                if self.is_new_row:
                    matched = FILLED.search(block, at)
                    if matched:
                        skipped = block.count(b"\n", at, matched.start())
                    else:
                        skipped = block.count(b"\n", at) + 1
                    self._counts["blank-lines"] += skipped
                    number += skipped
                    if matched is None:
                        break
                    at, end = matched.span()
                    self.begin, self.is_new_row = number, False
                else:
                    end = block.find(b"\n", at)
                    if end < 0:
                        end = len(block)
                    else:
                        end = end
                self.number, self.offset = number, offset + end + 1
                yield number, block[at:end]
                number += 1
                at = end + 1


def _next_row(reader: Any, lines: _Lines, name: str) -> list[str] | None:
    usual = csv.field_size_limit(MAX_RECORD)
    try:
        row: list[str] | None = next(reader, None)
        lines.is_new_row = True
        return row
    except csv.Error as error:
        where, hint = Position(name, lines.number), "Is a quote missing, or a cell cut off?"
        raise InputError(f"is no regular table: {error}", where=where, hint=hint) from None
    finally:
        csv.field_size_limit(usual)


def _decoded(line: bytes, where: Position) -> str:
    """A line as text, or the error that says which character is none."""
    wrong, what = line.find(b"\0"), "NUL byte"
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        wrong, what = error.start, "is not UTF-8 text"
    if wrong >= 0:
        column = len(ids.decode(line[:wrong])) + 1
        raise InputError(what, where=Position(where.file, where.line, column), hint="Save the table as UTF-8 text.")
    return text


def _header(cells: Sequence[str], where: Position) -> list[str]:
    header = [cell.strip() for cell in cells]
    repeated, times = next(iter(Counter(header).most_common(1)), ("", 1))
    if times > 1:
        raise InputError(f"column '{ids.show(repeated)}' is duplicated", where=where)
    return header


def _wrong_width(cells: Sequence[str], header: Sequence[str], where: Position) -> InputError:
    shown, expected = ids.show(" ".join(cells), 80), ids.show(", ".join(header), 200)
    hint = "A cell that holds the separator must be in double quotes."
    what = f"found {len(cells)} columns in '{shown}', expected {len(header)} ({expected})"
    return InputError(what, where=where, hint=hint)


def _open_table(source: ByteSource) -> InputTable:
    from goldrank.io.tables.polars_tables import InputTable

    check_polars()
    raw = source.read(lines=True)
    counts = Counter({"no-line-end": int(raw[-1:] != b"\n")})
    data = DATA_LINE.search(raw)
    if data is None:
        raise source.empty()
    before = raw.count(b"\n", 0, data.start())
    body = raw[data.start() :]
    header = body.split(b"\n", 1)[0].decode("utf-8", "replace")
    careful = b'"' in raw or _is_quepid([cell.strip() for cell in header.split(",")])
    numbers = _Numbers(before + 1)
    if not careful:
        body = _without_gaps(body, numbers, counts)
    cells = max(map(body.count, (b",", b"\t", b";", b"|"))) + body.count(b"\n")
    if b'"' in raw:
        cell_size = QUOTED_CELL
    else:
        cell_size = CELL
    fits(4 * len(raw) + cell_size * cells, f"holding a table of {cells:,} cells", source.name)
    if careful:
        split = _split_quoted
    else:
        split = _split_plain
    frame, lines = split(body, numbers, source.name, counts)
    noticed = [*source.notes, *notes.from_counts(counts)]
    return InputTable(frame.lazy(), source, noticed, line_of=lambda row: int(lines[row]), is_held=True)


def _is_quepid(header: Sequence[str]) -> bool:
    """Whether it is Quepid's table of ratings, in which a query without ratings is a row with the query alone."""
    return tuple(map(normal, header)) in (("query", "docid", "rating"), ("query", "doc_id", "rating"))


@dataclass
class _Numbers:
    """The numbers of lines in a file of which lines were taken out."""

    first: int
    ends: list[int] = field(default_factory=list)
    """The lines, counted from 0, before which some were taken out."""
    taken: list[int] = field(default_factory=lambda: [0])
    """How many, together, up to each of them."""

    def of(self, lines: np.ndarray) -> np.ndarray:
        numbers: np.ndarray = self.first + lines + np.array(self.taken)[np.searchsorted(self.ends, lines, "right")]
        return numbers

    def place(self, name: str, line: int) -> Position:
        return Position(name, int(self.of(np.array([line]))[0]))


def _without_gaps(body: bytes, numbers: _Numbers, counts: Counter[str]) -> bytes:
    """A table without quotes, with one line end in place of each `_GAP`."""
    parts, at, line = [], 0, 0
    for gap in _GAP.finditer(body):
        first, last = body.find(b"\n", *gap.span()), body.rfind(b"\n", *gap.span())
        if last - first < _LEAST_GAP:
            continue

        parts.append(body[at : first + 1])
        line += parts[-1].count(b"\n")
        at = last + 1
        blank = body.count(b"\n", first, at) - 1
        numbers.ends.append(line)
        numbers.taken.append(numbers.taken[-1] + blank)
    counts["blank-lines"] += numbers.taken[-1]
    if parts:
        return b"".join([*parts, body[at:]])
    return body


def _split_quoted(body: bytes, numbers: _Numbers, name: str, counts: Counter[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The rows of a table, and the line of each."""
    with needed("polars"):
        import polars as pl

    numbered = read_rows([(numbers.first, 0, body.removesuffix(b"\n"))], name, counts)
    _, header = next(numbered, (0, []))
    rows = list(numbered)
    columns = {column: [row[i] for _, row in rows] for i, column in enumerate(header)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
    return frame, np.array([number for number, _ in rows], np.int64)


def _split_plain(body: bytes, numbers: _Numbers, name: str, counts: Counter[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The same for a table without quotes."""
    with needed("polars"):
        import polars as pl

    at: Callable[[int], Position] = partial(numbers.place, name)
    if not _is_utf8_without_nul(body):
        for number, raw in enumerate(body.split(b"\n")):
            _decoded(raw, at(number))
    first = body.split(b"\n", 1)[0]
    sign = separator(first)
    header = _header(first.decode().split(sign), at(0))
    odd = _first_odd_line(body, ord(sign), len(header))
    if odd is not None:
        cells = body.split(b"\n", odd + 1)[odd].decode().rstrip("\r").split(sign)
        raise _wrong_width(cells, header, at(odd))
    try:
        frame = pl.read_csv(
            io.BytesIO(body),
            separator=sign,
            quote_char=None,
            infer_schema=False,
            truncate_ragged_lines=True,  # they are blank: see above
            **_keep_empty_cells(),
        )
    except pl.exceptions.PolarsError as error:
        raise InputError(f"is no regular table: {error}", where=at(0)) from None
    frame.columns = header
    lines = numbers.of(np.arange(1, len(frame) + 1))
    is_blank = pl.all_horizontal(pl.all().str.strip_chars(_BLANK) == "")
    maybe = np.flatnonzero(frame.select(pl.first().str.strip_chars(_BLANK) == "").to_series().to_numpy())
    if len(maybe):
        blank = maybe[frame[maybe].select(is_blank).to_series().to_numpy()]
    else:
        blank = maybe
    if not len(blank):
        return frame, lines
    counts["blank-lines"] += len(blank)
    filled = np.ones(len(frame), bool)
    filled[blank] = False
    return frame.filter(filled), lines[filled]


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
    if len(odd):
        return int(odd[0])
    return None


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
    if renamed:
        return {"empty_string_is_null": False}
    return {"missing_utf8_is_empty_string": True}
