"""An executor that dies in the middle of a job: the same result or a clear failure, never the mean of a part.

GOLDRANK_KILLS says how often it is tried.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from conftest import MASTER
from frames import run_frame

from goldrank import evaluate
from goldrank.io.tables import spark_frames as door

KILLS = int(os.environ.get("GOLDRANK_KILLS", "2"))


def executors(application: str) -> list[int]:
    """The process ids of this application's executors."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words) and application.encode() in words:
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(not MASTER.startswith("local-cluster"), reason="only a cluster has executors to kill")
@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_killed_executor(spark, attempt, monkeypatch):
    rng = random.Random(attempt)
    run = {f"q{q}": {f"d{d}": float((d * 7919 + q) % 1009) for d in range(100)} for q in range(40)}
    qrels = {query: {f"d{d}": d % 3 for d in range(0, 100, 9)} for query in run}
    expected = evaluate(qrels, run, ["AP", "nDCG@10", "NumRet"])

    def slowly(batches):
        for batch in batches:
            time.sleep(0.5)
            yield batch

    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    slow = run_frame(spark, rows).repartition(8).mapInArrow(slowly, "query_id string, doc_id string, score double")
    judged = qrels
    if attempt % 2:
        monkeypatch.setattr(door, "MOST_JUDGEMENTS", 10)
        table = [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
        judged = spark.createDataFrame(table, "query string, doc string, grade int")
    found = []

    def work() -> None:
        try:
            found.append(evaluate(judged, slow, ["AP", "nDCG@10", "NumRet"]))
        except Exception as error:
            found.append(error)

    application = spark.sparkContext.applicationId
    deadline = time.monotonic() + 60
    while len(executors(application)) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.5 + 3 * rng.random())
    assert thread.is_alive(), "the job was over before an executor could be killed"
    os.kill(rng.choice(executors(application)), signal.SIGKILL)
    thread.join(180)
    assert not thread.is_alive()
    [result] = found
    print(f"attempt {attempt}:", "failed" if isinstance(result, Exception) else "same result")
    if isinstance(result, Exception):
        assert str(result)
    else:
        assert result.mean == expected.mean
        assert result.per_query == expected.per_query
        assert result.counts == expected.counts
