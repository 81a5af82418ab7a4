"""The gate's decisions, with their arithmetic."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import made_up
import numpy as np
import pytest
from gates import gate_run
from golden_statistics import case
from raising import raises_code
from statsmodels.stats.power import TTestPower

import goldrank
from goldrank import Baseline, Qrels, Rules, Scores, demo, evaluate, gate, read_qrels, read_run
from goldrank.base.errors import BaselineError, GoldrankError, InputError, MismatchError
from goldrank.base.notes import Note
from goldrank.cli import run as command
from goldrank.comparison.intervals import difference_interval
from goldrank.comparison.settings import Statistics
from goldrank.data.query_facts import QueryFacts
from goldrank.data.runs import Runs
from goldrank.data.scores import Column, Remarks
from goldrank.gating.significance import within_p

QRELS = {f"q{i:02d}": {"good": 1, "bad": 0, "x0": 0, "x1": 0} for i in range(20)}
TOP = {q: ["good", "bad"] for q in QRELS}  # RR 1 everywhere


def lowered(count, rank=2):
    """TOP with the relevant document of the first queries at a lower rank."""
    below = [f"x{i}" for i in range(rank - 1)] + ["good"]
    return {q: below if i < count else docs for i, (q, docs) in enumerate(TOP.items())}


def base(run=TOP, measures=("RR",), **more):
    return evaluate(QRELS, run, [*measures, "NumRet"], **more)


def only(verdict):
    (found,) = verdict
    return found


def test_drop_that_is_no_chance():
    """Eight of 20 queries fall from 1 to 1/2: the mean from 1 to 0.8. One of 2^8 flips of signs is as bad.

    With the tolerance they lose 0.49 each, and the other twelve gain 0.01, which turns no flip: 8 * 0.49 - 12 * 0.01 is
    less than 6 * 0.49 + 12 * 0.01.
    """
    found = only(gate_run(QRELS, lowered(8), "RR: -1%", base()))
    assert found.failed
    assert (found.value, found.baseline) == pytest.approx((0.8, 1.0))
    assert found.p == found.p_adjusted == 1 / 2**8
    assert (found.queries, found.worse, found.better) == (20, 8, 0)
    assert found.interval == difference_interval(np.array([-0.5] * 8 + [0] * 12))  # as a comparison has it
    assert "fell from 1.0000 to 0.8000 (-0.2000, -20.0%" in found.words
    assert "more than the tolerated 1%" in found.words
    assert "8 of 20 queries worse, 0 better" in found.words
    assert [one.query for one in found.worst] == [f"q{i:02d}" for i in range(8)]
    assert {(one.before, one.after) for one in found.worst} == {(1.0, 0.5)}


def test_drop_that_chance_could_do():
    """Three fall: 1/8 is more than 0.05. What could have been found is statsmodels' answer, and the tolerance."""
    verdict = gate_run(QRELS, lowered(3), "RR: -1%", base())
    found = only(verdict)
    assert verdict
    assert (found.status, found.shown, found.regressed, found.question) == ("pass", False, True, "queries like these")
    assert found.p == 1 / 8
    spread = np.std([-0.5] * 3 + [0] * 17, ddof=1)
    effect = TTestPower().solve_power(nobs=20, alpha=0.05, power=0.8, alternative="larger")
    assert found.detectable == pytest.approx(0.01 + effect * spread, rel=1e-4)
    assert f"would show a drop of {0.01 + effect * spread:.4f}" in found.words
    assert "worse on these queries, but not shown for queries like these: chance could do it" in found.words
    assert verdict.words.endswith("1 check passed; 1 of them got worse on these queries, which is not shown for others")


def test_the_tolerance_is_tested():
    """20 queries, 8 at 1/2: a drop of exactly 0.2, or 20%. It is no sign of one that is larger than 19.9%."""
    for rule in ("RR: -20%", "RR: -0.2", "RR: -19.9%", "RR: -0.199"):
        found = only(gate_run(QRELS, lowered(8), rule, base()))
        assert (found.status, found.shown) == ("pass", False)
    for rule, status in (("-20%", "pass"), ("-0.2", "pass"), ("-19.9%", "fail"), ("-0.199", "fail")):
        assert only(gate_run(QRELS, lowered(8), f"RR: {rule} untested", base())).status == status


