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
    """A metric, goldrank's or one's own."""

    async def execute(self, item: DatasetItem) -> HasScore: ...


class HasSummary(Protocol):
    """Makes a summary of all results."""

    def execute(self, results: list[TestResult], total_time: float) -> dict[str, Any]: ...


class GetAndSet(Protocol):
    """A cache as Axion's: `get` gives None for what is not there. `Any`: it belongs to the caller."""

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
    """Several metrics over several items; one that fails never takes another with it.

    `metrics` may hold one's own: anything with `execute(item)`, asynchronous or not, that returns an object with
    `score`. They run at most `max_concurrent` at a time. `thresholds` maps a metric's class name, key or display name
    to the score that passes. `cache_manager` is any mutable mapping, or an object with `get` and `set`; its keys hold
    the metric's parameters (of one's own metric its `parameters` if it has them, else the metric itself) and everything
    in the item. `error_config` is an `ErrorConfig`. `progress` is called with the number of scores done and to do.
    Items are `DatasetItem`s, dictionaries of their fields, or a data frame.

    `summary_generator` is an object with `execute(results, total_time)`; what it returns is then the `summary`.
    `tracer`, `trace_granularity`, `flush_per_metric` and `enable_internal_caching` are Axion's and change nothing:
    there is no tracing here, and items are read once for all metrics.

    `summary` has the statistics of each metric by its name. Metrics of one name are told apart by k, or a number:
    "NDCG @ K (k=5)". `MetricScore.summary_key` says which is whose.
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
        is_cache = isinstance(cache, MutableMapping) or (hasattr(cache, "get") and hasattr(cache, "set"))
        if cache is not None and not is_cache:
            raise OptionError(f"cache_manager is {cache!r}; it must be a dict, or have `get` and `set`")

        keys = _summary_keys(self.metrics)
        known = [name for metric, key in zip(self.metrics, keys, strict=True) for name in _threshold_names(metric, key)]
        for name, threshold in (self.thresholds or {}).items():
            if name not in known:
                listed = ", ".join(dict.fromkeys(known))
                raise OptionError(
                    f"thresholds: no metric is called {name!r}; they are called: {listed}",
                    hint=did_you_mean(str(name), known),
                )
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
        self.summary = {
            key: _summary([score for score in column if score is not None])
            for key, column in zip(keys, columns, strict=True)
        }
        test_results = [
            _test_result(case, {key: column[i] for key, column in zip(keys, columns, strict=True)})
            for i, case in enumerate(cases)
        ]
        if self.summary_generator is not None:
            self.summary = self.summary_generator.execute(test_results, self.elapsed_time)

        return test_results

    async def _results(
        self,
        metric: Any,  # see `_one`
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
            return [None if self._skips(metric, case) else value for case, value in zip(cases, results, strict=True)]

        tried = await asyncio.gather(*(self._one(metric, case, slots) for case in cases), return_exceptions=True)
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

    # `Any`: one's own metric may be anything, and what it does wrong becomes a result.
    async def _one(self, metric: Any, case: DatasetItem | NoItem, slots: asyncio.Semaphore) -> Any:
        try:
            if self._skips(metric, case):
                return None
            cache = self.cache_manager
            if cache is None:
                key = None
            else:
                key = _cache_key(metric, case)
            if cache is not None and key is not None and (kept := cache.get(key)) is not None:
                return kept
            async with slots:
                result = metric.execute(case.given if isinstance(case, NoItem) else case)
                if inspect.isawaitable(result):
                    result = await result
            _checked_score(result)
            if cache is not None and key is not None:
                if isinstance(cache, MutableMapping):
                    cache[key] = result
                else:
                    cache.set(key, result)
        except Exception as error:  # one's own metric may fail in any way, and so may a cache; the others go on
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
            if explanation.startswith(ERROR):
                threshold = None
            else:
                threshold = self._threshold(metric, key)
            is_better_low = threshold is not None and bool(getattr(metric, "inverse_scoring_metric", False))
            more: dict[str, Any] = {
                "signals": getattr(result, "signals", None),
                "metadata": getattr(result, "metadata", None) or {},
            }
        except Exception as error:
            failed = self._failed(metric, case, error)
            score, explanation, threshold, is_better_low, more = math.nan, failed.explanation, None, False, {}

        return MetricScore(
            metric_name=_name(metric),
            score=score,
            explanation=explanation,
            **more,
            threshold=threshold,
            passed=None if math.isnan(score) or threshold is None else (score >= threshold) is not is_better_low,
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
    """Whether it is a metric over ids that keeps the base's way of going through items."""
    ways = ("execute", "score", "score_all")
    return isinstance(metric, RetrievalMetric) and all(
        getattr(type(metric), way) is getattr(RetrievalMetric, way) for way in ways
    )


