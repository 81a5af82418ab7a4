"""A gate and what nobody judged: what could be decided by it, what it keeps of a baseline, and why queries lost."""

import json
from pathlib import Path

import numpy as np
import pytest
from gates import gate_run
from raising import raises_code

from goldrank import Baseline, Qrels, Rules, demo, diff, evaluate, read_run
from goldrank.base.errors import BaselineError
from goldrank.cli import run as command
from goldrank.comparison.settings import Statistics
from goldrank.evaluation import pipeline
from goldrank.gating.top_documents import WITHOUT_CUTOFF, KeptDocuments
from goldrank.measures import parse, summarise

QUERIES = [f"q{i:02d}" for i in range(30)]
QRELS = {q: {"a": 2, "b": 1, "c": 0} for q in QUERIES}
OLD = {q: ["a", "b", "c"] for q in QUERIES}
PUSHED = {q: ["x", "y", "z", "a", "b", "c"] for q in QUERIES}
"""The same ranking below three documents that nobody judged."""
TURNED = {q: ["c", "b", "a"] for q in QUERIES}
"""Judged documents alone, in a worse order."""
MEASURES = ["nDCG@10", "RR@10", "AP", "NumRet"]


def base(run=OLD, qrels=QRELS):
    return evaluate(qrels, run, MEASURES)


def frozen(scores, folder):
    """The baseline of scores, from a file."""
    Baseline(scores).save(folder / "b.json")
    return Baseline.load(folder / "b.json")


def codes(verdict):
    return {note.code for note in verdict.notes}


@pytest.mark.parametrize("rule", ["nDCG@10: -1%", "RR@10: -1%", "AP: -0.01", "nDCG@10: -1% untested"])
def test_unjudged_documents_on_top_are_no_failure(rule):
    """The ranking below them is the same: without them nothing fell."""
    verdict = gate_run(QRELS, PUSHED, rule, base())
    (found,) = verdict
    assert (verdict.status, verdict.exit_code, found.status, found.unjudged) == ("unclear", 4, "unclear", "open")
    assert not verdict
    assert "unjudged documents could decide this" in found.words
    assert {one.doc for one in found.judge_first} <= {"x", "y", "z"}
    assert all(one.before is None and one.after in (1, 2, 3) for one in found.judge_first)
    # They are found no more if the user says so.
    told = gate_run(QRELS, PUSHED, Rules(rule, statistics=Statistics(unjudged="ignore")), base())
    assert (told.status, told.exit_code) == ("fail", 1)
    assert told[0].unjudged == ""
    assert verdict.judge_first == tuple((one.query, one.doc) for one in found.judge_first)


def test_a_loss_of_judged_documents_stands():
    """All documents are judged; and with one unjudged document at the end, in one query, it could not be turned."""
    (found,) = gate_run(QRELS, TURNED, "nDCG@10: -1%", base())
    assert (found.status, found.unjudged) == ("fail", "")
    one_hole = {**TURNED, "q00": ["c", "b", "a", "x"]}
    (found,) = gate_run(QRELS, one_hole, "nDCG@10: -1%", base())
    assert (found.status, found.unjudged) == ("fail", "closed")
    assert "judging more documents cannot change it" in found.words


def test_only_extreme_judgements_could_change_it():
    """The order of judged documents is worse with and without x; but if x is relevant everywhere it is better."""
    run = {q: ["x", "c", "b", "a"] for q in QUERIES}
    before = {q: ["a", "b", "c"] for q in QUERIES}
    (found,) = gate_run(QRELS, run, "nDCG@10: -1%", base(before))
    assert found.status == "fail"
    assert found.unjudged == "extreme"


def test_a_document_in_both_rankings_decides_nothing():
    """x is on top of both: whatever it is, P@2 of both gains by it alike."""
    before = {q: ["x", "a", "b"] for q in QUERIES}
    after = {q: ["x", "c", "b"] for q in QUERIES}
    scores = evaluate(QRELS, before, ["P@2", "NumRet"])
    (found,) = gate_run(QRELS, after, "P@2: -0.01", scores)
    assert (found.status, found.unjudged) == ("fail", "closed")


def test_a_pass_that_holes_could_turn_waits_too():
    """As judged the run is as good; without x and y, which the baseline has on top, the baseline is better."""
    before = {q: ["x", "y", "a", "b", "c"] for q in QUERIES}
    after = {q: ["c", "b", "a"] for q in QUERIES}
    verdict = gate_run(QRELS, after, "RR@10: -5%", base(before))
    assert (verdict.status, verdict.exit_code) == ("unclear", 4)