def test_pass_is_shown_or_not_and_strict_takes_only_the_first():
    """Another run that is as good on 20 queries: a tolerance of 60% is shown by them, one of 1% is not."""
    other = {query: [*docs, "more"] for query, docs in TOP.items()}
    assert only(gate_run(QRELS, other, Rules("RR: -60%", strict=True), base())).status == "pass"
    loose = only(gate_run(QRELS, other, "RR: -1%", base()))
    assert (loose.status, loose.shown, loose.regressed) == ("pass", False, False)
    strict = gate_run(QRELS, other, Rules("RR: -1%", strict=True), base())
    assert (strict.status, only(strict).status, strict.exit_code) == ("fail", "fail", 1)
    assert "a drop of more than that is not shown" in only(strict).words
    assert "The rules are strict" in only(strict).words


def test_a_run_is_the_same_as_itself():
    """However strict the rules and however small the tolerance; also by values alone, and in a slice."""
    rules = Rules(["RR: -0%", "RR [kind]: -1%", "P@1: -1%"], strict=True)
    measures = list(rules.measures)
    saved = Scores.from_dict(json.loads(base(measures=measures).to_json()))
    for before in (base(measures=measures), Baseline(base(measures=measures)), saved):
        verdict = gate_run(QRELS, TOP, rules, before, queries=kinds(10))
        assert (verdict.status, verdict.exit_code) == ("pass", 0)
        assert {found.question for found in verdict} == {"these queries"}
        assert all("the run is the same as the baseline" in found.words for found in verdict)


def test_golden_tolerance():
    given, wanted = case("gate-relative-tolerance")
    before, after = np.array(given["base"]), np.array(given["new"])
    shifted = after - before + given["tolerance"] * before
    assert shifted == pytest.approx(wanted["shifted"], abs=1e-12)
    assert within_p(shifted, 1.0) == pytest.approx(wanted["p_within"], rel=1e-9)
    found = only(gate(of_values(after), "RR: -5%", of_values(before)))
    assert found.p == found.p_adjusted == wanted["p_fail"]
    by_t = only(gate(of_values(after), Rules("RR: -5%", statistics=Statistics(test="t")), of_values(before)))
    assert by_t.p == pytest.approx(wanted["p_fail_t"], rel=1e-9)


def test_golden_small_slice():
    """Nine queries that fell from 1 to 0 are not too few."""
    given, wanted = case("gate-small-slice")
    before, after = (np.concatenate((given[key], np.ones(30))) for key in ("base", "new"))
    kind = {f"q{i:03d}": {"kind": "few" if i < 9 else "many"} for i in range(39)}
    few, many = gate(of_values(after), "RR [kind]: -5%", of_values(before), queries=kind)
    assert few.p == wanted["p_fail"]
    assert few.failed
    assert (many.status, many.shown) == ("pass", False)


def of_values(values):
    """Scores of RR as they come from a file: nothing is known of documents."""
    queries = tuple(f"q{i:03d}" for i in range(len(values)))
    column = Column("RR", np.asarray(values, float), float(np.mean(values)), "mean")
    return Scores("run", queries, {"RR": column}, Remarks({"retrieved": 1}))


def test_untested_drops_ask_no_test():
    found = only(gate_run(QRELS, lowered(1), "RR: -1% untested", base()))
    assert found.failed
    assert np.isnan(found.p)


def test_correction_over_rules():
    """Five queries fall: p = 1/32 alone. Three measures that fall together are hardly more than one test to the joint
    maximum; Holm takes them for three, and makes it 3/32."""
    run = lowered(5)
    measures = ["RR", "AP", "nDCG@10"]
    assert only(gate_run(QRELS, run, "RR: -1%", base(measures=measures))).failed
    rules = [f"{one}: -1%" for one in measures]
    joint = gate_run(QRELS, run, rules, base(measures=measures))
    assert [one.p for one in joint] == pytest.approx([1 / 32] * 3, abs=0.006)
    assert [one.p_adjusted for one in joint] == pytest.approx([1 / 32] * 3, abs=0.006)
    assert len(joint.failed) == 3
    holm = gate_run(QRELS, run, Rules(rules, statistics=Statistics(correction="holm")), base(measures=measures))
    assert [one.p_adjusted for one in holm] == pytest.approx([3 / 32] * 3, abs=0.02)
    assert holm
    loose = Rules(rules, statistics=Statistics(correction="none"))
    assert len(gate_run(QRELS, run, loose, base(measures=measures)).failed) == 3


