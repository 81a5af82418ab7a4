"""The seed systems' rules by name, for data of one's own: `evaluate(..., convention=...)` agrees with the facades."""

from __future__ import annotations

import random

import pytest

import goldrank
from goldrank.compat import axion, continuous_eval, ir_eval_numba, lesson, remem

K = 3


def random_query(seed: int) -> tuple[list[str], dict[str, int]]:
    rng = random.Random(seed)
    docs = [f"d{i:02}" for i in range(10)]
    return rng.sample(docs, rng.randint(1, 8)), {doc: rng.randint(0, 3) for doc in rng.sample(docs, 5)} | {"d00": 1}


def by_convention(name: str, retrieved: list[str], judged: dict[str, int], measures: list[str]) -> list[float]:
    scores = goldrank.evaluate({"q": judged}, {"q": retrieved}, measures, convention=name, overlap="allow")
    return list(scores.mean.values())


@pytest.mark.parametrize("seed", range(10))
def test_axion(seed: int) -> None:
    retrieved, judged = random_query(seed)
    item = axion.DatasetItem(
        actual_ranking=retrieved, expected_reference=[{"id": doc, "relevance": g} for doc, g in judged.items()]
    )
    classes = (axion.PrecisionAtK, axion.RecallAtK, axion.NDCGAtK, axion.HitRateAtK)
    expected = [make(k=K).score(item).score for make in classes] + [axion.MeanReciprocalRank().score(item).score]
    assert by_convention("axion", retrieved, judged, ["P@3", "R@3", "nDCG@3", "Success@3", "RR"]) == expected


@pytest.mark.parametrize("seed", range(10))
def test_lesson(seed: int) -> None:
    retrieved, judged = random_query(seed)
    relevant = lesson.relevant_from_grades(judged)
    expected = [
        lesson.precision_at_k(retrieved, relevant, K),
        lesson.recall_at_k(retrieved, relevant, K),
        lesson.ndcg_at_k(retrieved, judged, K),
        lesson.reciprocal_rank(retrieved, relevant),
    ]
    assert by_convention("lesson", retrieved, judged, ["P@3", "R@3", "nDCG@3", "RR"]) == expected


@pytest.mark.parametrize("seed", range(10))
def test_remem(seed: int) -> None:
    retrieved, judged = random_query(seed)
    gold = sorted(lesson.relevant_from_grades(judged))
    expected = []
    for metric in (remem.RetrievalRecall(), remem.RetrievalRecallAll(), remem.RetrievalNDCGAny()):
        (value,) = metric.calculate_metric_scores([gold], [retrieved], [K])[1][0].values()
        expected.append(value)
    assert by_convention("remem", retrieved, judged, ["R@3", "RecallAll@3", "nDCG@3"]) == expected


@pytest.mark.parametrize("seed", range(10))
def test_continuous_eval(seed: int) -> None:
    retrieved, judged = random_query(seed)
    gold = sorted(lesson.relevant_from_grades(judged))
    metric = continuous_eval.RankedRetrievalMetrics(continuous_eval.ExactChunkMatch(), as_released=True)
    expected = list(metric(retrieved[:K], gold).values())
    found = by_convention("continuous_eval", retrieved, judged, ["AP@3", "RR@3", "nDCG@3"])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_ir_eval_numba(seed: int) -> None:
    retrieved, judged = random_query(seed)
    actual = [int(doc[1:]) for doc in lesson.relevant_from_grades(judged)]
    predicted = [int(doc[1:]) for doc in retrieved]
    names = ("precision", "recall", "f1_score", "average_precision", "ndcg", "reciprocal_rank")
    expected = [getattr(ir_eval_numba, name)(actual, predicted, K) for name in names]
    found = by_convention("ir_eval_numba", retrieved, judged, ["P@3", "R@3", "F@3", "AP@3", "nDCG@3", "RR@3"])
    assert found == expected
