"""continuous-eval's evaluator of several metrics over a dataset, and its tests that pass or fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goldrank.compat._common import column_of, is_whole, mean
from goldrank.compat.continuous_eval.data import RETRIEVED, TRUTHS, Dataset, Datum
from goldrank.compat.continuous_eval.metrics import Metric, means
from goldrank.errors import GoldrankError, InputError, OptionError


class RetrievalEvaluator:
    """Metrics over a dataset, optionally of the first k contexts only.

    >>> from goldrank.compat.continuous_eval import RankedRetrievalMetrics, example_data
    >>> evaluator = RetrievalEvaluator(example_data(), [RankedRetrievalMetrics()])
    >>> evaluator.run(k=2)[0]["reciprocal_rank"], evaluator.aggregated_results["reciprocal_rank"]
    (0.5, 0.75)
    """

    def __init__(self, dataset: Iterable[Datum], metrics: Sequence[Metric]) -> None:
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.metrics = list(metrics)
        self._results: list[dict[str, float]] | None = None

    def run(self, k: int | None = None, batch_size: int | float = 32, quiet: bool = True) -> list[dict[str, float]]:
        """The values of every datum. All are made in one pass: `batch_size` and `quiet` change nothing."""
        if k is not None and (not is_whole(k) or k < 1):
            raise OptionError("K must be a positive integer or None.", hint=f"It is {k!r}.")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int | float) or batch_size <= 0:
            raise OptionError(f"batch_size is {batch_size!r}; it must be a positive number")
        retrieved, truths = self.dataset.texts(RETRIEVED), self.dataset.texts(TRUTHS)
        results: list[dict[str, float]] = [{} for _ in self.dataset]
        for metric in self.metrics:
            for result, measured in zip(results, metric.many(retrieved, truths, "0.2", k), strict=True):
                for key, value in measured.items():
                    result.setdefault(key, value)
        self._results = results
        return results

    @property
    def results(self) -> list[dict[str, float]]:
        """The values of the last run."""
        if self._results is None:
            raise GoldrankError("nothing was run yet", hint="Call run() first.")
        return self._results

    @property
    def aggregated_results(self) -> dict[str, float]:
        """The means of the last run."""
        return means(self.results)

    def save(self, path: str | Path) -> None:
        """Write every datum with its values, one JSON object per line."""
        rows = zip(self.dataset, self.results, strict=True)
        Dataset({**datum, **result} for datum, result in rows).to_jsonl(path)


@dataclass(frozen=True)
class GreaterOrEqualThan:
    """Whether each value of a metric is at least a minimum.

    >>> GreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    [False, True]
    """

    test_name: str
    metric_name: str
    min_value: float

    def run(self, results: Sequence[Mapping[str, float]]) -> list[bool]:
        """One verdict per datum."""
        return [value >= self.min_value for value in _column(results, self.metric_name)]


@dataclass(frozen=True)
class MeanGreaterOrEqualThan:
    """Whether the mean of a metric is at least a minimum.

    >>> MeanGreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    True
    """

    test_name: str
    metric_name: str
    min_value: float

    def run(self, results: Sequence[Mapping[str, float]]) -> bool:
        """One verdict for all data."""
        return mean(np.array(_column(results, self.metric_name), np.float64)) >= self.min_value


def _column(results: Sequence[Mapping[str, float]], name: str) -> list[float]:
    if not results:
        raise InputError("there are no results")
    return column_of(results, name, "result")
