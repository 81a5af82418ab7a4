"""CSV and TSV with a header. Every cell is text: text that looks like a missing value ("NA") is an id like any other.

`read_rows` reads rows one by one. Tables, which may have millions of rows, are split by polars instead: those with
quotes once these are removed and what they protect is replaced by bytes that the file does not have.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import chain
from types import MappingProxyType
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
"""Bytes of memory for each cell of a table while it is split, without and with quotes, in addition to four times the
file. With 1.2 million cells it was 20 and 125."""

_BLANK = " \t\n\r\x0b\x0c"
"""A line or a row of cells is blank if it has only these characters."""
_BLANKS = np.frombuffer(_BLANK.encode(), np.uint8)
_IS_FILLED = ~np.isin(np.arange(256), _BLANKS)
"""By byte, whether it is not a blank."""
_WHITE_SPACE = rb"[ \t\n\r\x0b\x0c]"
_LEAST_GAP = 1_000
_GAP = re.compile(rb"(?<!%b)%b{%d,}+" % (_WHITE_SPACE, _WHITE_SPACE, _LEAST_GAP))
"""A long stretch of white space, whose blank lines are removed together."""

_LF, _CR, _QUOTE = b'\n\r"'
_STAND_INS = [byte for byte in range(1, 32) if byte not in _BLANKS]
"""Bytes that may stand for others, if a file does not have them: control bytes that are not white space."""
NO_SIGNS: Mapping[str, str] = MappingProxyType({})

Blocks = Iterable[tuple[int, int, bytes]]
"""Blocks of consecutive lines without the last LF, each after the number and offset of its first line."""


def _by_tables(name: str) -> Callable[[ByteSource, Reading], Any]:
    """A reader of `polars_tables`, which imports polars, for files of this format."""

    def read(source: ByteSource, reading: Reading) -> Any:
        tables = import_module("goldrank.io.tables.polars_tables")
        return getattr(tables, name)(_open_table(source), reading)

    return read


read_run, read_qrels = _by_tables("read_run"), _by_tables("read_qrels")


def read_records(source: ByteSource, reading: Reading) -> Records:
    """Records of questions, one per row."""

    def records(counts: Counter[str]) -> Iterator[tuple[int, dict[str, str]]]:
        # Closed here: the traceback of an error keeps the generators, and they would keep the file open.
        progress = source.report_progress
        with closing(source.blocks()) as blocks, closing(read_rows(blocks, source.name, counts, progress)) as rows:
            _, header = next(rows, (0, []))
            for number, row in rows:
                yield number, dict(zip(header, row, strict=True))

    return Records.of_source(source, records, cells=True)


def dump(data: Run | Qrels, separator: str = ",") -> bytes:
    """A run or qrels as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(header_of(data))
    for query, doc, *values in rows_of(data):
        writer.writerow((_cell(query, "query"), _cell(doc, "document"), *values))
    return text.getvalue().encode()


dump_tsv = partial(dump, separator="\t")


