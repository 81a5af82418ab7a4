"""Parquet files and Arrow files (IPC, Feather, streams). Parquet files on disk are read in slices."""

from __future__ import annotations

import io

from goldrank.base import ids
from goldrank.base.forking import check_polars
from goldrank.base.machine import fits
from goldrank.base.packages import needed
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.io.formats import header_of, rows_of
from goldrank.io.sources import ByteSource
from goldrank.io.tables import polars_tables as tables
from goldrank.io.tables.table_checks import ROW, check_arrow, check_parquet

with needed("polars"):
    import polars as pl


def _open_table(source: ByteSource, format: str) -> tables.InputTable:
    with tables.table_errors(source.name, format):
        if format == "arrow":
            read = pl.read_ipc
            if source.head.startswith(b"\xff\xff\xff\xff"):
                read = pl.read_ipc_stream
            raw = source.read()
            # polars copies the bytes in addition to the columns.
            fits(len(raw) + check_arrow(raw, source.name), "holding a table", source.name)
            return _held(read(io.BytesIO(raw)), source)

        if source.path is not None and source.compression is None:
            with source.open() as file:
                shape = check_parquet(file, source.name)
            frame = pl.scan_parquet(source.path, glob=False, hive_partitioning=False)
            return tables.InputTable(frame, source, source.notes, shape=shape)

        data = io.BytesIO(source.read())
        shape = check_parquet(data, source.name)
        fits(shape.unpacked + shape.rows * ROW, f"holding {shape.rows:,} rows", source.name)
        data.seek(0)
        return _held(pl.read_parquet(data), source)


def _held(frame: pl.DataFrame, source: ByteSource) -> tables.InputTable:
    """A table in memory."""
    return tables.InputTable(frame.lazy(), source, source.notes, is_held=True)


read_run, read_qrels, read_records = tables.readers(_open_table)


def dump(data: Run | Qrels) -> bytes:
    """A run or qrels as Parquet."""
    buffer = io.BytesIO()
    _frame(data).write_parquet(buffer)
    return buffer.getvalue()


def dump_arrow(data: Run | Qrels) -> bytes:
    """A run or qrels as an Arrow file."""
    buffer = io.BytesIO()
    _frame(data).write_ipc(buffer)
    return buffer.getvalue()


def _frame(data: Run | Qrels) -> pl.DataFrame:
    check_polars()
    names = header_of(data)
    columns = list(zip(*rows_of(data), strict=True)) or [()] * len(names)
    queries, docs, numbers, *judge_columns = map(list, columns)

    kind: type[pl.DataType] = pl.Float64
    if names[2] == "grade" and all(isinstance(number, int) for number in numbers):
        kind = pl.Int64
    series = [_ids("query", queries), _ids("doc", docs), pl.Series(names[2], numbers, kind)]
    if judge_columns:
        series.append(pl.Series("judged_by", judge_columns[0], pl.String))
    return pl.DataFrame(series)


def _ids(name: str, texts: list[str]) -> pl.Series:
    """A column of ids; as bytes if an id is not UTF-8."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return pl.Series(name, [ids.encode(text) for text in texts], pl.Binary)
    return pl.Series(name, texts, pl.String)
