"""Pages' judgements whose writer is killed at random times. Run as a program: FOLDER KILLS SEED."""

import os
import sys

from killing import kill_many
from partly_judged import new_session

from goldrank.explorer.judging_session import Judging
from goldrank.judging.log import JudgementLog

DOCS = ("plant-2", "coffee-4", "bike-4")
SESSION = new_session()
DATA = SESSION.data_hash  # the thread that makes it has ended then: a process with threads is not forked


def judgement(writer, number):
    """What a page of a writer sends at its n-th time."""
    return {"query": "q04", "doc": DOCS[number % 3], "action": "grade", "grade": (writer + number) % 3,
            "key": f"{writer} {number}", "judge": f"judge {writer}", "data": DATA}  # fmt: skip


def judge_forever(path, writer, told):
    judging = Judging(SESSION, str(path), "me")
    for number in range(1_000_000):
        seq = judging.add(judgement(writer, number))["seq"]
        os.write(told, f"{seq} {writer} {number}\n".encode())


def check(path, said, kills):
    """What was acknowledged is there once; each killed one left at most one more."""
    with JudgementLog(path) as log:
        log.check()
        events = {one.seq: one for one in log.entries()}
    keys = [one.key for one in events.values()]
    assert len(set(keys)) == len(keys)
    for seq, writer, number in said:
        assert (events[seq].key, events[seq].grade) == (f"{writer} {number}", (writer + number) % 3)
    assert len(said) <= len(events) <= len(said) + kills


if __name__ == "__main__":
    kill_many(judge_forever, check, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
