"""A limit on memory is kept, or the work is refused before it begins."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from helpers import PEAK_MEMORY
from raising import raises_code

from goldrank import cli, evaluate
from goldrank.data import budget
from goldrank.data.blocks import USUAL, ReadingPlan
from goldrank.data.qrels import Qrels
from goldrank.engine.external_sort import DistinctIds
from goldrank.errors import MemoryLimitError, OptionError
from goldrank.evaluation import memory
from goldrank.report import charts

CODE = f"""
{PEAK_MEMORY}
import json, sys
import goldrank
from goldrank.data import budget
from goldrank.evaluation import memory
limit = memory.size(sys.argv[3]) if sys.argv[3] else None
run = goldrank.read_runs(sys.argv[2]) if "tags" in sys.argv[2] else sys.argv[2]
try:
    with budget.limited(limit):
        found = goldrank.evaluate(sys.argv[1], run, ["AP", "nDCG@10"], overlap="allow")
    found = len(found) if "tags" in sys.argv[2] else [found["AP"], found.counts["unjudged_queries"]]
except goldrank.GoldrankError as error:
    found = type(error).__name__ + " " + str(error)
print(json.dumps({{"found": found, "peak": peak()}}))
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
    for limit in ("600MB", "250MB"):
        limited = evaluated(data / "qrels", data / run, limit)
        assert limited["found"] == free["found"]
        assert limited["peak"] <= memory.size(limit)


HUGE = {
    "one query": lambda i: f"q1 Q0 doc{i} {i} {-i}.5 t\n",
    "one query, all tied": lambda i: f"q1 Q0 doc{i} {i} 0.5 t\n",
    "scattered": lambda i: f"q{1 + (i % 10_000 == 0)} Q0 doc{i} {i} {-i}.5 t\n",
    "unjudged queries": lambda i: f"{'query' if i else 'q'}{i or 1} Q0 doc{i} 1 0.5 t\n",
    "tags": lambda i: f"q1 Q0 doc1 1 0.5 t{i}\n",
}
"""Lines of runs that take much memory for their size."""
LINES = 600_000


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("huge")
    (folder / "qrels").write_text("q1 0 doc5 1\nq1 0 doc7 1\nq2 0 doc0 1\n")
    for name, line in HUGE.items():
        text = "".join(line(i) for i in range(30_000 if name == "tags" else LINES))
        (folder / name).write_text(text)
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode(), 1))
    return folder


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_runs_that_take_much_memory(name: str, huge: Path) -> None:
    """They stay within the limit, or are refused with the file's name and what they take; plain or packed."""
    free = evaluated(huge / "qrels", huge / name, "") if name != "tags" else {"found": 30_000}
    for packed in ("", ".gz"):
        outcomes = set()
        for limit in ("120MB", "200MB", "1GB"):
            if name == "tags" and limit == "1GB":
                continue  # it fits, and takes half a minute
            limited = evaluated(huge / "qrels", huge / f"{name}{packed}", limit)
            assert limited["peak"] <= memory.size(limit)
            refused = str(limited["found"]).startswith("MemoryLimitError")
            outcomes.add(refused)
            if refused:
                assert f"{name}{packed}" in limited["found"]
                assert "takes about" in limited["found"]
            else:
                assert limited["found"] == free["found"]
        assert outcomes == ({True} if name == "tags" else {False} if name == "unjudged queries" else {True, False})


