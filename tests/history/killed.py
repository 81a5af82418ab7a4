"""Writers of a history that are killed at random times, again and again, and what they leave behind.

Run as a program: FOLDER KILLS SEED.
"""

import os
import sys

import numpy as np
from killing import kill_many
from made_up_scores import make

from goldrank import History


def values_of(writer, number):
    """The values that a writer records at its n-th time."""
    return np.random.default_rng([writer, number]).random(40)


def write_forever(path, writer, told):
    """Record and, when the history says that it is done, say so."""
    with History(path) as history:
        for number in range(1_000_000):
            record = history.record(make(values_of(writer, number)), label=f"{writer} {number}")
            os.write(told, f"{record.id} {writer} {number}\n".encode())


def check(path, said, kills):
    """Everything that was said to be recorded is there; of each killed writer at most one record more."""
    with History(path) as history:
        history.check()
        records = {record.id: record for record in history.records()}
        for number, writer, turn in said:
            assert records[number].label == f"{writer} {turn}"
        assert len(said) <= len(records) <= len(said) + kills
        for record in records.values():
            writer, turn = map(int, record.label.split())
            expected = values_of(writer, turn).tobytes()
            assert history.scores(record).columns["nDCG@10"].values.tobytes() == expected


if __name__ == "__main__":
    kill_many(write_forever, check, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
