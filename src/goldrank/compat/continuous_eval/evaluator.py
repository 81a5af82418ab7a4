"""continuous-eval's datasets, one dictionary per query; the evaluator of several metrics over one, and its tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from goldrank.compat._common import checked_texts, column_of, is_whole, mean
from goldrank.compat.continuous_eval.metrics import Described, Metric
from goldrank.data.texts import Texts
from goldrank.errors import GoldrankError, InputError, OptionError

RETRIEVED = ("retrieved_contexts", "retrieved_context")
TRUTHS = ("ground_truth_contexts", "ground_truth_context")
"""The names of a datum's two fields, in the document's version and in later ones."""

Datum: TypeAlias = Mapping[str, Any]
"""Texts by field. `Any`: other fields may hold anything that JSON has."""


class Dataset(Sequence[Datum]):
    """Data to evaluate: one dictionary per query.

    >>> Dataset([{"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}]).validate()
    """

    def __init__(self, data: Iterable[Datum]) -> None:
        self.data = list(data)

    def __getitem__(self, at: Any) -> Any:  # `Any`: an index gives a datum, a slice a list
        return self.data[at]

    def __len__(self) -> int:
        return len(self.data)

    def texts(self, names: Sequence[str]) -> list[Texts]:
        """The texts of every datum under the first of the names that it has."""
        column = []
        for i, datum in enumerate(self.data):
            name = next((name for name in names if name in datum), None)
            if name is None:
                raise InputError(f"datum {i} has no {names[0]!r}; it has: {', '.join(map(repr, datum))}")
            column.append(checked_texts(datum[name], f"datum {i}: {name} is"))
        return column

    def validate(self) -> None:
        """Raise the error that names the datum and the field that is missing or wrong."""
        for names in (RETRIEVED, TRUTHS):
            self.texts(names)

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Dataset:
        """Read one JSON object per line."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", where=str(path)) from None
        data = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                datum = json.loads(line)
            except ValueError as error:
                raise InputError(f"is not JSON: {error}", where=f"{path}:{number}") from None
            if not isinstance(datum, dict):
                raise InputError("is no JSON object", where=f"{path}:{number}")
            data.append(datum)
        return cls(data)

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object per line."""
        text = "".join(json.dumps(dict(datum), ensure_ascii=False) + "\n" for datum in self.data)
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise GoldrankError(f"cannot be written: {error.strerror}", where=str(path)) from None


def example_data() -> Dataset:
    """A few queries to try things with (continuous-eval downloads its own; nothing is downloaded here).

    >>> len(example_data())
    2
    """
    france = "Paris is the capital of France."
    play = "Romeo and Juliet is a play by William Shakespeare."
    return Dataset(
        [
            {
                "question": "What is the capital of France?",
                "retrieved_contexts": ["Lyon is a major city in France.", france],
                "ground_truth_contexts": [france],
            },
            {
                "question": "Who wrote Romeo and Juliet?",
                "retrieved_contexts": ["Shakespeare was a playwright.", play],
                "ground_truth_contexts": ["Shakespeare was a playwright.", play],
            },
        ]
    )


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
        return Described.aggregate(self.results)

    def save(self, path: str | Path) -> None:
        """Write every datum with its values, one JSON object per line."""
        rows = zip(self.dataset, self.results, strict=True)
        Dataset({**datum, **result} for datum, result in rows).to_jsonl(path)


@dataclass(frozen=True)
class _MinimumTest:
    test_name: str
    metric_name: str
    min_value: float

    def _column(self, results: Sequence[Mapping[str, float]]) -> list[float]:
        if not results:
            raise InputError("there are no results")
        return column_of(results, self.metric_name, "result")


class GreaterOrEqualThan(_MinimumTest):
    """Whether each value of a metric is at least a minimum.

    >>> GreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    [False, True]
    """

    def run(self, results: Sequence[Mapping[str, float]]) -> list[bool]:
        """One verdict per datum."""
        return [value >= self.min_value for value in self._column(results)]


class MeanGreaterOrEqualThan(_MinimumTest):
    """Whether the mean of a metric is at least a minimum.

    >>> MeanGreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    True
    """

    def run(self, results: Sequence[Mapping[str, float]]) -> bool:
        """One verdict for all data."""
        return mean(np.array(self._column(results), np.float64)) >= self.min_value
