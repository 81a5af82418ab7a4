"""Axion's runner of several metrics over several items."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import numbers
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, OptionError, did_you_mean
from goldrank.base.waiting import finished
from goldrank.compat._common import has_entries, is_number, mean, positive, same_object
from goldrank.compat.axion.base import ERROR, Batch, RetrievalMetric, first_lacking, reason_of
from goldrank.compat.axion.dataset import (
    DatasetItem,
    MetricEvaluationResult,
    MetricScore,
    NoItem,
    TestResult,
    as_items,
)


class HasScore(Protocol):
    """A result; it may have an `explanation` and `signals` too."""

    @property
    def score(self) -> float: ...


class Executable(Protocol):
    """A metric, goldrank's or the user's."""

    async def execute(self, item: DatasetItem) -> HasScore: ...


class HasSummary(Protocol):
    """Makes a summary of all results."""

    def execute(self, results: list[TestResult], total_time: float) -> dict[str, Any]: ...


class GetAndSet(Protocol):
    """A cache as Axion's: `get` gives None for a missing key. `Any`: it belongs to the caller."""

    def get(self, key: Any) -> Any: ...

    def set(self, key: Any, value: Any) -> None: ...


@dataclass(frozen=True)
class ErrorConfig:
    """What a runner does about errors.

    `ignore_errors=False` raises the first error of a metric, with the item that it failed on; otherwise it becomes
    a result with score NaN and the reason. `skip_on_missing_params=True` leaves out, for an item that lacks a required
    field of a metric, that metric's result (`TestResult.metadata["skipped"]` names them); otherwise it is NaN with
    the reason.
    """

    ignore_errors: bool = True
    skip_on_missing_params: bool = False


