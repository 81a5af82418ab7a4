"""Judgements: what was acknowledged is kept, once; judges do not stand in each other's way."""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from lanes import QUICK
from partly_judged import QRELS, RUNS, new_session, served_files
from served import Served

from goldrank import Document, Runs, evaluate, io
from goldrank.base.errors import GoldrankError
from goldrank.explorer.judging_session import LEASE, Judging, RefusedError
from goldrank.judging.log import JudgementLog


@pytest.fixture
def judging(tmp_path):
    made = Judging(new_session(), str(tmp_path / "log.db"), "mara")
    yield made
    made.close()


def grade(judging, doc="plant-2", grade=2, query="q04", **more):
    return judging.add(
        {"query": query, "doc": doc, "action": "grade", "grade": grade, "data": judging.session.data_hash, **more}
    )


def test_a_judgement_moves_values_as_evaluate_does(judging):
    session = judging.session
    grade(judging)
    qrels = {**QRELS}
    qrels["q04"] = {**qrels["q04"], "plant-2": 2}
    expected = evaluate(qrels, Runs(RUNS), ["nDCG@10", "AP", "P@1"])
    for system in session.systems:
        for measure in session.measures:
            assert system.mean(measure) == expected[system.name][str(measure)]


def test_the_export_gives_the_shown_numbers(judging):
    for doc, given in (("plant-2", 2), ("coffee-4", 1), ("bike-4", 0)):
        grade(judging, doc, given)
    with JudgementLog(judging.path, mode="r") as log:
        exported = log.qrels(onto=QRELS)
    scores = evaluate(exported, Runs(RUNS), ["nDCG@10"])
    for system in judging.session.systems:
        assert system.mean(judging.session.measures[0]) == scores[system.name]["nDCG@10"]


def test_the_same_key_counts_once(judging):
    first = grade(judging, key="k" * 32)
    again = grade(judging, key="k" * 32)
    assert first["seq"] == again["seq"] == 1


def test_undo_goes_back_step_by_step_and_after_a_restart(judging):
    start = [s.mean(judging.session.measures[0]) for s in judging.session.systems]
    grade(judging, "plant-2", 2)
    grade(judging, "coffee-4", 1)
    judging.close()
    other = Judging(new_session(), judging.path, "mara")
    try:
        for _ in range(2):
            other.add({"action": "undo", "data": other.session.data_hash})
        assert [s.mean(other.session.measures[0]) for s in other.session.systems] == start
        with pytest.raises(RefusedError, match="nothing to take back"):
            other.add({"action": "undo", "data": other.session.data_hash})
    finally:
        other.close()


def test_another_tab_of_the_same_judge(judging):
    grade(judging, knew=0)
    with pytest.raises(RefusedError) as caught:
        grade(judging, grade=1, knew=0)
    assert (caught.value.status, caught.value.more["theirs"], caught.value.more["knew"]) == (409, 2, 1)
    grade(judging, grade=1, knew=1)
    assert judging.session.judged("q04")["plant-2"] == 1


def test_two_judges_and_the_lower_median(judging):
    grade(judging, grade=2, judge="mara")
    grade(judging, grade=0, judge="jon")
    assert judging.session.judged("q04")["plant-2"] == 0
    ((query, doc, standing),) = judging.conflicts()
    assert (query, doc, {name: one.grade for name, one in standing.items()}) == (
        "q04",
        "plant-2",
        {"mara": 2, "jon": 0},
    )


def test_a_document_is_with_one_judge_at_a_time(judging):
    view = judging.session.view()
    first = judging.next("mara", view, False)[0]
    second = judging.next("jon", view, False)[0]
    assert (first.query, first.doc) != (second.query, second.doc)
    assert judging.next("mara", view, False)[0] == first


@pytest.mark.parametrize(("age", "is_free"), [(LEASE + 1, True), (LEASE - 60, False)])
def test_a_document_is_free_again_if_its_judge_has_gone(judging, age, is_free):
    view = judging.session.view()
    first = judging.next("mara", view, False)[0]
    judging._leases[first.query, first.doc] = ("mara", time.monotonic() - age)
    assert (judging.next("jon", view, False)[0] == first) is is_free


def test_skipped_and_untold_do_not_come_back(judging):
    view = judging.session.view()
    for action in ("skip", "cannot_tell"):
        one = judging.next("mara", view, False)[0]
        judging.add({"query": one.query, "doc": one.doc, "action": action, "data": judging.session.data_hash})
        assert judging.next("mara", view, False)[0] != one
    assert judging.session.grades.get("q04", {}).keys() <= {"clean-1", "coffee-3"}


def test_the_order_of_blind_mode_is_each_judges_own(judging):
    view = judging.session.view()
    orders = {}
    for judge in ("ann", "bob", "cem", "dee"):
        judging._leases.clear()
        orders[judge] = judging.next(judge, view, True)[0].doc
        judging._leases.clear()
        assert judging.next(judge, view, True)[0].doc == orders[judge]
    assert len(set(orders.values())) > 1


def test_other_data_are_refused(judging):
    with pytest.raises(RefusedError) as caught:
        grade(judging, data="00000000")
    assert (caught.value.status, caught.value.more["code"]) == (409, "other-data")


