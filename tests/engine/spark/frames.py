"""Spark frames from rows of bytes, text or numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa


def frame(spark: Any, rows: Iterable[tuple[Any, ...]], columns: Mapping[str, pa.DataType], parts: int = 3) -> Any:
    """A frame in some partitions, whose rows have no order."""
    listed = list(rows)
    arrays = [pa.array([row[i] for row in listed], kind) for i, kind in enumerate(columns.values())]
    return spark.createDataFrame(pa.table(dict(zip(columns, arrays, strict=True)))).repartition(parts)


def qrels_frame(spark: Any, qrels: Mapping[Any, Mapping[Any, int]], id_type: pa.DataType | None = None) -> Any:
    kind = id_type or pa.string()
    rows = [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
    return frame(spark, rows, {"qid": kind, "docno": kind, "label": pa.int64()})


def run_frame(spark: Any, rows: Iterable[tuple[Any, Any, float]], id_type: pa.DataType | None = None) -> Any:
    kind = id_type or pa.string()
    return frame(spark, rows, {"query_id": kind, "doc_id": kind, "score": pa.float64()})


def lines(run: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str, float]]:
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
