"""Graded relevance in continuous-eval's facade: the document's "non-binary"."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from raising import raises_code

from goldrank.base.errors import InputError, OptionError
from goldrank.compat.continuous_eval import (
    ExactChunkMatch,
    ExactSentenceMatch,
    PrecisionRecallF1,
    RankedRetrievalMetrics,
    RetrievalEvaluator,
    RougeChunkMatch,
    example_data,
)

LOG3 = 0.6309297535714574  # 1 / log2(3), as the document has it


def test_ndcg_gains_the_relevance() -> None:
    texts = (["b", "x", "a"], ["a", "b", "c"])
    found = RankedRetrievalMetrics().calculate(*texts, ground_truth_relevance=[3, 1, 2])
    # gains 1 at rank 1 and 3 at rank 3; ideal 3, 2, 1
    assert found["ndcg"] == pytest.approx((1 + 3 / 2) / (3 + 2 * LOG3 + 1 / 2))
    assert found["average_precision"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert found["reciprocal_rank"] == 1.0
    later = RankedRetrievalMetrics(ExactChunkMatch())(*texts, ground_truth_relevance=[3, 1, 2])
    assert later == found
    # grades that are all alike are no grades
    plain = RankedRetrievalMetrics().calculate(*texts)
    assert RankedRetrievalMetrics().calculate(*texts, ground_truth_relevance=[0.5] * 3) == pytest.approx(plain)


def test_relevance_of_zero_is_not_relevant() -> None:
    texts = (["a", "b"], ["a", "b"])
    found = RankedRetrievalMetrics().calculate(*texts, ground_truth_relevance=[0, 0.25])
    assert found == pytest.approx({"average_precision": 0.5, "reciprocal_rank": 0.5, "ndcg": LOG3})
    sets = PrecisionRecallF1().calculate(*texts, ground_truth_relevance=[0, 0.25])
    assert (sets["context_precision"], sets["context_recall"]) == (0.5, 1.0)
    nothing = RankedRetrievalMetrics().calculate(*texts, ground_truth_relevance=[0, 0])
    assert nothing == {"average_precision": 0.0, "reciprocal_rank": 0.0, "ndcg": 0.0}


def test_a_chunk_takes_the_most_relevant_ground_truth() -> None:
    chunk = ["Paris is the capital of France. Lyon is a major city in France."]
    truths = ["Paris is the capital of France.", "Lyon is a major city in France."]
    found = RankedRetrievalMetrics(RougeChunkMatch()).calculate(chunk, truths, ground_truth_relevance=[1, 3])
    assert found["ndcg"] == pytest.approx(3 / (3 + LOG3))


def test_graded_data_are_evaluated_at_k() -> None:
    evaluator = RetrievalEvaluator(example_data("graded"), [RankedRetrievalMetrics(), PrecisionRecallF1()])
    # gains 1 and 3 of 3 and 1
    assert evaluator.run()[0]["ndcg"] == pytest.approx((1 + 3 * LOG3) / (3 + LOG3))
    assert evaluator.run(k=1)[0]["ndcg"] == pytest.approx(1 / 3)
    assert RankedRetrievalMetrics().batch([["a"]], [["a"]], [[2]])[0]["ndcg"] == 1.0


@pytest.mark.parametrize(
    ("relevance", "words"),
    [
        ([1], "2 ground truth contexts and 1 numbers"),
        ([1, -1], "below 0"),
        ([1, "high"], "not a list of numbers"),
        ([1, float("nan")], "not a list of numbers"),
        (3, "not a list of numbers"),
        ("12", "not a list of numbers"),
    ],
)
def test_relevance_is_refused(relevance: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        RankedRetrievalMetrics().calculate(["a"], ["a", "b"], ground_truth_relevance=relevance)
    data = [{"retrieved_contexts": ["a"], "ground_truth_contexts": ["a", "b"], "ground_truth_relevance": relevance}]
    with pytest.raises(InputError, match=words):
        RetrievalEvaluator(data, [RankedRetrievalMetrics()]).run()


def test_relevance_that_contradicts_itself() -> None:
    with pytest.raises(InputError, match="'a' is listed with relevance 1 and 2"):
        RankedRetrievalMetrics().calculate(["a"], ["a", "a"], [1, 2])
    assert RankedRetrievalMetrics().calculate(["a"], ["a", "a"], [2, 2])["ndcg"] == 1.0
    with raises_code(OptionError, "options-conflict"):
        RankedRetrievalMetrics(as_released=True).calculate(["a"], ["a"], [2])


def test_sentences_of_what_is_not_relevant_do_not_count() -> None:
    found = PrecisionRecallF1(ExactSentenceMatch()).calculate(["It rains."], ["It rains.", "It snows."], [3, 0])
    assert found == {"context_precision": 1.0, "context_recall": 1.0, "context_f1": 1.0}


def test_relevance_of_any_type_of_number() -> None:
    """Databases return Decimals: (1/1 + 3/log2(3)) / (3/1 + 1/log2(3)) by every type."""
    by_hand = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    for number in (int, float, Decimal, Fraction, np.float32, np.longdouble):
        values = RankedRetrievalMetrics().calculate(
            retrieved_contexts=["b", "a"],
            ground_truth_contexts=["a", "b"],
            ground_truth_relevance=[number(3), number(1)],
        )
        assert values["ndcg"] == pytest.approx(by_hand, abs=1e-15), number

    for wrong in (Decimal("nan"), Decimal("inf"), "3", None, True):
        with pytest.raises(InputError, match="not a list of numbers"):
            RankedRetrievalMetrics().calculate(
                retrieved_contexts=["a"], ground_truth_contexts=["a"], ground_truth_relevance=[wrong]
            )