def test_what_another_process_adds_is_taken_in(judging):
    with JudgementLog(judging.path) as log:
        log.add("jon", "q04", "plant-2", 2)
    judging._looked = 0.0
    judging.look()
    assert judging.session.judged("q04")["plant-2"] == 2


def test_a_page_that_is_older_than_the_judges_word_is_refused(judging):
    first = grade(judging, as_of=0)
    with pytest.raises(RefusedError) as caught:
        grade(judging, as_of=first["seq"] - 1)
    assert (caught.value.status, caught.value.more["code"]) == (409, "newer-judgement")
    assert grade(judging, as_of=first["seq"])["seq"] > first["seq"]


def test_a_text_in_several_pieces_was_not_seen_whole(judging):
    source = judging.session.texts._source
    source.documents = {**source.documents, "plant-2": Document("word " * 20_000)}
    grade(judging, whole=True, doc="plant-2")
    grade(judging, whole=True, doc="coffee-4")
    with JudgementLog(judging.path, mode="r") as log:
        assert [event.whole for event in log.entries()] == [False, True]


def test_a_log_that_is_none(tmp_path):
    (tmp_path / "log.db").write_text("no database at all, but long enough to be looked at" * 50)
    with pytest.raises(GoldrankError):
        Judging(new_session(), str(tmp_path / "log.db"), "me")


@pytest.mark.slow
def test_blind_pages_name_no_system(tmp_path):
    """Neither systems nor ranks, scores or others' grades, in all that is sent."""
    with Served(*served_files(tmp_path), "--log", str(tmp_path / "l.db"), cache=tmp_path) as server:
        for path in ("/judge?blind=1", "/part/judge?blind=1", "/judge?blind=1&query=q10"):
            text = server.get(path)[2]
            assert 'class="doc"' in text, path
            for word in ("bm25", "overlap", "rank 1", "score"):
                assert word not in text.replace("goldrank", ""), word


@pytest.mark.slow
def test_killed_servers_lose_nothing_that_was_acknowledged(tmp_path):
    """kill -9 while a judge writes: all acknowledged judgements are there, none twice, and the log is whole."""
    kills, log = (4 if QUICK else 10), tmp_path / "log.db"
    docs = ["plant-2", "coffee-4", "bike-4", "plant-1", "bread-3", "bread-1", "bike-5", "bike-2", "bike-1"]
    acknowledged: dict[str, int] = {}
    sent = 0
    for turn in range(kills):
        with Served(*served_files(tmp_path), "--log", str(log), cache=tmp_path) as server:
            known = server.secrets()
            ended = threading.Event()

            def write(server=server, known=known, turn=turn, ended=ended):
                nonlocal sent
                connection = http.client.HTTPConnection(server.where.hostname, server.where.port, timeout=10)
                headers = {
                    "Origin": server.base,
                    "Content-Type": "application/json",
                    "X-Goldrank-Write": known["write"],
                }
                for i in range(10_000):
                    key = f"{turn}-{i}".rjust(32, "k")
                    what = {"query": "q04", "doc": docs[i % 3], "action": "grade", "grade": i % 3, "key": key,
                            "judge": "me", "data": known["data"]}  # fmt: skip
                    try:
                        connection.request("POST", "/api/judgements", json.dumps(what).encode(), headers)
                        sent += 1
                        answer = connection.getresponse()
                        body = json.loads(answer.read() or b"{}")
                    except (OSError, http.client.HTTPException, ValueError):
                        break
                    if answer.status == 200:
                        acknowledged[key] = body["seq"]
                    if len(acknowledged) >= (turn + 1) * 8:
                        ended.set()
                connection.close()
                ended.set()

            thread = threading.Thread(target=write)
            thread.start()
            assert ended.wait(60)
            server.kill()
            thread.join(20)
    assert len(acknowledged) >= kills * 8
    with JudgementLog(log, mode="r") as found:
        found.check()
        events = list(found.entries())
    keys = [event.key for event in events]
    assert len(set(keys)) == len(keys)
    by_key = {event.key: event.seq for event in events}
    assert {key: by_key.get(key) for key in acknowledged} == acknowledged
    assert len(events) <= sent


@pytest.mark.slow
def test_killed_judges_lose_nothing_in_200_kills(tmp_path):
    """The same with the writer of the pages alone, in a forked process: quick enough for 200 kills."""
    program = Path(__file__).with_name("killed.py")
    kills = 8 if QUICK else 200
    command = [sys.executable, str(program), str(tmp_path), str(kills), "7"]
    paths = os.pathsep.join([str(program.parent.parent), *sys.path])
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert found.returncode == 0, found.stderr
    done, acknowledged = map(int, found.stdout.split())
    assert done == kills
    assert acknowledged >= kills // 2


@pytest.mark.slow
def test_qrels_are_never_written(tmp_path):
    qrels = tmp_path / "q.qrels"
    io.read_qrels(QRELS).save(qrels)
    runs = []
    for name, run in RUNS.items():
        io.as_run(run, name=name).save(tmp_path / f"{name}.run")
        runs.append(f"{name}={tmp_path / name}.run")
    before = qrels.read_bytes()
    with Served(str(qrels), *runs, cache=tmp_path) as server:
        status, _ = server.post({"query": "q04", "doc": "plant-2", "action": "grade", "grade": 2})
        assert status == 200
    assert qrels.read_bytes() == before
    assert (tmp_path / "judgements.db").exists()
