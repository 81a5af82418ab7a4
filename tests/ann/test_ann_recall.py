"""Recall of approximate search: ties by score, repeats, and how ann-benchmarks counts."""

from __future__ import annotations

import math

import now_cases
import pytest

import goldrank

EXACT = {"q": {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.1}}


@pytest.mark.parametrize("case", now_cases.group("ann"))
def test_the_reference_cases(case):
    inputs, expected = case["inputs"], case["expected"]
    exact, run = {"q": inputs["exact_scores"]}, {"q": inputs["ann"]}
    if not inputs["ann"]:
        exact["other"] = run["other"] = {"z": 1.0}
    found = goldrank.ann_recall(exact, run, k=inputs["k"], epsilon=inputs["epsilon"])
    assert found.per_query["q"] == pytest.approx(expected["recall"], abs=1e-9)
    assert ("q" in found.ties_at_end) is expected["tie_reaches_end"]


@pytest.mark.parametrize(
    ("docs", "k", "recall"),
    [
        (["a", "d"], 2, 1.0),  # d is as near as b
        (["a", "a", "a"], 2, 0.5),  # a repeated document counts once
        (["a", "a", "d"], 2, 0.5),  # and uses up a place
        (["a", "z"], 2, 0.5),  # unknown to exact search
        (["e", "a"], 1, 0.0),
        (["a", "b", "c", "d", "e"], 5, 1.0),
    ],
)
def test_by_hand(docs, k, recall):
    assert goldrank.ann_recall(EXACT, {"q": docs}, k=k).mean == recall


def test_epsilon_is_subtracted_from_the_score():
    exact = {"q": {"a": 0.9, "b": 0.8, "c": 0.79}}
    assert goldrank.ann_recall(exact, {"q": ["a", "c"]}, k=2).mean == 0.5
    assert goldrank.ann_recall(exact, {"q": ["a", "c"]}, k=2, epsilon=0.02).mean == 1


def test_an_exact_list_that_ends_inside_the_tie_is_said():
    found = goldrank.ann_recall({"q": {"a": 0.9, "b": 0.8, "c": 0.8}}, {"q": ["a", "d"]}, k=2)
    assert found.ties_at_end == ("q",)
    assert [note.code for note in found.notes] == ["ann-tie-at-end"]


def test_queries_without_results_count_as_0():
    found = goldrank.ann_recall({"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": ["a"]}, k=1)
    assert found.mean == 0.5
    assert "ann-missing-queries" in [note.code for note in found.notes]


def test_runs_of_other_queries_are_an_error():
    with pytest.raises(goldrank.InputError, match="no query"):
        goldrank.ann_recall(EXACT, {"other": ["a"]})


@pytest.mark.parametrize("case", now_cases.group("ann_benchmarks"))
def test_as_ann_benchmarks_counts(case):
    def numbers(lists):
        return [[math.inf if value == "inf" else value for value in row] for row in lists]

    inputs, expected = case["inputs"], case["expected"]
    found = goldrank.ann_benchmarks(numbers(inputs["true_distances"]), numbers(inputs["run_distances"]), k=inputs["k"])
    for name in ("knn", "eps0.01", "eps0.1"):
        assert found.recalls[name].mean == pytest.approx(expected[name]["mean"], abs=1e-9)
        assert found.recalls[name].std == pytest.approx(expected[name]["std"], abs=1e-9)
        assert list(found.recalls[name].counts) == expected[name]["recalls"]
    rel = math.inf if expected["rel"] == "inf" else expected["rel"]
    assert found.rel == pytest.approx(rel, abs=1e-9)
