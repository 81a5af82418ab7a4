"""Memory stays flat where runs are read in pieces; what must be held whole fits, or is refused before it is made."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from helpers import PEAK_MEMORY
from raising import raises_code

from goldrank import cli, evaluate
from goldrank.base import machine
from goldrank.base.errors import MemoryLimitError
from goldrank.engine.external_sort import DistinctIds
from goldrank.report import charts

CODE = f"""
{PEAK_MEMORY}
import json, sys
import goldrank
run = goldrank.read_runs(sys.argv[2]) if "tags" in sys.argv[2] else sys.argv[2]
try:
    found = goldrank.evaluate(sys.argv[1], run, ["AP", "nDCG@10"], overlap="allow")
    found = len(found) if "tags" in sys.argv[2] else [found["AP"], found.counts["unjudged_queries"]]
except goldrank.GoldrankError as error:
    found = type(error).__name__ + " " + str(error)
print(json.dumps({{"found": found, "peak": peak()}}))
"""
DEPTH = 500
FEW, MANY = 400_000, 2_000_000
"""Lines of a run, and of one that is five times as long."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is asked of /proc")


def evaluated(qrels: Path, run: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(qrels), str(run)], capture_output=True, check=True, timeout=300
    )
    return dict(json.loads(done.stdout))


