"""`Scores` to Weights & Biases: summaries and intervals as metrics, values by query as a table if asked for."""

from __future__ import annotations

from typing import Any

from goldrank.base.errors import of_type
from goldrank.data.scores import Scores
from goldrank.integrations import need
from goldrank.integrations.mlflow import metrics_of


def log(
    scores: Scores,
    *,
    run: Any = None,  # a run of wandb, whose types are not ours
    step: int | None = None,
    prefix: str = "",
    intervals: bool = True,
    per_query: bool = False,
) -> dict[str, float]:
    """Log scores to a run of Weights & Biases, by default the current one, and return what was logged.

    Intervals are logged as nDCG@10/low and nDCG@10/high. With `per_query`, the values go along as a table.
    """
    of_type(scores, Scores, "scores", "Scores")
    wandb: Any = None
    if run is None or per_query:
        wandb = need("wandb")

    metrics = metrics_of(scores, {name: name for name in scores.columns}, prefix, intervals, "/")
    logged: dict[str, Any] = dict(metrics)
    if per_query:
        rows = [[query, *values] for query, *values in zip(scores.queries, *_columns(scores), strict=True)]
        logged[f"{prefix}queries"] = wandb.Table(columns=["query", *scores.columns], data=rows)

    if run is None:
        run = wandb
    run.log(logged, step=step)
    return metrics


def _columns(scores: Scores) -> list[list[float]]:
    return [column.values.tolist() for column in scores.columns.values()]
