"""continuous-eval's retrieval metrics (`from goldrank.compat.continuous_eval import RankedRetrievalMetrics`).

Both call forms are here: `metric.calculate(retrieved_contexts=..., ground_truth_contexts=...)` of the document's
version, and `metric(retrieved_context=..., ground_truth_context=...)` of later ones.

Average precision divides by the number of ground truth contexts, each of which can be found once, and the ideal of NDCG
is cut at k where the evaluator has one: the document's formulas. `as_released=True` gives the released codes' numbers:
those of 0.2.4 by `calculate` and the evaluator, those of the later release by the other form. They divide AP by the
matches found; the older one counts every pair of a matching chunk and ground truth, where no value passes 1 (F1 is then
computed with a precision of 1). A chunk matches if ROUGE-L recall is at least the threshold; in 0.2.4, if it is more.
Not imitated: division by zero without ground truth (0 here), results in another order than their queries, means of an
earlier run, and long texts that count as different from themselves.

Without a strategy, `calculate` and the evaluator compare chunks as they are and the later form by overlap, as the two
releases do. `ground_truth_relevance` (a number for each ground truth context) makes NDCG graded, of which the document
speaks and which the released codes do not have. There is no k below 1: the evaluator refuses it, as 0.2.4 does.
"""

from goldrank.compat.continuous_eval import metrics
from goldrank.compat.continuous_eval.data_downloader import example_data, example_data_downloader
from goldrank.compat.continuous_eval.dataset import SHAPES, Dataset
from goldrank.compat.continuous_eval.evaluators import GreaterOrEqualThan, MeanGreaterOrEqualThan, RetrievalEvaluator
from goldrank.compat.continuous_eval.judges import Judge
from goldrank.compat.continuous_eval.metrics import *  # noqa: F403 (the module says what is public)

__all__ = [
    "SHAPES",
    "Dataset",
    "GreaterOrEqualThan",
    "Judge",
    "MeanGreaterOrEqualThan",
    "RetrievalEvaluator",
    "example_data",
    "example_data_downloader",
]
__all__ += metrics.__all__
