"""memorybench's reports (retrieval-eval.ts of the project): a model says which results are relevant.

What it calls recallAtK is 1 whenever anything is relevant, as its hitAtK: it is shown as a hit, and never as recall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.memory.result import MemoryScores, means

READ_METRICS = ("hitAtK", "precisionAtK", "mrr", "ndcg")


def scores(records: Sequence[Mapping[str, Any]], gold: object = None) -> MemoryScores:
    """The stored values of each question, whether its answer is right, and plain means."""
    per_question: dict[str, dict[str, float]] = {}
    for report in records:
        if not isinstance(report.get("evaluations"), list):
            raise InputError("has no list 'evaluations' as memorybench writes it", code="other-benchmark")
        for evaluation in report["evaluations"]:
            stored = evaluation.get("retrievalMetrics") or {}
            values = {name: float(stored[name]) for name in READ_METRICS if name in stored}
            if "label" in evaluation:
                values["correct"] = float(evaluation["label"] == "correct")
            if evaluation.get("searchDurationMs") is not None:
                values["search seconds"] = evaluation["searchDurationMs"] / 1000
            per_question[str(evaluation["questionId"])] = values

    notes = (Note.of("memorybench-recall"),)
    return MemoryScores("memorybench", per_question, means(per_question.values()), notes=notes)


def values_of(relevant: Sequence[int], k: int) -> dict[str, float]:
    """memorybench's values of results that a model called relevant (1) or not (0), best first."""
    first = [int(bool(each)) for each in relevant[:k]]
    hits = sum(first)
    hit = float(hits > 0)
    precision = f1 = reciprocal_rank = ndcg = 0.0
    if hits:
        precision = hits / len(first)
        f1 = 2 * precision * hit / (precision + hit)
        reciprocal_rank = 1 / (first.index(1) + 1)
        ndcg = _dcg(first) / _dcg([1] * hits)

    return {
        "hitAtK": hit,
        "precisionAtK": precision,
        "recallAtK": hit,
        "f1AtK": f1,
        "mrr": reciprocal_rank,
        "ndcg": ndcg,
        "k": len(first),
        "relevantRetrieved": hits,
        "totalRelevant": max(1, hits),
    }


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
