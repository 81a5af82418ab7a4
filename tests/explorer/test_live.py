"""A judgement places and measures one query again; the numbers are those of the command line, to the last bit."""

import numpy as np
import pytest
from lanes import many
from made_sessions import MEASURES, made_up, session_of

from goldrank import Runs, evaluate, io
from goldrank.conventions import Convention
from goldrank.explorer.first_documents import DEPTH
from goldrank.explorer.session import Session


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("form", ["memory", "file"])
def test_values_after_judgements_are_those_of_evaluate(tmp_path, ties, form):
    rng = np.random.default_rng(1)
    for turn in range(many(20)):
        qrels, runs = made_up(rng, ties=ties, depth=int(rng.choice([8, 40, DEPTH + 60])))
        given = runs
        if form == "file":
            given = {}
            for name, run in runs.items():
                io.as_run(run, name=name).save(tmp_path / f"{name}{turn}.run")
                given[name] = tmp_path / f"{name}{turn}.run"
        session = session_of(qrels, given)
        for seq in range(1, 8):
            query = f"q{rng.integers(6)}"
            docs = list(runs["a"][query])
            doc = docs[int(rng.integers(len(docs)))] if rng.random() < 0.9 else "not-returned"
            qrels[query] = {**qrels[query], doc: int(rng.integers(0, 4))}
            session.set_grades(query, qrels[query], seq)
        expected = evaluate(qrels, Runs(runs), MEASURES)
        for system in session.systems:
            for measure in session.measures:
                name = str(measure)
                if measure.declaration.over == "placements":
                    assert system.mean(measure) == expected[system.name][name]
                    found = dict(zip(session.queries, system.values[name].tolist(), strict=True))
                    assert found == expected[system.name].per_query[name]
        # And the whole tables that comparisons are made of.
        for scores in session.scores():
            assert scores.mean == expected[scores.run].mean


def test_a_judgement_that_is_taken_back_leaves_no_trace():
    qrels, runs = made_up(np.random.default_rng(2))
    session = session_of(qrels, runs)
    before = {s.name: {n: v.copy() for n, v in s.values.items()} for s in session.systems}
    new = next(doc for doc in runs["a"]["q1"] if doc not in qrels["q1"])
    session.set_grades("q1", {**qrels["q1"], new: 3}, 1)
    assert any((s.values["nDCG@10"] != before[s.name]["nDCG@10"]).any() for s in session.systems)
    session.set_grades("q1", qrels["q1"], 2)
    for system in session.systems:
        for name, values in before[system.name].items():
            assert (system.values[name] == values).all()


def test_bounds_follow_judgements():
    qrels, runs = made_up(np.random.default_rng(3))
    session = session_of(qrels, runs)
    measure = session.view().measure
    first = session.systems[0].mean_bounds(measure)
    docs = {doc: qrels["q0"].get(doc, 0) for doc in runs["a"]["q0"]}
    session.set_grades("q0", docs, 1)
    low, high = session.systems[0].mean_bounds(measure)
    assert first[0] <= low <= high <= first[1]
    expected = evaluate({**qrels, "q0": docs}, runs["a"], "nDCG@10", bounds="unjudged").bounds["nDCG@10"].summary
    assert (low, high) == expected


def test_missing_queries_count_as_the_policy_says():
    qrels, runs = made_up(np.random.default_rng(4))
    del runs["b"]["q2"]
    for missing in ("zero", "skip"):
        rules = Convention(missing=missing)
        opened = [io.as_run(run).renamed(name) for name, run in runs.items()]
        session = Session("", io.as_qrels(qrels), opened, rules, MEASURES)
        expected = evaluate(qrels, Runs(runs), MEASURES, missing=missing)
        for system in session.systems:
            assert system.mean(session.measures[0]) == expected[system.name]["nDCG@10"]


def test_the_verdict_is_that_of_compare():
    from goldrank import compare

    qrels, runs = made_up(np.random.default_rng(5), queries=12)
    session = session_of(qrels, runs)
    made = session.verdicts.get(None)
    assert session.verdicts.trouble == ""
    assert made.pairs[0].words == compare(qrels, runs, MEASURES).pairs[0].words