@dataclass
class MetricRunner:
    """Several metrics over several items; a metric that fails does not stop the others.

    `metrics` may have the user's own: anything with `execute(item)`, asynchronous or not, that returns an object with
    `score`. They run at most `max_concurrent` at a time. `thresholds` maps a metric's class name, key or display name
    to the score that passes. `cache_manager` is any mutable mapping, or an object with `get` and `set`; its keys hold
    the metric's parameters (for a user's metric its `parameters` if it has them, else the metric itself) and everything
    in the item. `error_config` is an `ErrorConfig`. `progress` is called with the number of scores done and to do.
    Items are `DatasetItem`s, dictionaries of their fields, or a data frame.

    `summary_generator` is an object with `execute(results, total_time)`, which returns the `summary`.
    `tracer`, `trace_granularity`, `flush_per_metric` and `enable_internal_caching` are Axion's and change nothing:
    there is no tracing here, and items are read once for all metrics.

    `summary` has the statistics of each metric by its name. Metrics of one name get k, or a number, in their key:
    "NDCG @ K (k=5)". `MetricScore.summary_key` has the key of each score.
    """

    metrics: Sequence[Executable]
    name: str = "MetricRunner"
    description: str = "Orchestrates evaluation metrics"
    max_concurrent: int = 5
    thresholds: Mapping[str, float] | None = None
    summary_generator: HasSummary | None = None
    cache_manager: MutableMapping[Any, Any] | GetAndSet | None = None  # `Any`: the caller may keep more in it
    error_config: ErrorConfig = field(default_factory=ErrorConfig)
    tracer: object = None
    dataset_name: str | None = None
    enable_internal_caching: bool = True
    trace_granularity: object = None
    flush_per_metric: bool = False
    progress: Callable[[int, int], None] | None = None
    summary: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    elapsed_time: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        positive(self.max_concurrent, "max_concurrent")
        if not has_entries(self.metrics):
            raise OptionError(f"metrics is {self.metrics!r}; it must be a list of metrics", code="wrong-type")

        self.metrics = list(self.metrics)
        if self.thresholds is not None and not isinstance(self.thresholds, Mapping):
            raise OptionError(f"thresholds is {self.thresholds!r:.60}; it must be a dict", code="wrong-type")
        if not isinstance(self.error_config, ErrorConfig):
            raise OptionError(f"error_config is {self.error_config!r}; it must be an ErrorConfig")
        if self.summary_generator is not None and not hasattr(self.summary_generator, "execute"):
            raise OptionError(f"summary_generator is {self.summary_generator!r}; it must have `execute`")

        cache = self.cache_manager
        has_get_and_set = hasattr(cache, "get") and hasattr(cache, "set")
        if cache is not None and not isinstance(cache, MutableMapping) and not has_get_and_set:
            raise OptionError(f"cache_manager is {cache!r}; it must be a dict, or have `get` and `set`")

        self._check_thresholds()

    def _check_thresholds(self) -> None:
        keys = _summary_keys(self.metrics)
        known = [name for metric, key in zip(self.metrics, keys, strict=True) for name in _threshold_names(metric, key)]
        for name, threshold in (self.thresholds or {}).items():
            if name not in known:
                listed = ", ".join(dict.fromkeys(known))
                message = f"thresholds: no metric is called {name!r}; they are called: {listed}"
                raise OptionError(message, hint=did_you_mean(str(name), known))
            if not is_number(threshold):
                raise OptionError(f"thresholds: {name!r} is {threshold!r}; it must be a number")

    # `Any` in these three: see `as_items`.
    async def run(self, items: Any) -> list[MetricScore]:
        """All scores in one list: for each item, in the order of the metrics."""
        return [score for result in await self.execute_batch(items) for score in result.score_results]

    def score(self, items: Any) -> list[MetricScore]:
        """`run` without await, also where an event loop is running."""
        scores: list[MetricScore] = finished(self.run(items))
        return scores

    async def execute_batch(self, evaluation_inputs: Any, *, show_progress: bool = True) -> list[TestResult]:
        """All scores, by item; `show_progress=False` leaves `progress` alone."""
        began = time.perf_counter()
        cases = as_items(evaluation_inputs)
        batches: dict[tuple[Hashable, ...], Batch] = {}
        slots = asyncio.Semaphore(self.max_concurrent)
        keys = _summary_keys(self.metrics)
        columns: list[list[MetricScore | None]] = []
        for metric, key in zip(self.metrics, keys, strict=True):
            results = await self._results(metric, cases, batches, slots)
            columns.append([self._scored(metric, key, *pair) for pair in zip(cases, results, strict=True)])
            if self.progress and show_progress:
                self.progress(len(cases) * len(columns), len(cases) * len(self.metrics))

        self.elapsed_time = time.perf_counter() - began
        by_key = dict(zip(keys, columns, strict=True))
        self.summary = {key: _summary(column) for key, column in by_key.items()}
        test_results = []
        for i, case in enumerate(cases):
            test_results.append(_test_result(case, {key: column[i] for key, column in by_key.items()}))
        if self.summary_generator is not None:
            self.summary = self.summary_generator.execute(test_results, self.elapsed_time)

        return test_results

    async def _results(
        self,
        metric: Any,  # see `_result_of`
        cases: list[DatasetItem | NoItem],
        batches: dict[tuple[Hashable, ...], Batch],
        slots: asyncio.Semaphore,
    ) -> Sequence[Any]:
        """A metric's result for every item; None where it is skipped. `Any`: results are checked afterwards."""
        if _is_done_in_one_pass(metric):
            results: Sequence[Any]
            try:
                if metric.reading not in batches:
                    batches[metric.reading] = Batch.of(cases, metric)
                results = metric.results(batches[metric.reading])
            except Exception as error:
                results = [self._failed(metric, case, error) for case in cases]

            results = list(results)
            for i, case in enumerate(cases):
                if self._skips(metric, case):
                    results[i] = None
            return results

        tried = await asyncio.gather(*(self._result_of(metric, case, slots) for case in cases), return_exceptions=True)
        for result in tried:
            if isinstance(result, BaseException):
                raise result

        return tried

    def _skips(self, metric: Any, case: DatasetItem | NoItem) -> bool:
        if not self.error_config.skip_on_missing_params or isinstance(case, NoItem):
            return False
        if isinstance(metric, RetrievalMetric):
            return metric.lacks(case) is not None
        return first_lacking(getattr(metric, "required_fields", None) or (), case) is not None

    # `Any`: a user's metric may be anything, and its errors become results.
    async def _result_of(self, metric: Any, case: DatasetItem | NoItem, slots: asyncio.Semaphore) -> Any:
        try:
            if self._skips(metric, case):
                return None

            cache, key = self.cache_manager, None
            if cache is not None:
                key = _cache_key(metric, case)
            if cache is not None and key is not None:
                cached = cache.get(key)
                if cached is not None:
                    return cached

            item: Any = case
            if isinstance(case, NoItem):
                item = case.value
            async with slots:
                result = metric.execute(item)
                if inspect.isawaitable(result):
                    result = await result
            _checked_score(result)

            if cache is not None and key is not None:
                if isinstance(cache, MutableMapping):
                    cache[key] = result
                else:
                    cache.set(key, result)
        except Exception as error:  # a user's metric may fail in any way, and so may a cache; the others go on
            return self._failed(metric, case, error)

        return result

    def _failed(self, metric: Any, case: DatasetItem | NoItem, error: Exception) -> MetricEvaluationResult:
        if not self.error_config.ignore_errors:
            raise GoldrankError(
                f"metric {_name(metric)!r} failed with {type(error).__name__}: {reason_of(error)}",
                where=f"item {case.id!r}",
                hint="ErrorConfig(ignore_errors=True) makes it a result with the reason.",
            ) from error
        return MetricEvaluationResult(_name(metric), math.nan, f"{ERROR}{reason_of(error)}")

    def _scored(self, metric: Any, key: str, case: DatasetItem | NoItem, result: Any) -> MetricScore | None:
        if result is None:
            return None

        try:
            score, explanation = _checked_score(result), str(getattr(result, "explanation", None) or "")
            threshold = None
            if not explanation.startswith(ERROR):
                threshold = self._threshold(metric, key)
            is_better_low = threshold is not None and bool(getattr(metric, "inverse_scoring_metric", False))
            more: dict[str, Any] = {
                "signals": getattr(result, "signals", None),
                "metadata": getattr(result, "metadata", None) or {},
            }
        except Exception as error:
            failed = self._failed(metric, case, error)
            score, explanation, threshold, is_better_low, more = math.nan, failed.explanation, None, False, {}

        passed = None
        if threshold is not None and not math.isnan(score):
            passed = (score >= threshold) is not is_better_low
        return MetricScore(
            metric_name=_name(metric),
            score=score,
            explanation=explanation,
            **more,
            threshold=threshold,
            passed=passed,
            item_id=case.id,
            summary_key=key,
        )

    def _threshold(self, metric: Any, key: str) -> float | None:
        thresholds = self.thresholds or {}
        for name in _threshold_names(metric, key):
            if name in thresholds:
                return thresholds[name]
        threshold = getattr(metric, "threshold", None)
        if threshold is not None and not is_number(threshold):
            raise TypeError(f"its threshold is {threshold!r}, not a number")
        return threshold