def test_t_test_where_all_lose_the_same():
    found = only(gate_run(QRELS, lowered(20), Rules("RR: -1%", statistics=Statistics(test="t")), base()))
    assert found.failed
    assert found.p == 1 / 2**20  # by all flips


def test_alignment_is_by_id_not_position():
    scores = base(lowered(8))
    shuffled = dict(reversed(list(lowered(8).items())))
    found = only(gate_run(QRELS, shuffled, "RR: -0%", scores))
    assert (found.worse, found.better) == (0, 0)
    # Saved scores may have their queries in any order, and more of them.
    turned = scores.to_dict()
    turned["queries"] = ["other", *reversed(turned["queries"])]
    turned["by_query"] = {"judgements": None}
    for column in turned["measures"].values():
        column["values"] = [0.0, *reversed(column["values"])]
        if column["average"] == "mean":
            column["summary"] = sum(column["values"]) / 21
    found = only(gate(scores, "RR: -0%", Scores.from_dict(turned)))
    assert (found.queries, found.worse, found.better) == (20, 0, 0)


def test_floors_and_ceilings():
    run = lowered(10)  # RR: (10 * 1 + 10 * 1/2) / 20 = 0.75
    verdict = gate_run(QRELS, run, ["RR >= 0.75", "RR >= 0.76", "FallOut@1 <= 0.5", "RR <= 0.7"])
    assert [one.status for one in verdict] == ["pass", "fail", "pass", "fail"]
    assert verdict[1].words == "RR is 0.7500 (20 queries); at least 0.76 is asked for, 0.0100 too little"
    assert verdict.exit_code == 1


def test_a_value_that_is_no_number_fails():
    qrels = {**QRELS, "none": {"bad": 0}}
    found = only(gate_run(qrels, {**TOP, "none": ["bad"]}, "RR >= 0", empty="nan"))
    assert found.failed
    assert "not a number" in found.words


def test_lower_is_better():
    """Two not relevant documents; FallOut@1 goes from 0 to 1/2 for nine queries."""
    qrels = {q: {"good": 1, "bad": 0, "worse": 0} for q in QRELS}
    worse = {q: ["bad", "good"] if i < 9 else docs for i, (q, docs) in enumerate(TOP.items())}
    before = evaluate(qrels, TOP, ["FallOut@1", "NumRet"])
    after = evaluate(qrels, worse, ["FallOut@1", "NumRet"])
    found = only(gate_run(qrels, worse, "FallOut@1: +0.01", before))
    assert found.failed
    assert found.p == 1 / 2**9
    assert "rose" in found.words
    assert found.interval.low > 0
    assert only(gate_run(qrels, TOP, "FallOut@1: +0.01", after)).status == "pass"


def test_geometric_means_and_sums():
    qrels, runs = demo.load()["qrels"], demo.runs()
    rules = ["GMAP: -1%", "NumRelRet: -1", "NumRet: -10"]
    before = evaluate(qrels, runs["bm25"], ["GMAP", "AP", "NumRelRet", "NumRet"])
    short = {q: dict(list(docs.items())[:3]) for q, docs in runs["overlap"].items()}
    after = evaluate(qrels, short, ["GMAP", "AP", "NumRelRet", "NumRet"])
    by_log, found_rel, returned = gate_run(qrels, short, rules, before)
    assert (by_log.baseline, by_log.value) == pytest.approx((before["GMAP"], after["GMAP"]))
    assert by_log.interval.low < by_log.change < by_log.interval.high < 0
    assert (found_rel.baseline, found_rel.value) == (before["NumRelRet"], after["NumRelRet"])
    assert returned.change == after["NumRet"] - before["NumRet"]
    assert returned.interval.low < returned.change < returned.interval.high < 0


# Shares, overlap, latency.


