"""`Scores` to MLflow: summaries and intervals as metrics, convention and judgements as tags.

`goldrank record --mlflow` logs records of a history; this logs scores to the run that is active.
"""

from __future__ import annotations

import math

from goldrank.base.errors import of_type
from goldrank.comparison.one_system import score_intervals
from goldrank.data.json_values import utf8
from goldrank.data.scores import Scores
from goldrank.history import mlflow_runs
from goldrank.integrations import need


def log(scores: Scores, *, step: int | None = None, prefix: str = "", intervals: bool = True) -> dict[str, float]:
    """Log scores to the active run of MLflow, and return what was logged.

    MLflow takes no @ in a name: nDCG@10 is logged as ndcg_at_10, its interval as ndcg_at_10_low and _high.
    """
    of_type(scores, Scores, "scores", "Scores")
    mlflow = need("mlflow")
    metrics = metrics_of(scores, mlflow_runs.names(scores.columns), prefix, intervals, "_")
    mlflow.log_metrics(metrics, step=step)
    judged = scores.provenance.get("qrels") or {}
    tags = {"goldrank.convention": scores.convention, "goldrank.qrels_sha256": str(judged.get("sha256", ""))}
    mlflow.set_tags({key: utf8(value) for key, value in tags.items() if value})
    return metrics


def metrics_of(scores: Scores, names: dict[str, str], prefix: str, intervals: bool, separator: str) -> dict[str, float]:
    """Summaries and ends of intervals under the names of a tracker; values that are not finite are left out."""
    metrics: dict[str, float] = {}
    ends = None
    if intervals:
        ends = score_intervals(scores)

    for measure, value in scores.mean.items():
        name = prefix + names[measure]
        metrics[name] = value
        if ends is not None:
            metrics[f"{name}{separator}low"], metrics[f"{name}{separator}high"] = ends[measure]
    return {name: value for name, value in metrics.items() if math.isfinite(value)}
