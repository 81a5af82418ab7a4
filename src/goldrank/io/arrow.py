"""Arrow files and streams (IPC, Feather)."""

from __future__ import annotations

import io

import polars as pl

from goldrank.io import tables
from goldrank.io.sources import ByteSource

STREAM = b"\xff\xff\xff\xff"
"""How a stream begins."""


def _open_table(source: ByteSource) -> tables.InputTable:
    read = pl.read_ipc_stream if source.head.startswith(STREAM) else pl.read_ipc
    with tables.reading(source.name, "arrow"):
        return tables.InputTable(read(io.BytesIO(source.read())).lazy(), source, source.notes)


read_run, read_qrels, read_records = tables.readers(_open_table)