def test_shares():
    """Two queries are missing and one is empty: 3 of 20. Of 17 answers of 2, and one of 1 of 3, count the judged."""
    run = {q: docs for q, docs in TOP.items() if q not in ("q00", "q01")} | {"q02": [], "q03": ["x", "y", "z"]}
    verdict = gate_run(
        QRELS, run, ["missing <= 10%", "missing <= 15%", "unjudged <= 8%", "overlap >= 80%", "overlap >= 81%"]
    )
    assert [one.status for one in verdict] == ["fail", "pass", "fail", "pass", "fail"]
    assert verdict[0].value == 3 / 20
    assert verdict[2].value == pytest.approx(3 / (16 * 2 + 3))
    assert verdict[3].value == 16 / 20


def test_latency_is_by_nearest_rank(tmp_path):
    """Of 1 to 100 the 95th of 100 is 95."""
    times = {f"q{i}": {"latency": i} for i in range(1, 101)}
    found = only(gate_run(QRELS, TOP, "latency p95 <= 95", queries=times))
    assert (found.status, found.value, found.queries) == ("pass", 95.0, 100)
    (tmp_path / "times").write_text("\n".join(json.dumps({"query": q, **time}) for q, time in times.items()))
    (tmp_path / "rules.toml").write_text('queries = "times"\nrules = ["latency <= 94.9"]\n')
    assert only(gate_run(QRELS, TOP, tmp_path / "rules.toml")).failed
    assert only(gate_run(QRELS, TOP, tmp_path / "rules.toml", queries={"q1": {"latency": 3}})).value == 3


def test_scores_of_texts_know_their_latencies(tmp_path):
    items = [{"query": f"q{i}", "retrieved": ["yes"], "references": ["yes"], "latency": i / 10} for i in range(1, 11)]
    scores = goldrank.evaluate_texts(items, "Cover@1")
    scores.save(tmp_path / "scores.json")
    for held in (scores, Scores.load(tmp_path / "scores.json")):
        assert [one.value for one in gate(held, ["latency p50 <= 0.5", "latency p90 <= 0.5"])] == [0.5, 0.9]
    # Those of queries take their place.
    assert only(gate(scores, "latency <= 1", queries={"q1": {"latency": 7}})).value == 7


@pytest.mark.parametrize("time", ["fast", -1, float("nan"), float("inf"), True])
def test_bad_latencies(time):
    queries = {"q": {"latency": time}}
    is_unknown = time != time  # NaN is what data frames have where there is nothing
    with raises_code(InputError, "needs-latencies" if is_unknown else "bad-latency"):
        gate_run(QRELS, TOP, "latency <= 3", queries=queries)
    with raises_code(InputError, "needs-latencies"):
        gate_run(QRELS, TOP, "latency <= 3")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\n".join(json.dumps({"query": f"q{i}", "latency": i}) for i in range(1, 101)), 0),
        ("{}", 2),
        ('{"q": "fast"}', 2),
        ('{"query": "q", "ms": 2}\n{"query": "r", "ms": 2}', 2),
        ("nonsense", 2),
    ],
)
def test_latencies_at_the_prompt(tmp_path, monkeypatch, capsys, text, code):
    monkeypatch.chdir(tmp_path)
    Qrels(QRELS).save("qrels")
    read_run(TOP).save("run")
    Path("times").write_text(text)
    assert command(["gate", "qrels", "run", "--rule", "latency p95 <= 95", "--queries", "times"]) == code
    if not code:
        assert "95% of 100 queries took at most 95" in capsys.readouterr().out
        assert command(["gate", "qrels", "run", "--rule", "latency p95 <= 94", "--queries", "times"]) == 1
    assert command(["gate", "qrels", "run", "--rule", "latency <= 3", "--queries", "nowhere"]) == 2


# Slices.


def kinds(split=8):
    return {q: {"kind": "long" if i < split else "short"} for i, q in enumerate(QRELS)}


