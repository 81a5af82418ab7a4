"""Spark on this machine beside goldrank's own reader, on the same Parquet files: python benchmarks/spark.py [--help]

Each measurement is a process of its own. For Spark the time is that of `evaluate` in a session that has already
answered once (the first call compiles), with the first call's time beside it; the start of Java is in neither. The
memory is that of the Python process, which is the driver's part of goldrank, and that of its Java machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import processes

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
SIZES = (100_000, 1_000_000, 10_000_000)
DEPTH = 1_000
JUDGED = 10
"""Judged documents of a query; half of them are retrieved."""
MEASURES = ["nDCG@10", "AP", "RR"]
SEED = 7


def make(rows: int, folder: Path) -> None:
    """Qrels and a run in Parquet: queries of `DEPTH` documents each, in the order of their scores."""
    import polars as pl

    random = np.random.default_rng(SEED)
    queries = max(1, rows // DEPTH)
    number = np.arange(queries * DEPTH)
    # A step that shares no factor with the corpus' size: no document twice in a query.
    doc = (number * 7_919 + number // DEPTH * 31) % 8_800_003
    score = -np.sort(-random.random((queries, DEPTH)) * 30, axis=1).round(4).ravel()
    query = pl.Series(number // DEPTH)
    run = pl.DataFrame({"query": query, "doc": doc, "score": score})
    ranks = np.array([2, 7, 30, 200, 900])[: JUDGED // 2]
    places = (np.arange(queries)[:, None] * DEPTH + ranks).ravel()
    found = run[places].with_columns(grade=pl.Series(random.integers(0, 4, len(places)))).drop("score")
    other = found.with_columns(pl.col("doc") + 8_800_003)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (("qrels", pl.concat([found, other])), ("run", run)):
        named = table.with_columns(pl.format("q{}", "query").alias("query"), pl.format("D{}", "doc").alias("doc"))
        named.write_parquet(folder / f"{name}.part")
        os.replace(folder / f"{name}.part", folder / f"{name}.parquet")


def with_files(folder: Path) -> dict[str, object]:
    """Evaluate by the reader of files."""
    import goldrank

    start = time.perf_counter()
    scores = goldrank.evaluate(folder / "qrels.parquet", folder / "run.parquet", MEASURES)
    return {"spent": {"wall": time.perf_counter() - start}, "means": scores.mean}


def with_spark(folder: Path) -> dict[str, object]:
    """Evaluate by Spark with two threads; also what one evaluation shuffles."""
    import warnings

    warnings.simplefilter("ignore")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    import goldrank

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    with tempfile.TemporaryDirectory() as events:
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.log.level": "ERROR",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{events}",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        seconds = []
        for _ in range(3):
            qrels, run = (spark.read.parquet(str(folder / f"{name}.parquet")) for name in ("qrels", "run"))
            start = time.perf_counter()
            scores = goldrank.evaluate(qrels, run, MEASURES)
            seconds.append(time.perf_counter() - start)
        java = _highest(spark.sparkContext._gateway.proc.pid)
        spark.stop()
        written = sum(_shuffled(file) for file in Path(events).iterdir() if file.is_file()) / len(seconds)
    return {
        "spent": {"wall": min(seconds[1:])},
        "first": seconds[0],
        "shuffled": written,
        "java": java,
        "means": scores.mean,
    }


def _shuffled(file: Path) -> int:
    """Bytes that the tasks of an event log wrote for shuffles."""
    total = 0
    with open(file, encoding="utf-8") as log:
        for line in log:
            if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                metrics = json.loads(line).get("Task Metrics") or {}
                total += (metrics.get("Shuffle Write Metrics") or {}).get("Shuffle Bytes Written", 0)
    return total


def _highest(process: int) -> int:
    text = Path(f"/proc/{process}/status").read_text()
    return int(text.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024


def ensure(rows: int, data: Path) -> Path:
    """The folder of the files of a size, made if they are missing."""
    folder = data / f"spark-{rows}"
    if not (folder / "run.parquet").exists():
        make(rows, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="*", default=SIZES, help="sizes of the run")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--make", type=float, metavar="ROWS", help="only make the files of a size")
    parser.add_argument("--worker", choices=("file", "spark"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        ensure(int(arguments.make), arguments.data)
        return
    sizes = [int(rows) for rows in arguments.rows]
    if arguments.worker:
        folder = arguments.data / f"spark-{sizes[0]}"
        print(json.dumps((with_spark if arguments.worker == "spark" else with_files)(folder)))
        return
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} processors\n")
    print("| rows | file, s | Spark local[2], s | first call, s | ratio | driver, MB | Java, MB | shuffled, B/row |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    seconds: list[float] = []
    for rows in sizes:
        ensure(rows, arguments.data)
        command = [sys.executable, Path(__file__), "--data", arguments.data, "--rows", str(rows), "--worker"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        file = processes.run([*command, "file"], environment, 900)
        spark = processes.run([*command, "spark"], environment, 900)
        if file.answer["means"] != spark.answer["means"]:
            sys.exit(f"{rows:,} rows: the means differ: {file.answer['means']} and {spark.answer['means']}")
        taken, by_file = spark.answer["spent"]["wall"], file.answer["spent"]["wall"]
        seconds.append(taken)
        driver = (spark.anonymous or 0) / 1e6
        print(
            f"| {rows:,} | {by_file:.2f} | {taken:.2f} | {spark.answer['first']:.2f} "
            f"| {taken / by_file:.1f} | {driver:.0f} | {spark.answer['java'] / 1e6:.0f} "
            f"| {spark.answer['shuffled'] / rows:.1f} |",
            flush=True,
        )
    for i in range(1, len(sizes)):
        grown = math.log(seconds[i] / seconds[i - 1]) / math.log(sizes[i] / sizes[i - 1])
        print(f"\nfrom {sizes[i - 1]:,} to {sizes[i]:,} rows the time grows with exponent {grown:.2f}")


if __name__ == "__main__":
    main()
