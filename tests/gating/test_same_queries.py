"""In CI the queries are the same: what is asked of them, and of queries like them."""

from __future__ import annotations

import datetime
import json
import math
import random
from pathlib import Path

import pytest
from gates import gate_run

from goldrank import History, Qrels, Rules, evaluate, gate, read_run
from goldrank.base.errors import RuleError
from goldrank.cli import run as command

QRELS = {f"q{i:03d}": {"good": 1, "bad": 0} for i in range(50)}
FIRST = {query: ["good"] for query in QRELS}
FOUR_LOST = {query: ["bad"] if i < 4 else docs for i, (query, docs) in enumerate(FIRST.items())}
"""-8 %: four of 50 queries fall to 0, and 46 are the same."""


def test_a_deterministic_system_needs_no_test():
    before = evaluate(QRELS, FIRST, "RR")
    loose = gate_run(QRELS, FOUR_LOST, "RR: -1%", before)
    assert (loose.status, loose[0].question, loose[0].regressed) == ("pass", "queries like these", True)
    assert "worse on these queries, but not shown for queries like these" in loose[0].words
    assert "deterministic = true" in loose[0].words
    assert "Queries that lost most: RR: -1%" in str(loose)
    assert [moved.query for moved in loose[0].worst] == ["q000", "q001", "q002", "q003"]
    assert {moved.cause for moved in loose[0].worst} == {"lost"}

    known = gate_run(QRELS, FOUR_LOST, Rules("RR: -1%", deterministic=True), before)
    found = known[0]
    assert (known.status, known.exit_code, found.question) == ("fail", 1, "these queries")
    assert found.interval is None  # which is for queries like these
    assert found.p == 1 / 16  # and so is this, beside it
    assert math.isnan(found.p_adjusted)  # no test decided
    assert "0.062" not in str(known)
    assert ": worse on these queries. The rules say that the system is deterministic, so no test" in found.words
    assert "4 of 50 queries worse, 0 better; 4 fell to 0, 46 are the same" in found.words


def test_a_deterministic_system_may_lose_what_is_tolerated():
    before = evaluate(QRELS, FIRST, "RR")
    for limit in ("8%", "0.08"):
        rules = Rules(f"RR: -{limit}", deterministic=True, strict=True)
        assert gate_run(QRELS, FOUR_LOST, rules, before).status == "pass"
    assert gate_run(QRELS, FOUR_LOST, Rules("RR: -7.9%", deterministic=True), before).status == "fail"