def test_slices_are_held_to_the_rule_one_by_one(tmp_path):
    """All losses are among the twelve long queries."""
    verdict = gate_run(QRELS, lowered(8), ["RR [kind]: -5%", "RR [kind=long] >= 0.9", "RR [kind=short] >= 0.9"],
                   base(), queries=kinds(10))  # fmt: skip
    long, short, floor, other = verdict
    assert (long.group, short.group) == ("kind=long", "kind=short")
    assert long.failed
    assert (long.queries, long.value) == (10, pytest.approx((8 * 0.5 + 2) / 10))
    assert long.p == 1 / 2**8
    assert (short.status, short.shown, other.status) == ("pass", False, "pass")
    assert floor.failed
    assert long.rule == "RR [kind=long]: -5%"
    lines = [json.dumps({"query": q, **kind}) for q, kind in kinds(10).items()]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines))
    (tmp_path / "rules.toml").write_text('queries = "queries.jsonl"\nrules = ["RR [kind]: -5%"]\n')
    assert [one.status for one in gate_run(QRELS, lowered(8), tmp_path / "rules.toml", base())] == [
        "fail",
        "pass",
    ]


def test_only_slices_that_no_flip_can_decide_are_too_few():
    """Four queries have 2^4 flips, and 1/16 is more than 0.05; five have enough."""
    four = gate_run(QRELS, lowered(4), "RR [kind]: -5%", base(), queries=kinds(4))[0]
    assert (four.status, four.shown, four.regressed) == ("pass", False, True)
    assert "4 queries are too few" in four.words
    five = gate_run(QRELS, lowered(5), "RR [kind=long]: -5%", base(), queries=kinds(5))[0]
    assert (five.status, five.p) == ("fail", 1 / 32)


def test_slices_by_relevant_documents():
    qrels = {q: {"good": 1, "bad": int(i < 10)} for i, q in enumerate(QRELS)}
    verdict = gate_run(qrels, TOP, "R@1 [relevant] >= 0.9")
    assert [(one.group, one.value) for one in verdict] == [("relevant=1", 1.0), ("relevant=2", 0.5)]


@pytest.mark.parametrize(
    ("rule", "queries", "told"),
    [
        ("RR [kind=lnog]: -1%", kinds(), "Did you mean long"),
        ("RR [kind]: -1%", None, "no query has a value for slices by"),
        ("RR [colour]: -1%", kinds(), "no query has a value for slices by"),
        ("RR [kind]: -1%", {"z": {"kind": "x"}}, "no query of the comparison has a value"),
    ],
)
def test_slices_that_are_not_there(rule, queries, told):
    with pytest.raises(InputError, match=told):
        gate_run(QRELS, TOP, rule, base(), queries=queries)


# An arm that never ran.


def test_a_run_that_returned_nothing_is_an_error():
    for run in ({}, {q: [] for q in QRELS}):
        with pytest.raises((InputError, MismatchError)):
            gate_run(QRELS, run, "RR: -100%", base())
    with raises_code(InputError, "nothing-returned"):
        gate_run(QRELS, {q: [] for q in QRELS}, "FallOut@1: +1%", base(measures=["FallOut@1"], overlap="allow"),
             overlap="allow")  # fmt: skip


def test_a_baseline_that_returned_nothing_is_an_error():
    silent = base({q: [] for q in QRELS}, overlap="allow")
    with raises_code(InputError, "nothing-returned", match="the baseline run"):
        gate_run(QRELS, TOP, "RR: -1%", silent, overlap="allow")


def test_a_slice_that_returned_nothing_fails():
    half = {q: [] if i < 10 else docs for i, (q, docs) in enumerate(TOP.items())}
    long, short = gate_run(QRELS, half, "FallOut@1 [kind]: +1%", base(measures=["FallOut@1"]), queries=kinds(10))
    assert long.failed
    assert "returned nothing for any of the 10 queries where kind is long" in long.words
    assert (short.status, short.shown) == ("pass", False)
    before = base(half)
    long, short = gate_run(QRELS, TOP, "RR [kind]: -1%", before, queries=kinds(10))
    assert long.failed
    assert "the baseline returned nothing" in long.words
    assert (short.status, short.shown) == ("pass", False)


