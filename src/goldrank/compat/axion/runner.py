"""Axion's registry of metrics, and the runner of several metrics over several items."""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from goldrank.compat._common import positive
from goldrank.compat.axion.data import DatasetItem, MetricEvaluationResult, MetricScore, TestResult, as_items
from goldrank.compat.axion.metrics import METRICS, Batch, JudgedMetric, RetrievalMetric, run_now
from goldrank.errors import OptionError, did_you_mean


class MetricRegistry:
    """Metrics by key and by tag."""

    def __init__(self, classes: Iterable[type[RetrievalMetric]]) -> None:
        self._classes = {metric.key: metric for metric in classes}

    def get(self, key: str) -> type[RetrievalMetric]:
        """The class of a key such as 'ndcg_at_k'."""
        if key not in self._classes:
            known = ", ".join(self._classes)
            raise OptionError(f"unknown metric {key!r}; there are: {known}", hint=did_you_mean(key, self._classes))
        return self._classes[key]

    def find(self, tag: str) -> list[type[RetrievalMetric]]:
        """The classes with a tag such as 'retrieval'."""
        return [metric for metric in self._classes.values() if tag in metric.tags]

    def compatible(self, item: DatasetItem) -> list[type[RetrievalMetric]]:
        """The classes whose required fields an item has."""
        known = self._classes.values()
        return [metric for metric in known if all(getattr(item, name) for name in metric.required_fields)]

    def describe(self) -> list[dict[str, object]]:
        """Every metric at a glance."""
        names = ("formula", "score_range", "default_k", "tags", "required_fields", "best_for", "key_question")
        return [
            {"key": key, "name": metric.default_name, **{name: getattr(metric, name) for name in names}}
            for key, metric in self._classes.items()
        ]


registry = MetricRegistry(METRICS)


class HasScore(Protocol):
    """A result; it may have an `explanation` and `signals` too."""

    @property
    def score(self) -> float: ...


class Executable(Protocol):
    """A metric, goldrank's or one's own."""

    async def execute(self, item: DatasetItem) -> HasScore: ...


@dataclass
class MetricRunner:
    """Several metrics over several items; one that fails never takes another with it.

    `metrics` may hold one's own: anything with `async execute(item)` that returns an object with `score`.
    They run at most `max_concurrent` at a time. `thresholds` maps a metric's class name, key or display name
    to the score that passes. `cache_manager` is any mutable mapping; its keys hold the metric's parameters.
    `progress` is called with the number of scores done and to do. Items are `DatasetItem`s, dictionaries or a
    pandas DataFrame.
    """

    metrics: Sequence[Executable]
    name: str | None = None
    description: str | None = None
    max_concurrent: int = 5
    thresholds: Mapping[str, float] | None = None
    cache_manager: MutableMapping[Any, Any] | None = None  # `Any`: it belongs to the caller, who may keep more in it
    progress: Callable[[int, int], None] | None = None
    summary: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    elapsed_time: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        positive(self.max_concurrent, "max_concurrent")

    # `Any` in these three: see `as_items`.
    async def run(self, items: Any) -> list[MetricScore]:
        """All scores in one list: for each item, in the order of the metrics."""
        return [score for result in await self.execute_batch(items) for score in result.score_results]

    def score(self, items: Any) -> list[MetricScore]:
        """`run` without await."""
        return run_now(self.run(items))

    async def execute_batch(self, items: Any, *, show_progress: bool = True) -> list[TestResult]:
        """All scores, by item; `show_progress=False` leaves `progress` alone."""
        began = time.perf_counter()
        cases = as_items(items)
        batches: dict[bool, Batch] = {}
        slots = asyncio.Semaphore(self.max_concurrent)
        columns: list[list[MetricScore]] = []
        for metric in self.metrics:
            results: Sequence[HasScore]
            if isinstance(metric, RetrievalMetric) and not isinstance(metric, JudgedMetric):
                if metric.as_released not in batches:
                    batches[metric.as_released] = Batch.of(cases, metric.as_released)
                results = metric.results(batches[metric.as_released])
            else:
                results = await asyncio.gather(*(self._execute(metric, case, slots) for case in cases))
            columns.append([self._scored(metric, case, result) for case, result in zip(cases, results, strict=True)])
            if self.progress and show_progress:
                self.progress(len(cases) * len(columns), len(cases) * len(self.metrics))
        self.elapsed_time = time.perf_counter() - began
        self.summary = {_name(metric): _summary(column) for metric, column in zip(self.metrics, columns, strict=True)}
        return [TestResult(case, [column[i] for column in columns]) for i, case in enumerate(cases)]

    async def _execute(self, metric: Executable, case: Any, slots: asyncio.Semaphore) -> HasScore:
        cache = self.cache_manager
        key = (getattr(metric, "parameters", id(metric)), getattr(case, "id", id(case)))
        if cache is not None and key in cache:
            kept: HasScore = cache[key]
            return kept
        try:
            async with slots:
                result = await metric.execute(case)
        except Exception as error:  # one's own metric may fail in any way, and the others go on
            return MetricEvaluationResult(_name(metric), math.nan, f"Error executing metric: {error}")
        if cache is not None:
            cache[key] = result
        return result

    def _scored(self, metric: Executable, case: object, result: HasScore) -> MetricScore:
        score = float(result.score)
        explanation = getattr(result, "explanation", "") or ""
        threshold = None if explanation.startswith("Error executing metric:") else self._threshold(metric)
        return MetricScore(
            metric_name=_name(metric),
            score=score,
            explanation=explanation,
            signals=getattr(result, "signals", None),
            threshold=threshold,
            passed=None if math.isnan(score) or threshold is None else score >= threshold,
            item_id=getattr(case, "id", None),
        )

    def _threshold(self, metric: Executable) -> float | None:
        thresholds = self.thresholds or {}
        for name in (type(metric).__name__, str(getattr(metric, "key", "")), _name(metric)):
            if name in thresholds:
                return thresholds[name]
        return getattr(metric, "threshold", None)


def _name(metric: Executable) -> str:
    return str(getattr(metric, "metric_name", None) or getattr(metric, "name", None) or type(metric).__name__)


def _summary(column: Sequence[MetricScore]) -> dict[str, Any]:
    """Statistics of one metric; items without a score are counted and left out."""
    scores = [result.score for result in column if not math.isnan(result.score)]
    passed = [result.passed for result in column if result.passed is not None]
    return {
        "avg": statistics.fmean(scores) if scores else math.nan,
        "median": statistics.median(scores) if scores else math.nan,
        "std_dev": statistics.stdev(scores) if len(scores) > 1 else 0.0,
        "min": min(scores, default=math.nan),
        "max": max(scores, default=math.nan),
        "pass_rate": sum(passed) / len(passed) if passed else math.nan,
        "valid_count": len(scores),
        "total_count": len(column),
        "success_rate": len(scores) / len(column) if column else math.nan,
        "scores": scores,
    }