def _is_done_in_one_pass(metric: Any) -> bool:
    """Whether it is a metric over ids that does not override how the base goes through items."""
    if not isinstance(metric, RetrievalMetric):
        return False
    methods = ("execute", "score", "score_all")
    return all(getattr(type(metric), method) is getattr(RetrievalMetric, method) for method in methods)


def _checked_score(result: Any) -> float:
    """A result's score; raise an error with the value that is there instead."""
    if not hasattr(result, "score"):
        shown = ids.show(repr(result))
        raise TypeError(f"it returned {shown} (of type {type(result).__name__}), not a result with a score")

    score = result.score
    if not isinstance(score, numbers.Real | np.bool_):
        message = f"its score is {ids.show(repr(score))}, not a number"
        explanation = getattr(result, "explanation", None)
        if explanation:
            message += f" ({explanation})"
        raise TypeError(message)
    return float(score)


def _cache_key(metric: Any, case: DatasetItem | NoItem) -> tuple[Hashable, Hashable] | None:
    """Everything that a result depends on; None if that is not known."""
    if not isinstance(case, DatasetItem):
        return None
    content = case.content
    if content is None:
        return None

    parameters = getattr(metric, "parameters", None)
    try:
        hash(parameters)
    except TypeError:
        parameters = None

    metric_key: Hashable = same_object(metric)
    if parameters is not None:
        metric_key = (type(metric), parameters)
    return metric_key, (type(case), content)