@needs_proc
@pytest.mark.slow
def test_files_that_are_held_whole(huge: Path) -> None:
    """Of qrels and of runs in JSON and CSV, plain or packed, as many are held as fit."""
    rows = [(f"q{i // 1000}", f"d{i}", i % 7) for i in range(150_000)]
    table = {f"q{q}": {f"d{q * 1000 + i}": i % 7 for i in range(1000)} for q in range(150)}
    contents = {
        "qrels.txt": "".join(f"{q} 0 {d} {n}\n" for q, d, n in rows),
        "table.json": json.dumps(table),
        "records.jsonl": "".join(json.dumps({"query": q, "doc": d, "score": n}) + "\n" for q, d, n in rows),
        "table.csv": "query,doc,score\n" + "".join(f"{q},{d},{n}\n" for q, d, n in rows),
        "quoted.csv": "query,doc,score\n" + "".join(f'"{q}",{d},{n}\n' for q, d, n in rows),
    }
    (huge / "small").write_text("q1 0 d1001 1\n")
    (huge / "run").write_text("q1 Q0 d1001 1 2.0 t\n")
    for name, text in contents.items():
        for suffix in ("", ".gz") if name in ("qrels.txt", "table.json") else ("",):
            path = huge / (name + suffix)
            path.write_bytes(gzip.compress(text.encode(), 1) if suffix else text.encode())
            outcomes = set()
            for given in (
                ((path, huge / "run"), (huge / "small", path)) if name != "qrels.txt" else ((path, huge / "run"),)
            ):
                limit = "160MB"
                for _ in range(2):  # what was refused gets more, what fits gets less
                    found = evaluated(*given, limit)
                    refused = isinstance(found["found"], str)
                    outcomes.add(refused)
                    within = memory.size(limit) if limit != "60MB" else 140_000_000
                    assert found["peak"] <= within, name
                    limit = "1GB" if refused else "60MB"
            assert outcomes == {True, False}


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("per_query", [1, 50])
def test_many_judgements(per_query: int, tmp_path: Path) -> None:
    """Judgements by the hundred thousand are held as columns: they fit, or are refused with what they take."""
    pairs = [(i // per_query, i) for i in range(200_000)]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 document-{d} 1\n" for q, d in pairs))
    (tmp_path / "run").write_text("".join(f"{q} Q0 document-{d} 1 {-d}.5 t\n" for q, d in pairs))
    outcomes = []
    for limit in ("100MB", "400MB"):
        found = evaluated(tmp_path / "qrels", tmp_path / "run", limit)
        refused = isinstance(found["found"], str)
        outcomes.append(refused)
        assert found["peak"] <= memory.size(limit)
        assert not refused or "takes about" in found["found"]
        assert refused or found["found"] == [1.0, 0]
    assert outcomes == [True, False]


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
            for limit in ("", "500MB"):
                found = evaluated(tmp_path / qrels, tmp_path / run, limit)
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
    for limit in ("", "200MB"):
        found = evaluated(tmp_path / "qrels", tmp_path / "bomb.gz", limit)
        assert "bomb.gz" in found["found"]
        assert "in this ranking twice" in found["found"]
        assert found["peak"] < (memory.size(limit) if limit else 300_000_000)


def test_memory_that_runs_out_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.0 t\n")

    def load(self: Any, data: Any, offset: int) -> Any:
        raise MemoryError

    monkeypatch.setattr("goldrank.io.trec.TrecRun._block", load)
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


@pytest.mark.slow
@needs_proc
def test_what_cannot_fit_is_refused(data: Path) -> None:
    found = evaluated(data / "qrels", data / "run.parquet", "60MB")
    assert "more than the 60 MB that there are" in found["found"]
    assert found["peak"] < 150_000_000


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    """Sparse files: had anybody read them, this would take minutes."""
    path = tmp_path / "table.json"
    with open(path, "wb") as file:
        file.write(b'{"q1": {"d1": 1.0')
        file.truncate(100 << 30)
    for given in ((path, {"q1": {"d1": 1.0}}), ({"q1": {"d1": 1}}, path)):
        with pytest.raises(MemoryLimitError, match="takes about") as caught, budget.limited(4 * 10**9):
            evaluate(*given, "AP")
        assert "more than the 4.0 GB" in str(caught.value)
        assert "docs/scale.md" in str(caught.value)


def test_large_row_groups_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"query": ["q1"] * 200, "doc": [f"d{i}" for i in range(200)], "score": [0.5] * 200})
    frame.write_parquet(tmp_path / "run.parquet")
    monkeypatch.setattr("goldrank.io.tables.MOST_SLICED", 100)
    monkeypatch.setattr("goldrank.io.tables.ROW", 10_000_000)
    with raises_code(MemoryLimitError, "over-memory-limit", match="smaller row groups"), budget.limited(4 * 10**9):
        evaluate({"q1": {"d1": 1}}, tmp_path / "run.parquet", "AP")


def test_the_machine_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says how much memory there is: what surely does not fit into the machine is refused before it is read."""
    monkeypatch.setattr(budget, "of_machine", lambda: 4 * 10**9)
    path = tmp_path / "run.json"
    with open(path, "wb") as file:
        file.write(b'{"q1": {"d1": 1.0')
        file.truncate(100 << 30)
    with raises_code(MemoryLimitError, "over-memory-limit", match="more than the 4.0 GB that there are"):
        evaluate({"q1": {"d1": 1}}, path, "AP")


@needs_proc
def test_memory_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of the group counts if it is less than the machine has; "max" says that there is none."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    group = tmp_path / "memory.max"
    monkeypatch.setattr(budget, "GROUP_LIMITS", (str(group), str(tmp_path / "none")))
    for text, expected in (("max\n", machine), ("5000000\n", 5_000_000), (f"{2**63 - 4096}\n", machine)):
        group.write_text(text)
        budget.of_machine.cache_clear()
        assert budget.of_machine() == expected
    budget.of_machine.cache_clear()


class Greedy:
    """A source that takes 100 MB for each thread at the usual size of pieces."""

    name = "greedy"

    def memory(self, threads: int, share: float) -> int:
        return int(100e6 * threads * share)


def test_plans_get_smaller_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "processors", lambda: 4)
    qrels = Qrels({"q": {"d": 1}})
    base = memory.resident() + memory.LIBRARIES
    plans = [memory.plan(base + room, qrels, [Greedy()]) for room in (900 << 20, 250 << 20, 60 << 20)]  # type: ignore[list-item]
    assert (plans[0].threads, plans[0].share, plans[0].lines) == (4, USUAL.share, USUAL.lines)
    sizes = [(plan.threads or 4) * plan.share for plan in plans]
    assert sizes[0] > sizes[1] > sizes[2]
    assert plans[2].lines < plans[1].lines
    assert isinstance(plans[1], ReadingPlan)
    with raises_code(MemoryLimitError, "over-memory-limit"):
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
