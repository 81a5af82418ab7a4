"""A file that is replaced or written to while it is read is refused: a result is never a mixture of two files."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from goldrank import GoldrankError, Qrels, evaluate, read_qrels, read_run
from goldrank.conventions import Convention
from goldrank.engine.streaming import ENGINE
from goldrank.io import as_run
from goldrank.io.sources import open_source

ROWS = [(f"q{i}", f"d{j}", float(10 - j)) for i in range(300) for j in range(5)]
OTHER = [(query, doc, -score) for query, doc, score in ROWS]
QRELS = Qrels({f"q{i}": {"d1": 1} for i in range(300)})


def frame(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row")


def text(rows: list[tuple[str, str, float]]) -> bytes:
    return "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows).encode()


def parquet(rows: list[tuple[str, str, float]]) -> bytes:
    buffer = io.BytesIO()
    frame(rows).write_parquet(buffer, row_group_size=200)
    return buffer.getvalue()


FORMS: dict[str, Callable[[list[tuple[str, str, float]]], bytes]] = {
    "trec": text,
    "gz": lambda rows: gzip.compress(text(rows)),
    "parquet": parquet,
}


def replaced(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(content)
    os.replace(other, path)


def in_place(path: Path, content: bytes) -> None:
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000))


def grown(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)


def removed(path: Path, content: bytes) -> None:
    path.unlink()


CHANGES = [replaced, in_place, grown, removed]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("parts", [False, True])
def test_run_changes_between_pieces(
    form: str, change: Callable[..., None], parts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some pieces are read, then the file changes. The engine must not go on with the other one."""
    monkeypatch.setattr("goldrank.io.sources.PIECE", 2_000)
    monkeypatch.setattr("goldrank.io.tables.polars_tables.BATCH", 100)
    path = tmp_path / "run"
    path.write_bytes(FORMS[form](ROWS))
    run = as_run(str(tmp_path / "ru*") if parts else path)
    given = run.source.pieces  # type: ignore[attr-defined]

    def pieces() -> Any:
        for number, piece in enumerate(given()):
            if number == 3:
                change(path, FORMS[form](OTHER))
            yield piece

    monkeypatch.setattr(run.source, "pieces", pieces)
    with pytest.raises(GoldrankError) as caught:
        ENGINE.place(QRELS, run, Convention())
    assert caught.value.code == "changed" or (change is removed and "cannot be opened" in str(caught.value))
    assert str(path) in str(caught.value)


def test_a_file_that_ends_after_a_piece_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and reading nothing can be compared: the end that comes too early says it."""
    path = tmp_path / "run"
    path.write_bytes(FORMS["trec"](ROWS))
    pieces = list(as_run(path).source.pieces())  # type: ignore[attr-defined]
    monkeypatch.setattr("goldrank.io.sources.ByteSource.verify", lambda *given: None)
    path.write_bytes(b"")
    with pytest.raises(GoldrankError) as caught:
        pieces[0]()
    assert caught.value.code == "changed"


@pytest.mark.parametrize("change", [replaced, in_place, grown])
@pytest.mark.parametrize(
    ("content", "other"),
    [
        (b"q1 0 d1 1\n", b"q1 0 d1 0\n"),
        (b"query,doc,grade\nq1,d1,1\n", b"query,doc,grade\nq1,d1,0\n"),
        (json.dumps({"q1": {"d1": 1}}).encode(), json.dumps({"q1": {"d1": 0}}).encode()),
    ],
    ids=["trec", "csv", "json"],
)
def test_qrels_change_after_they_were_opened(
    content: bytes, other: bytes, change: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "qrels").write_bytes(content)
    source = open_source(tmp_path / "qrels")
    assert read_qrels(source)["q1"]["d1"] == 1
    change(tmp_path / "qrels", other)
    with pytest.raises(GoldrankError) as caught:
        read_qrels(source)
    assert caught.value.code == "changed"
    assert read_qrels(tmp_path / "qrels", judgements="last")["q1"]["d1"] == 0 if change is not grown else True


def test_a_run_that_is_read_twice_is_the_same_twice(tmp_path: Path) -> None:
    """Lines of one query in two places are read again; so is a run whose hash is asked for."""
    path = tmp_path / "run"
    path.write_bytes(text(ROWS))
    run = read_run(path)
    scores = evaluate(QRELS, run, "AP")
    replaced(path, text(OTHER))
    for ask in (lambda: evaluate(QRELS, run, "AP"), lambda: scores.provenance, lambda: read_run(path) and run.digest):
        with pytest.raises(GoldrankError) as caught:
            ask()
        assert caught.value.code == "changed"
    assert evaluate(QRELS, path, "AP")["AP"] != scores["AP"]


def test_what_changes_in_time_only(tmp_path: Path) -> None:
    """A file that was opened, renamed and left alone is the same file: nothing is wrong with its name."""
    path = tmp_path / "run"
    path.write_bytes(text(ROWS))
    os.link(path, tmp_path / "second name")
    run = read_run(path)
    os.unlink(tmp_path / "second name")
    assert len(run) == 300


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gz"])
@pytest.mark.parametrize("how", ["stream", "path"])
def test_line_ends_of_binary_data_are_left_alone(how: str, packed: Callable[..., bytes], tmp_path: Path) -> None:
    """A Parquet file whose beginning holds CR and no LF is no text of an old Macintosh."""
    rows = [("q", f"\r{i:03}", float(i)) for i in range(9)]
    for codec in ("uncompressed", "snappy", "zstd"):
        buffer = io.BytesIO()
        frame(rows).write_parquet(buffer, compression=codec, statistics=False)  # type: ignore[arg-type]
        data = buffer.getvalue()
        assert b"\r" in data[: 1 << 16]
        (tmp_path / "run").write_bytes(packed(data))
        run = read_run(io.BytesIO(packed(data)) if how == "stream" else tmp_path / "run")
        assert dict(run["q"]) == {doc: score for _, doc, score in rows}
        assert not run.notes


def test_line_ends_of_arrow_are_left_alone() -> None:
    rows = [("q", f"\r{i:03}", float(i)) for i in range(9)]
    for write in ("write_ipc", "write_ipc_stream"):
        buffer = io.BytesIO()
        getattr(frame(rows), write)(buffer)
        run = read_run(io.BytesIO(buffer.getvalue()))
        assert dict(run["q"]) == {doc: score for _, doc, score in rows}


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_byte_order_mark_before_binary_data_is_damage(packed: Callable[..., bytes], tmp_path: Path) -> None:
    """Bytes of Parquet and Arrow are never touched, on any route."""
    for write in ("write_parquet", "write_ipc"):
        buffer = io.BytesIO()
        getattr(frame([("q", "d", 1.0)]), write)(buffer)
        data = packed(b"\xef\xbb\xbf" + buffer.getvalue())
        (tmp_path / "run").write_bytes(data)
        for given in (io.BytesIO(data), tmp_path / "run"):
            with pytest.raises(GoldrankError):
                read_run(given, format="parquet" if write == "write_parquet" else "arrow").results  # noqa: B018


def test_large_streams_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be read only once is kept in a temporary file, as long as it is needed."""
    monkeypatch.setattr("goldrank.io.sources.SPOOL", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = read_run(io.BytesIO(text(ROWS)))
    assert len(list(tmp_path.iterdir())) == 1
    assert len(run) == 300
    del run
    import gc

    gc.collect()
    assert not list(tmp_path.iterdir())
