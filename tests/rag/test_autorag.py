"""AutoRAG's values, as its own code gives them."""

from __future__ import annotations

import now_cases
import pytest

from goldrank.rag.autorag import values_of


@pytest.mark.parametrize("case", now_cases.group("autorag"))
def test_values_of_autorag(case):
    inputs = case["inputs"]
    assert values_of(inputs["retrieval_gt"], inputs["retrieved_ids"]) == pytest.approx(case["expected"], abs=1e-9)
