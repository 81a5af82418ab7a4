"""The log of judgements: what is added stays, is added once, and can be taken back but never changed."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import lanes
import places
import pytest
from raising import raises_code

import goldrank
from goldrank.base.errors import GoldrankError, InputError, OptionError, StoreError
from goldrank.judging.log import _COLUMNS, CONFLICT, JudgementLog
from goldrank.judging.log_events import Entry, Event, chained
from goldrank.judging.log_file import TRIGGERS
from goldrank.judging.log_merge import exported

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(places.ROOT / "src"), str(places.ROOT / "tests")])}


@pytest.fixture
def log(tmp_path):
    with JudgementLog(tmp_path / "judgements.db") as log:
        yield log


def grade(judge, doc, value, query="q", **more):
    return Entry(judge, query, doc, grade=value, **more)


def code_of(call):
    with pytest.raises(GoldrankError) as caught:
        call()
    return caught.value.code


def test_what_is_added_comes_back_as_it_was(log, tmp_path):
    given = Entry(
        "ann", "q\udcff", "d/..", grade=2, comment="käse \U0001f9c0", key="k1", criteria="2: answers it", seen="ab",
        whole=True, blind=False, seconds=3.5, knew=0, data="cd",
    )  # fmt: skip
    assert log.add_entry(given).seq == 1
    (found,) = log.entries()
    assert replace(found, at="", seq=0) == given
    assert found.at.endswith("+00:00")
    with JudgementLog(tmp_path / "judgements.db", mode="r") as again:
        assert list(again.entries()) == [found]


def test_people_judge_by_plain_words(tmp_path):
    with JudgementLog(tmp_path / "log.db") as log:
        first = log.add("ann", "q", "d", 2, reason="it says so")
        assert (first.number, first.judge, first.query, first.doc, first.grade) == (1, "ann", "q", "d", 2)
        second = log.add("bob", "q", "e", 0.5)
        assert list(log) == [first, second]
        assert [entry.comment for entry in log.entries()] == ["it says so", ""]
        assert log.undo("bob") == second
        assert [(event.number, event.grade) for event in log] == [(1, 2), (2, 0.5), (3, None)]
        assert log.withdraw("ann", since=1) == []
        assert log.withdraw("ann") == [first]
        assert log.judges() == {"ann": "person", "bob": "person"}
        assert repr(log) == f"JudgementLog({log.path!r})"
    with JudgementLog(tmp_path / "log.db", mode="r") as log:
        assert isinstance(next(iter(log)), Event)
        with raises_code(StoreError, "read-only"):
            log.add("ann", "q", "d", 1)
    for wrong in ({"path": 3}, {"path": tmp_path / "log.db", "mode": "w"}):
        with pytest.raises(GoldrankError):
            JudgementLog(**wrong)


def test_a_model_is_no_person(log):
    log.add_entry(grade("gpt", "d", 1, kind="model"))
    log.add_entry(grade("old", "d", 1, kind="file"))
    assert log.judges() == {"gpt": "model", "old": "person"}
    with pytest.raises(OptionError, match="is a model here"):
        log.add("gpt", "q", "e", 1)


def test_a_repeated_key_is_harmless_and_another_judgement_under_it_is_refused(log):
    assert log.add_entry(grade("ann", "d", 1, key="k")).seq == log.add_entry(grade("ann", "d", 1, key="k")).seq == 1
    assert code_of(lambda: log.add_entry(grade("ann", "d", 2, key="k"))) == "used-key"
    assert log.last == 1


def test_a_later_judgement_in_another_tab_is_a_conflict(log):
    log.add_entry(grade("ann", "d", 1, knew=0))
    assert code_of(lambda: log.add_entry(grade("ann", "d", 2, knew=0))) == CONFLICT
    assert log.add_entry(grade("bob", "d", 2, knew=0)).seq == 2, "others do not matter"
    assert log.add_entry(grade("ann", "d", 2, knew=1)).seq == 3


def test_undo_takes_back_one_after_the_other_also_after_a_restart(log, tmp_path):
    for value in (1, 2, 3):
        log.add_entry(grade("ann", "d", value))
    log.add_entry(grade("bob", "d", 0))
    assert log.undo("ann").grade == 3
    log.close()
    with JudgementLog(tmp_path / "judgements.db") as again:
        assert again.latest()["q", "d"]["ann"].grade == 2
        assert again.undo("ann").grade == 2
        assert again.undo("ann").grade == 1
        assert again.undo("ann") is None
        assert again.undo("nobody") is None
        standing = again.latest()["q", "d"]
        assert (standing["ann"].state, standing["ann"].grade) == ("withdrawn", None)
        assert standing["bob"].grade == 0
        again.add_entry(grade("ann", "d", 2))
        assert again.latest()["q", "d"]["ann"].grade == 2
        assert again.latest(as_of=3)["q", "d"]["ann"].grade == 3


def test_withdrawing_without_a_number_takes_back_all_of_the_pair(log):
    log.add_entry(grade("ann", "d", 1))
    log.add_entry(grade("ann", "d", 2))
    log.add_entry(grade("ann", "e", 2))
    log.add_entry(Entry("ann", "q", "d", "withdraw"))
    assert log.latest()["q", "d"]["ann"].grade is None
    assert log.latest()["q", "e"]["ann"].grade == 2
    assert code_of(lambda: log.add_entry(Entry("ann", "q", "d", "withdraw"))) == "nothing-to-withdraw"
    assert code_of(lambda: log.add_entry(Entry("ann", "q", "e", "withdraw", knew=1))) == "nothing-to-withdraw"


@pytest.mark.parametrize(
    ("actions", "state", "value"),
    [
        (["grade", "cannot_tell"], "cannot_tell", None),
        (["cannot_tell", "grade"], "graded", 2),
        (["grade", "skip"], "graded", 2),
        (["skip"], "skipped", None),
        (["comment"], "open", None),
        (["grade", "comment"], "graded", 2),
    ],
)
def test_what_stands(log, actions, state, value):
    for action in actions:
        said = {"grade": 2 if action == "grade" else None, "comment": "hm" if action == "comment" else ""}
        log.add_entry(Entry("ann", "q", "d", action, **said))
    standing = log.latest()["q", "d"]["ann"]
    assert (standing.state, standing.grade) == (state, value)


# What cannot be kept.


@pytest.mark.parametrize(
    "wrong",
    [
        Entry("ann", "q", "d"), Entry("ann", "q", "d", grade=True), Entry("ann", "q", "d", grade=float("nan")),
        Entry("ann", "q", "d", grade="2"), Entry("", "q", "d", grade=1), Entry("a\x1b", "q", "d", grade=1),
        Entry("ann", "", "d", grade=1), Entry("ann", "q", "d", "like"), Entry("ann", "q", "d", "skip", grade=1),
        Entry("ann", "q", "d", grade=1, kind="robot"), Entry("ann", "q", "d", grade=1, comment="x" * 3_000),
        Entry("ann", "q", "d", grade=1, seconds=-1), Entry("ann", "q", "d", "comment"), "no event", None,
        Entry("ann", "q", "d", grade=1, knew=True), Entry("ann", "q", "d", grade=1, comment="\ud800"),
        Entry("ann", "q\ud800", "d", grade=1), Entry(3, "q", "d", grade=1), Entry("ann", "q", "d", grade=1, whole=1),
    ],
)  # fmt: skip
def test_wrong_events_get_words(log, wrong):
    with pytest.raises(GoldrankError):
        log.add_entry(wrong)
    assert log.last == 0


def test_a_judge_has_one_kind(log):
    log.add_entry(grade("ann", "d", 1))
    with pytest.raises(OptionError):
        log.add_entry(grade("ann", "e", 1, kind="model"))
    assert log.judges() == {"ann": "person"}


# Nothing is changed, and what was is seen.


def rows(path):
    return sqlite3.connect(path, isolation_level=None)


@pytest.mark.parametrize("statement", ["UPDATE events SET grade = 3", "DELETE FROM events", "DELETE FROM judges"])
def test_rows_cannot_be_changed(log, statement):
    log.add_entry(grade("ann", "d", 1))
    other = rows(log.path)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        other.execute(statement)
    other.close()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE events SET grade = 3 WHERE seq = 2", "DELETE FROM events WHERE seq = 2",
     "DELETE FROM events WHERE seq = 3", "UPDATE judges SET name = 'eve'"],
)  # fmt: skip
def test_changed_rows_are_seen(log, tmp_path, statement):
    for doc in "abc":
        log.add_entry(grade("ann", doc, 1))
    log.close()
    path = tmp_path / "judgements.db"
    other = rows(path)
    triggers = other.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        other.execute(f"DROP TRIGGER {name}")
    other.execute(statement)
    with raises_code(StoreError, "damaged-file"):
        JudgementLog(path)
    for _, sql in triggers:
        other.execute(sql)
    other.close()
    with JudgementLog(path) as again, raises_code(StoreError, "damaged-file"):
        again.check()


def test_foreign_files_are_refused(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("q 0 d 1\n" * 100)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    goldrank.History(tmp_path / "history.db").close()
    JudgementLog(tmp_path / "later.db").close()
    later = rows(tmp_path / "later.db")
    later.execute("PRAGMA user_version = 9")
    later.close()
    for path in (text, tmp_path / "other.db", tmp_path / "history.db", tmp_path / "later.db", tmp_path):
        with pytest.raises(StoreError):
            JudgementLog(path)
    with pytest.raises(StoreError):
        JudgementLog(tmp_path / "none.db", mode="r")
    assert not (tmp_path / "none.db").exists()


def test_triggers_of_others_are_refused(log, tmp_path):
    log.close()
    other = rows(tmp_path / "judgements.db")
    other.execute("CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END")
    other.close()
    with raises_code(StoreError, "damaged-file"):
        JudgementLog(tmp_path / "judgements.db")


def test_threads_and_processes_lose_nothing(log, tmp_path):
    program = (
        "import sys\nfrom goldrank.judging.log import JudgementLog\nfrom goldrank.judging.log_events import Entry\n"
        "with JudgementLog(sys.argv[1]) as log:\n"
        "    for i in range(50): log.add('other', 'q', str(i), 1)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", program, str(log.path)], env=ENV)

    def judge(name):
        for i in range(25):
            log.add_entry(grade(name, str(i), 1))

    threads = [threading.Thread(target=judge, args=(f"judge {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.wait() == 0
    assert log.check() == 150


@pytest.mark.slow
def test_killed_judges_lose_nothing(tmp_path):
    kills = 50 if lanes.QUICK else 200
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "killed.py"), str(tmp_path), str(kills), "1"],
        capture_output=True, text=True, env=ENV, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    count, acknowledged = map(int, done.stdout.split())
    assert count == kills
    assert acknowledged >= kills / 2


# Export.


def test_export_merges_by_the_lower_median_on_top_of_a_file(log):
    for judge, value in (("ann", 3), ("bob", 1), ("cy", 2), ("di", 3)):
        log.add_entry(grade(judge, "d", value, comment=f"{judge} says" if judge == "bob" else ""))
    log.add_entry(grade("ann", "e", 0))
    log.add_entry(grade("ann", "f", 3))
    log.undo("ann")
    found = exported(log.latest(), {"q": {"d": 0, "f": 1}, "p": {"x": 2}})
    assert log.qrels(onto={"q": {"d": 0, "f": 1}, "p": {"x": 2}}) == found.qrels
    assert {query: dict(docs) for query, docs in found.qrels.text.items()} == {
        "p": {"x": 2},
        "q": {"d": 2, "e": 0, "f": 1},
    }
    texts = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in found.table.cells]
    assert texts == [
        ["q", "d", "2", "0", "2", "ann 3, bob 1, cy 2, di 3", "bob: bob says"],
        ["q", "e", "0", "", "0", "ann 0", ""],
    ]
    (note,) = found.notes
    assert (note.fact("people"), note.fact("file"), note.fact("models")) == (2, 2, 0)


@pytest.mark.parametrize(("merge", "value"), [("median", 1), ("majority", 3), ("max", 3), ("min", 0)])
def test_merges(log, merge, value):
    for judge, given in zip("abcde", (0, 1, 3, 3, 1), strict=True):
        log.add_entry(grade(judge, "d", given))
    log.add_entry(grade("f", "d", 3))
    assert log.qrels(merge=merge)["q"]["d"] == value
    assert log.qrels(merge=merge, adjudicator="b")["q"]["d"] == 1


def test_merge_error_and_unknown_words(log):
    log.add_entry(grade("ann", "d", 1))
    assert log.qrels(merge="error")["q"]["d"] == 1
    log.add_entry(grade("bob", "d", 2))
    assert code_of(lambda: log.qrels(merge="error")) == "judges-differ"
    assert log.qrels(merge="error", adjudicator="bob")["q"]["d"] == 2
    assert log.qrels(merge="error", as_of=1)["q"]["d"] == 1
    for wrong in ({"merge": "mean"}, {"adjudicator": "eve"}, {"by": "robots"}, {"as_of": -1}):
        with pytest.raises(OptionError):
            log.qrels(**wrong)


def test_people_and_models_are_never_mixed_silently(log):
    log.add_entry(grade("ann", "d", 0))
    log.add_entry(grade("gpt", "d", 3, kind="model"))
    log.add_entry(grade("gpt", "e", 2, kind="model"))
    people = log.qrels()
    assert dict(people["q"]) == {"d": 0}
    assert [note.code for note in people.notes] == ["who-judged", "judgements-left-out"]
    assert dict(log.qrels(by="model")["q"]) == {"d": 3, "e": 2}
    both = exported(log.latest(), by="any")
    assert dict(both.qrels["q"]) == {"d": 0, "e": 2}
    assert both.graded == {("q", "d"): ("person",), ("q", "e"): ("model",)}


def test_nothing_to_export_is_said(log):
    assert code_of(log.qrels) == "nothing-to-export"
    log.add_entry(grade("gpt", "d", 3, kind="model"))
    assert code_of(log.qrels) == "nothing-to-export"
    with pytest.raises(InputError, match="by='any'"):
        log.qrels()


def rewritten(path, table, column, value):
    """A log in which another program has put a value everywhere, with triggers and a chain that fit."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(f"UPDATE {table} SET {column} = ?", (value,))
    judges = {number: said for number, *said in db.execute("SELECT id, name, kind FROM judges")}
    criteria = dict(db.execute("SELECT id, text FROM criteria"))
    link = ""
    for row in db.execute(f"SELECT {_COLUMNS} FROM events ORDER BY seq").fetchall():
        link = chained(link, row, judges[row[3]], criteria.get(row[9], ""))
        db.execute("UPDATE events SET chain = ? WHERE seq = ?", (link, row[0]))
    for statement in TRIGGERS:
        db.execute(statement)
    db.close()