@pytest.mark.parametrize(("measure", "policies"), [("FallOut@1", {}), ("RR", {"missing": "skip"})])
def test_silence_that_looks_like_gain_fails(measure, policies):
    """Without its worst queries a run looks better, if missing queries are left out or low values are good."""
    bad = {q: ["bad", "good"] if i < 5 else docs for i, (q, docs) in enumerate(TOP.items())}
    without = {q: docs for i, (q, docs) in enumerate(bad.items()) if i >= 5}
    before = base(bad, [measure], **policies)
    rule = f"{measure}: {'+' if measure == 'FallOut@1' else '-'}1%"
    found = only(gate_run(QRELS, without, rule, before, **policies))
    assert found.failed
    assert "5 queries ('q00', 'q01', 'q02', ...) that the baseline answered returned nothing" in found.words
    allowed = gate_run(QRELS, without, [rule, "missing <= 25%"], before, **policies)
    assert allowed
    assert [note.fact("count") for note in allowed.notes if note.code == "lost-answers"] == [5]


# Only like is compared with like.


def refused(told, *args, **more):
    with pytest.raises(BaselineError) as caught:
        gate_run(*args, **more)
    assert told in str(caught.value)


def test_other_judgements_are_refused(tmp_path):
    scores = base()
    Baseline(scores).save(tmp_path / "b.json")
    frozen = Baseline.load(tmp_path / "b.json")
    changed = {q: dict(docs) for q, docs in QRELS.items()}
    changed["q00"]["bad"] = 1
    changed["q01"]["other"] = 0
    for baseline in (frozen, scores):
        refused("other judgements for 2 queries: 'q00', 'q01'", changed, TOP, "RR: -1%", baseline)
    unknown = replace(scores, placed=None, facts=QueryFacts())
    refused("the same queries, judged otherwise", changed, TOP, "RR: -1%", unknown)
    more = {**{q: d for q, d in QRELS.items() if q != "q00"}, "new": {"good": 1}}
    for baseline in (frozen, scores):
        refused("1 query added: 'new'; 1 query removed: 'q00'", more, TOP, "RR: -1%", baseline)
    verdict = gate_run(more, {**TOP, "new": ["x", "good"]}, Rules("RR: -1%", allow_changed_qrels=True), frozen)
    assert only(verdict).queries == 19
    assert Note.of("changed-judgements", what="1 query added: 'new'") in verdict.notes
    assert Note.of("common-queries", count=19, all="both", sizes="baseline 19, run 20") in verdict.notes


def test_other_criteria_convention_depth_and_measures_are_refused():
    strict = Qrels(QRELS, criteria="answers the question")
    refused("the criteria were not stated and are 'answers the question'", strict, TOP, "RR: -1%", base())
    refused("the convention was trec_eval-10 and is trec_eval-9", QRELS, TOP, "RR: -1%", base(),
            convention="trec_eval-9")  # fmt: skip
    allowed = Rules("RR: -1%", allow_changed_qrels=True)
    refused("missing=skip", QRELS, TOP, allowed, base(), missing="skip")
    refused("rankings were cut at no depth and are at 5", QRELS, TOP, "RR: -1%", base(), depth=5)
    refused("the baseline has no AP; it has: RR, NumRet", QRELS, TOP, "AP: -1%", base())
    refused("needs a baseline", QRELS, TOP, "AP: -1%")


def test_convention_with_options_of_measures():
    scores = evaluate(QRELS, TOP, ["nDCG@10", "NumRet"], convention="sklearn")
    assert scores.measures[0] != "nDCG@10"
    verdict = gate_run(QRELS, TOP, ["nDCG@10: -1%", "nDCG@10 >= 0.9"], scores, convention="sklearn")
    assert verdict


def test_conventions_that_bound_need_no_extras():
    before = evaluate(QRELS, TOP, "RR", ties="bounds")
    assert gate_run(QRELS, TOP, "RR: -1%", before, ties="bounds")


def test_scores_of_one_run_are_taken_and_nothing_else(tmp_path):
    both = evaluate(QRELS, Runs(a=TOP, b=TOP), "RR")
    with raises_code(GoldrankError, "one-run-needed", match="gate\\(scores\\['a'\\], rules\\)"):
        gate(both, "RR >= 0.1")
    for given in (QRELS, Qrels(QRELS), "qrels.txt", tmp_path / "run"):
        with raises_code(InputError, "wrong-type", match=r"gate\(evaluate\(qrels, run, rules.measures\), rules\)"):
            gate(given, "RR >= 0.1")


