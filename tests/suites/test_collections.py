"""Systems on many collections: macro means, ranks for two questions, missing cells, Borda counts."""

from __future__ import annotations

import made_up_scores
import now_cases
import numpy as np
import pytest

import goldrank
from goldrank.data.scores import ScoresByRun
from goldrank.suites.borda import mean_of_all
from goldrank.suites.flips import by_collections, by_queries, by_t, step_down

BORDA = [case for case in now_cases.CASES if case["id"].startswith("mteb-borda")]


def collection(**systems):
    return ScoresByRun([(name, made_up_scores.make(values, run=name)) for name, values in systems.items()])


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in BORDA])
def test_borda_as_mteb(case):
    scores, expected = case["inputs"]["scores"], case["expected"]
    assert goldrank.borda_ranks(scores) == expected["borda_rank"]
    for system, mean in expected["mean_task"].items():
        tasks = len(dict.fromkeys(task for values in scores.values() for task in values))
        assert mean_of_all(scores[system], tasks) == (None if mean is None else pytest.approx(mean))


def test_macro_means_by_hand():
    found = goldrank.compare_collections(
        {"large": collection(a=[1.0] * 8, b=[0.0] * 8), "small": collection(a=[0.0, 0.2], b=[1.0, 1.0])}, "nDCG@10"
    )
    assert found.mean == {"a": pytest.approx(0.55), "b": 0.5}
    assert found.queries == {"large": 8, "small": 2}
    assert found.cells["small"] == {"a": pytest.approx(0.1), "b": 1.0}


def test_from_judgements_and_runs():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"good": {"q1": ["a"], "q2": ["a"]}, "bad": {"q1": ["x", "a"], "q2": ["x", "a"]}}
    found = goldrank.compare_collections({"one": (qrels, runs), "two": (qrels, runs)}, "RR")
    assert found.mean == {"good": 1.0, "bad": 0.5}
    assert "few-collections" in [note.code for note in found.notes]


def test_flips_of_collections_by_enumeration():
    """Six collections that all agree: 2 of 2^6 flips are as far from 0."""
    differences = np.array([[0.1, 0.2, 0.3, 0.1, 0.2, 0.3]])
    assert by_collections(differences, 100, 0) == pytest.approx([2 / 64])


def test_flips_of_several_pairs_are_held_against_the_largest():
    one, other = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [0.3, -0.1, 0.2, 0.1, -0.2, 0.1]
    both = by_collections(np.array([one, other]), 100, 0)
    alone = by_collections(np.array([other]), 100, 0)
    assert both[0] == pytest.approx(2 / 64)
    assert both[1] == pytest.approx(alone[0])  # step-down: the smaller one is held against itself alone


def test_step_down_by_hand():
    observed = np.array([3.0, 1.0])
    flipped = np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 4.0], [2.0, 0.5]])
    # Largest: maxima 3, 2, 4, 2 reach 3 twice; then 1, 2, 4, 0.5 reach 1 three times.
    assert step_down(observed, flipped) == pytest.approx([0.5, 0.75])


def test_few_collections_are_tested_by_t():
    from scipy.stats import ttest_1samp

    row = [0.1, 0.05, 0.2, -0.02]
    assert by_t(np.array([row])) == pytest.approx([ttest_1samp(row, 0).pvalue])


def test_queries_within_collections():
    """Two collections of 5 queries that all agree: 2 of 2^10 flips are as far."""
    part = np.linspace(0.1, 0.3, 5)[None]
    (p,) = by_queries([part, part], 20_000, 0)
    assert p == pytest.approx(2 / 1024, abs=0.0015)


def test_two_questions_have_two_answers():
    """Large collections, on which the systems differ clearly but in both directions."""
    rng = np.random.default_rng(0)
    made = {}
    for i in range(8):
        gap = 0.3 if i < 5 else -0.2
        a = rng.uniform(0.3, 0.6, 100)
        made[f"c{i}"] = collection(a=a, b=a + gap + rng.normal(0, 0.05, 100))
    found = goldrank.compare_collections(made, "nDCG@10")
    (pair,) = found.pairs
    assert pair.p_queries <= 0.05 < pair.p_collections
    assert [standing.rank_queries for standing in found.standings] == [(1, 1), (2, 2)]
    assert [standing.rank_collections for standing in found.standings] == [(1, 2), (1, 2)]


def test_missing_cells_are_said():
    made = {f"c{i}": collection(a=[0.5, 0.6], b=[0.7, 0.9]) for i in range(6)}
    made["c0"] = collection(a=[0.5, 0.6])
    found = goldrank.compare_collections(made, "nDCG@10")
    assert found.complete == ("c1", "c2", "c3", "c4", "c5")
    assert found.missing == (("b", "c0"),)
    assert found.pairs[0].collections == 5
    assert "missing-cells" in [note.code for note in found.notes]


def test_how_often_equal_systems_are_told_apart():
    """Eight collections whose true mean difference is 0, and which differ from each other."""
    rng = np.random.default_rng(2)
    hits = [by_collections(rng.normal(0, 0.06, (1, 8)), 100, 0)[0] <= 0.05 for _ in range(600)]
    assert np.mean(hits) < 0.075
