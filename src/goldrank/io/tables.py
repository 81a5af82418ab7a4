"""Tables: CSV and TSV with a header, Parquet, Arrow, and data frames of any kind, through polars.

Columns go by any of their names (`names`). Nothing is guessed about values: ids are text or integers,
integers stay exact, and text that looks like a missing value ("NA") is an id like any other.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from goldrank import ids
from goldrank.data.blocks import NO_LINE_END, Block, Rows, Tags
from goldrank.data.qrels import HIGH_GRADE, Judgements, Qrels, check_grade
from goldrank.data.run import Run
from goldrank.errors import InputError, Place
from goldrank.io import names, parquet
from goldrank.io.sources import Source

BATCH = 200_000
"""Rows that are ranked at a time."""
MOST_SLICED = 2_000_000
"""Rows of a row group up to which it is read slice by slice."""
ROW = 150
"""Bytes that a row takes while it is ranked, beside its own: chosen, as the next ones are.

READ_AHEAD and TIMES_TABLE were not compared with peaks.
"""
PAGES = 8 << 20
READ_AHEAD = 4
TIMES_TABLE = 8

Partition = Sequence[tuple[str, str | None]]
"""Columns and their values, as the folders of a partitioned table name them."""


def read_run(source: Source, kind: str, partition: Partition = ()) -> Run:
    """A run from a table file; `partition` has columns whose one value is in the path and not in the file."""
    table = open_table(source, kind, partition)
    run = _run(table, "text")
    run.notes = tuple(table.notes)
    return run


def read_qrels(source: Source, kind: str, partition: Partition = (), *, real_grades: bool = False) -> Judgements:
    """Judgements from a table file."""
    return _judgements(open_table(source, kind, partition), real_grades)


def run_from_frame(frame: Any, name: str) -> Run:
    """A run from a data frame with columns for query, document and score (or rank)."""
    table = Table(to_lazy(frame, name), name, name)
    return _run(table, _id_kind(table))


def qrels_from_frame(frame: Any, name: str, *, judgements: str = "error", real_grades: bool = False) -> Qrels:
    """Qrels from a data frame with columns for query, document and grade."""
    table = Table(to_lazy(frame, name), name, name)
    kind = _id_kind(table)
    qrels = Qrels.from_parts([_judgements(table, real_grades)], name=name, judgements=judgements)
    qrels.id_kind = kind
    return qrels


def to_lazy(frame: Any, name: str) -> pl.LazyFrame:
    """Any data frame as a lazy polars one, without a copy where that is possible."""
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pl.DataFrame(frame).lazy()
    except (ImportError, pl.exceptions.PolarsError, TypeError, ValueError):
        pass
    if hasattr(frame, "columns"):
        try:
            return pl.DataFrame({str(c): list(frame[c]) for c in frame.columns}, strict=True).lazy()
        except (pl.exceptions.PolarsError, TypeError, KeyError) as error:
            raise InputError(f"cannot be read as a table: {error}", where=name) from None
    raise InputError(f"{type(frame).__name__} is no data frame", where=name)


def dump(data: Run | Qrels) -> bytes:
    """A run or qrels as Parquet with columns query, doc and score or grade."""
    value = "score" if isinstance(data, Run) else "grade"
    rows = [(query, doc, number) for query in data for doc, number in data[query].items()]
    columns: dict[str, list[Any]] = {"query": [r[0] for r in rows], "doc": [r[1] for r in rows]}
    whole = value == "grade" and all(isinstance(r[2], int) for r in rows)
    columns[value] = [r[2] for r in rows]
    schema: dict[str, Any] = {"query": pl.String, "doc": pl.String, value: pl.Int64 if whole else pl.Float64}
    for column in ("query", "doc"):
        if not all(_is_utf8(text) for text in columns[column]):
            columns[column] = [ids.encode(text) for text in columns[column]]
            schema[column] = pl.Binary
    buffer = io.BytesIO()
    pl.DataFrame(columns, schema=schema).write_parquet(buffer)
    return buffer.getvalue()


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Files.


@dataclass
class Table:
    """A table and what is known of where it comes from."""

    frame: pl.LazyFrame
    where: str
    label: str
    notes: list[str] = field(default_factory=list)
    line_of: Callable[[int], int] | None = None
    """The line that a row stands in, for text."""
    source: Source | None = None
    shape: parquet.Shape | None = None
    """For a Parquet file that can be read in slices, its size."""

    def place(self, row: int) -> Place | str:
        """Where a row is, for messages."""
        return f"{self.where}: row {row + 1}" if self.line_of is None else Place(self.where, self.line_of(row))

    def columns(self) -> list[str]:
        """The names of the columns."""
        with reading(self.where):
            return self.frame.collect_schema().names()


@contextmanager
def reading(where: str, kind: str = "a table") -> Iterator[None]:
    """Turn polars' errors, its panics on damaged files among them, into ours."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"cannot be read as {kind}: {_first_line(error)}", where=where, hint="Is the file complete?"
        ) from None