def _name(metric: Any) -> str:
    return str(_safe_attribute(metric, "metric_name") or _safe_attribute(metric, "name") or type(metric).__name__)


def _safe_attribute(metric: Any, attribute: str) -> Any:
    """An attribute of a metric; None if it has none, or if reading it fails."""
    with contextlib.suppress(Exception):
        return getattr(metric, attribute, None)
    return None


def _threshold_names(metric: Any, summary_key: str) -> tuple[str, ...]:
    """The names that thresholds are looked up by; the first that has one counts."""
    names = [summary_key, type(metric).__name__, str(_safe_attribute(metric, "key") or ""), _name(metric)]
    return tuple(names)


def _summary_keys(metrics: Sequence[Any]) -> list[str]:
    """A name for each metric that no other has."""
    names = [_name(metric) for metric in metrics]
    shared = {name for name, times in Counter(names).items() if times > 1}
    keys: list[str] = []
    used_keys = set(names) - shared
    for metric, name in zip(metrics, names, strict=True):
        key = name
        if name in shared:
            cuts = _safe_attribute(metric, "k")
            if cuts is None:
                cuts = []
            elif not isinstance(cuts, list):
                cuts = [cuts]
            stem = name
            if cuts:
                stem = f"{name} (k={', '.join(map(str, cuts))})"

            key, number = stem, 1
            while key in used_keys:
                number += 1
                key = f"{stem} #{number}"
        used_keys.add(key)
        keys.append(key)

    return keys


def _test_result(case: DatasetItem | NoItem, scores: Mapping[str, MetricScore | None]) -> TestResult:
    test_case: Any = case
    if isinstance(case, NoItem):
        test_case = case.value
    results = [score for score in scores.values() if score is not None]
    metadata = {}
    skipped = [key for key, score in scores.items() if score is None]
    if skipped:
        metadata["skipped"] = skipped
    return TestResult(test_case, results, metadata)


def _summary(column: Sequence[MetricScore | None]) -> dict[str, Any]:
    """Statistics of one metric; items without a score are counted, and skipped ones left out."""
    results = [result for result in column if result is not None]
    scores = np.array([result.score for result in results if not math.isnan(result.score)])
    passed = np.array([result.passed for result in results if result.passed is not None], np.float64)
    valid = np.array([not math.isnan(result.score) for result in results], np.float64)
    deviation = 0.0
    if len(scores) > 1:
        deviation = float(np.std(scores, ddof=1))

    return {
        "avg": _or_nan(mean, scores),
        "median": _or_nan(np.median, scores),
        "std_dev": deviation,
        "min": _or_nan(np.min, scores),
        "max": _or_nan(np.max, scores),
        "passed": int(passed.sum()),
        "pass_rate": _or_nan(mean, passed),
        "valid_count": len(scores),
        "total_count": len(results),
        "success_rate": _or_nan(mean, valid),
        "scores": scores.tolist(),
    }


def _or_nan(statistic: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    if len(values):
        return float(statistic(values))
    return math.nan
