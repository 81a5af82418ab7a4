"""Axion's retrieval metrics: its classes, items and runner, on goldrank's measures.

    from goldrank.compat.axion import DatasetItem, HitRateAtK, MetricRunner, NDCGAtK

Modules are named as Axion's (`metrics`, `runners`, `dataset`): `from axion.metrics import NDCGAtK` needs nothing
but the new prefix.

Precision divides by K and a repeated document counts once, as the document's formulas say. `as_released=True` gives the
numbers of Axion's code: Precision divides by min(K, retrieved), a repeated document counts each time (but no value
passes 1), recall is 1 where everything is judged 0 (which the document leaves open; else it is 0), None is the id
'None', a relevance may be text of digits, a k in a list that is not positive is left out (alone it is an error there
too), and Contextual Ranking is average precision. Not imitated: exceptions for one bad relevance, an nDCG below 0 or of
negative ideals (0 here), True for a k of 1, a threshold of 0 that becomes 0.5, a cache that ignores k and what an item
holds, results grouped by item id, `ErrorConfig` without effect, and the language model that its heuristics construct.

`await metric.execute(item)` has a twin for code that is not asynchronous: `metric.score(item)`. Both work where an
event loop is running, as in a notebook.
"""

from goldrank.compat.axion import metrics
from goldrank.compat.axion.dataset import (
    ItemTypeError,
    JudgedChunk,
    JudgedResult,
    KDetail,
    MeanReciprocalRankResult,
    MetricEvaluationResult,
    MetricScore,
    MultiKResult,
    TestResult,
)
from goldrank.compat.axion.judges import Judge
from goldrank.compat.axion.metric_registry import registry
from goldrank.compat.axion.metrics import *  # noqa: F403 (the module says what is public)
from goldrank.compat.axion.runners import ErrorConfig, MetricRunner

__all__ = [
    "ErrorConfig",
    "ItemTypeError",
    "Judge",
    "JudgedChunk",
    "JudgedResult",
    "KDetail",
    "MeanReciprocalRankResult",
    "MetricEvaluationResult",
    "MetricRunner",
    "MetricScore",
    "MultiKResult",
    "TestResult",
    "registry",
]
__all__ += metrics.__all__
