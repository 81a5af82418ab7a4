"""`Scores` to MLflow: means and intervals as metrics, convention and judgements as tags; `scorer` for evaluations.

`goldrank record --mlflow` logs records of a history; `log` logs scores to the run that is active.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import GoldrankError, of_type
from goldrank.comparison.one_system import score_intervals
from goldrank.data.json_values import utf8
from goldrank.data.scores import Scores
from goldrank.history import mlflow_runs
from goldrank.integrations import need
from goldrank.integrations.one_question import checked_measures, finite, question_values


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


def scorer(*measures: str) -> Any:  # a scorer of mlflow, whose types are not ours
    """A scorer for `mlflow.genai.evaluate`, with a feedback for each measure.

    Expectations have `expected_ids` (or MLflow's `expected_retrieved_context`, with a `doc_uri` each). What was
    retrieved comes from the outputs (`retrieved_ids`, or a list of documents with ids), else from the spans of the type
    RETRIEVER in the trace.
    """
    names = checked_measures(measures)
    name_of = mlflow_runs.names(names)
    need("mlflow")
    scorers, entities = need("mlflow.genai.scorers"), need("mlflow.entities")

    def goldrank(outputs: Any = None, expectations: Any = None, trace: Any = None) -> list[Any]:
        try:
            values = question_values(_retrieved(outputs, trace), expectations, names)
        except GoldrankError as error:
            return [entities.Feedback(name=name_of[name], error=error) for name in names]
        return [entities.Feedback(name=name_of[name], value=value) for name, value in finite(values).items()]

    return scorers.scorer(goldrank, name="goldrank", aggregations=["mean"])


def _retrieved(outputs: Any, trace: Any) -> Any:
    """What was retrieved: the outputs if they have ids, else the documents of the trace's retrievers, in order."""
    documents: list[Any] = []
    if trace is not None:
        for span in trace.search_spans(span_type="RETRIEVER"):
            documents += span.outputs or []
    has_ids = isinstance(outputs, list | Mapping) or not documents
    if has_ids:
        return outputs
    return documents


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
