"""continuous-eval's retrieval metrics (`from goldrank.compat.continuous_eval import RankedRetrievalMetrics`).

Both call forms are here: `metric.calculate(retrieved_contexts=..., ground_truth_contexts=...)` of the document's
version, and `metric(retrieved_context=..., ground_truth_context=...)` of later ones.

Average precision divides by the number of ground truth contexts, each of which can be found once, and the
ideal of NDCG is cut at k where the evaluator has one: the document's formulas. `as_released=True` gives the
released codes' numbers: those of 0.2.4 by `calculate` and the evaluator, those of the later release by the
other form. They divide AP by the matches found; the older one counts every pair of a matching chunk and
ground truth, where no value passes 1. A chunk matches if ROUGE-L recall is at least the threshold; in 0.2.4,
if it is more. Not imitated: division by zero without ground truth (0 here), results in another order than
their queries, means of an earlier run, and long texts that count as different from themselves.
"""

from goldrank.compat.continuous_eval.evaluator import (
    Dataset,
    GreaterOrEqualThan,
    MeanGreaterOrEqualThan,
    RetrievalEvaluator,
    example_data,
)
from goldrank.compat.continuous_eval.metrics import (
    Described,
    ExactChunkMatch,
    ExactSentenceMatch,
    Judge,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
    MatchingStrategy,
    MatchingStrategyType,
    Metric,
    PrecisionRecallF1,
    RankedRetrievalMetrics,
    RougeChunkMatch,
    RougeSentenceMatch,
    TokenCount,
)

__all__ = [
    "Dataset",
    "Described",
    "ExactChunkMatch",
    "ExactSentenceMatch",
    "GreaterOrEqualThan",
    "Judge",
    "LLMBasedContextCoverage",
    "LLMBasedContextPrecision",
    "MatchingStrategy",
    "MatchingStrategyType",
    "MeanGreaterOrEqualThan",
    "Metric",
    "PrecisionRecallF1",
    "RankedRetrievalMetrics",
    "RetrievalEvaluator",
    "RougeChunkMatch",
    "RougeSentenceMatch",
    "TokenCount",
    "example_data",
]
