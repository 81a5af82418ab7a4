"""Processes that are forked after polars was used: an error at once, never a wait without end.

Each program runs in an interpreter of its own with a time limit; a deadlock would be a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys

import places
import pytest
from lanes import few

from goldrank import read_run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

HEAD = """
import concurrent.futures, multiprocessing, os, sys, warnings
warnings.simplefilter("ignore")
import goldrank
from goldrank import GoldrankError, evaluate, read_run

qrels = {"q": {"a": 1}}
run = {"q": {"b": 2.0, "a": 1.0}}

def measured(source="run.parquet"):
    try:
        return evaluate(qrels, source, "RR")["RR"]
    except GoldrankError as error:
        return error.code

def frames(_=None):
    import polars
    return measured(polars.DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0]}))

def forked(task, *arguments):
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        return pool.apply(task, arguments)
"""


@pytest.fixture
def python(tmp_path):
    """Runs a program and returns what it prints."""

    def call(program):
        env = {**os.environ, "PYTHONPATH": str(places.ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    run = {"q": {"b": 2.0, "a": 1.0}}
    read_run(run).save(tmp_path / "run.parquet")
    read_run(run).save(tmp_path / "run.trec")
    (tmp_path / "run.csv").write_text("query,doc,score\nq,b,2.0\nq,a,1.0\n")
    return call


USED = "assert measured() == 0.5\n"


@pytest.mark.parametrize("source", few(["run.parquet", "run.csv"], 1))
def test_pools(python, source):
    assert python(f"{HEAD}{USED}print(forked(measured, {source!r}))") == ["forked"]


@pytest.mark.slow
def test_executors(python):
    program = """
with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
    print(pool.submit(measured).result())
    print(pool.submit(frames).result())
    print(pool.submit(measured, "run.trec").result())
"""
    assert python(HEAD + USED + program) == ["forked", "forked", "0.5"]


FORK = """
pid = os.fork()
if pid == 0:
    print(task(), flush=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.slow
def test_plain_forks_and_threads(python):
    """A child with threads of its own, in which a run from before the fork is evaluated."""
    program = """
import threading
opened = read_run("run.parquet")
def task():
    for _ in range(6):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return measured(opened)
"""
    assert python(HEAD + USED + program + FORK) == ["forked"]


@pytest.mark.slow
def test_polars_of_others(python):
    """The parent used polars without goldrank, which only the child imports."""
    program = """
import os, polars
polars.DataFrame({"a": [2, 1]}).sort("a").write_parquet("other.parquet")
def task():
    import goldrank
    try:
        return goldrank.evaluate({"q": {"a": 1}}, "run.parquet", "RR")["RR"]
    except goldrank.GoldrankError as error:
        return error.code
"""
    assert python(program + FORK) == ["forked"]


@pytest.mark.slow
def test_what_was_not_used_works(python):
    """Imported only, or used in no process before: then the child's own threads are started."""
    assert python(f"{HEAD}import polars\nprint(forked(measured))") == ["0.5"]
    assert python(f"{HEAD}print(forked(measured))") == ["0.5"]
    assert python(f"{HEAD}{USED}task = lambda: measured('run.trec')\n{FORK}") == ["0.5"]


@pytest.mark.slow
def test_a_server_that_forks_workers(python):
    """As gunicorn does: workers read tables, again and again, after a master that has not."""
    program = """
def task():
    return [measured() for _ in range(3)] == [0.5] * 3
"""
    assert python(HEAD + program + FORK + FORK) == ["True", "True"]


@pytest.mark.slow
def test_spawned_processes_work(python, tmp_path):
    (tmp_path / "worker.py").write_text(HEAD)
    program = """
from worker import *
if __name__ == "__main__":
    assert measured() == 0.5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(measured))
"""
    (tmp_path / "main.py").write_text(program)
    assert python("import runpy, sys; sys.path.insert(0, '.'); runpy.run_path('main.py', run_name='__main__')") == [
        "0.5"
    ]


@pytest.mark.slow
def test_results_become_no_frames(python):
    program = """
scores = evaluate(qrels, run, "RR")
def task():
    try:
        return scores.to_polars()
    except GoldrankError as error:
        return error.code
"""
    assert python(HEAD + USED + program + FORK) == ["forked"]
