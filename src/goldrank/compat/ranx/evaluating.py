"""ranx's `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import goldrank
from goldrank.compat.ranx import metrics as named
from goldrank.compat.ranx.data_structures import Qrels, QueryMismatchError, Run
from goldrank.conventions import convention_of
from goldrank.conventions.ranx import RANX

RULES = convention_of(replace(RANX, refusals=()), ties="input", overlap="allow", missing="zero")
"""ranx's rules, with ties in the order of the input for rankings of any length."""


def format_metrics(metrics: Sequence[str] | str) -> list[str]:
    """One metric or several, as a list."""
    if isinstance(metrics, str):
        return [metrics]
    return list(metrics)


# ranx takes its own classes, dicts of dicts and arrays, and gives a number, a mapping or arrays.
def evaluate(
    qrels: Any,
    run: Any,
    metrics: Sequence[str] | str,
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Score a run by ranx's metrics. `threads` has no meaning here. Queries are joined by their ids."""
    metric_names = format_metrics(metrics)
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run = run.make_comparable(qrels)

    queries, columns = _columns(qrels, run, metric_names)
    means = {metric: float(np.mean(values)) for metric, values in columns.items()}
    if isinstance(run, Run) and save_results_in_run:
        run.mean_scores |= means
        for metric, values in columns.items():
            run.scores[metric].update(zip(queries or run, values.tolist(), strict=True))
            if return_std and return_mean:
                run.std_scores[metric] = float(np.std(values))

    if not return_mean:
        results: dict[str, Any] = dict(columns)
    elif return_std:
        results = {metric: {"mean": means[metric], "std": float(np.std(values))} for metric, values in columns.items()}
    else:
        results = dict(means)

    if len(metric_names) == 1:
        return results[metric_names[0]]
    return results


def _columns(qrels: Any, run: Any, metric_names: Sequence[str]) -> tuple[Sequence[str], dict[str, np.ndarray]]:
    """The queries in order, unless arrays were given, and the values of each metric."""
    if not isinstance(qrels, Qrels | Mapping) or not isinstance(run, Run | Mapping):
        return (), {metric: named.of_arrays(_arrays(qrels), _arrays(run), metric) for metric in metric_names}

    if not isinstance(qrels, Qrels):
        qrels = Qrels(qrels)
    judged = qrels.native()
    if isinstance(run, Run):
        returned, queries = run._in_any_order()
    else:
        returned, queries = goldrank.Run(run), run.keys()

    if set(judged) != queries:
        message = "qrels and run do not have the same queries"
        hint = "make_comparable=True adds empty results for judged queries and drops those of others."
        raise QueryMismatchError(message, hint=hint, code="different-queries")

    measures = {metric: named.measure_of(metric, named.highest(judged)) for metric in metric_names}
    scores = goldrank.evaluate(judged, returned, list(measures.values()), convention=RULES)
    return scores.queries, {metric: scores.columns[str(measure)].values for metric, measure in measures.items()}


def _arrays(source: Any) -> Sequence[np.ndarray]:
    if isinstance(source, Qrels | Run):
        return source.to_typed_list()
    return list(source)
