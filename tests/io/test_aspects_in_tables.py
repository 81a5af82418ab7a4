"""Judgements by aspect in tables, frames, records and rows are those of TREC's lines."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from raising import raises_code

from goldrank import AspectQrels, InputError, OptionError, evaluate, read_aspects

NAMES = ("query", "aspect", "doc", "grade")
ROWS = [("q1", "a", "d1", 1), ("q1", "b", "d2", 2), ("q2", "a", "d1", 0)]
JUDGED = AspectQrels({"q1": {"a": {"d1": 1}, "b": {"d2": 2}}, "q2": {"a": {"d1": 0}}})


def text(separator: str, header: str = "") -> io.BytesIO:
    lines = [separator.join(map(str, row)) for row in ROWS]
    if header:
        lines.insert(0, header)
    return io.BytesIO("\n".join(lines).encode() + b"\n")


FRAME = pl.DataFrame(ROWS, schema=list(NAMES), orient="row")
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
SOURCES: dict[str, Callable[[], Any]] = {
    "lines": lambda: text(" "),
    "CSV": lambda: text(",", "query,aspect,doc,grade"),
    "TSV with other names": lambda: text("\t", "topic\tsubtopic\tdocno\trel"),
    "JSON lines": lambda: io.BytesIO(FRAME.write_ndjson().encode()),
    "frame": lambda: FRAME,
    "pandas": lambda: FRAME.to_pandas(),
    "records": lambda: RECORDS,
    "rows": lambda: ROWS,
    "mapping": lambda: {"q1": {"a": {"d1": 1}, "b": {"d2": 2}}, "q2": {"a": {"d1": 0}}},
    "itself": lambda: JUDGED,
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same(name: str) -> None:
    assert read_aspects(SOURCES[name]()) == JUDGED


def test_parquet_and_named_columns(tmp_path: Path) -> None:
    renamed = FRAME.rename({"query": "t", "aspect": "i", "doc": "dn", "grade": "g"})
    renamed.write_parquet(tmp_path / "judged.parquet")
    roles = {"query": "t", "aspect": "i", "doc": "dn", "grade": "g"}
    judged = read_aspects(tmp_path / "judged.parquet", columns=roles)
    assert judged == JUDGED
    assert read_aspects(text("|", "t|i|dn|g"), columns=roles, format="table") == JUDGED


def test_measures_take_them() -> None:
    """Of q1's two aspects the first document covers one; q2 has none with a relevant document."""
    scores = evaluate(read_aspects(FRAME), {"q1": ["d1", "d2"], "q2": ["d1"]}, "StRecall@1")
    assert scores.per_query["StRecall@1"]["q1"] == 0.5


def test_what_is_missing_is_named() -> None:
    with raises_code(InputError, "no-column", match=r"<stream>:2: has no grade; there are: query, aspect, doc"):
        read_aspects(io.BytesIO(b"query,aspect,doc\nq1,a,d1\n"))
    with raises_code(OptionError, "no-header"):
        read_aspects(text(" "), columns={"query": "x"})
    with raises_code(InputError, "empty-input"):
        read_aspects([])
    with raises_code(InputError, "wrong-type", match=r"aspects\[0\]"):
        read_aspects([("q1", "a", "d1")])
    with pytest.raises(InputError, match="grade 'x'"):
        read_aspects(io.BytesIO(b"query,aspect,doc,grade\nq1,a,d1,x\n"))
    with pytest.raises(InputError, match="is judged here and at"):
        read_aspects([*ROWS, ROWS[0]])