def test_rules_in_files_say_it(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('rules = ["RR: -1%"]\ndeterministic = true\n', encoding="utf-8")
    assert Rules.load(path).deterministic
    assert Rules.load(path) != Rules("RR: -1%")
    path.write_text('rules = ["RR: -1%"]\ndeterministic = "yes"\n', encoding="utf-8")
    with pytest.raises(RuleError, match=r"rules.toml:2: deterministic is 'yes'"):
        Rules.load(path)


def recorded(path, replicates):
    """The baseline main of a history: a record of FIRST, and other runs of the same system."""
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    with History(path) as history:
        number = history.record(evaluate(QRELS, FIRST, "RR"), label="main", time=start).id
        for i, run in enumerate(replicates, 1):
            time = start + datetime.timedelta(hours=i)
            history.record(evaluate(QRELS, run, "RR"), label="main", time=time, replicate=True)
        history.set_baseline("main", number)
        return history.baseline("main")


def test_two_equal_runs_say_it(tmp_path):
    one = recorded(tmp_path / "one.db", [])
    equal = recorded(tmp_path / "equal.db", [FIRST])
    other = recorded(tmp_path / "other.db", [FIRST, {**FIRST, "q049": ["bad", "good"]}])
    assert [one.equal_runs, equal.equal_runs, other.equal_runs] == [0, 2, 0]
    assert gate_run(QRELS, FOUR_LOST, "RR: -1%", one).status == "pass"
    assert gate_run(QRELS, FOUR_LOST, "RR: -1%", other).status == "pass"
    verdict = gate_run(QRELS, FOUR_LOST, "RR: -1%", equal)
    assert verdict.status == "fail"
    assert "The system is deterministic (2 equal runs are recorded), so no test is needed" in verdict[0].words


def test_equal_values_of_other_documents_are_not_the_same_run():
    before = evaluate(QRELS, FIRST, "RR")
    other = {query: ["good", "new"] for query in QRELS}
    found = gate_run(QRELS, other, "RR: -1%", before)[0]
    assert (found.status, found.shown, found.question) == ("pass", False, "queries like these")


def test_a_random_order_fails_by_positives_only():
    """One relevant document a query, as MS MARCO has it: nothing else was judged, and condensing says nothing."""
    rng = random.Random(1)
    qrels = {f"q{i}": {"good": 1} for i in range(100)}
    documents = [f"d{i}" for i in range(30)]
    best = {query: ["good", *documents] for query in qrels}
    shuffled = {query: rng.sample(["good", *documents], 31) for query in qrels}
    for measure in ("RR@10", "nDCG@10"):
        verdict = gate_run(qrels, shuffled, f"{measure}: -1%", evaluate(qrels, best, measure))
        assert (verdict.status, verdict.exit_code) == ("fail", 1)
        assert "unjudged-positives-only" in {note.code for note in verdict.notes}


def test_a_catalogue_says_what_is_not_relevant():
    users = {f"u{i}": {"good": 1, "bad": 0} for i in range(40)}
    items = ["good", "bad", *(f"i{i}" for i in range(9))]
    before = evaluate(users, {user: ["good", *items[2:]] for user in users}, "RR", catalogue=items)
    after = evaluate(users, {user: [*items[2:], "good"] for user in users}, "RR", catalogue=items)
    verdict = gate(after, "RR: -1%", before)
    assert verdict.status == "fail"
    assert "unjudged-catalogue" in {note.code for note in verdict.notes}


def test_what_is_half_as_large_without_unjudged_documents_stands():
    """All fall; without the unjudged documents all, none or half of the queries still do."""
    halved = {q: ["x", "y", "good"] if i % 2 else ["x", "bad", "good"] for i, q in enumerate(QRELS)}
    before = evaluate(QRELS, FIRST, "RR")
    stands = gate_run(QRELS, {q: ["x", "bad", "bad2", "good"] for q in QRELS}, "RR: -1%", before)
    assert stands.status == "fail"
    opened = gate_run(QRELS, {q: ["x", "y", "good"] for q in QRELS}, "RR: -1%", before)
    assert (opened.status, opened.exit_code) == ("unclear", 4)
    # -2/3 observed, -1/4 condensed: less than half of it, and a fail all the same.
    assert gate_run(QRELS, halved, "RR: -1%", before).status == "fail"
    # Five of nine queries fall by half without the unjudged document: 1/32 is shown, and three by it alone are not.
    few = dict(list(QRELS.items())[:6])
    first = {query: ["good"] for query in few}
    both = {q: ["bad", "good"] if i < 4 else ["x", "good"] for i, q in enumerate(few)}
    stands = gate_run(few, both, "RR: -1%", evaluate(few, first, "RR"))
    assert (stands.status, stands[0].unjudged) == ("fail", "extreme")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Qrels(QRELS).save("qrels")
    read_run(FIRST).save("old.run")
    read_run(FOUR_LOST).save("new.run")
    evaluate("qrels", "old.run", "RR").save("old.json")
    return tmp_path


@pytest.mark.parametrize("baseline", ["old.run", "old.json"])
def test_the_command_takes_runs_and_saved_scores_as_baselines(files, baseline, capsys):
    Path("rules.toml").write_text('rules = ["RR: -1%"]\ndeterministic = true\n', encoding="utf-8")
    gated = ["gate", "qrels", "new.run", "--rules", "rules.toml", "--baseline", baseline]
    assert command([*gated, "-o", "v.json"]) == 1
    assert json.loads(Path("v.json").read_text(encoding="utf-8"))["findings"][0]["baseline"] == 1.0
    assert capsys.readouterr().out.startswith("FAIL")
    assert command(["gate", "qrels", "old.run", "--rule", "RR: -1%", "--strict", "--baseline", baseline]) == 0