def open_table(source: Source, kind: str, partition: Partition = ()) -> Table:
    """A table file; `partition` as in `read_run`."""
    table = _open_file(source, kind)
    missing = [(name, value) for name, value in partition if name not in table.columns()]
    if missing:
        table.frame = table.frame.with_columns(pl.lit(value, pl.String).alias(name) for name, value in missing)
    table.source = source
    return table


def _open_file(source: Source, kind: str) -> Table:
    if kind == "table":
        return _read_text(source)
    table = Table(pl.LazyFrame(), source.name, source.label, source.notes)
    with reading(source.name, kind):
        if kind == "parquet" and source.path is not None and source.compression is None:
            with source.open() as file:
                table.shape = parquet.check(file, source.name)
            table.frame = pl.scan_parquet(source.path, glob=False, hive_partitioning=False)
            return table
        data = io.BytesIO(source.read())
        if kind == "parquet":
            parquet.check(data, source.name)
            data.seek(0)
            table.frame = pl.read_parquet(data).lazy()
        elif source.head.startswith(b"\xff\xff\xff\xff"):
            table.frame = pl.read_ipc_stream(data).lazy()
        else:
            table.frame = pl.read_ipc(data).lazy()
    return table


def _read_text(source: Source) -> Table:
    """CSV or TSV with a header, every cell as text."""
    raw = source.read(lines=True)
    for wrong, what in ((raw.find(b"\0"), "NUL byte"), (_not_utf8(raw), "is not UTF-8 text")):
        if wrong >= 0:
            line = raw.count(b"\n", 0, wrong) + 1
            column = len(ids.decode(raw[raw.rfind(b"\n", 0, wrong) + 1 : wrong])) + 1
            hint = "Save the table as UTF-8 text, or use a TREC file."
            raise InputError(what, where=Place(source.name, line, column), hint=hint)
    notes = [*source.notes]
    if raw[-1:] != b"\n":
        notes.append(NO_LINE_END)
    comments = re.match(rb"(?:[ \t\v\f\r]*(?:#[^\n]*)?\n)*", raw)
    assert comments is not None
    before = raw.count(b"\n", 0, comments.end())
    body = raw[comments.end() :]
    separator = "\t" if b"\t" in body.split(b"\n", 1)[0] else ","
    split = _split_quoted if b'"' in body else _split_plain
    frame, lines = split(body, separator, lambda line: Place(source.name, before + line))
    filled = frame.select(pl.any_horizontal(pl.all() != "")).to_series().to_numpy()
    if not filled.all():
        notes.append(f"blank lines: {int((~filled).sum()):,}")
        frame, lines = frame.filter(filled), lines[filled]
    return Table(frame.lazy(), source.name, source.label, notes, lambda row: before + int(lines[row]))


At = Callable[[int], Place]


def _split_plain(body: bytes, separator: str, at: At) -> tuple[pl.DataFrame, np.ndarray]:
    """The cells of a table without quotes, and the line of each row."""
    header = _header(body.split(b"\n", 1)[0].decode().split(separator), at)
    options: dict[str, Any] = {
        "separator": separator,
        "quote_char": None,
        "infer_schema": False,
        "empty_string_is_null" if _HAS_EMPTY_OPTION else "missing_utf8_is_empty_string": not _HAS_EMPTY_OPTION,
    }
    try:
        frame = pl.read_csv(io.BytesIO(body), **options)
    except pl.exceptions.PolarsError as error:
        for number, line in enumerate(body.decode().split("\n"), 1):
            if line.count(separator) >= len(header):
                raise _too_wide(line.split(separator), header, at(number)) from None
        raise InputError(f"is no regular table: {_first_line(error)}", where=at(1)) from None
    frame.columns = header
    return frame, np.arange(2, len(frame) + 2)


def _split_quoted(body: bytes, separator: str, at: At) -> tuple[pl.DataFrame, np.ndarray]:
    """The same where cells may be quoted, and then hold separators and line ends."""
    reader = csv.reader(io.StringIO(body.decode(), newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        header = _header(next(reader), at)
        line = reader.line_num
        for row in reader:
            if len(row) > len(header):
                raise _too_wide(row, header, at(line + 1))
            rows.append(row + [""] * (len(header) - len(row)))
            lines.append(line + 1)
            line = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"is no regular table: {error}", where=at(reader.line_num), hint="Is a quote missing, or a cell cut off?"
        ) from None
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    return pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String)), np.array(lines, np.int64)


def _header(cells: Sequence[str], at: At) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if twice is not None:
        raise InputError(f"column '{ids.show(twice)}' is there twice", where=at(1))
    return header


