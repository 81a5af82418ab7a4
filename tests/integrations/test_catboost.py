"""The wrapper for CatBoost against CatBoost's values: recorded ones, and the package where it is installed."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import places
import pytest
from raising import raises_code

from goldrank import Convention, GoldrankError
from goldrank.integrations.catboost import CATBOOST, evaluate_pool, staged_evaluate_pool

GOLDEN = {
    case["id"]: case
    for case in json.loads((places.FILES / "golden" / "recommenders.json").read_text(encoding="utf-8"))["cases"]
    if case["id"].startswith("catboost")
}


def pool(grades, groups):
    """What the wrapper asks of a catboost.Pool."""
    return SimpleNamespace(get_label=lambda: list(np.ravel(grades)), get_group_id_hash=lambda: np.asarray(groups))


def model(scores):
    """What it asks of a model."""
    return SimpleNamespace(predict=lambda _: np.ravel(scores), staged_predict=lambda _, eval_period: iter([scores] * 2))


def test_the_worst_order_of_ties_and_empty_queries():
    """By hand: tied, (1, 0) is read as (0, 1), so that RR is 1/2 and nDCG 1/log2(3); nothing relevant is 1."""
    scores = evaluate_pool(model([0.5, 0.5, 0.1, 0.2]), pool([1, 0, 0, 0], [7, 7, 3, 3]), ["RR", "nDCG@2"])
    assert scores.per_query["RR"] == {"0": 0.5, "1": 1.0}
    assert scores.per_query["nDCG@2"]["0"] == pytest.approx(1 / np.log2(3))
    rules = CATBOOST.with_policies(empty="zero")
    zero = evaluate_pool(model([0.5, 0.5, 0.1, 0.2]), pool([1, 0, 0, 0], [7, 7, 3, 3]), "RR", convention=rules)
    assert zero.per_query["RR"]["1"] == 0


def test_other_ties_see_the_rows_as_they_are():
    """By hand: in the order of the input the relevant row stands first."""
    for ties, expected in (("input", 1), ("expected", 0.75)):
        scores = evaluate_pool(model([0.5, 0.5]), pool([1, 0], [7, 7]), "RR", convention=Convention(ties=ties))
        assert scores["RR"] == expected


def test_stages():
    found = list(staged_evaluate_pool(model([0.2, 0.1]), pool([1, 0], [1, 1]), "RR", period=5))
    assert [scores["RR"] for scores in found] == [1.0, 1.0]


@pytest.mark.parametrize("groups", [[], [1]])
def test_a_pool_without_groups(groups):
    with raises_code(GoldrankError, "no-groups"):
        evaluate_pool(model([1, 2]), pool([1, 0], groups))


@pytest.mark.parametrize(
    ("theirs", "ours", "empty"),
    [
        ("NDCG", "nDCG", "one"), ("NDCG:top=3", "nDCG@3", "one"), ("NDCG:top=3;type=Exp", 'nDCG(gain="exp2")@3', "one"),
        ("RecallAt:top=3", "R@3", "one"), ("DCG:top=3", "DCG@3", "zero"), ("MAP:top=3", "AP@3", "zero"),
        ("MRR", "RR", "zero"), ("PrecisionAt:top=3", "P@3", "zero"),
    ],
)  # fmt: skip
def test_golden(theirs, ours, empty):
    case = GOLDEN[f"catboost-{theirs}"]
    *each, mean = case["expected"]
    groups = np.repeat([4, 9, 1, 2], 5)
    rules = CATBOOST.with_policies(empty=empty)
    given = case["inputs"]
    scores = evaluate_pool(model(given["scores"]), pool(given["grades"], groups), ours, convention=rules)
    assert list(scores.per_query[ours].values()) == pytest.approx(each, abs=1e-11)
    assert scores[ours] == pytest.approx(mean, abs=1e-11)


NAMES = {"NDCG:top=3": "nDCG@3", "NDCG:top=3;type=Exp": 'nDCG(gain="exp2")@3', "RecallAt:top=3": "R@3"}


@pytest.mark.parametrize("theirs", NAMES)
def test_against_the_package(theirs):
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 6)
    grades = rng.integers(0, 4, 240).astype(float) * (rng.random(240) < 0.4)
    table = rng.integers(0, 3, (240, 2)).astype(float)  # few values: many ties
    given = catboost.Pool(table, grades, group_id=groups)
    made = catboost.CatBoostRanker(iterations=3, depth=2, verbose=0, allow_writing_files=False)
    made.fit(given)
    name = NAMES[theirs]
    binary = theirs.startswith("Recall")
    label = (grades >= 1).astype(float) if binary else grades
    from catboost.utils import eval_metric

    want = eval_metric(label, made.predict(given), theirs, group_id=groups)[0]
    scores = evaluate_pool(made, catboost.Pool(table, label, group_id=groups), name)
    assert next(iter(scores.values())) == pytest.approx(want, abs=1e-9)
    stages = [next(iter(stage.values())) for stage in staged_evaluate_pool(made, given, "nDCG@3")]
    assert len(stages) == 3
