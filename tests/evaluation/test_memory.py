"""A limit on memory is kept, or the work is refused before it begins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from goldrank import cli, evaluate
from goldrank.data.blocks import USUAL, Plan
from goldrank.data.qrels import Qrels
from goldrank.errors import MemoryLimitError, OptionError
from goldrank.evaluation import memory
from goldrank.report import charts

CODE = """
import json, sys
import goldrank
limit = sys.argv[3] or None
try:
    found = goldrank.evaluate(sys.argv[1], sys.argv[2], ["AP", "nDCG@10"], max_memory=limit).mean
except goldrank.GoldrankError as error:
    found = str(error)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(json.dumps({"found": found, "peak": int(peak) * 1024}))
"""
ROWS, DEPTH = 1_200_000, 500

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is asked of /proc")


def evaluated(qrels: Path, run: Path, limit: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(qrels), str(run), limit], capture_output=True, check=True, timeout=300
    )
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 1.2 million rows: as Parquet, as text, and as text with its lines in any order."""
    folder = tmp_path_factory.mktemp("scale")
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(ROWS // DEPTH), DEPTH)
    frame = pl.DataFrame(
        {"query": queries, "doc": np.tile(np.arange(DEPTH), ROWS // DEPTH), "score": rng.random(ROWS).round(4)}
    ).with_columns(query=pl.format("q{}", "query"), doc=pl.format("document-{}", "doc"))
    frame.write_parquet(folder / "run.parquet", row_group_size=300_000)
    columns = ["query", pl.lit("Q0").alias("a"), "doc", pl.lit("-").alias("b"), "score", pl.lit("t").alias("c")]
    text = frame.select(columns)
    text.write_csv(folder / "run.txt", separator=" ", include_header=False)
    shuffled = text.sample(fraction=1.0, shuffle=True, seed=1)
    shuffled.write_csv(folder / "shuffled.txt", separator=" ", include_header=False)
    judged = [f"q{i} 0 document-{d} {d % 3}\n" for i in range(ROWS // DEPTH) for d in (3, 7, 400)]
    (folder / "qrels").write_text("".join(judged))
    return folder


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("run", ["run.parquet", "run.txt", "shuffled.txt"])
def test_limits_are_kept(run: str, data: Path) -> None:
    """With less memory the result is the same, and the process stays below what it was given."""
    free = evaluated(data / "qrels", data / run, "")
    for limit in ("600MB", "280MB", "220MB"):
        limited = evaluated(data / "qrels", data / run, limit)
        assert limited["found"] == free["found"]
        assert limited["peak"] <= memory.size(limit)


@needs_proc
def test_what_cannot_fit_is_refused(data: Path) -> None:
    found = evaluated(data / "qrels", data / "run.parquet", "60MB")
    assert "more than the 60 MB of max_memory" in found["found"]
    assert found["peak"] < 150_000_000


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    """Sparse files: had anybody read them, this would take minutes."""
    for name, head, what in (
        ("qrels", b"q1 0 d1 1\n", "reading the judgements takes about"),
        ("run.json", b'{"q1": {"d1": 1.0', "holding the run takes about"),
    ):
        path = tmp_path / name
        with open(path, "wb") as file:
            file.write(head)
            file.truncate(100 << 30)
        given = (path, {"q1": {"d1": 1.0}}) if name == "qrels" else ({"q1": {"d1": 1}}, path)
        with pytest.raises(MemoryLimitError, match=what) as caught:
            evaluate(*given, "AP", max_memory="4GB")
        assert "more than the 4.0 GB" in str(caught.value)
        assert "docs/scale.md" in str(caught.value)


def test_large_row_groups_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"query": ["q1"] * 200, "doc": [f"d{i}" for i in range(200)], "score": [0.5] * 200})
    frame.write_parquet(tmp_path / "run.parquet")
    monkeypatch.setattr("goldrank.io.tables.MOST_SLICED", 100)
    monkeypatch.setattr("goldrank.io.tables.ROW", 10_000_000)
    with pytest.raises(MemoryLimitError, match="smaller row groups"):
        evaluate({"q1": {"d1": 1}}, tmp_path / "run.parquet", "AP", max_memory="4GB")


class Greedy:
    """A source that takes 100 MB for each thread at the usual size of pieces."""

    name = "greedy"

    def memory(self, threads: int, share: float) -> int:
        return int(100e6 * threads * share)


def test_plans_get_smaller_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "processors", lambda: 4)
    qrels = Qrels({"q": {"d": 1}})
    base = memory.resident() + memory.LIBRARIES
    plans = [memory.plan(base + room, qrels, [Greedy()]) for room in (800 << 20, 250 << 20, 60 << 20)]  # type: ignore[list-item]
    assert plans[0] == USUAL
    sizes = [(plan.threads or 4) * plan.share for plan in plans]
    assert sizes[0] > sizes[1] > sizes[2]
    assert plans[2].lines < plans[1].lines
    assert isinstance(plans[1], Plan)
    with pytest.raises(MemoryLimitError, match="evaluating with 1 judgements takes about"):
        memory.plan(base, qrels, [Greedy()])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500_000_000), ("2GiB", 2 << 30), ("1.5 gb", 1_500_000_000), (4096, 4096), ("64k", 65536), ("7B", 7)],
)
def test_sizes(text: str | int, size: int) -> None:
    assert memory.size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-5MB", "5XB", "0", "MB", True, "1e9"])
def test_sizes_that_are_none(text: Any) -> None:
    with pytest.raises(OptionError, match="For example 500MB"):
        memory.size(text)


def test_command(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = str(data / "qrels"), str(data / "run.txt")
    assert cli.run(["eval", qrels, run, "--max-memory", "1MB"]) == 2
    assert "takes about" in capsys.readouterr().err
    assert cli.run(["eval", qrels, run, "--max-memory", "lots"]) == 2
    assert "'lots' is no amount of memory" in capsys.readouterr().err


def test_by_tag_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq1 Q0 d2 1 2.0 b\nq1 Q0 d1 2 1.0 b\n")
    assert cli.run(["eval", f"{tmp_path}/q", f"{tmp_path}/r", "--by-tag", "-m", "RR", "-o", "csv"]) == 0
    assert capsys.readouterr().out == "run,RR\na,1.0\nb,0.5\n"
    assert cli.run(["eval", f"{tmp_path}/q", f"{tmp_path}/r", f"{tmp_path}/r", "--by-tag"]) == 2
    assert "--by-tag takes one" in capsys.readouterr().err
    assert cli.run(["eval", f"{tmp_path}/q", f"{tmp_path}/r", "-m", "RR"]) == 2
    assert "--by-tag" in capsys.readouterr().err


def test_powers_are_straight() -> None:
    """In proportion means the diagonal: equal steps of powers are equal steps on paper."""
    drawn = charts.powers("t", "rows", {"a": [(10, 1), (100, 10), (1000, 100)]}).inline()
    points = [
        tuple(map(float, one.split()[:2])) for one in drawn.split('class="line s0" d="M')[1].split('"')[0].split("L")
    ]
    (x1, y1), (x2, y2), (x3, y3) = points
    assert x2 - x1 == pytest.approx(x3 - x2)
    assert y1 - y2 == pytest.approx(y2 - y3)
