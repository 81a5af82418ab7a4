"""Arrow data that lies about its size is refused before polars asks for that much memory, which ends the process."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import places
import polars as pl
import pytest
from lanes import QUICK

from goldrank import GoldrankError, evaluate, read_run
from goldrank.base import machine
from goldrank.io.tables.table_checks import check_arrow

ROWS = {"query": ["q1", "q1", "q2"], "doc": ["d1", "longer-than-twelve-bytes", "d1"], "score": [2.0, 1.0, 3.0]}
FORMS: dict[str, Callable[[pl.DataFrame, io.BytesIO], Any]] = {
    "file": lambda frame, to: frame.write_ipc(to),
    "lz4": lambda frame, to: frame.write_ipc(to, compression="lz4"),
    "zstd": lambda frame, to: frame.write_ipc(to, compression="zstd"),
    "stream": lambda frame, to: frame.write_ipc_stream(to),
    "zstd stream": lambda frame, to: frame.write_ipc_stream(to, compression="zstd"),
    "old strings": lambda frame, to: frame.write_ipc(to, compat_level=pl.CompatLevel.oldest()),
}


def arrow(form: str, frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    FORMS[form](frame, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_sound_data(form: str) -> None:
    frame = pl.DataFrame(ROWS).with_columns(
        kind=pl.Series(["a", "b", "a"], dtype=pl.Categorical), nothing=None, flag=True, lists=[[1], [], [2, 3]]
    )
    data = arrow(form, frame)
    assert check_arrow(data, "x") >= 3 * (16 + 16 + 8) - 16 * ("old" in form)
    assert dict(read_run(io.BytesIO(data)).results["q1"]) == {"d1": 2.0, "longer-than-twelve-bytes": 1.0}


LYING = """
import io, pathlib, sys
from goldrank import GoldrankError, read_run
for form in sys.argv[2:]:
    data, refused = pathlib.Path(form).read_bytes(), 0
    print(form, end=": ", flush=True)
    for at in range(0, len(data) - 8, int(sys.argv[1])):
        for number in (1 << 59, (1 << 63) - 1, 1 << 40, -1):
            lying = data[:at] + number.to_bytes(8, "little", signed=True) + data[at + 8 :]
            try:
                read_run(io.BytesIO(lying), format="arrow").results
            except GoldrankError:
                refused += 1
    print(refused, flush=True)
"""


@pytest.mark.slow
def test_numbers_that_are_not_true(tmp_path: Any) -> None:
    """Every number of the file is a huge one in turn. The process must live; polars alone ends it in most forms."""
    env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src"), "RUST_BACKTRACE": "0", "POLARS_MAX_THREADS": "1"}
    for form in FORMS:
        (tmp_path / form).write_bytes(arrow(form, pl.DataFrame(ROWS)))
    command = [sys.executable, "-c", LYING, "20" if QUICK else "4", *FORMS]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    refused = dict(line.split(": ") for line in done.stdout.splitlines())
    assert refused.keys() == FORMS.keys()
    assert all(int(count) > (20 if QUICK else 100) for count in refused.values()), refused


def test_a_bomb_is_refused() -> None:
    frame = pl.select(query=pl.repeat("q", 10_000_000), doc=pl.repeat("a" * 12, 10_000_000), score=pl.lit(1.0))
    data = arrow("zstd", frame)
    assert len(data) < 1 << 20
    with pytest.raises(GoldrankError, match="unpacks to more than 250 times its size"):
        read_run(io.BytesIO(data))


@pytest.mark.slow
def test_a_table_that_does_not_fit_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.select(query=pl.int_range(2_000_000).cast(pl.String), doc=pl.int_range(2_000_000).cast(pl.String))
    (tmp_path / "run").write_bytes(arrow("zstd", rows.with_columns(score=1.0)))
    monkeypatch.setattr(machine, "available", lambda: 70_000_000)
    with pytest.raises(GoldrankError, match=r"holding a table takes about .* and 70 MB of memory are available"):
        evaluate({"1": {"1": 1}}, tmp_path / "run", "AP")