def test_lower_is_better():
    qrels = {q: {"a": 1, "b": 0, "c": 0} for q in QUERIES}
    before = evaluate(qrels, {q: ["a"] for q in QUERIES}, ["FallOut@2", "NumRet"])
    (found,) = gate_run(qrels, {q: ["b", "a"] for q in QUERIES}, "FallOut@2: +0.01", before)
    assert found.failed
    (found,) = gate_run(qrels, {q: ["a", "b"] for q in QUERIES}, "FallOut@2: +60%", before)
    assert found.failed  # from 0 to 1/2, of which no share is tolerated


def test_a_baseline_without_documents_leaves_the_runs_own_holes(tmp_path):
    saved = json.loads(base().to_json())
    from goldrank import Scores

    verdict = gate_run(QRELS, PUSHED, "nDCG@10: -1%", Scores.from_dict(saved))
    assert verdict.exit_code == 4
    assert "baseline-without-documents" in codes(verdict)
    (found,) = gate_run(QRELS, TURNED, "nDCG@10: -1%", Scores.from_dict(saved))
    assert found.failed


def test_means_over_ties_are_not_looked_into():
    before = evaluate(QRELS, OLD, ["nDCG@10", "NumRet"], ties="expected")
    verdict = gate_run(QRELS, PUSHED, "nDCG@10: -1%", before, ties="expected")
    assert verdict.exit_code == 1
    assert "holes-not-looked-at" in codes(verdict)


# What a baseline keeps.


def test_kept_documents_are_enough(tmp_path):
    """On the judgements of then every measure is as it was, also those that look below what is kept."""
    qrels, run = demo.load()["qrels"], demo.runs()["bm25"]
    far = {q: [*docs, *(f"filler-{i}" for i in range(WITHOUT_CUTOFF))] for q, docs in run.items()}
    far = {q: [*docs, next(iter(qrels[q]))] if next(iter(qrels[q])) not in docs else docs for q, docs in far.items()}
    scores = evaluate(qrels, far, ["nDCG@10", "AP", "R@50", "Rprec", "Bpref", "NumRet"])
    baseline = frozen(scores, tmp_path)
    assert baseline.documents.depth == WITHOUT_CUTOFF
    placed = baseline.documents.place(Qrels(qrels), "b", scores.placed.rules)
    again = pipeline.score(placed, [parse(name) for name in scores.measures])
    for name in scores.measures:
        assert np.array_equal(again.columns[name].values, scores.columns[name].values), name


def test_kept_documents_are_no_more_than_the_deepest_cutoff(tmp_path):
    run = {q: [f"d{i}" for i in range(300)] for q in QUERIES} | {"q00": ["a"]}
    scores = evaluate(QRELS, run, ["nDCG@10", "P@5", "NumRet"])
    baseline = frozen(scores, tmp_path)
    assert {len(kept.top) for kept in baseline.documents.rankings.values()} == {10, 1}
    assert {kept.returned for kept in baseline.documents.rankings.values()} == {300, 1}
    assert KeptDocuments.from_dict(baseline.documents.to_dict(), "x") == baseline.documents
    with raises_code(BaselineError, "damaged-file"):
        KeptDocuments.from_dict({"depth": 3, "queries": {"q": [1, 2]}}, "x")


@pytest.mark.slow
def test_the_size_of_seven_thousand_queries(tmp_path):
    """Ten documents a query: well under two megabytes in all."""
    qrels = {f"q{i}": {f"doc-{i}": 1} for i in range(7_000)}
    run = {query: [f"doc-{i}-{j}" for j in range(9)] + [f"doc-{i}"] for i, query in enumerate(qrels)}
    frozen(evaluate(qrels, run, ["nDCG@10", "NumRet"]), tmp_path)
    assert (tmp_path / "b.json").stat().st_size < 2_000_000


def test_changed_judgements_score_the_baseline_again(tmp_path):
    """x becomes relevant: the run has it on top and the baseline at the end, which its old scores do not know.

    By the old judgements both have RR 1 and 1/2; by the new ones 1/3 and 1.
    """
    old_run = {q: ["c", "b", "x"] for q in QUERIES}
    new_run = {q: ["x", "b", "c"] for q in QUERIES}
    qrels = {q: {"b": 0, "c": 1} for q in QUERIES}
    scores = evaluate(qrels, old_run, ["RR", "NumRet"])
    kept = frozen(scores, tmp_path)
    changed = {q: {"b": 0, "c": 0, "x": 1} for q in QUERIES}
    for baseline in (kept, scores):
        with raises_code(BaselineError, "other-judgements"):
            gate_run(changed, new_run, "RR: -1%", baseline)
        verdict = gate_run(changed, new_run, Rules("RR: -1%", allow_changed_qrels=True), baseline)
        (found,) = verdict
        assert (found.baseline, found.value) == pytest.approx((1 / 3, 1.0))
        assert "baseline-rescored" in codes(verdict)
    # Scores without documents stay as they were measured, and the gate says so.
    from goldrank import Scores

    verdict = gate_run(changed, new_run, Rules("RR: -1%", allow_changed_qrels=True), Scores.from_dict(scores.to_dict()))
    assert verdict[0].baseline == 1.0
    assert "baseline-not-rescored" in codes(verdict)


