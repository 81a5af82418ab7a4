"""Judges that are killed at random times. Run as a program: FOLDER KILLS SEED."""

import os
import sys

from killing import kill_many

from goldrank.judging.log import JudgementLog
from goldrank.judging.log_events import Entry


def event(writer, number):
    """What a writer judges at its n-th time."""
    return Entry(f"judge {writer}", f"q{number}", "d", grade=(writer + number) % 4, key=f"{writer} {number}")


def judge_forever(path, writer, told):
    with JudgementLog(path) as log:
        for number in range(1_000_000):
            seq = log.add_entry(event(writer, number)).seq
            os.write(told, f"{seq} {writer} {number}\n".encode())


def check(path, said, kills):
    """What was acknowledged is there once, and sending it again adds nothing; each killed one left at most one more."""
    with JudgementLog(path) as log:
        log.check()
        events = {one.seq: one for one in log.entries()}
        for seq, writer, number in said:
            assert events[seq].key == f"{writer} {number}"
            assert events[seq].grade == (writer + number) % 4
        assert len(said) <= len(events) <= len(said) + kills
        for seq, writer, number in said[-3:]:
            assert log.add_entry(event(writer, number)).seq == seq


if __name__ == "__main__":
    kill_many(judge_forever, check, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