def _too_wide(cells: Sequence[str], header: Sequence[str], where: Place) -> InputError:
    shown = ids.show(" ".join(cells), 80)
    return InputError(
        f"found {len(cells)} columns in '{shown}', expected {len(header)} ({', '.join(header)})",
        where=where,
        hint="A cell that holds the separator must be in double quotes.",
    )


def _has_empty_option() -> bool:
    import inspect

    return "empty_string_is_null" in inspect.signature(pl.read_csv).parameters


_HAS_EMPTY_OPTION = _has_empty_option()
"""polars 2 renamed the option that keeps empty cells apart from missing ones."""


def _not_utf8(raw: bytes) -> int:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return -1


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# Runs.


class TableRun:
    """A run in a table, ranked batch by batch (a `BlockSource`)."""

    def __init__(self, table: Table, value: str, tagged: bool = False) -> None:
        self.name = table.where
        self.source = table.source
        self.shape = table.shape
        self._table = table
        self._value = value
        """The column that orders documents: 'score', or 'rank' in its absence."""
        self._tagged = tagged

    def pieces(self, share: float = 1.0) -> Iterator[Callable[[], Block]]:
        begin = 0
        step = max(1, int(BATCH * share))
        batches = self._slices(step) if self._sliced else self._batches(step)
        for load, size in batches:
            yield lambda load=load, begin=begin: self._block(load(), begin)  # type: ignore[misc]
            begin += size
        if not begin:
            raise InputError("no rows", where=self.name, hint="Did the system return anything?")

    @property
    def _sliced(self) -> bool:
        # To skip rows within a row group takes time, so large ones are better read in one go.
        return self.shape is not None and self.shape.group_rows <= MOST_SLICED

    def _slices(self, step: int) -> Iterator[tuple[Callable[[], pl.DataFrame], int]]:
        """Slices that are read by whoever wants them: memory then holds no more than those in work."""
        assert self.shape is not None

        def load(begin: int, size: int) -> pl.DataFrame:
            with reading(self.name):
                found = self._table.frame.slice(begin, size).collect()
            if len(found) != size:
                raise InputError(f"has fewer than the {self.shape.rows:,} rows of its footer", where=self.name)  # type: ignore[union-attr]
            return found

        for begin in range(0, self.shape.rows, step):
            size = min(step, self.shape.rows - begin)
            yield lambda begin=begin, size=size: load(begin, size), size  # type: ignore[misc]

    def _batches(self, step: int) -> Iterator[tuple[Callable[[], pl.DataFrame], int]]:
        batches = self._table.frame.collect_batches(maintain_order=True, chunk_size=step)
        while True:
            with reading(self.name):
                batch = next(batches, None)
            if batch is None:
                return
            for low in range(0, len(batch), step):
                part = batch.slice(low, step)
                yield lambda part=part: part, len(part)  # type: ignore[misc]

    def memory(self, threads: int, share: float) -> int:
        if self.shape is None:
            # A table that is not Parquet is held whole.
            return TIMES_TABLE * (self.source.unpacked() if self.source is not None else 0)
        rows = max(1, self.shape.group_rows)
        step = min(share * BATCH, self.shape.rows)
        row = self.shape.group_bytes / rows + ROW
        if self._sliced:
            return int((threads + 1) * (PAGES + step * row))
        return int(READ_AHEAD * self.shape.group_bytes * (1 + ROW * rows / max(1, self.shape.group_bytes)))

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        return pl.Series(docs, dtype=pl.Binary).hash(seed=0).to_numpy()

    def digest(self) -> str | None:
        return None if self.source is None else self.source.digest()

    def _block(self, batch: pl.DataFrame, begin: int) -> Block:
        def place(row: int) -> Place | str:
            return self._table.place(begin + row)

        query, doc = (_id_bytes(batch[column], column, place) for column in ("query", "doc"))
        score = _numbers(batch[self._value], self._value, place)
        if self._value == "rank":
            score = -score
        key = doc.hash(seed=0).to_numpy()
        changed = (query != query.shift(1)).fill_null(False).to_numpy()
        start = np.concatenate((np.zeros(min(1, len(batch)), np.int64), np.flatnonzero(changed)))

        def rows(lines: np.ndarray) -> Rows:
            kept = doc.gather(lines)
            return Rows(
                score[lines],
                key[lines],
                lambda some: kept.gather(some).to_list(),
                lambda line: place(int(lines[line])),
            )

        tags: Tags | None = None
        if self._tagged:
            tag = batch["tag"].fill_null("").cast(pl.Binary)
            other = np.flatnonzero((tag != tag.shift(1)).fill_null(False).to_numpy())
            first = np.concatenate((start[:1], other, [len(batch)]))
            tags = Tags(len(batch), lambda: first, lambda lines: tag.gather(lines).to_list())
        return Block(
            score,
            key,
            lambda lines: doc.gather(lines).to_list(),
            place,
            query.gather(start).to_list(),
            np.append(start, len(batch)),
            rows,
            tags=tags,
        )


