"""Measures of short rankings in plain Python: equal to the kernels over arrays, to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import goldrank
from goldrank.evaluation.short_runs import judgements_of
from goldrank.measures.short import SHORT, short_kernel

MEASURES = [
    *("RR", "RR@3", "RR(rel=2)", "AP", "AP@4", "AP(rel=2)", "P@1", "P@5", "P(rel=3)@5", "R", "R@2", "R(rel=2)@5"),
    *("R_cap@2", "R_cap@10", "Success@1", "Success", "DCG", "DCG@3", "nDCG", "nDCG@5", "nDCG@10"),
    *("F@3", "F(beta=2)@5", "F(rel=2)@4", 'AP(divisor="hits")', 'AP(divisor="hits")@3', 'nDCG(gain="binary")@5'),
    *('DCG(gain="binary", rel=2)', 'nDCG(gain="binary", rel=2)@3'),
]


def judged_and_ranked(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Queries with grades below 0, with nothing relevant, with ties, and with documents that are not judged."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(rng.randint(1, 9)):
        query = f"q{rng.randint(0, 99)}-{number}"
        docs = [f"d{i}" for i in range(rng.randint(1, 20))]
        qrels[query] = {doc: rng.randint(-2, 4) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
        if rng.random() < 0.8:
            run[query] = {doc: rng.choice((rng.random(), rng.randint(0, 3))) for doc in docs}
    first, grades = next(iter(qrels.items()))
    run[first] = dict.fromkeys(grades, 0.5)
    return qrels, run


@pytest.mark.parametrize("convention", ["trec_eval-10", "trec_eval-9"])
@pytest.mark.parametrize("seed", range(60))
def test_short_values_equal_those_of_the_kernels(seed: int, convention: str) -> None:
    qrels, run = judged_and_ranked(seed)
    evaluator = goldrank.Evaluator(qrels, MEASURES, convention=convention)
    assert evaluator.short_rows(run) is not None

    scores = goldrank.evaluate(qrels, run, MEASURES, convention=convention)
    assert evaluator.mean(run) == dict(scores.mean)
    assert evaluator.per_query(run) == {name: dict(values) for name, values in scores.per_query.items()}


def test_values_by_hand() -> None:
    # Ranking: x, a (grade 2), y, b (grade 1); c (grade 3) is missing. DCG = 2/log2(3) + 1/log2(5);
    # ideal at 4 = 3 + 2/log2(3) + 1/2.
    evaluator = goldrank.Evaluator({"q": {"a": 2, "b": 1, "c": 3}}, ["RR", "AP", "P@4", "R@2", "nDCG@4"])
    run = {"q": {"x": 9.0, "a": 8.0, "y": 7.0, "b": 6.0}}
    assert evaluator.short_rows(run) is not None

    mean = evaluator.mean(run)
    assert mean["RR"] == 0.5
    assert mean["AP"] == pytest.approx((1 / 2 + 2 / 4) / 3, abs=1e-15)
    assert mean["P@4"] == 0.5
    assert mean["R@2"] == pytest.approx(1 / 3, abs=1e-15)
    assert mean["nDCG@4"] == pytest.approx((1.2618595071429148 + 0.43067655807339306) / 4.761859507142915, abs=1e-15)


def test_every_short_measure_is_tried() -> None:
    tried = {goldrank.Measure.parse(name).declaration.kernel for name in MEASURES}
    assert tried == set(SHORT)


@pytest.mark.parametrize(
    "name",
    [
        *('nDCG(gain="exp2")@10', "nDCG(cut_ideal=False)@10", 'nDCG(ideal="retrieved")', 'nDCG(negative="keep")'),
        *('DCG(discount="ln")', "nDCG(gain={1: 5.0})", "P(judged_only=True)@10", 'P(divisor="retrieved")@10'),
        *('R(divisor="returned")@10', 'AP(divisor="min")@10', "GMAP", "bpref", "RR(tokens=100)"),
    ],
)
def test_other_options_and_other_measures_are_left_to_their_kernels(name: str) -> None:
    assert short_kernel(goldrank.Measure.parse(name), judgements_of("q", np.array([2.0, 1.0]))) is None
