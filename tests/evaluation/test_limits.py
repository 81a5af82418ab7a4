"""Inputs made to exhaust memory are refused early, with memory flat. Each runs in a process of its own."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from helpers import PEAK_MEMORY, QRELS

from goldrank.io import compression

MEGABYTE = 1 << 20
CODE = f"""
{PEAK_MEMORY}
import json, sys
import numpy, polars
import goldrank, goldrank.evaluation.rankings, goldrank.io.tables.polars_tables, goldrank.io.json.json_files

goldrank.evaluate({{"q": {{"d": 1}}}}, {{"q": {{"d": 1.0}}}})
before = peak()
try:
    goldrank.evaluate(*sys.argv[1:3])
    said = ""
except goldrank.GoldrankError as error:
    said = str(error)
print(json.dumps({{"said": said, "grown": peak() - before}}))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="peak memory is asked of Unix"),
]


def evaluated(qrels: Path, run: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(qrels), str(run)], capture_output=True, check=True, timeout=300
    )
    return dict(json.loads(done.stdout))


OPENERS: dict[str, Callable[[Path], Any]] = {
    "gz": partial(gzip.open, mode="wb", compresslevel=1),
    "bz2": partial(bz2.open, mode="wb", compresslevel=1),
    "zst": partial(import_module(compression.Zstd.module).ZstdFile, mode="w"),
}


def bomb(path: Path, open_file: Callable[[Path], Any], chunk: bytes, megabytes: int, begin: bytes = b"") -> None:
    """A small file that unpacks to `megabytes`."""
    with open_file(path) as file:
        file.write(begin)
        for _ in range(megabytes * MEGABYTE // len(chunk)):
            file.write(chunk)
    assert path.stat().st_size < 3 * MEGABYTE


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels"
    path.write_bytes(QRELS)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("packed", OPENERS)
@pytest.mark.parametrize("side", ["run", "qrels"])
def test_one_endless_line(packed: str, side: str, qrels: Path, tmp_path: Path) -> None:
    """Hundreds of MB of 'a': the line limit stops it after a few."""
    path = tmp_path / f"bomb.{packed}"
    bomb(path, OPENERS[packed], b"a" * MEGABYTE, 60 if packed == "bz2" else 300)
    found = evaluated(qrels, path) if side == "run" else evaluated(path, qrels)
    assert "bomb" in found["said"]
    assert ":1: a line is longer than 1,048,576 bytes" in found["said"]
    assert found["grown"] < (50 if packed == "bz2" else 100) * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "chunk"),
    [(b"{", b" " * MEGABYTE), (b'{"q1": {"d1": 1', b" " * MEGABYTE), (b"query,doc,score\n", b"q1,d1,1\n" * 100_000),
     (b"", (b" " * 1_023 + b"\n") * 1_024)],
    ids=["json", "json object", "csv", "blank lines"],
)  # fmt: skip
@pytest.mark.parametrize("side", ["run", "qrels"])
def test_bomb_of_other_formats(begin: bytes, chunk: bytes, side: str, qrels: Path, tmp_path: Path) -> None:
    """What must be held whole may unpack to 250 times its size, beyond 64 MB."""
    path = tmp_path / "bomb.zst"
    bomb(path, OPENERS["zst"], chunk, 300, begin)
    found = evaluated(qrels, path) if side == "run" else evaluated(path, qrels)
    assert "unpacks to more than 250 times its size" in found["said"]
    assert found["grown"] < 200 * MEGABYTE


@pytest.mark.parametrize("side", ["run", "qrels"])
def test_endless_line_in_plain_text(side: str, qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "long"
    with open(path, "wb") as file:
        file.write(b"q1 Q0 d1 1 1.0 r\nq1 Q0 ")
        file.truncate(200 * MEGABYTE)  # a hole, which reads as NULs
    found = evaluated(qrels, path) if side == "run" else evaluated(path, qrels)
    assert ":2: a line is longer than 1,048,576 bytes" in found["said"]
    assert found["grown"] < 150 * MEGABYTE


def test_id_of_ten_megabytes(qrels: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 d1 1 1.0 r\nq1 Q0 " + b"d" * 10_000_000 + b" 2 0.5 r\n")
    found = evaluated(qrels, path)
    assert ":2: a line is longer than 1,048,576 bytes" in found["said"]
    assert found["grown"] < 100 * MEGABYTE


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 200_000, b'{"q1": {"d1": ' + b"[" * 200_000])
def test_deep_json(text: bytes, qrels: Path, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(text)
    found = evaluated(qrels, tmp_path / "run")
    assert "is nested too deeply" in found["said"]
    assert found["grown"] < 100 * MEGABYTE


@pytest.mark.slow
def test_long_run_is_read_in_pieces(qrels: Path, tmp_path: Path) -> None:
    """60 MB of text for one query that is not judged, and the sound run: memory does not hold it all."""
    path = tmp_path / "run.gz"
    lines = b"".join(b"x%d Q0 doc%d 1 %d.5 tag\n" % (i // 100, i, i % 100) for i in range(100_000))
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(25):
            file.write(lines)
        file.write(b"q1 Q0 d1 1 1.0 r\n")
    found = evaluated(qrels, path)
    assert found["said"] == ""
    assert found["grown"] < 200 * MEGABYTE