def test_saved_scores_are_held_to_rules_as_fresh_ones(tmp_path):
    before, after = base(), base(lowered(8))
    after.save(tmp_path / "after.json")
    rules = ["RR: -1%", "missing <= 0%", "unjudged <= 0%", "overlap >= 100%", "RR [relevant] >= 0.1"]
    fresh, saved = gate(after, rules, before), gate(Scores.load(tmp_path / "after.json"), rules, before)
    assert [one.value for one in fresh] == [one.value for one in saved] == [0.8, 0.0, 0.0, 1.0, 0.8]
    assert fresh[0].p == saved[0].p == 1 / 2**8
    assert [one.status for one in saved] == [one.status for one in fresh]
    assert saved.scores.judgement_hashes == fresh.scores.judgement_hashes


def test_scores_that_do_not_know_their_queries_say_so():
    scores = replace(base(), facts=QueryFacts(), placed=None)
    assert gate(scores, ["RR >= 0.3", "missing <= 0%", "unjudged <= 0%"])
    with raises_code(InputError, "not-known"):
        gate(scores, "overlap >= 1%")
    with raises_code(InputError, "slice-needs-input"):
        gate(scores, "RR [relevant] >= 0.1")
    with raises_code(BaselineError, "not-measured", match="rules.measures"):
        gate(scores, "AP >= 0.1")


def test_arguments_of_before_are_named():
    for name, told in {
        "strict": "a field of Rules",
        "metadata": "It is called queries=",
        "latency": "It is called queries=",
        "db": "History",
        "relevant_from": "read_qrels",
    }.items():
        with raises_code(GoldrankError, "unknown-argument", match=told):
            gate(base(), "RR >= 0.1", **{name: True})


def test_relevance_from_a_grade_on_is_the_scores_own():
    """Grade 3 is not relevant: the document with grade 4 is second, and RR is 1/2."""
    qrels = read_qrels({"u": {"a": 3, "b": 4}}, relevant_from=4)
    assert only(gate_run(qrels, {"u": ["a", "b"]}, "RR >= 0.3")).value == 0.5


def test_same_seed_same_verdict():
    qrels, runs = made_up.make_runs(60)
    before = evaluate(qrels, runs["dense"], ["nDCG@10", "NumRet"])
    first, second = (gate_run(qrels, runs["bm25"], "nDCG@10: -1%", before).to_json() for _ in range(2))
    assert first == second


def test_other_forms(tmp_path):
    verdict = gate_run(QRELS, lowered(8), ["RR: -1%", "RR >= 0.5"], base())
    frame = verdict.to_pandas()
    assert frame["status"].tolist() == ["fail", "pass"]
    assert verdict.to_polars()["change"][0] == pytest.approx(-0.2)
    assert "1 of 2 checks failed" in verdict._repr_html_()
    verdict.save(tmp_path / "verdict.json")
    assert json.loads((tmp_path / "verdict.json").read_text())["findings"][1]["p"] is None


# What it costs.


def loaded_by(tmp_path, rules, run):
    """Which of the heavy libraries a gate on files loads."""
    Qrels(QRELS).save(tmp_path / "qrels")
    read_run(run).save(tmp_path / "run")
    Baseline(base()).save(tmp_path / "b.json")
    code = (
        "import sys, goldrank\n"
        f"rules = goldrank.Rules({rules!r})\n"
        "goldrank.gate(goldrank.evaluate('qrels', 'run', rules.measures), rules, 'b.json')\n"
        "print(*sorted({'scipy', 'polars', 'rich', 'click', 'jinja2'} & set(sys.modules)))"
    )
    source = str(Path(goldrank.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": source}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.slow
def test_scipy_is_loaded_only_by_rules_that_need_it(tmp_path):
    assert loaded_by(tmp_path, ["RR >= 0.1", "RR: -50% untested", "missing <= 0%"], lowered(8)) == []
    assert loaded_by(tmp_path, ["RR: -1%"], TOP) == []  # the run is its baseline
    assert loaded_by(tmp_path, ["RR: -1%"], lowered(8)) == ["scipy"]


def test_runs_are_not_hashed(monkeypatch):
    from goldrank.data.run import Run

    monkeypatch.setattr(Run, "digest", property(lambda self: pytest.fail("hashing takes longer than evaluating")))
    before = Baseline(Scores.from_dict(SAVED))
    assert gate_run(QRELS, TOP, "RR: -1%", before)


SAVED = base().to_dict()