def write_run(folder: Path, rows: int) -> None:
    """A run of 500 documents for each query: as Parquet, as text, and as text with its lines in any order."""
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(rows // DEPTH), DEPTH)
    frame = pl.DataFrame(
        {"query": queries, "doc": np.tile(np.arange(DEPTH), rows // DEPTH), "score": rng.random(rows).round(4)}
    ).with_columns(query=pl.format("q{}", "query"), doc=pl.format("document-{}", "doc"))
    frame.write_parquet(folder / "run.parquet", row_group_size=200_000)
    columns = ["query", pl.lit("Q0").alias("a"), "doc", pl.lit("-").alias("b"), "score", pl.lit("t").alias("c")]
    text = frame.select(columns)
    text.write_csv(folder / "run.txt", separator=" ", include_header=False)
    shuffled = text.sample(fraction=1.0, shuffle=True, seed=1)
    shuffled.write_csv(folder / "shuffled.txt", separator=" ", include_header=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The folder of runs of each size; the same queries are judged in all."""
    folders = {}
    for rows in (FEW, MANY):
        folders[rows] = tmp_path_factory.mktemp("runs")
        write_run(folders[rows], rows)
        judged = [f"q{i} 0 document-{d} {d % 3}\n" for i in range(FEW // DEPTH) for d in (3, 7, 400)]
        (folders[rows] / "qrels").write_text("".join(judged))
    return folders


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("name", ["run.parquet", "run.txt", "shuffled.txt"])
def test_memory_stays_flat(name: str, runs: dict[int, Path]) -> None:
    """Five times the lines take no more memory, but for the fixed buffers that a short run does not fill."""
    few, many = (evaluated(folder / "qrels", folder / name) for folder in runs.values())
    unjudged = (MANY - FEW) // DEPTH
    assert (few["found"][1], many["found"][1]) == (0, unjudged)
    assert many["peak"] - few["peak"] < 80 << 20


@needs_proc
@pytest.mark.slow
def test_parquet_bomb(tmp_path: Path) -> None:
    """Millions of rows of one pair in some kilobytes are refused by their number; a few by their repetition."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    for rows in (3_000_000, 20_000_000):
        pair = {"query": "q1", "doc": "d1", "score": 1.0}
        frame = pl.select(**{name: pl.repeat(value, rows) for name, value in pair.items()})
        frame.write_parquet(tmp_path / "bomb.parquet", row_group_size=1_000_000)
        assert (tmp_path / "bomb.parquet").stat().st_size < 500_000
        for qrels, run in (("qrels", "bomb.parquet"), ("bomb.parquet", "qrels")):
            found = evaluated(tmp_path / qrels, tmp_path / run)
            assert "bomb.parquet" in found["found"]
            assert "unpacks to more than 250 times its size" in found["found"]
            assert found["peak"] < 300_000_000


@needs_proc
@pytest.mark.slow
def test_gzip_bomb_of_one_pair(tmp_path: Path) -> None:
    """The first piece shows that a document repeats: nothing is held until the end."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=9) as file:
        for _ in range(20):
            file.write(b"q1 Q0 d1 1 1.0 run\n" * 500_000)
    found = evaluated(tmp_path / "qrels", tmp_path / "bomb.gz")
    assert "bomb.gz" in found["found"]
    assert "in this ranking twice" in found["found"]
    assert found["peak"] < 300_000_000


def test_memory_that_runs_out_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.0 t\n")

    def load(self: Any, data: Any, offset: int) -> Any:
        raise MemoryError

    monkeypatch.setattr("goldrank.io.text.trec.TrecRun._block", load)
    with raises_code(MemoryLimitError, "memory-ran-out", match="run: "):
        evaluate({"q1": {"d1": 1}}, tmp_path / "run", "AP")


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_distinct_ids(most: int) -> None:
    """Exact, whether held or put away: ids of any bytes, in any order, some many times."""
    distinct = DistinctIds(most)
    wanted = [b"", b"a", b"b\n", b"\xff" * 300, *(str(i).encode() for i in range(200))]
    for i in range(0, len(wanted), 7):
        distinct.add(wanted[i : i + 7])
        distinct.add(wanted[: i + 1 : 3])
    assert distinct.finish() == (len(wanted), sorted(wanted)[:4])


# What is held whole.


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which 65 MB are available."""
    monkeypatch.setattr(machine, "available", lambda: 65 << 20)


def refused(call: Callable[[], Any], *words: str) -> None:
    """A call for which there is not enough memory: needed and available are named, and what to do."""
    with raises_code(
        MemoryLimitError, "over-memory-limit", match="takes about .* and 68 MB of memory are available"
    ) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.usefixtures("small_machine")
def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    """Sparse files: had anybody read them, this would take minutes."""
    path = tmp_path / "table.json"
    with open(path, "wb") as file:
        file.write(b'{"q1": {"d1": 1.0')
        file.truncate(100 << 30)
    refused(
        lambda: evaluate(path, {"q1": {"d1": 1.0}}, "AP"),
        "holding 107,374,182,400 bytes takes about 214.7 GB",
        "docs/scale.md",
    )
    refused(lambda: evaluate({"q1": {"d1": 1}}, path, "AP"), str(path))


@pytest.mark.usefixtures("small_machine")
def test_large_row_groups_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"query": ["q1"] * 200, "doc": [f"d{i}" for i in range(200)], "score": [0.5] * 200})
    frame.write_parquet(tmp_path / "run.parquet")
    monkeypatch.setattr("goldrank.io.tables.polars_tables.MOST_SLICED", 100)
    evaluate({"q1": {"d1": 1}}, tmp_path / "run.parquet", "AP")
    monkeypatch.setattr("goldrank.io.tables.table_checks.ROW", 100_000)
    refused(lambda: evaluate({"q1": {"d1": 1}}, tmp_path / "run.parquet", "AP"), "smaller row groups", "200 rows")


@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize(
    ("constant", "lines", "words"),
    [
        ("goldrank.engine.streaming.RANKED_LINE", ["q1 Q0 d1 1 2.0 t", "q1 Q0 d2 2 1.0 t"], "ranking the 2 lines"),
        ("goldrank.engine.external_sort.SCATTERED_LINE",
         ["q1 Q0 d1 1 2.0 t", "q2 Q0 d1 1 2.0 t", "q1 Q0 d2 2 1.0 t"], "ranking 2 lines of queries that are scattered"),
        ("goldrank.data.qrels.TEXT_JUDGEMENT", None, "holding 1 judgements"),
    ],
)  # fmt: skip
def test_what_is_held_whole_is_asked_for(
    constant: str, lines: list[str] | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line stands for millions: each is taken to need 80 MB."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("\n".join(lines or ["q1 Q0 d1 1 2.0 t"]) + "\n")
    evaluate(tmp_path / "qrels", tmp_path / "run", "AP")
    name = constant.rpartition(".")[2]
    for module in [
        module for key, module in sys.modules.items() if key.startswith("goldrank.") and hasattr(module, name)
    ]:
        monkeypatch.setattr(module, name, 80 << 20)
    refused(lambda: evaluate(tmp_path / "qrels", tmp_path / "run", "AP"), words)


def test_little_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: pytest.fail("asked"))
    machine.fits(machine.CHECKED_FROM - 1, "holding a table", "run.csv")


def test_a_system_that_does_not_say_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: None)
    machine.fits(1 << 60, "holding a table", "run.csv")


KB, MB = 1 << 10, 1 << 20
MEMINFO = {"proc/meminfo": "MemTotal: 900000 kB\nMemAvailable: 400000 kB\nSwapFree: 100000 kB\n"}
V2 = {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": f"{300 * MB}\n",
      "sys/fs/cgroup/a/memory.current": f"{250 * MB}\n",
      "sys/fs/cgroup/a/memory.stat": f"anon 1\ninactive_file {20 * MB}\n",
      "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "1\n"}  # fmt: skip
V1 = {"proc/self/cgroup": "3:cpu:/x\n2:memory:/c\n", "sys/fs/cgroup/memory/c/memory.limit_in_bytes": f"{200 * MB}\n",
      "sys/fs/cgroup/memory/c/memory.usage_in_bytes": f"{50 * MB}\n",
      "sys/fs/cgroup/memory/c/memory.stat": f"total_inactive_file {5 * MB}\n"}  # fmt: skip
# Within a container the path is that of the host, and the group's files are at the root.
CONTAINER = {"proc/self/cgroup": "0::/docker/1f\n", "sys/fs/cgroup/memory.max": f"{100 * MB}\n",
             "sys/fs/cgroup/memory.current": f"{110 * MB}\n"}  # fmt: skip
UNLIMITED = V1 | {"sys/fs/cgroup/memory/c/memory.limit_in_bytes": f"{2**63 - 4096}\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (MEMINFO, 500_000 * KB),  # available and free swap
        (MEMINFO | V2, 70 * MB),  # 300 - 250 + 20 that can be taken back; the inner group has no limit
        (MEMINFO | V1, 155 * MB),  # 200 - 50 + 5
        (MEMINFO | CONTAINER, 0),  # it has more than it may have
        (MEMINFO | UNLIMITED, 500_000 * KB),
        (V2, 70 * MB),
    ],
)
def test_the_machine_is_asked(
    files: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    assert machine.available() == expected


def test_this_machine_has_memory() -> None:
    there = machine.available()
    assert there is None or there > MB


def test_by_tag_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 2.0 a\nq1 Q0 d2 2 1.0 a\nq1 Q0 d2 1 2.0 b\nq1 Q0 d1 2 1.0 b\n")
    assert cli.run(["eval", f"{tmp_path}/q", f"{tmp_path}/r", "--by-tag", "-m", "RR", "--as", "csv"]) == 0
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
