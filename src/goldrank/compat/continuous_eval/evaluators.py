"""continuous-eval's evaluator of several metrics over a dataset, and tests of its results."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.compat._common import column_of, entries_of, has_entries, is_number, is_whole, mean, rows_of
from goldrank.compat.continuous_eval.base import Metric, Values
from goldrank.compat.continuous_eval.dataset import Dataset, unchecked, write_jsonl


class RetrievalEvaluator:
    """Metrics over a dataset, optionally of the first k contexts only.

    >>> from goldrank.compat.continuous_eval import RankedRetrievalMetrics, example_data
    >>> evaluator = RetrievalEvaluator(example_data(), [RankedRetrievalMetrics()])
    >>> evaluator.run(k=2)[0]["reciprocal_rank"], evaluator.aggregated_results["reciprocal_rank"]
    (0.5, 0.75)
    """

    # `Any`: a `Dataset`, or the data of one.
    def __init__(self, dataset: Any, metrics: Sequence[Metric]) -> None:
        if not isinstance(dataset, Dataset):
            dataset = unchecked(dataset)
        self.dataset: Dataset = dataset
        if not has_entries(metrics):
            raise OptionError(f"metrics is {metrics!r}; it must be a list of metrics")
        self.metrics = list(metrics)
        if not self.metrics:
            raise OptionError("At least one metric must be provided")
        for i, metric in enumerate(self.metrics):
            if not isinstance(metric, Metric):
                raise OptionError(f"metrics[{i}] is {metric!r}, not a Metric object")
        self._by_metric: list[list[Values]] | None = None

    def run(self, k: int | None = None, batch_size: int | float | None = 32, quiet: bool = False) -> list[Values]:
        """The values of every datum. All are made in one pass: `batch_size` and `quiet` change nothing."""
        if k is not None and (not is_whole(k) or k < 1):
            raise OptionError("K must be a positive integer or None.", hint=f"It is {k!r}.")
        if batch_size is not None and not (is_number(batch_size) and batch_size > 0):
            raise OptionError(f"batch_size is {batch_size!r}; it must be a positive number")
        self._by_metric = [metric.of_data(self.dataset, k) for metric in self.metrics]
        return self.results

    @property
    def results_by_metric(self) -> list[list[Values]]:
        """The values of the last run, metric by metric, also where two metrics have an output of one name."""
        if self._by_metric is None:
            raise GoldrankError("nothing was run yet", hint="Call run() first.")
        return self._by_metric

    @property
    def results(self) -> list[Values]:
        """The values of the last run; where two metrics have an output of one name, those of the first.

        Outputs of the last metric come first, as in 0.2.4.
        """
        return [dict(ChainMap(*row)) for row in zip(*self.results_by_metric, strict=True)]

    @property
    def aggregated_results(self) -> dict[str, float]:
        """The means of the last run."""
        return Metric.aggregate(self.results)

    def save(self, savepath: str | Path) -> None:
        """Write the values of every datum, one JSON object per line, as 0.2.4 does: the data are not repeated."""
        write_jsonl(self.results, savepath, "result", ascii_only=True)


@dataclass(frozen=True)
class _MinimumTest:
    test_name: str
    metric_name: str
    min_value: float

    def __post_init__(self) -> None:
        if not isinstance(self.metric_name, str):
            raise OptionError(f"metric_name is {self.metric_name!r:.60}; it must be a text", code="wrong-type")
        if not is_number(self.min_value):
            raise OptionError(f"min_value is {self.min_value!r}; it must be a number")

    @property
    def name(self) -> str:
        """The name of the test."""
        return self.test_name

    def _column(self, metrics_per_sample: Sequence[Mapping[str, Any]]) -> np.ndarray:
        if isinstance(metrics_per_sample, Mapping):
            raise InputError("the results of one sample were given", hint="Give a list of them.")
        rows = entries_of(rows_of(metrics_per_sample), "metrics_per_sample")
        if not rows:
            raise InputError("there are no results")
        column = column_of(rows, self.metric_name, "result")
        for i, value in enumerate(column):
            if not is_number(value) and not isinstance(value, bool):
                raise InputError(f"result {i}: {self.metric_name} is {value!r}, not a number")
        return np.array(column, np.float64)


class GreaterOrEqualThan(_MinimumTest):
    """Whether every value of a metric is at least a minimum.

    >>> test = GreaterOrEqualThan("recall", "context_recall", 0.5)
    >>> test.run([{"context_recall": 0.4}, {"context_recall": 0.6}]), test.run([{"context_recall": 0.6}])
    (False, True)
    """

    def run(self, metrics_per_sample: Sequence[Mapping[str, Any]]) -> bool:
        """One verdict for all data."""
        return all(self.each(metrics_per_sample))

    def each(self, metrics_per_sample: Sequence[Mapping[str, Any]]) -> list[bool]:
        """One verdict per datum. A list that is not empty is true in an assertion, also if all verdicts are False."""
        verdicts: list[bool] = (self._column(metrics_per_sample) >= self.min_value).tolist()
        return verdicts


class MeanGreaterOrEqualThan(_MinimumTest):
    """Whether the mean of a metric is at least a minimum.

    >>> MeanGreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    True
    """

    def run(self, metrics_per_sample: Sequence[Mapping[str, Any]]) -> bool:
        """One verdict for all data."""
        return mean(self._column(metrics_per_sample)) >= self.min_value
