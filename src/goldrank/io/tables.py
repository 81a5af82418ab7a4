"""Tables: CSV and TSV with a header, Parquet, Arrow, and data frames of any kind, through polars.

Columns go by any of their names (`names`). Nothing is guessed about values: ids are text or integers,
integers stay exact, and text that looks like a missing value ("NA") is an id like any other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from goldrank.data import ids
from goldrank.data.blocks import Block, Rows
from goldrank.data.qrels import Qrels, check_grade
from goldrank.data.run import Run
from goldrank.errors import InputError, Place
from goldrank.io import names
from goldrank.io.sources import Source

BATCH = 200_000
"""Rows that are ranked at a time."""


def read_run(source: Source | str, kind: str) -> Run:
    """A run from a table file; Parquet may be a folder or a pattern of files."""
    if isinstance(source, str):
        return _run(_scan_parquet(source), source, Path(source).name, first_line=None)
    frame = _scan(source, kind)
    name = source.path.name if source.path is not None else source.name
    run = _run(frame, source.name, name, first_line=2 if kind == "table" else None)
    return Run(blocks=run.blocks, name=name, id_kind="text", notes=tuple(source.notes))


def read_qrels(source: Source, kind: str, *, judgements: str = "error", real_grades: bool = False) -> Qrels:
    """Qrels from a table file."""
    frame = _scan(source, kind)
    name = source.path.name if source.path is not None else source.name
    first = 2 if kind == "table" else None
    return _qrels(frame, source.name, name, first, judgements, real_grades, source.notes, "text")


def run_from_frame(frame: Any, name: str) -> Run:
    """A run from a data frame with columns for query, document and score (or rank)."""
    return _run(to_lazy(frame, name), name, name, first_line=None)


def qrels_from_frame(frame: Any, name: str, *, judgements: str = "error", real_grades: bool = False) -> Qrels:
    """Qrels from a data frame with columns for query, document and grade."""
    lazy = to_lazy(frame, name)
    return _qrels(lazy, name, name, None, judgements, real_grades, [], _id_kind(lazy, name))


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


def write(data: Run | Qrels, path: Path) -> None:
    """Write a run or qrels as Parquet with columns query, doc and score or grade."""
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
    pl.DataFrame(columns, schema=schema).write_parquet(path)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Files.


def _scan(source: Source, kind: str) -> pl.LazyFrame:
    try:
        if kind == "parquet":
            return _scan_parquet(str(source.path)) if source.path else pl.read_parquet(io.BytesIO(source.read())).lazy()
        if kind == "arrow":
            data = io.BytesIO(source.read())
            stream = source.head.startswith(b"\xff\xff\xff\xff")
            return (pl.read_ipc_stream(data) if stream else pl.read_ipc(data)).lazy()
        return _read_text(source)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot be read as {kind}: {_first_line(error)}", where=source.name) from None


def _scan_parquet(path: str) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(path, glob=any(sign in path for sign in "*?["))
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"cannot be read as Parquet: {_first_line(error)}", where=path) from None
    return frame


def _read_text(source: Source) -> pl.LazyFrame:
    """CSV or TSV with a header, every cell as text."""
    raw = source.read()
    header = raw.split(b"\n", 1)[0]
    separator = b"\t" if b"\t" in header else b","
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise InputError("NUL byte", where=Place(source.name, line), hint="Is this a text file?")
    width = len(next(csv.reader([header.decode("utf-8", "replace")], delimiter=separator.decode())))
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            "is not UTF-8 text", where=Place(source.name, line), hint="Save the table as UTF-8, or use a TREC file."
        ) from None
    options: dict[str, Any] = {
        "separator": separator.decode(),
        "quote_char": '"' if b'"' in raw else None,
        "infer_schema": False,
        "empty_string_is_null" if _HAS_EMPTY_OPTION else "missing_utf8_is_empty_string": not _HAS_EMPTY_OPTION,
        "null_values": None,
    }
    try:
        frame = pl.read_csv(io.BytesIO(raw), **options)
    except pl.exceptions.PolarsError as error:
        line = next((n for n, text in enumerate(raw.split(b"\n"), 1) if text and text.count(separator) >= width), 0)
        where = Place(source.name, line) if line else source.name
        raise InputError(f"is no regular table of {width} columns: {_first_line(error)}", where=where) from None
    return frame.rename(lambda column: column.strip()).lazy()


def _has_empty_option() -> bool:
    import inspect

    return "empty_string_is_null" in inspect.signature(pl.read_csv).parameters


_HAS_EMPTY_OPTION = _has_empty_option()
"""polars 2 renamed the option that keeps empty cells apart from missing ones."""


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# Runs.


class TableRun:
    """A run in a table, ranked batch by batch (a `BlockSource`)."""

    def __init__(self, frame: pl.LazyFrame, where: str, first_line: int | None) -> None:
        self.name = where
        self._frame = frame
        self._first_line = first_line

    def pieces(self) -> Iterator[Callable[[], Block]]:
        begin = 0
        try:
            for batch in self._frame.collect_batches(maintain_order=True, chunk_size=BATCH):
                for low in range(0, len(batch), BATCH):
                    part = batch.slice(low, BATCH)
                    yield lambda part=part, begin=begin: self._block(part, begin)  # type: ignore[misc]
                    begin += len(part)
        except pl.exceptions.PolarsError as error:
            raise InputError(f"cannot be read: {_first_line(error)}", where=self.name) from None
        if not begin:
            raise InputError("no rows", where=self.name, hint="Did the system return anything?")

    def keys(self, docs: Sequence[bytes]) -> np.ndarray:
        return pl.Series(docs, dtype=pl.Binary).hash(seed=0).to_numpy()

    def digest(self) -> str | None:
        return None

    def _place(self, row: int) -> Place | str:
        if self._first_line is not None:
            return Place(self.name, row + self._first_line)
        return f"{self.name}: row {row + 1}"

    def _block(self, batch: pl.DataFrame, begin: int) -> Block:
        query, doc = (_id_bytes(batch[c], c, self._place, begin) for c in ("query", "doc"))
        score = _numbers(batch["score"], "score", self._place, begin)
        key = doc.hash(seed=0).to_numpy()
        changed = (query != query.shift(1)).fill_null(False).to_numpy()
        start = np.concatenate((np.zeros(min(1, len(batch)), np.int64), np.flatnonzero(changed)))

        def rows(lines: np.ndarray) -> Rows:
            kept = doc.gather(lines)
            return Rows(
                score[lines],
                key[lines],
                lambda some: kept.gather(some).to_list(),
                lambda line: self._place(begin + int(lines[line])),
            )

        return Block(
            score,
            key,
            lambda lines: doc.gather(lines).to_list(),
            lambda line: self._place(begin + line),
            query.gather(start).to_list(),
            np.append(start, len(batch)),
            rows,
        )


def _run(frame: pl.LazyFrame, where: str, name: str, first_line: int | None) -> Run:
    columns = _columns(frame, where)
    found = names.find_all(columns, ("query", "doc"), where)
    score = names.find(columns, "score")
    if score is not None:
        value = pl.col(score)
    else:
        rank = names.find_all(columns, ("rank",), where) if names.find(columns, "rank") else None
        if rank is None:
            names.find_all(columns, ("score",), where)
        value = -pl.col((rank or {})["rank"]).cast(pl.Float64, strict=False)
    picked = frame.select(query=pl.col(found["query"]), doc=pl.col(found["doc"]), score=value)
    kind = "text" if first_line is not None else _id_kind(picked, where)
    return Run(blocks=TableRun(picked, where, first_line), name=name, id_kind=kind)


# Qrels.


def _qrels(
    frame: pl.LazyFrame,
    where: str,
    name: str,
    first_line: int | None,
    judgements: str,
    real_grades: bool,
    notes: Sequence[str],
    kind: str,
) -> Qrels:
    columns = _columns(frame, where)
    found = names.find_all(columns, ("query", "doc", "grade"), where)
    try:
        table = frame.select(*(pl.col(column).alias(word) for word, column in found.items())).collect()
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot be read: {_first_line(error)}", where=where) from None
    if not len(table):
        raise InputError("no rows", where=where, hint="Is it the right file, and is it complete?")

    def place(row: int) -> Place | str:
        return Place(where, row + first_line) if first_line is not None else f"{where}: row {row + 1}"

    grade = table["grade"]
    told = list(notes)
    empty = (grade == "") if grade.dtype == pl.String else grade.is_null()
    unjudged = (empty | grade.is_null()).to_numpy()
    rows = np.flatnonzero(~unjudged)
    if unjudged.any():
        told.append(f"{int(unjudged.sum()):,} rows without a grade were taken as unjudged")
    if not len(rows):
        raise InputError("no row has a grade", where=where)
    kept = table[rows]
    if grade.dtype.is_integer():
        values = kept["grade"].to_list()  # exact: not by way of a double
    else:
        values = _numbers(kept["grade"], "grade", lambda row: place(int(rows[row])), 0).tolist()
    grades = [check_grade(value, place(int(row)), real_grades) for row, value in zip(rows, values, strict=True)]
    return Qrels.from_rows(
        _id_bytes(kept["query"], "query", lambda row: place(int(rows[row])), 0).to_list(),
        _id_bytes(kept["doc"], "doc", lambda row: place(int(rows[row])), 0).to_list(),
        grades,
        name=name,
        where=lambda i: place(int(rows[i])),
        judgements=judgements,
        notes=told,
        kind=kind,
    )


# Columns.


def _columns(frame: pl.LazyFrame, where: str) -> list[str]:
    try:
        return frame.collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot be read: {_first_line(error)}", where=where) from None


def _id_kind(frame: pl.LazyFrame, where: str) -> str:
    schema = frame.collect_schema()
    found = names.find_all(schema.names(), ("query", "doc"), where)
    whole = [schema[found[word]].is_integer() for word in ("query", "doc")]
    return "int" if all(whole) else "text" if any(whole) else "str"


def _id_bytes(column: pl.Series, what: str, place: Callable[[int], Place | str], begin: int) -> pl.Series:
    """Ids as bytes."""
    if column.null_count():
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InputError(f"the {what} id is missing", where=place(begin + row))
    kind = column.dtype
    if kind == pl.Binary:
        return column
    if kind.is_float() or kind.is_nested() or kind.is_temporal() or kind == pl.Boolean:
        raise InputError(
            f"{what} ids are of type {kind}",
            where=place(begin),
            hint="Ids are text or integers. pandas makes floats of integers where some are missing.",
        )
    try:
        texts = column.cast(pl.String).cast(pl.Binary)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{what} ids of type {kind}: {_first_line(error)}", where=place(begin)) from None
    if len(texts) and (texts.bin.size() == 0).any():
        row = int(np.flatnonzero((texts.bin.size() == 0).to_numpy())[0])
        raise InputError(f"the {what} id is empty", where=place(begin + row))
    return texts


def _numbers(column: pl.Series, what: str, place: Callable[[int], Place | str], begin: int) -> np.ndarray:
    """Numbers as doubles, none missing and none NaN."""
    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)):
        raise InputError(f"the {what} column is of type {kind}", where=place(begin), hint="It should hold numbers.")
    values = column.cast(pl.Float64, strict=False)
    if values.null_count():
        row = int(np.flatnonzero(values.is_null().to_numpy())[0])
        found = column[row]
        if found is None or found == "":
            raise InputError(f"the {what} is missing", where=place(begin + row))
        hint = f"A {what} is a decimal number such as 12.5."
        if isinstance(found, str) and found.replace(",", ".").lstrip("+-").replace(".", "", 1).isdigit():
            hint = "Is this a decimal comma? " + hint
        raise InputError(f"{what} '{ids.show(str(found))}' is not a number", where=place(begin + row), hint=hint)
    numbers = values.to_numpy()
    if np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0])
        raise InputError(
            f"the {what} is NaN",
            where=place(begin + row),
            hint="A document that was not scored has no place in a ranking: leave it out.",
        )
    return numbers
