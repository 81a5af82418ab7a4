"""Judges of goldrank's own where the facades take `judge=`: with their job, cache and log."""

from __future__ import annotations

import asyncio
import math

import pytest
from raising import raises_code

from goldrank.base.errors import InputError
from goldrank.compat.axion import ContextualPrecision, ContextualRecall, DatasetItem
from goldrank.compat.continuous_eval import LLMBasedContextCoverage, LLMBasedContextPrecision
from goldrank.judging.function import Function
from goldrank.judging.judge_matcher import JudgeMatcher
from goldrank.judging.pool_and_calls import Calls

TEXTS = ["Lyon.", "Paris is big."]


@pytest.fixture
def judge(tmp_path):
    """A matcher by a judge that looks for the reference's first word, and all that it was asked."""
    asked = []

    def holds(question, text, reference):
        asked.append((question, text, reference))
        if "?!" in reference:
            return 7
        return int(reference.split()[0] in text)

    made = JudgeMatcher(Function(holds, scale=(0, 1), name="mine"), calls=Calls(tmp_path / "log.db"))
    made.asked = asked
    return made


def test_axion(judge):
    item = DatasetItem(query="Capital?", retrieved_content=TEXTS, expected_output="Paris is it. It rains.")
    for _ in range(2):
        assert ContextualPrecision(judge=judge).score(item).score == 0.5
        assert ContextualRecall(judge=judge).score(item).score == 0.5
    assert asyncio.run(ContextualPrecision(judge=judge).execute(item)).score == 0.5
    both = "Lyon.\n\nParis is big."
    assert sorted(judge.asked) == sorted(  # once each
        [("Capital?", text, "Paris is it. It rains.") for text in TEXTS]
        + [("Capital?", both, "Paris is it."), ("Capital?", both, "It rains.")]
    )


def test_an_item_without_an_answer_does_not_stop_others(judge):
    items = [DatasetItem(query="?", retrieved_content=TEXTS, expected_output=text) for text in ("?! x", "Paris x")]
    bad, good = ContextualPrecision(judge=judge).score_all(items)
    assert math.isnan(bad.score)
    assert good.score == 0.5


def test_continuous_eval(judge):
    found = LLMBasedContextPrecision(judge=judge)(question="Paris?", retrieved_context=TEXTS)
    assert set(found.values()) == {0.0}  # "Paris?" is in no text
    found = LLMBasedContextPrecision(judge=judge).calculate(question="Paris where", retrieved_contexts=TEXTS)
    assert found == {"LLM_based_context_precision": 0.5, "LLM_based_context_average_precision": 0.5}
    covered = LLMBasedContextCoverage(judge=judge)(
        question="?", retrieved_context=TEXTS, ground_truth_answers=["Paris it is. Rome it is."]
    )
    assert covered["LLM_based_context_coverage"] == 0.5
    with raises_code(InputError, "function-failed"):
        LLMBasedContextPrecision(judge=judge).calculate(question="?! x", retrieved_contexts=TEXTS)
