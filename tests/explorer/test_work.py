"""What takes long is made by one worker in order; pages that need none of it do not wait."""

import threading

import numpy as np
import pytest
from made_sessions import made_up, session_of

from goldrank import compare, io
from goldrank.comparison.holes import wanted_depth
from goldrank.conventions import Convention
from goldrank.explorer import judge_page, sides
from goldrank.explorer import session as sessions
from goldrank.explorer.app import Explorer
from goldrank.explorer.judging_session import Judging
from goldrank.explorer.pages import render
from goldrank.explorer.work import Worker
from goldrank.measures import parse
from goldrank.measures.unjudged_share import count_holes, find_holes


def test_tasks_are_made_once_each_and_in_order():
    worker, made = Worker(), []
    begin = threading.Event()
    worker.ask("first", begin.wait)
    for key in ("second", "third", "second"):
        worker.ask(key, lambda key=key: made.append(key))
    assert not worker.is_made("second")
    begin.set()
    worker.wait()
    assert made == ["second", "third"]
    assert worker.done == 3


def test_a_task_that_fails_is_said_and_stops_no_other():
    worker = Worker()
    worker.ask("bad", lambda: 1 / 0)
    worker.ask("good", lambda: None)
    worker.wait()
    assert worker.is_made("good")
    assert worker.trouble == "ZeroDivisionError: division by zero"


@pytest.fixture
def large(monkeypatch, tmp_path):
    """A session of files whose queries are more than few."""
    monkeypatch.setattr(sessions, "FEW", 3)
    qrels, runs = made_up(np.random.default_rng(8), depth=60)
    given = {}
    for name, run in runs.items():
        given[name] = tmp_path / f"{name}.run"
        io.as_run(run, name=name).save(given[name])
    return session_of(qrels, given), qrels, runs


def test_the_first_page_waits_for_nothing(large, monkeypatch):
    session, _, _ = large
    begin = threading.Event()
    session.work.ask("before", begin.wait)
    explorer = Explorer(session)
    page = explorer.overview({})
    assert "data-waiting" in page
    assert "interval follows" in page
    # A query is read from its own lines, before those of all are there.
    waiting = explorer.query({"id": "q1"})
    assert all(system._top_documents is None for system in session.systems)
    begin.set()
    session.work.wait()
    page = explorer.overview({})
    assert "data-waiting" not in page
    assert "interval follows" not in page
    assert explorer.query({"id": "q1"}).split("<main")[1] == waiting.split("<main")[1]


def test_the_verdict_of_kept_documents_is_that_of_compare(large):
    session, qrels, runs = large
    made = session.verdicts.get(None)
    wanted = compare(qrels, runs, [str(measure) for measure in session.measures])
    assert [pair.words for pair in made.pairs] == [pair.words for pair in wanted.pairs]
    assert [pair.judge_first for pair in made.pairs] == [pair.judge_first for pair in wanted.pairs]


def test_a_page_says_that_bounds_take_too_long(large, monkeypatch):
    session, _, _ = large
    monkeypatch.setattr(sides, "MOST_HOLES", 5)
    monkeypatch.setattr("goldrank.explorer.live.MOST_FILLED", 5)
    explorer = Explorer(session)
    assert "documents are unjudged" in explorer.query({"id": "q1", "m": "AP"})
    assert "too many unjudged documents" in explorer.overview({"m": "AP"})


def test_holes_are_counted_as_they_are_found():
    session = session_of(*made_up(np.random.default_rng(9), ties=True))
    for system in session.systems:
        p = system.original.placements
        for depth in (1, 10, 1_000):
            found = np.bincount(find_holes(p, depth)[0], minlength=len(p))
            assert count_holes(p, depth).tolist() == found.tolist()


def test_no_ids_are_wanted_of_queries_that_go_too_deep(monkeypatch):
    session = session_of(*made_up(np.random.default_rng(10), queries=6, depth=40))
    tables = [system.original.placements for system in session.systems]
    assert wanted_depth([parse("nDCG@10"), parse("AP")], tables) == 40
    monkeypatch.setattr("goldrank.comparison.holes.MOST_DOCUMENTS", 6 * 39)
    assert wanted_depth([parse("nDCG@10"), parse("AP")], tables) == 10


def test_bounds_of_the_difference_by_hand():
    # P@1: A has x first, which nobody judged, B has the relevant r. So A may be 0 or 1, and B - A 1 or 0; and x is
    # one document in both, so that nothing else can move.
    qrels = {"q0": {"r": 1}}
    runs = {"a": {"q0": {"x": 2.0, "r": 1.0}}, "b": {"q0": {"r": 2.0, "x": 1.0}}}
    opened = [io.as_run(run).renamed(name) for name, run in runs.items()]
    session = sessions.Session("", io.as_qrels(qrels), opened, Convention(), ["P@1"])
    assert "B − A could be 0.0000 to +1.0000. A document" in Explorer(session).overview({})


def test_a_caveat_is_said_once():
    # On each query b has an unjudged document above the relevant one, which a has first.
    queries = [f"q{i}" for i in range(12)]
    qrels = io.as_qrels({query: {"r": 1, "n": 0} for query in queries})
    runs = {"a": ["r", "n"], "b": ["x", "r", "n"]}
    opened = [io.as_run(dict.fromkeys(queries, ranking)).renamed(name) for name, ranking in runs.items()]
    session = sessions.Session("", qrels, opened, Convention(), ["nDCG@10", "AP"])
    page = Explorer(session, wait=None).overview({})
    assert page.count("Unjudged documents could decide this") == 1


def test_the_judging_page_does_not_make_the_queue_itself(large, tmp_path):
    session, _, _ = large
    begin = threading.Event()
    session.work.ask("before", begin.wait)
    judging = Judging(session, str(tmp_path / "log.db"), "me")
    explorer = Explorer(session, judging=judging)
    waiting = judge_page.judge_values(explorer, judging, {})
    assert (waiting["item"], waiting["preparing"]) == (None, True)
    assert "data-waiting" in render("judge.html.jinja", waiting)
    begin.set()
    session.work.wait()
    made = judge_page.judge_values(explorer, judging, {})
    assert made["item"] is not None
    assert "data-waiting" not in render("judge.html.jinja", made)


def test_the_first_page_does_not_wait_for_the_hash(large, monkeypatch):
    session, _, _ = large
    session.data_hash  # noqa: B018 - the thread that makes it ends
    monkeypatch.setattr(session, "known_hash", "")
    monkeypatch.setattr(type(session), "data_hash", property(lambda session: pytest.fail("it waits for the hash")))
    assert 'goldrank-data" content=""' in Explorer(session).overview({})