def _cell(text: str, noun: str) -> str:
    """Return an id that a table of text can store: no NUL, no CR, and UTF-8; else raise."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = b"\0"
    if b"\0" not in raw and b"\r" not in raw:
        return text
    hint = "Write JSON or Parquet instead."
    raise InputError(f"{noun} id '{ids.show(text)}' cannot be kept in a table of text", hint=hint)


def read_rows(
    blocks: Blocks, name: str, counts: Counter[str], report_progress: Callable[[int], None] | None = None
) -> Generator[tuple[int, list[str]], None, None]:
    """The header and then every row that is not blank, each after the number of its first line.

    `counts` gets codes of notes; `report_progress` gets the offset. A row with fewer or more cells than the header is
    an error.
    """
    lines = _Lines(blocks, counts)
    numbered = iter(lines)
    first = next(numbered, None)
    if first is None:
        return

    texts = (_decoded(line, Position(name, number)) + "\n" for number, line in chain([first], numbered))
    reader = csv.reader(texts, delimiter=separator(first[1]), strict=True)
    header: list[str] = []
    while True:
        row = _next_row(reader, lines, name)
        if row is None:
            return
        begin = lines.begin
        if report_progress is not None:
            report_progress(lines.offset)

        is_blank = not any(cell.strip(_BLANK) for cell in row)
        if is_blank and (not header or len(row) in (0, 1, len(header))):
            counts["blank-lines"] += 1
            continue
        if not header:
            header = row = _header(row, Position(name, begin))
        elif len(row) == 1 and row[0].strip() and _is_quepid(header):
            counts["unrated-queries"] += 1
            continue
        elif len(row) != len(header):
            raise _wrong_width(row, header, Position(name, begin))
        yield begin, row


class _Lines:
    """Lines of blocks with their numbers. Blank lines before a row are skipped together: there may be millions."""

    def __init__(self, blocks: Blocks, counts: Counter[str]) -> None:
        self._blocks = blocks
        self._counts = counts
        self.is_new_row = True
        self.begin = 0
        """The first line of the current row."""
        self.number = 0
        self.offset = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for number, offset, block in self._blocks:
            start = 0
            while start <= len(block):
                if self.is_new_row:
                    matched = FILLED.search(block, start)
                    if matched is None:
                        self._counts["blank-lines"] += block.count(b"\n", start) + 1
                        break
                    skipped = block.count(b"\n", start, matched.start())
                    self._counts["blank-lines"] += skipped
                    number += skipped
                    start, end = matched.span()
                    self.begin = number
                    self.is_new_row = False
                else:
                    end = block.find(b"\n", start)
                    if end < 0:
                        end = len(block)

                self.number = number
                self.offset = offset + end + 1
                yield number, block[start:end]
                number += 1
                start = end + 1


def _next_row(reader: Any, lines: _Lines, name: str) -> list[str] | None:
    usual = csv.field_size_limit(MAX_RECORD)
    try:
        row: list[str] | None = next(reader, None)
        lines.is_new_row = True
        return row
    except csv.Error as error:
        where = Position(name, lines.number)
        hint = "Is a quote missing, or a cell cut off?"
        raise InputError(f"is not a regular table: {error}", where=where, hint=hint) from None
    finally:
        csv.field_size_limit(usual)


def _decoded(line: bytes, where: Position) -> str:
    """A line as text; an error with the position if a character is not valid."""
    wrong = line.find(b"\0")
    problem = "NUL byte"
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        wrong = error.start
        problem = "is not UTF-8 text"

    if wrong >= 0:
        position = Position(where.file, where.line, len(ids.decode(line[:wrong])) + 1)
        raise InputError(problem, where=position, hint="Save the table as UTF-8 text.")
    return text


def _header(cells: Sequence[str], where: Position) -> list[str]:
    header = [cell.strip() for cell in cells]
    repeated, times = next(iter(Counter(header).most_common(1)), ("", 1))
    if times > 1:
        raise InputError(f"column '{ids.show(repeated)}' is duplicated", where=where)
    return header


def _wrong_width(cells: Sequence[str], header: Sequence[str], where: Position) -> InputError:
    row = ids.show(" ".join(cells), 80)
    expected = ids.show(", ".join(header), 200)
    problem = f"found {len(cells)} columns in '{row}', expected {len(header)} ({expected})"
    hint = "A cell that holds the separator must be in double quotes."
    return InputError(problem, where=where, hint=hint)


def _open_table(source: ByteSource) -> InputTable:
    from goldrank.io.tables.polars_tables import InputTable

    check_polars()
    raw = source.read(lines=True)
    counts = Counter({"no-line-end": int(raw[-1:] != b"\n")})
    data = DATA_LINE.search(raw)
    if data is None:
        raise source.empty()

    body = raw[data.start() :]
    numbers = _LineNumbers(raw.count(b"\n", 0, data.start()) + 1)
    has_quotes = b'"' in raw
    is_plain = not has_quotes and not _has_quepid_header(body)
    if is_plain:
        body = _without_gaps(body, numbers, counts)

    cells = max(map(body.count, (b",", b"\t", b";", b"|"))) + body.count(b"\n")
    cell_size = CELL
    if has_quotes:
        cell_size = QUOTED_CELL
    fits(4 * len(raw) + cell_size * cells, f"holding a table of {cells:,} cells", source.name)

    if is_plain:
        frame, lines = _split_plain(body, numbers, source.name, counts)
    else:
        frame, lines = _split_quoted(body, numbers, source.name, counts)
    all_notes = [*source.notes, *notes.from_counts(counts)]
    return InputTable(frame.lazy(), source, all_notes, line_of=lambda row: int(lines[row]), is_held=True)


def _is_quepid(header: Sequence[str]) -> bool:
    """Whether a table is Quepid's table of ratings, in which a query without ratings has a row with one cell."""
    return tuple(map(normal, header)) in (("query", "docid", "rating"), ("query", "doc_id", "rating"))


