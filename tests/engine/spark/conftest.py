"""A Spark session for these tests; GOLDRANK_SPARK chooses which kind, and `test_masters.py` runs all of them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

import goldrank

MASTER = os.environ.get("GOLDRANK_SPARK", "local[2]")
"""A master such as local[2] or local-cluster[2,1,1024], or "connect" for a Spark Connect server on this machine."""

SOURCE = str(Path(goldrank.__file__).resolve().parent.parent)


def why_not() -> str | None:
    """What is missing for a Spark session."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    return None if java else "Java is not installed: Spark needs version 17 or later"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All are slow, and what Spark warns of is no concern of theirs."""
    missing = why_not()
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            for kind in ("FutureWarning", "ResourceWarning", "DeprecationWarning", "UserWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session that is stopped in the end, and with it the Java machine."""
    if "PYTEST_XDIST_WORKER" in os.environ:  # fails if another process has a session: see tests/scheduling.py
        (tmp_path_factory.getbasetemp().parent / "spark").touch(exist_ok=False)
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    # Workers start the python3 of the PATH otherwise, and in a folder of their own.
    path = os.pathsep.join(dict.fromkeys([SOURCE, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))
    folder = tmp_path_factory.mktemp("spark")
    os.environ.update(
        PYSPARK_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
        PYTHONPATH=path,
        SPARK_WORKER_DIR=str(folder / "work"),
        SPARK_LOCAL_DIRS=str(folder / "local"),
    )
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if MASTER == "connect" else builder.master(MASTER)
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        # Small jobs end before a second compiler would pay.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": path,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
        yield session
        session.stop()
        _stop_java()
    os.environ.clear()
    os.environ.update(before)


def _stop_java() -> None:
    """End the Java machine that pyspark started and would leave until this process ends."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        context = SparkContext._active_spark_context
        if context is not None:
            context.stop()
        gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            process.stdin.close()
            process.terminate()
            process.wait(30)
        SparkContext._gateway = None
        SparkContext._jvm = None