def _run(table: Table, id_kind: str) -> Run:
    columns = table.columns()
    value = "rank" if names.find(columns, "score") is None and names.find(columns, "rank") else "score"
    found = names.find_all(columns, ("query", "doc", value), table.where)
    wanted = [pl.col(column).alias(word) for word, column in found.items()]
    tag = names.find(columns, "tag")
    tagged = tag is not None and tag not in found.values() and not table.frame.collect_schema()[tag].is_nested()
    if tagged:
        assert tag is not None
        wanted.append(pl.col(tag).cast(pl.String).alias("tag"))
    table.frame = table.frame.select(wanted)
    return Run(blocks=TableRun(table, value, tagged), name=table.label, id_kind=id_kind)


# Qrels.


def _judgements(table: Table, real_grades: bool) -> Judgements:
    found = names.find_all(table.columns(), ("query", "doc", "grade"), table.where)
    with reading(table.where):
        frame = table.frame.select(pl.col(column).alias(word) for word, column in found.items()).collect()
    if not len(frame):
        raise InputError("no rows", where=table.where, hint="Is it the right file, and is it complete?")
    grade = frame["grade"]
    unjudged = (grade.is_null() | (grade == "") if grade.dtype == pl.String else grade.is_null()).to_numpy()
    rows = np.flatnonzero(~unjudged)
    if not len(rows):
        raise InputError("no row has a grade", where=table.where)
    notes = [*table.notes]
    if unjudged.any():
        notes.append(f"rows without a grade, taken as not judged: {int(unjudged.sum()):,}")

    def place(row: int) -> Place | str:
        return table.place(int(rows[row]))

    kept = frame[rows]
    exact = grade.dtype.is_integer()
    values = kept["grade"].to_list() if exact else _numbers(kept["grade"], "grade", place).tolist()
    return Judgements(
        _id_bytes(kept["query"], "query", place).to_list(),
        _id_bytes(kept["doc"], "doc", place).to_list(),
        [
            value if type(value) is int and 0 <= value < HIGH_GRADE else check_grade(value, place(row), real_grades)
            for row, value in enumerate(values)
        ],
        place,
        notes,
    )


# Columns.


def _id_kind(table: Table) -> str:
    found = names.find_all(table.columns(), ("query", "doc"), table.where)
    schema = table.frame.collect_schema()
    query, doc = ("int" if schema[found[word]].is_integer() else "str" for word in ("query", "doc"))
    return query if query == doc else f"{query}/{doc}"


def _id_bytes(column: pl.Series, what: str, place: Callable[[int], Place | str]) -> pl.Series:
    """Ids as bytes."""
    if column.null_count():
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InputError(f"the {what} id is missing", where=place(row))
    kind = column.dtype
    if kind.is_float() or kind.is_nested() or kind.is_temporal() or kind == pl.Boolean:
        raise InputError(
            f"{what} ids are of type {kind}",
            where=place(0),
            hint="Ids are text or integers. pandas makes floats of integers where some are missing.",
        )
    try:
        texts = column if kind == pl.Binary else column.cast(pl.String).cast(pl.Binary)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{what} ids of type {kind}: {_first_line(error)}", where=place(0)) from None
    size = texts.bin.size().to_numpy()
    for wrong, text in (
        (size == 0, "is empty"),
        (size > ids.MAX_ID_BYTES, f"has more than {ids.MAX_ID_BYTES:,} bytes"),
    ):
        if wrong.any():
            raise InputError(f"the {what} id {text}", where=place(int(np.flatnonzero(wrong)[0])))
    return texts


def _numbers(column: pl.Series, what: str, place: Callable[[int], Place | str]) -> np.ndarray:
    """Numbers as doubles, none missing and none NaN."""
    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)):
        raise InputError(f"the {what} column is of type {kind}", where=place(0), hint="It should hold numbers.")
    values = column.cast(pl.Float64, strict=False)
    if values.null_count():
        row = int(np.flatnonzero(values.is_null().to_numpy())[0])
        found = column[row]
        if found is None or found == "":
            raise InputError(f"the {what} is missing", where=place(row))
        hint = f"A {what} is a decimal number such as 12.5."
        if isinstance(found, str) and found.replace(",", ".").lstrip("+-").replace(".", "", 1).isdigit():
            hint = "Is this a decimal comma? " + hint
        raise InputError(f"{what} '{ids.show(str(found))}' is not a number", where=place(row), hint=hint)
    numbers = values.to_numpy()
    if np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0])
        raise InputError(
            f"the {what} is NaN",
            where=place(row),
            hint="A document that was not scored has no place in a ranking: leave it out.",
        )
    return numbers
