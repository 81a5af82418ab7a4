"""MTEB's numbers from its predictions, as its own code gives them."""

from __future__ import annotations

import now_cases
import pytest

import goldrank
from goldrank.suites.mteb import MEASURES, mteb_scores

CASES = [case for case in now_cases.CASES if case["group"] == "mteb" and "results" in case["inputs"]]
THEIRS = {"ndcg": "NDCG", "map": "MAP", "recall": "Recall", "precision": "P", "mrr": "MRR", "hit_rate": "HitRate"}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_values_of_mteb(case):
    inputs, expected = case["inputs"], case["expected"]
    results = inputs["results"]
    if inputs["skip_first_result"]:
        results = {query: dict(sorted(docs.items(), key=lambda item: -item[1])[1:]) for query, docs in results.items()}
    if "error" in expected:
        with pytest.raises(goldrank.InputError, match="not judged"):
            mteb_scores(inputs["qrels"], results)
        return

    found = mteb_scores(inputs["qrels"], results, tuple(inputs["k_values"])).mean
    for name in MEASURES:
        for k in inputs["k_values"]:
            theirs = expected[name][f"{THEIRS[name]}@{k}"]
            assert found[f"{name}_at_{k}"] == pytest.approx(theirs, abs=1e-9), (name, k)