def _has_quepid_header(body: bytes) -> bool:
    header = body.split(b"\n", 1)[0].decode("utf-8", "replace")
    return _is_quepid([cell.strip() for cell in header.split(",")])


@dataclass
class _LineNumbers:
    """The numbers of lines in a file from which lines were removed."""

    first: int
    ends: list[int] = field(default_factory=list)
    """The remaining lines, counted from 0, before which lines were removed."""
    removed: list[int] = field(default_factory=lambda: [0])
    """The number of all lines removed up to each of these."""

    def of(self, lines: np.ndarray) -> np.ndarray:
        removed_before = np.array(self.removed)[np.searchsorted(self.ends, lines, "right")]
        numbers: np.ndarray = self.first + lines + removed_before
        return numbers

    def position(self, name: str, line: int) -> Position:
        return Position(name, int(self.of(np.array([line]))[0]))


def _may_have_gaps(body: bytes) -> bool:
    """Whether a block of half the length of a gap is white space: each gap has one at a multiple of that length."""
    size = _LEAST_GAP // 2
    return any(body[start : start + size].isspace() for start in range(0, len(body) - size + 1, size))


def _without_gaps(body: bytes, numbers: _LineNumbers, counts: Counter[str]) -> bytes:
    """A table without quotes, with one line end instead of each `_GAP`."""
    if not _may_have_gaps(body):
        return body

    parts = []
    offset = 0
    line = 0
    for gap in _GAP.finditer(body):
        first = body.find(b"\n", *gap.span())
        last = body.rfind(b"\n", *gap.span())
        if last - first < _LEAST_GAP:
            continue

        parts.append(body[offset : first + 1])
        line += parts[-1].count(b"\n")
        offset = last + 1
        blank = body.count(b"\n", first, offset) - 1
        numbers.ends.append(line)
        numbers.removed.append(numbers.removed[-1] + blank)

    counts["blank-lines"] += numbers.removed[-1]
    if parts:
        return b"".join([*parts, body[offset:]])
    return body


@dataclass
class _Unquoted:
    """A table whose quotes were removed."""

    body: bytes
    numbers: _LineNumbers
    signs: dict[str, str]
    """What stands in cells for separators, line ends and quotes that were in quotes, and what it stands for."""


def _unquoted(body: bytes, first: int) -> _Unquoted | None:
    """A table without its quotes; None unless each quote begins or ends a cell, or is doubled within one.

    `first` is the number of its first line.
    """
    data = np.frombuffer(body, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) % 2:
        return None
    opening, closing = quotes[::2], quotes[1::2]
    sign = ord(separator(body.split(b"\n", 1)[0]))

    padded = np.concatenate(([_LF], data, [_LF, _LF]))
    before, after, next_after = padded[opening], padded[closing + 2], padded[closing + 3]
    is_begin = (before == sign) | (before == _LF) | (before == _QUOTE)
    is_end = (after == sign) | (after == _LF) | (after == _QUOTE) | ((after == _CR) & (next_after == _LF))
    if not (is_begin.all() and is_end.all()):
        return None

    returns = np.flatnonzero(data == _CR)
    if (padded[returns + 2] != _LF).any() or len(_in_quotes(returns, quotes)):
        return None

    separators, line_ends = (_in_quotes(np.flatnonzero(data == byte), quotes) for byte in (sign, _LF))
    doubled = closing[:-1][opening[1:] == closing[:-1] + 1]
    is_used = np.bincount(data, minlength=256) > 0
    free = [byte for byte in _STAND_INS if not is_used[byte]]
    if len(free) < 3:
        return None

    changed = data.copy()
    changed[separators], changed[line_ends], changed[doubled] = free[:3]
    is_kept = np.ones(len(data), bool)
    is_kept[quotes] = False
    is_kept[doubled] = True
    signs = dict(zip(map(chr, free), (chr(sign), "\n", '"'), strict=False))

    rows = np.searchsorted(np.flatnonzero(changed == _LF), line_ends)
    numbers = _LineNumbers(first, (rows + 1).tolist(), list(range(len(rows) + 1)))
    unquoted = changed[is_kept].tobytes()
    if len(line_ends) and _may_have_gaps(unquoted):  # lines are counted for one reason or for the other
        return None
    return _Unquoted(unquoted, numbers, signs)


def _in_quotes(places: np.ndarray, quotes: np.ndarray) -> np.ndarray:
    """Those of some places that are after an opening and before its closing quote."""
    inside: np.ndarray = places[np.searchsorted(quotes, places) % 2 == 1]
    return inside


