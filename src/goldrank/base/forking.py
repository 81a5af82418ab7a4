"""polars in forked processes: its threads exist only in the parent, so work in the child would wait for ever.

`multiprocessing` and `ProcessPoolExecutor` start workers this way on Linux before Python 3.14, and so do servers that
load the application before they fork (gunicorn --preload). The child cannot repair it, so it raises an error at once.
"""

from __future__ import annotations

import os
import re
import sys
import time
from typing import Any

from goldrank.base.errors import GoldrankError

_TASKS = "/proc/self/task"
PATIENCE = 2.0
"""Seconds that new threads may take to get their names."""
_sound_in = 0
"""The id of the process in which polars is known to work."""
_loaded_at_fork = False


def _note_fork() -> None:
    global _loaded_at_fork
    _loaded_at_fork = "polars" in sys.modules


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_note_fork)


def check_polars() -> None:
    """Raise if polars was used before this process was forked. Call it before polars does any work."""
    global _sound_in
    if _sound_in == os.getpid():
        return

    polars = sys.modules.get("polars")
    if polars is not None and not _has_threads(polars):
        raise GoldrankError(
            "tables cannot be read in this process: polars was used before it was forked, and its threads are missing",
            hint="Start processes with multiprocessing.get_context('spawn') or 'forkserver', also as mp_context= of "
            "ProcessPoolExecutor; with gunicorn leave --preload out; or read no table (Parquet, CSV, data frame) "
            "before the fork.",
            code="forked",
        )

    _sound_in = os.getpid()


def _has_threads(polars: Any) -> bool:
    """Whether the threads of polars are in this process; polars starts them if it has not done so before."""
    size = polars.thread_pool_size()
    end = time.monotonic() + PATIENCE

    while True:
        try:
            tasks = os.listdir(_TASKS)
        except OSError:  # not Linux: polars that was loaded before a fork may have been used
            return not _loaded_at_fork

        if len(tasks) <= size:
            return False  # not even as many threads as polars needs
        if not _loaded_at_fork or any(map(_is_of_polars, tasks)):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.01)


def _is_of_polars(task: str) -> bool:
    try:
        with open(f"{_TASKS}/{task}/comm", encoding="ascii", errors="replace") as file:
            return re.match(r"polars-\d", file.read()) is not None
    except OSError:  # it has just ended
        return False
