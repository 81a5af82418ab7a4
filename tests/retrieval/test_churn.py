"""Two rankings without judgements: worked out by hand."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from raising import raises_code

from goldrank.base.errors import InputError, MismatchError, OptionError
from goldrank.cli import run as command_line
from goldrank.retrieval.churn import Churn, compare_rankings
from goldrank.retrieval.engine_run import EngineRun

BY_HAND = [
    ("abc", "abc", 1, 1, 1),
    ("abc", "cba", 1, Fraction(171, 200), -1),
    ("abc", "def", 0, 0, None),
    ("abcd", "abxy", Fraction(1, 2), Fraction(1217, 2000), 1),
    ("ab", "abcd", Fraction(1, 2), 1, 1),
    ("abcde", "bacde", 1, Fraction(9, 10), Fraction(4, 5)),
    ("abc", "xabc", Fraction(3, 4), Fraction(3069, 4000), 1),
    ("a", "", 0, 0, None),
    ("", "", 1, 1, None),
]
"""Two rankings, and their overlap@5, RBO with p = 9/10, and tau of what both have."""


@pytest.mark.parametrize(("first", "second", "overlap", "rbo", "tau"), BY_HAND)
def test_by_hand(first: str, second: str, overlap: Fraction, rbo: Fraction, tau: Fraction | None) -> None:
    for before, after in ((first, second), (second, first)):
        change = compare_rankings({"q": list(before)}, {"q": list(after)}, k=5)["q"]
        assert change.overlap == pytest.approx(float(overlap), abs=1e-12)
        assert change.rbo == pytest.approx(float(rbo), abs=1e-12)
        if tau is None:
            assert math.isnan(change.tau)
        else:
            assert change.tau == pytest.approx(float(tau), abs=1e-12)


def test_means_are_over_the_queries_of_either_run() -> None:
    churn = compare_rankings({"1": ["a"], "2": ["b"], "3": ["c"]}, {"1": ["a"], "3": ["d"], "4": []})
    assert list(churn) == ["1", "2", "3", "4"]
    assert churn.overlap == 1 / 4
    assert churn.rbo == 1 / 4
    assert [churn[query].lacking for query in churn] == ["", "after", "", "before"]
    assert [change.query for change in churn.moved_most()] == ["2", "4", "3"]
    assert churn.vanished == ("2",)
    assert churn.first_changed == 2 / 4
    assert math.isnan(churn.tau)


def test_what_came_and_went() -> None:
    change = compare_rankings({"q": list("abcd")}, {"q": list("xbca")}, k=3)["q"]
    assert (change.came, change.went) == (("x",), ("a",))
    assert change.lengths == (4, 4)
    assert change.first_changed
    shorter = compare_rankings({"q": list("abcd")}, {"q": list("ab")}, k=2)
    assert (shorter["q"].overlap, shorter["q"].shorter_by) == (1, 2)
    assert "fewer results in all" in str(shorter)


def test_judge_first_by_hand() -> None:
    """1/log2(2) = 1, 1/log2(3) = 0.6309, 1/log2(4) = 0.5."""
    churn = compare_rankings({"q1": list("abc"), "q2": list("de")}, {"q1": list("bax"), "q2": list("de")}, k=3)
    pairs = churn.judge_first(10)
    assert [(pair.query, pair.doc, round(pair.weight, 4)) for pair in pairs] == [
        ("q1", "c", 0.5),
        ("q1", "x", -0.5),
        ("q1", "a", 0.3691),
        ("q1", "b", -0.3691),
    ]
    assert (pairs[0].rank_before, pairs[0].rank_after) == (3, None)
    # All of before's could be relevant and none of after's: (0.5 + 0.3691) over two queries.
    assert churn.remaining(0) == pytest.approx(0.8691 / 2, abs=1e-4)
    assert churn.remaining(2) == pytest.approx(0.3691 / 2, abs=1e-4)
    assert churn.remaining(4) == 0


def test_judging_is_spread_over_queries() -> None:
    before = {"p": list("abc"), "q": list("ab")}
    after = {"p": list("xyz"), "q": list("ba")}
    pairs = compare_rankings(before, after).judge_first(4)
    assert [(pair.query, pair.doc) for pair in pairs] == [("p", "a"), ("q", "a"), ("p", "x"), ("q", "b")]


def test_scores_shift() -> None:
    before = {"1": {"a": 4.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}, "3": {"a": 3.0}}
    churn = compare_rankings(before, {"1": ["a"], "2": ["b"], "3": ["a", "b"]})
    first, second = churn.scores
    assert first is not None
    assert first.first == (2.5, 3.0, 3.5)
    assert first.gap == (1.5, 2.0, 2.5)
    assert second is None, "a list of ids has no scores"


def record(query: str, milliseconds: float) -> dict[str, object]:
    return {"id": query, "retrieved": [{"id": "d", "score": 1.0}], "latency_ms": milliseconds}


def test_latency_of_what_both_answered(tmp_path: Path) -> None:
    slow = EngineRun("slow", 10, 1, tuple(record(f"q{i}", 2.0 * i) for i in range(1, 21)))
    fast = EngineRun("fast", 10, 1, (*(record(f"q{i}", 1.0 * i) for i in range(1, 21)), record("other", 9.0)))
    churn = compare_rankings(slow, fast)
    assert churn.latency is not None
    assert churn.latency.queries == 20
    assert (churn.latency.before, churn.latency.after) == ((20.0, 38.0), (10.0, 19.0))
    assert churn.latency.ratio == pytest.approx(0.5)
    assert 0.4 < churn.latency.interval.low < 0.5 < churn.latency.interval.high < 0.6  # never of width 0

    for one in (slow, fast):
        one.run.save(tmp_path / f"{one.name}.run")
        one.save_records(tmp_path / f"{one.name}.run.jsonl")
    again = compare_rankings(tmp_path / "slow.run", str(tmp_path / "fast.run"))
    assert again.latency == churn.latency
    assert compare_rankings(slow.run, fast).latency is None


def test_what_cannot_be_compared() -> None:
    with raises_code(MismatchError, "no-common-queries"):
        compare_rankings({"a": ["x"]}, {"b": ["x"]})
    with raises_code(OptionError, "bad-number"):
        compare_rankings({"a": ["x"]}, {"a": ["x"]}, k=0)


def test_texts_are_shown_and_nothing_says_better() -> None:
    churn = compare_rankings({"q": ["a"]}, {"q": ["b"]}, queries={"q": "red shoes"})
    assert "red shoes" in str(churn)
    assert "nothing here says which is better" in str(churn)
    assert json.loads(churn.to_json())["queries"][0]["came"] == ["b"]
    assert repr(churn) == "Churn('run', 'run', 1 query, overlap@10 0.0000)"
    assert isinstance(churn, Churn)


def test_equal_runs_moved_nowhere() -> None:
    churn = compare_rankings({"q": ["a", "b"]}, {"q": ["a", "b"]})
    assert not churn.moved_most()
    assert not churn.judge_first()
    assert churn.overlap == churn.rbo == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.run", tmp_path / "new.run"
    old.write_text("q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\n")
    new.write_text("q1 Q0 b 1 3 x\nq1 Q0 c 2 2 x\n")
    assert command_line(["diff", str(old), str(new), "-n", "2"]) == 0
    told = capsys.readouterr().out
    assert "old and new share 50.0% of their first 10 results" in told
    assert "Judge these first" in told
    assert command_line(["diff", str(old), str(new), "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overlap"] == 0.5
    assert command_line(["diff", str(old), str(new), "--as", "csv"]) == 0
    assert capsys.readouterr().out.startswith("query,overlap,rbo")


def written(folder: Path, name: str, records: list[dict[str, object]]) -> str:
    """A run and its records, as `goldrank run` writes them."""
    result = EngineRun(name, 10, 1, tuple(records))
    result.run.save(folder / f"{name}.run")
    result.save_records(folder / f"{name}.run.jsonl")
    return str(folder / f"{name}.run")


def test_the_command_knows_latencies_failures_and_empty_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = written(tmp_path, "old", [record("q1", 2.0), record("q2", 2.0), record("q3", 2.0)])
    failed = {"id": "q3", "error": {"code": "timeout", "what": "slow"}}
    new = written(tmp_path, "new", [record("q1", 4.0), {"id": "q2", "retrieved": [], "latency_ms": 4.0}, failed])

    assert command_line(["diff", old, new, "--as", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["latency"]["ratio"] == pytest.approx(2.0)
    assert told["failed"] == {"q3": "new: timeout"}
    assert [row["query"] for row in told["queries"]] == ["q1", "q2"], "a failure is in no figure"
    assert told["vanished"] == ["q2"], "an empty answer is a query without results, not one that the run lacks"
    assert [row["lacking"] for row in told["queries"]] == [None, None]
    assert told["overlap"] == 0.5
    assert command_line(["diff", old, new]) == 0
    assert "1 query failed (new: timeout 1) and are in no figure" in capsys.readouterr().out


def test_slices_by_hand() -> None:
    queries = {"1": {"text": "a b", "kind": "x"}, "2": {"text": "a", "kind": "x"}, "3": {"text": "a", "kind": "y"}}
    before = {"1": list("ab"), "2": list("ab"), "3": list("ab")}
    churn = compare_rankings(before, {**before, "2": list("cd")}, queries=queries, slice_by=["kind", "length"])
    figures = [(part.attribute, part.value, part.queries, part.overlap, part.first_changed) for part in churn.slices]
    assert figures == [
        ("kind", "x", 2, 0.5, 0.5),
        ("kind", "y", 1, 1.0, 0.0),
        ("length", "1", 2, 0.5, 0.5),
        ("length", "2", 1, 1.0, 0.0),
    ]
    with raises_code(InputError, "no-slice-values"):
        compare_rankings(before, before, slice_by="colour")


def test_texts_stand_side_by_side() -> None:
    churn = compare_rankings({"q": list("ab")}, {"q": list("bc")}, queries={"q": "red"})
    assert "rank  run" not in str(churn)
    shown = str(churn.with_documents({"a": "Apples.", "b": {"title": "Bees", "text": "They fly."}, "c": "Cats"}))
    assert re.search(r"1 +Apples\. +2 +Bees", shown)
    assert re.search(r"2 +Bees +new +Cats", shown)


def test_judgements_so_far_by_hand() -> None:
    """w(a) = 1 - 0.6309 = 0.3691 towards before, w(b) as much towards after."""
    churn = compare_rankings({"q": list("ab")}, {"q": list("ba")}, k=2)
    nothing = churn.judged({}, 2)
    assert (nothing.judged, nothing.open, nothing.difference) == (0, 2, 0)
    assert (nothing.low, nothing.high) == (pytest.approx(-0.7381, abs=1e-4), pytest.approx(0.7381, abs=1e-4))
    assert not nothing.is_decided
    half = churn.judged({"q": {"b": 2}}, 2)
    assert (half.difference, half.low) == (pytest.approx(0.7381, abs=1e-4), pytest.approx(0, abs=1e-9))
    assert churn.judged({"q": {"b": 2, "a": 0}}, 2).is_decided


def test_what_judging_brings() -> None:
    """60 queries with two documents of equal weight each: 40 judgements have a third of the weight."""
    queries = [f"q{i:02}" for i in range(60)]
    before, after = ({query: [doc] for query in queries} for doc in "ab")
    steps = compare_rankings(before, after).judging_steps
    figures = [(step.judgements, step.queries, round(step.weight, 4), round(step.remaining, 4)) for step in steps]
    assert figures == [(40, 40, 0.3333, 1.0), (120, 60, 1.0, 0.0)]


def test_measured_runs_have_their_latency(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare` shows it, and a rule of `gate` finds it, in milliseconds, in the records beside the run."""
    old = written(tmp_path, "old", [record("q1", 10.0), record("q2", 20.0)])
    new = written(tmp_path, "new", [record("q1", 20.0), record("q2", 40.0)])
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d 1\nq2 0 d 1\n")
    assert command_line(["compare", str(qrels), old, new, "-m", "AP"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"new +2 +20\.0 +40\.0", told)
    assert "new takes 2.00 times as long as old" in told

    assert command_line(["gate", str(qrels), new, "--rule", "latency p95 <= 40"]) == 0
    assert command_line(["gate", str(qrels), new, "--rule", "latency p95 <= 39"]) == 1
    (tmp_path / "new.run.jsonl").unlink()
    assert command_line(["gate", str(qrels), new, "--rule", "latency p95 <= 39"]) == 2
    capsys.readouterr()
    assert command_line(["compare", str(qrels), old, new, "-m", "AP"]) == 0
    assert "Latency" not in capsys.readouterr().out