def _split_quoted(
    body: bytes, numbers: _LineNumbers, name: str, counts: Counter[str]
) -> tuple[pl.DataFrame, np.ndarray]:
    """The rows of a table, and the line of each."""
    with needed("polars"):
        import polars as pl

    plain = _unquoted(body, numbers.first)
    if plain is not None and not _has_quepid_header(plain.body):
        plain_counts: Counter[str] = Counter()
        without_gaps = _without_gaps(plain.body, plain.numbers, plain_counts)
        try:
            split = _split_plain(without_gaps, plain.numbers, name, plain_counts, plain.signs)
        except InputError:
            pass  # reading row by row finds the same, and shows what the file has
        else:
            counts.update(plain_counts)
            return split

    numbered = read_rows([(numbers.first, 0, body.removesuffix(b"\n"))], name, counts)
    _, header = next(numbered, (0, []))
    rows = list(numbered)
    columns = {}
    for i, column in enumerate(header):
        columns[column] = [row[i] for _, row in rows]
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
    return frame, np.array([number for number, _ in rows], np.int64)


def _split_plain(
    body: bytes, numbers: _LineNumbers, name: str, counts: Counter[str], signs: Mapping[str, str] = NO_SIGNS
) -> tuple[pl.DataFrame, np.ndarray]:
    """The rows of a table without quotes, and the line of each; `signs` of its cells are replaced by other text."""
    with needed("polars"):
        import polars as pl

    position: Callable[[int], Position] = partial(numbers.position, name)
    if not _is_utf8_without_nul(body):
        for number, raw in enumerate(body.split(b"\n")):
            _decoded(raw, position(number))

    first_line = body.split(b"\n", 1)[0]
    sign = separator(first_line)
    header = _header(first_line.decode().split(sign), position(0))
    odd_line = _first_odd_line(body, ord(sign), len(header))
    if odd_line is not None:
        cells = body.split(b"\n", odd_line + 1)[odd_line].decode().rstrip("\r").split(sign)
        raise _wrong_width(cells, header, position(odd_line))

    try:
        frame = pl.read_csv(
            io.BytesIO(body),
            separator=sign,
            quote_char=None,
            infer_schema=False,
            truncate_ragged_lines=True,  # ragged lines are blank: others were refused above
            **_keep_empty_cells(),
        )
    except pl.exceptions.PolarsError as error:
        raise InputError(f"is not a regular table: {error}", where=position(0)) from None

    for sign, text in signs.items():
        if sign.encode() in body:
            frame = frame.with_columns(pl.all().str.replace_all(sign, text, literal=True))
            header = [name.replace(sign, text) for name in header]

    frame.columns = header
    lines = numbers.of(np.arange(1, len(frame) + 1))
    blank = _blank_rows(frame)
    if not len(blank):
        return frame, lines
    counts["blank-lines"] += len(blank)
    is_filled = np.ones(len(frame), bool)
    is_filled[blank] = False
    return frame.filter(is_filled), lines[is_filled]


def _blank_rows(frame: pl.DataFrame) -> np.ndarray:
    """The rows in which all cells are blank."""
    with needed("polars"):
        import polars as pl

    first_is_blank = frame.select(pl.first().str.strip_chars(_BLANK) == "").to_series()
    candidates = np.flatnonzero(first_is_blank.to_numpy())
    if not len(candidates):
        return candidates
    all_are_blank = pl.all_horizontal(pl.all().str.strip_chars(_BLANK) == "")
    blank: np.ndarray = candidates[frame[candidates].select(all_are_blank).to_series().to_numpy()]
    return blank


def _first_odd_line(body: bytes, separator: int, width: int) -> int | None:
    """The first line, counted from 0, that is not blank and does not have `width` cells; None if there is none."""
    if not body:
        return None

    data = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if not body.endswith(b"\n"):
        ends = np.append(ends, len(data))

    starts = np.concatenate(([0], ends[:-1] + 1))
    separators = np.searchsorted(np.flatnonzero(data == separator), np.append(0, ends))
    is_filled = np.logical_or.reduceat(_IS_FILLED[data], starts)
    odd = np.flatnonzero((np.diff(separators) != width - 1) & is_filled)
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
    """The option that distinguishes empty cells from missing ones; polars 2 renamed it."""
    import inspect

    with needed("polars"):
        import polars as pl

    renamed = "empty_string_is_null" in inspect.signature(pl.read_csv).parameters
    if renamed:
        return {"empty_string_is_null": False}
    return {"missing_utf8_is_empty_string": True}
