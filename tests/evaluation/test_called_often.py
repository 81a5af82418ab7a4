"""Calls in a loop: what nobody asks for is not made, what was made of judgements is kept, and nothing stale is used."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest

from goldrank import Qrels, evaluate
from goldrank.data.placements import Placements
from goldrank.evaluation import run_notes as footer

JUDGED = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}
RETURNED = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
MEASURES = ("nDCG@10", "AP", "R@10", "IdealDCG@10")


def test_notes_and_counts_are_made_when_asked(monkeypatch):
    made = []
    real = footer.counts_of
    monkeypatch.setattr(footer, "counts_of", lambda *given: made.append(1) or real(*given))
    scores = evaluate(JUDGED, RETURNED, MEASURES)
    assert scores.mean["AP"] == pytest.approx((1 + 2 / 3) / 2 / 2)
    assert not made
    assert scores.counts["missing"] == 1
    assert [note.code for note in scores.notes][:1] == ["missing-queries"]
    assert len(made) == 1


@pytest.mark.parametrize(
    "same",
    [
        copy.copy,
        copy.deepcopy,
        lambda scores: pickle.loads(pickle.dumps(scores)),
        lambda scores: replace(scores, run=scores.run),
        lambda scores: type(scores).from_dict(scores.to_dict()),
    ],
)
def test_copies_have_notes_that_were_not_asked_for(same):
    again = same(evaluate(JUDGED, RETURNED, MEASURES))
    asked = evaluate(JUDGED, RETURNED, MEASURES)
    assert (again.counts, again.notes) == (asked.counts, asked.notes)
    assert again == asked


def test_what_depends_on_judgements_is_made_once(monkeypatch):
    made = []
    real = Placements._at_least
    monkeypatch.setattr(Placements, "_at_least", lambda self, rel: made.append(rel) or real(self, rel))
    qrels = Qrels(JUDGED)
    first = evaluate(qrels, RETURNED, MEASURES)
    second = evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, MEASURES)
    assert made == [1]
    assert second == evaluate(JUDGED, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, MEASURES)
    assert first == evaluate(JUDGED, RETURNED, MEASURES)


def test_other_judgements_do_not_get_what_was_kept():
    qrels = Qrels({"q": {"a": 1, "b": 1, "c": 3}})
    run = {"q": {"a": 2.0, "x": 1.0}}
    assert evaluate(qrels, run, ["R@5", "nDCG@5"])["R@5"] == pytest.approx(1 / 3)
    closed = evaluate(qrels, run, ["R@5"], convention="sklearn")  # only what was returned exists there
    assert closed["R@5"] == 1.0


def test_values_can_be_written_to():
    qrels = Qrels(JUDGED)
    for _ in range(2):
        column = evaluate(qrels, RETURNED, "IdealDCG@10").columns["IdealDCG@10"]
        assert column.values.tolist() == [2 + 1 / np.log2(3), 1.0]
        column.values[0] = 0


def test_a_run_that_changes_between_two_calls_is_looked_at_again():
    qrels, run = Qrels({"q": {"a": 1}}), {"q": {"a": 1.0, "b": 2.0}}
    assert evaluate(qrels, run, "RR")["RR"] == 0.5
    run["q"]["a"] = 3.0
    assert evaluate(qrels, run, "RR")["RR"] == 1.0
    run["q"]["c"] = 4.0
    assert evaluate(qrels, run, "RR")["RR"] == 0.5


def test_answers_of_engines_are_known_by_their_keys_among_plain_rankings():
    answer = {"took": 5, "hits": {"hits": [{"_id": "x", "_score": 2.0}, {"_id": "a", "_score": 1.0}]}}
    run = {"q1": answer, "q2": {"a": 2.0, "hits": 1.0}}
    scores = evaluate({"q1": {"a": 1}, "q2": {"hits": 1}}, run, "RR")
    assert scores.per_query["RR"] == {"q1": 0.5, "q2": 0.5}


def test_a_small_evaluation_loads_little(tmp_path):
    (tmp_path / "a.qrels").write_text("q 0 d 1\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1.0 t\n")
    script = (
        "import sys; from goldrank.cli import run; assert run(['eval', 'a.qrels', 'a.run']) == 0\n"
        "heavy = ('numpy.ma', 'logging', 'concurrent.futures', 'json', 'html', 'difflib', 'polars', 'rich', 'scipy')\n"
        "loaded = [name for name in heavy if name in sys.modules]; assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_nobody_holds_is_freed_at_once():
    """Judgements and results of a call do not wait for the garbage collector, which may come late."""
    gc.collect()
    gc.disable()
    try:
        qrels = Qrels({"q1": {"a": 1}, "q2": {"b": 1}})
        scores = evaluate(qrels, {"q1": ["a"], "q2": ["b"]}, "RR")
        shard = qrels.shard(1, 2)
        held = [weakref.ref(each) for each in (qrels, scores, shard)]
        del qrels, scores, shard
        assert [each() for each in held] == [None, None, None]
    finally:
        gc.enable()