WRITTEN_BY_OTHERS = [
    *(("events", column, value) for column in ("query", "doc") for value in ("text", 1e308, b"")),
    *(("events", "grade", value) for value in ("x", b"\0", math.inf, 1e308, "")),
    *(("events", "action", value) for value in ("", "drop", b"grade")),
    *(
        ("events", column, value)
        for column in ("comment", "seen", "data", "key", "at")
        for value in (b"\xff", b"x" * 9)
    ),
    *(("events", column, "x") for column in ("seconds", "knew")),
    *(("judges", "name", value) for value in ("\x1b[31m", "", b"ann", "x" * 300)),
    ("judges", "kind", "robot"),
    ("events", "comment", "x" * 3_000_000),
]


@pytest.mark.parametrize(("table", "column", "value"), WRITTEN_BY_OTHERS)
def test_what_another_program_wrote_is_held_to_the_same_rules(tmp_path, table, column, value):
    path = tmp_path / "log.db"
    with JudgementLog(path) as log:
        log.add_entry(Entry("ann", "q1", "d1", grade=2, comment="why", seconds=1.0))
    rewritten(path, table, column, value)
    with JudgementLog(path) as log:
        for read in (log.check, log.qrels, log.latest):
            with pytest.raises(StoreError, match=r"event 1 cannot be read|CHECK constraint failed"):
                read()
