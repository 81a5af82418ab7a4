"""Programs that write and are killed at random times, again and again; what they leave behind is checked.

Writers are forked, which is quick because everything is imported already; that needs a process without threads.
"""

import contextlib
import os
import random
import select
import signal
import time
from pathlib import Path

BATCH = 20
"""Kills until a new file is begun, so that some are killed while they make it."""


def kill_one(write_forever, path, writer, seconds, after_first):
    """Start a writer, kill it some time later, or after its first word; return what it had said to be written.

    `write_forever(path, writer, told)` writes lines of three numbers to the descriptor `told`.
    """
    listen, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(listen)
            write_forever(path, writer, told)
        finally:
            os._exit(1)
    os.close(told)
    if after_first:
        assert select.select([listen], [], [], 60)[0], "a writer came to nothing"
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    with os.fdopen(listen, "rb") as stream:
        said = stream.read().decode().splitlines()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return [tuple(map(int, line.split())) for line in said]


def kill_many(write_forever, check, folder, kills, seed):
    """Kill so many writers; `check(path, said, kills)` looks at the file. Prints the kills and what was said."""
    rng = random.Random(seed)
    acknowledged = 0
    for first in range(0, kills, BATCH):
        path = Path(folder) / f"{first}.db"
        said = []
        for writer in range(first, min(first + BATCH, kills)):
            said += kill_one(write_forever, path, writer, rng.uniform(0, 0.02), after_first=writer % 2 == 1)
            if writer % 4 == 3:
                check(path, said, writer - first + 1)
        check(path, said, BATCH)
        acknowledged += len(said)
        for left in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{left}").unlink()
    print(kills, acknowledged)