def test_queries_that_the_baseline_did_not_have_are_left_out(tmp_path):
    kept = frozen(base(), tmp_path)
    more = {**QRELS, "new": {"a": 1}}
    verdict = gate_run(more, {**OLD, "new": ["a"]}, Rules("nDCG@10: -1%", allow_changed_qrels=True), kept)
    assert verdict[0].queries == len(QUERIES)


def test_measures_that_look_below_what_is_kept_are_named(tmp_path):
    run = {q: ["a", *(f"d{i}" for i in range(WITHOUT_CUTOFF)), "late"] for q in QUERIES}
    kept = frozen(base(run), tmp_path)
    changed = {q: {**docs, "late": 1} for q, docs in QRELS.items()}
    verdict = gate_run(changed, run, Rules(["AP: -1%", "RR@10: -1%"], allow_changed_qrels=True), kept)
    (note,) = [note for note in verdict.notes if note.code == "rescored-in-part"]
    assert note.fact("measures") == "AP"


def test_files_keep_documents_through_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Qrels(QRELS).save("qrels")
    read_run(OLD).save("old.run")
    read_run(PUSHED).save("new.run")
    assert command(["gate", "qrels", "old.run", "-m", "nDCG@10", "--baseline", "b.json", "--update"]) == 0
    gated = ["gate", "qrels", "new.run", "--rule", "nDCG@10: -1%", "--baseline", "b.json"]
    assert command([*gated, "-o", "v.xml", "-o", "v.md", "-o", "v.json"]) == 4
    out = capsys.readouterr().out
    assert out.lstrip().startswith("baseline b.json is set")
    assert "JUDGE FIRST" in out
    assert "judge these" in out
    assert "Judge these first" in out
    assert "<skipped" in Path("v.xml").read_text()
    assert json.loads(Path("v.json").read_text())["findings"][0]["judge_first"][0]["doc"] in ("x", "y", "z")
    assert command([*gated, "--statistics", "unjudged=ignore"]) == 1
    assert command([*gated, "--statistics", "unjudged=ignore", "--strict"]) == 1


# Why a query lost.


def test_the_gate_says_why_queries_lost(tmp_path):
    kept = frozen(base(), tmp_path)
    for baseline in (kept, base()):
        (found,) = gate_run(QRELS, PUSHED, "nDCG@10: -1%", baseline)
        lost = found.worst[0]
        assert lost.cause == "intruder"
        assert [(one.doc, one.before, one.after) for one in lost.documents if one.grade > 0] == [
            ("a", 1, 4),
            ("b", 2, 5),
        ]
        assert [one.doc for one in lost.intruders] == ["x", "y", "z"]
        (found,) = gate_run(QRELS, TURNED, "nDCG@10: -1%", baseline)
        assert found.worst[0].cause == "moved down"


def test_diff_names_intruders():
    """x rose from 3 to 1 and y came in; c is judged, and z fell."""
    changes = diff({"q": {"a": 1, "c": 0}}, {"q": ["a", "z", "x", "c"]}, {"q": ["x", "y", "c", "a", "z"]}, "RR", k=5)
    (change,) = changes.read_first()
    assert [(one.doc, one.before, one.after) for one in change.intruders] == [("x", 3, 1), ("y", None, 2)]
    assert changes.to_dict()["queries"][0]["intruders"][0] == {"doc": "x", "before": 3, "after": 1}
    # Beyond the cut-off nobody looks.
    changes = diff({"q": {"a": 1}}, {"q": ["a", "z"]}, {"q": ["a", "z", "x"]}, "RR@2")
    assert changes.changes[0].intruders == ()


def test_summaries_of_a_baseline_scored_again_follow_from_its_values(tmp_path):
    kept = frozen(base(), tmp_path)
    changed = {q: {"a": 0, "b": 1} for q in QUERIES[1:]}
    verdict = gate_run(changed, OLD, Rules("nDCG@10 >= 0", allow_changed_qrels=True), kept)
    assert verdict
    verdict = gate_run(changed, OLD, Rules("RR@10: -1%", allow_changed_qrels=True), kept)
    assert verdict[0].baseline == summarise("mean", np.full(29, 0.5))