def _checked_score(result: Any) -> float:
    """A result's score, or an error that says what is there instead."""
    if not hasattr(result, "score"):
        raise TypeError(
            f"it returned {ids.show(repr(result))} (of type {type(result).__name__}), not a result with a score"
        )
    score = result.score
    if not isinstance(score, numbers.Real | np.bool_):
        said = getattr(result, "explanation", None)
        raise TypeError(f"its score is {ids.show(repr(score))}, not a number" + (f" ({said})" if said else ""))
    return float(score)


def _cache_key(metric: Any, case: DatasetItem | NoItem) -> tuple[Hashable, Hashable] | None:
    """What a result depends on; None if that cannot be told."""
    if isinstance(case, DatasetItem):
        content = case.content
    else:
        content = None

    if content is None:
        return None

    parameters = getattr(metric, "parameters", None)
    try:
        hash(parameters)
    except TypeError:
        parameters = None

    if parameters is None:
        known = same_object(metric)
    else:
        known = (type(metric), parameters)

    return known, (type(case), content)


def _name(metric: Any) -> str:
    return str(_told(metric, "metric_name") or _told(metric, "name") or type(metric).__name__)


def _told(metric: Any, attribute: str) -> Any:
    """What a metric says of itself; what cannot be had is None."""
    with contextlib.suppress(Exception):
        return getattr(metric, attribute, None)
    return None


def _threshold_names(metric: Any, summary_key: str) -> tuple[str, ...]:
    """By what names thresholds are looked up, the first that has one."""
    return summary_key, type(metric).__name__, str(_told(metric, "key") or ""), _name(metric)


def _summary_keys(metrics: Sequence[Any]) -> list[str]:
    """A name for each metric that no other has."""
    names = [_name(metric) for metric in metrics]
    shared = {name for name, times in Counter(names).items() if times > 1}
    keys: list[str] = []
    taken = set(names) - shared
    for metric, name in zip(metrics, names, strict=True):
        key = name
        if name in shared:
            k = _told(metric, "k")
            if isinstance(k, list):
                cuts = k
            elif k is not None:
                cuts = [k]
            else:
                cuts = []
            if cuts:
                stem = f"{name} (k={', '.join(map(str, cuts))})"
            else:
                stem = name
            key, number = stem, 1
            while key in taken:
                number += 1
                key = f"{stem} #{number}"
        taken.add(key)
        keys.append(key)

    return keys


def _test_result(case: DatasetItem | NoItem, scores: Mapping[str, MetricScore | None]) -> TestResult:
    if isinstance(case, NoItem):
        given = case.given
    else:
        given = case
    skipped = [key for key, score in scores.items() if score is None]
    return TestResult(
        given, [score for score in scores.values() if score is not None], {"skipped": skipped} if skipped else {}
    )


def _summary(column: Sequence[MetricScore]) -> dict[str, Any]:
    """Statistics of one metric; items without a score are counted and left out."""
    scores = np.array([result.score for result in column if not math.isnan(result.score)])
    passed = np.array([result.passed for result in column if result.passed is not None], np.float64)
    valid = np.array([not math.isnan(result.score) for result in column], np.float64)

    return {
        "avg": _or_nan(mean, scores),
        "median": _or_nan(np.median, scores),
        "std_dev": float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
        "min": _or_nan(np.min, scores),
        "max": _or_nan(np.max, scores),
        "passed": int(passed.sum()),
        "pass_rate": _or_nan(mean, passed),
        "valid_count": len(scores),
        "total_count": len(column),
        "success_rate": _or_nan(mean, valid),
        "scores": scores.tolist(),
    }


def _or_nan(statistic: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    if len(values):
        return float(statistic(values))
    return math.nan
