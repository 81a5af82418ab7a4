"""Writers of a history that are killed at random times, again and again, and what they leave behind.

Run as a program: FILE KILLS SEED. It forks its writers, which is quick because everything is imported already, and
needs a process of its own because it has no threads.
"""

import contextlib
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import numpy as np
from made_up_scores import make

from goldrank import History

BATCH = 20
"""Kills until a new file is begun, so that some are killed while they make it."""


def values_of(writer, number):
    """The values that a writer records at its n-th time."""
    return np.random.default_rng([writer, number]).random(40)


def write_forever(path, writer, told):
    """Record and, when the history says that it is done, say so."""
    with History.open(path, create=True) as history:
        for number in range(1_000_000):
            record = history.record(make(values_of(writer, number)), label=f"{writer} {number}")
            os.write(told, f"{record.id} {writer} {number}\n".encode())


def kill_one(path, writer, seconds, after_first):
    """Start a writer, kill it some time later, or after its first record; return what it had said to be recorded."""
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


def check(path, said, kills):
    """Everything that was said to be recorded is there; of each killed writer at most one record more."""
    with History.open(path, create=True) as history:
        history.check()
        records = {record.id: record for record in history.records()}
        for number, writer, turn in said:
            assert records[number].label == f"{writer} {turn}"
        assert len(said) <= len(records) <= len(said) + kills
        for record in records.values():
            writer, turn = map(int, record.label.split())
            expected = values_of(writer, turn).tobytes()
            assert history.scores(record).columns["nDCG@10"].values.tobytes() == expected


def main(folder, kills, seed):
    rng = random.Random(seed)
    acknowledged = 0
    for first in range(0, kills, BATCH):
        path = Path(folder) / f"{first}.db"
        said = []
        for writer in range(first, min(first + BATCH, kills)):
            said += kill_one(path, writer, rng.uniform(0, 0.02), after_first=writer % 2 == 1)
            if writer % 4 == 3:
                check(path, said, writer - first + 1)
        check(path, said, BATCH)
        acknowledged += len(said)
        for left in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{left}").unlink()
    print(kills, acknowledged)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
