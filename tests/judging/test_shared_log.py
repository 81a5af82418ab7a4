"""A log that is not a job's own: other jobs answer too, other programs hold it, the disk fills, clocks go back."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3

import pytest
from chat_server import items
from raising import raises_code

from goldrank.base.errors import StoreError
from goldrank.judging import kept
from goldrank.judging import log as log_module
from goldrank.judging.function import Function
from goldrank.judging.log import JudgementLog
from goldrank.judging.pool_and_calls import Calls
from goldrank.judging.runner import Job


def job(function, log, count=5, **more):
    return Job(Function(function), items(count), log, Calls(concurrency=1, **more))


def statuses(log):
    return sorted(status for (status,) in log._db.execute("SELECT status FROM answered"))


def test_two_jobs_at_once_agree_and_pay_little_twice(tmp_path):
    """While the first job waits for its first answer, a second one asks for everything, and is told something else."""
    path, calls, other = tmp_path / "log.db", itertools.count(), []

    def judge(question, text):
        number = next(calls)
        if number == 0:
            with JudgementLog(path) as log:
                other.append(asyncio.run(job(judge, log).run()))
        return number % 4, f"reason {number}"

    with JudgementLog(path) as log:
        found = asyncio.run(job(judge, log).run())
        assert found.grades == other[0].grades == {(e.query, e.doc): e.grade for e in log}
        assert (found.calls, found.from_log, found.done) == (1, 4, 5)
        assert statuses(log) == ["late", *["ok"] * 5], "what was paid for is kept all the same"
        again = asyncio.run(job(judge, log).run())
        assert (again.calls, again.grades) == (0, found.grades)


@pytest.mark.parametrize("readable_first", [True, False])
def test_a_readable_answer_counts_whoever_got_it(tmp_path, readable_first):
    path, calls, other = tmp_path / "log.db", itertools.count(), []

    def judge(question, text):
        number = next(calls)
        if number == 0:
            with JudgementLog(path) as log:
                other.append(asyncio.run(job(judge, log, 1).run()))
            return "nonsense" if readable_first else 3
        return 2 if readable_first else "nonsense"

    with JudgementLog(path) as log:
        found = asyncio.run(job(judge, log, 1).run())
        assert list(found.grades.values()) == [2 if readable_first else 3]
        again = asyncio.run(job(judge, log, 1).run())
        assert (again.calls, again.grades, again.unreadable) == (0, found.grades, {})
        assert log.check() == 1


def test_a_log_that_is_held_for_long_stops_the_job_and_it_goes_on_later(tmp_path):
    path = tmp_path / "log.db"
    asked = []

    def judge(question, text):
        asked.append(text)
        return 1

    with JudgementLog(path) as log:
        log._db.execute("PRAGMA busy_timeout = 50")
        first = job(judge, log)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with raises_code(StoreError, "file-in-use"):
            asyncio.run(first.run())
        assert asked == [], "nothing is sent that could not be written down"
        holder.execute("ROLLBACK")
        holder.close()
        assert len(asyncio.run(job(judge, log).run()).grades) == 5
        assert log.check() == 5


def test_a_full_disk_stops_the_job_and_keeps_what_was_there(tmp_path):
    with JudgementLog(tmp_path / "log.db") as log:
        asyncio.run(job(lambda question, text: 1, log).run())
        (pages,) = log._db.execute("PRAGMA page_count").fetchone()
        log._db.execute(f"PRAGMA max_page_count = {pages}")
        with raises_code(StoreError, "disk-full"):
            asyncio.run(job(lambda question, text: (2, "x" * 9_000), log, 50).run())
        assert log.check() >= 5
    with JudgementLog(tmp_path / "log.db") as log:
        assert len(asyncio.run(job(lambda question, text: (2, "x" * 9_000), log, 50).run()).grades) == 50


def test_clocks_that_go_back_change_nothing(tmp_path, monkeypatch):
    """What counts is the order of rows, never a time."""
    days = iter(range(28, 0, -1))
    for module in (kept, log_module):
        monkeypatch.setattr(module, "timestamp", lambda: f"2026-01-{next(days):02}T00:00:00.000+00:00")

    def judge(question, text):
        return int(text[-1]) % 4

    with JudgementLog(tmp_path / "log.db") as log:
        found = asyncio.run(job(judge, log).run())
        again = asyncio.run(job(judge, log).run())
        assert (again.calls, again.grades) == (0, found.grades)
        log.add("ann", "q0", "d0", 1)
        log.add("ann", "q0", "d0", 3)
        assert log.qrels()["q0"]["d0"] == 3
        assert log.check() == 7


@pytest.mark.parametrize(
    "parsed", ["{", "[]", "1", b"\xff", '{"grade": "x"}', '{"reason": 1}', '{"fields": []}', "[" * 9_999]
)
def test_answers_that_another_program_wrote(tmp_path, parsed):
    with JudgementLog(tmp_path / "log.db") as log:
        asyncio.run(job(lambda question, text: 1, log, 1).run())
        log._db.execute("DROP TRIGGER answered_no_update")
        log._db.execute("UPDATE answered SET parsed = ?", (parsed,))
        with pytest.raises(StoreError, match="an answer cannot be read"):
            asyncio.run(job(lambda question, text: 1, log, 1).run())
