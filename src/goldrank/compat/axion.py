"""Axion's retrieval metrics: its classes, items and runner, on goldrank's measures.

    from goldrank.compat.axion import DatasetItem, HitRateAtK, MetricRunner, NDCGAtK

Precision divides by K and a repeated document counts once, as the document's formulas say. `as_released=True`
gives the numbers of Axion's code: Precision divides by min(K, retrieved), a repeated document counts each
time (but no value passes 1), recall is 1 where everything is judged 0. Not imitated: exceptions for one bad
relevance, an nDCG of negative ideals (0 here), a cache that ignores k, results grouped by item id, and the
language model that its heuristics construct.

`await metric.execute(item)` has a twin for code that is not asynchronous: `metric.score(item)`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from goldrank.compat._common import measure, values
from goldrank.conventions import ABOVE_ZERO, AXION
from goldrank.data.placements import Placements
from goldrank.engine.lists import place
from goldrank.errors import GoldrankError, InputError, OptionError, did_you_mean
from goldrank.match.units import sentences
from goldrank.measures.gain import ideal_dcg

__all__ = [
    "ContextualPrecision",
    "ContextualRanking",
    "ContextualRecall",
    "DatasetItem",
    "HitRateAtK",
    "KDetail",
    "MeanReciprocalRank",
    "MeanReciprocalRankResult",
    "MetricEvaluationResult",
    "MetricRunner",
    "MetricScore",
    "MultiKResult",
    "NDCGAtK",
    "PrecisionAtK",
    "RecallAtK",
    "TestResult",
    "registry",
]


Result = TypeVar("Result")


class ItemTypeError(InputError, TypeError):
    """Something that is no list of items where one is needed."""


# Items.


class DatasetItem:
    """One query: what was retrieved, best first, and what should have been.

    `actual_ranking` is a list of {"id": ...} or of plain text ids; `expected_reference` the same with an
    optional "relevance" (1.0 if left out; relevant means above 0). `actual_reference` and `expected_ranking`
    are other names of the two.

    >>> DatasetItem(actual_ranking=["a", "b"], expected_reference=["b"]).actual_ranking
    [{'id': 'a'}, {'id': 'b'}]
    """

    def __init__(
        self,
        id: str | None = None,
        *,
        actual_ranking: Sequence[Any] | None = None,
        expected_reference: Sequence[Any] | None = None,
        actual_reference: Sequence[Any] | None = None,
        expected_ranking: Sequence[Any] | None = None,
        query: str | None = None,
        retrieved_content: Sequence[str] = (),
        expected_output: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = str(uuid.uuid4()) if id is None else id
        retrieved = actual_ranking if actual_ranking is not None else actual_reference
        expected = expected_reference if expected_reference is not None else expected_ranking
        self.actual_ranking = self._listed(retrieved, "actual_ranking")
        self.expected_reference = self._listed(expected, "expected_reference")
        self.query = query
        self.retrieved_content = list(retrieved_content)
        """The retrieved texts, for the metrics that ask a judge."""
        self.expected_output = expected_output
        """The reference answer, for the metrics that ask a judge."""
        self.metadata = dict(metadata or {})

    def _listed(self, given: Any, name: str) -> list[Any] | None:
        if given is None:
            return None
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputError(f"item {self.id!r}: {name} is a {type(given).__name__}, not a list")
        entries = list(given)
        if entries and all(isinstance(entry, str) for entry in entries):
            return [{"id": entry} for entry in entries]
        for at, entry in enumerate(entries, 1):
            if not isinstance(entry, Mapping):
                raise InputError(
                    f"item {self.id!r}: entry {at} of {name} is {entry!r}, not a dictionary",
                    hint="Give [{'id': 'doc1'}, ...] or a list of ids that are all text.",
                )
        return entries

    @property
    def actual_reference(self) -> list[Any] | None:
        """Another name of `actual_ranking`."""
        return self.actual_ranking

    @property
    def expected_ranking(self) -> list[Any] | None:
        """Another name of `expected_reference`."""
        return self.expected_reference

    def __repr__(self) -> str:
        return f"DatasetItem(id={self.id!r})"


# Results.


@dataclass(frozen=True)
class KDetail:
    """What a metric found at one k; None where it does not count that."""

    score: float
    hits_in_top_k: int | None = None
    total_retrieved_at_k: int | None = None
    total_relevant: int | None = None
    dcg: float | None = None
    idcg: float | None = None
    is_hit: bool | None = None


@dataclass(frozen=True)
class MultiKResult:
    """What a metric found at every k."""

    k_values: list[int]
    results_by_k: dict[int, KDetail]
    overall_score: float
    main_k_used: int


@dataclass(frozen=True)
class MeanReciprocalRankResult:
    """Where the first relevant document stands; None if there is none."""

    rank_of_first_relevant: int | None
    score: float


@dataclass(frozen=True)
class MetricEvaluationResult:
    """One metric's answer for one item. A bad item has score NaN, no signals, and the reason as explanation."""

    metric_name: str
    score: float
    explanation: str
    signals: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricScore(MetricEvaluationResult):
    """A result of a runner: also whether it passed its threshold (None if there is no score)."""

    threshold: float | None = None
    passed: bool | None = None
    item_id: str | None = None

    @property
    def name(self) -> str:
        """Another name of `metric_name`."""
        return self.metric_name


@dataclass(frozen=True)
class TestResult:
    """All scores of one item."""

    __test__ = False
    test_case: Any
    score_results: list[MetricScore]
    metadata: dict[str, Any] = field(default_factory=dict)


# Reading items.


class _BadItemError(Exception):
    """Why an item cannot be scored."""


@dataclass(frozen=True)
class _Batch:
    """Items made ready: rankings of ids, grades by id, and the reasons of those that cannot be scored."""

    rankings: list[list[str]]
    grades: list[dict[str, float]]
    reasons: list[str | None]
    placed: Placements

    @classmethod
    def of(cls, items: Sequence[Any], as_released: bool) -> _Batch:
        rankings: list[list[str]] = []
        grades: list[dict[str, float]] = []
        reasons: list[str | None] = []
        for item in items:
            reason = None
            ranking: list[str] = []
            judged: dict[str, float] = {}
            try:
                ranking, judged = _read(item, as_released)
            except _BadItemError as error:
                reason = str(error)
            rankings.append(ranking)
            grades.append(judged)
            reasons.append(reason)
        return cls(rankings, grades, reasons, place(rankings, grades))


def _read(item: Any, as_released: bool) -> tuple[list[str], dict[str, float]]:
    failed = "Metric computation failed: "
    if not isinstance(item, DatasetItem):
        raise _BadItemError(f"{failed}a {type(item).__name__} is no DatasetItem")
    for name in ("actual_ranking", "expected_reference"):
        if not getattr(item, name):
            raise _BadItemError(f"{failed}`{name}` field is missing or empty.")
    ranking: list[str] = []
    judged: dict[str, float] = {}
    for name, entries in (("actual_ranking", item.actual_ranking), ("expected_reference", item.expected_reference)):
        for at, entry in enumerate(entries or (), 1):
            where = "" if as_released else f" (entry {at} of item {item.id!r})"
            if not isinstance(entry, Mapping) or "id" not in entry:
                raise _BadItemError(f"{failed}`{name}` items must be dicts with an 'id' key. Error: 'id'{where}")
            doc = str(entry["id"])
            if name == "actual_ranking":
                ranking.append(doc)
                continue
            relevance = entry.get("relevance", 1.0)
            try:
                grade = float(relevance)
            except TypeError as error:
                told = "items must be dicts with an 'id' key" if as_released else "relevance must be a number"
                raise _BadItemError(f"{failed}`{name}` {told}. Error: {error}{where}") from None
            except ValueError as error:
                raise _BadItemError(f"Error executing metric: {error}{where}") from None
            if not math.isfinite(grade):
                raise _BadItemError(f"{failed}`{name}` relevance is {grade}, not a finite number{where}")
            judged[doc] = grade
    return ranking, judged


# Metrics.


class _Metric:
    """What all of them share: a name, a threshold, and execute / score."""

    key: ClassVar[str]
    default_name: ClassVar[str]
    best_for: ClassVar[str]
    key_question: ClassVar[str]
    formula: ClassVar[str]
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    tags: ClassVar[tuple[str, ...]] = ("retrieval", "heuristic")
    default_threshold: ClassVar[float] = 0.5
    required_fields: ClassVar[tuple[str, ...]] = ("actual_ranking", "expected_reference")

    def __init__(
        self, *, metric_name: str | None = None, threshold: float | None = None, as_released: bool = False
    ) -> None:
        self.metric_name = metric_name or self.default_name
        self.threshold = self.default_threshold if threshold is None else threshold
        self.as_released = as_released

    @property
    def name(self) -> str:
        """Another name of `metric_name`."""
        return self.metric_name

    @property
    def parameters(self) -> tuple[Any, ...]:
        """Everything that changes a result; part of a cache's key."""
        return (type(self).__name__, self.as_released)

    async def execute(self, item: DatasetItem) -> MetricEvaluationResult:
        """The result of one item. A bad item gives NaN and the reason, never an exception."""
        return self.score(item)

    def score(self, item: DatasetItem) -> MetricEvaluationResult:
        """`execute` without await."""
        return self.score_all([item])[0]

    def score_all(self, items: Sequence[Any]) -> list[MetricEvaluationResult]:
        """The results of many items in one pass."""
        return self._results(_Batch.of(items, self.as_released))

    def _results(self, batch: _Batch) -> list[MetricEvaluationResult]:
        placed = batch.placed if self.as_released else batch.placed.per_aspect
        found = self._measured(batch, placed)
        return [
            MetricEvaluationResult(self.metric_name, math.nan, reason) if reason is not None else result
            for reason, result in zip(batch.reasons, found, strict=True)
        ]

    def _measured(self, batch: _Batch, placed: Placements) -> list[MetricEvaluationResult]:
        raise NotImplementedError


class _AtK(_Metric):
    """A metric at one or several cut-offs; `main_k` (the largest unless given) makes the score."""

    def __init__(
        self,
        k: int | Sequence[int] = 10,
        main_k: int | None = None,
        *,
        metric_name: str | None = None,
        threshold: float | None = None,
        as_released: bool = False,
    ) -> None:
        super().__init__(metric_name=metric_name, threshold=threshold, as_released=as_released)
        given = list(k) if isinstance(k, list | tuple | set | frozenset | range | np.ndarray) else [k]
        whole = [one for one in given if isinstance(one, int | np.integer) and not isinstance(one, bool)]
        kept = sorted({int(one) for one in whole if one > 0})
        if not kept:
            raise OptionError("k must contain at least one positive integer.", hint=f"It is {k!r}.")
        if not as_released or len(whole) < len(given):
            for one in given:
                if one not in kept or isinstance(one, bool | float):
                    raise OptionError(f"k contains {one!r}, which is not a positive integer")
        if main_k is not None and main_k not in kept:
            raise OptionError(f"main_k ({main_k}) must be one of the specified k values: {kept}")
        self.k = kept
        self.main_k = kept[-1] if main_k is None else int(main_k)

    @property
    def parameters(self) -> tuple[Any, ...]:
        return (*super().parameters, tuple(self.k), self.main_k)

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        raise NotImplementedError

    def _told(self, score: float) -> str:
        return f"{score:.4f}"

    def _measured(self, batch: _Batch, placed: Placements) -> list[MetricEvaluationResult]:
        by_k = {k: self._details(k, placed) for k in self.k}
        results = []
        for i in range(len(placed)):
            details = {k: by_k[k][i] for k in self.k}
            score = details[self.main_k].score
            results.append(
                MetricEvaluationResult(
                    self.metric_name,
                    score,
                    f"Scores calculated for K={self.k}. Main score (K={self.main_k}) is {self._told(score)}.",
                    MultiKResult(list(self.k), details, score, self.main_k),
                )
            )
        return results

    def _counted(self, k: int, placed: Placements, score: np.ndarray) -> list[KDetail]:
        """Details with the counts that Precision and Recall are made of."""
        hits = measure("NumRelRet", k, AXION, (("rel", ABOVE_ZERO),))(placed).astype(int).tolist()
        shown = placed.cut(k).retrieved.tolist()
        relevant = placed.relevant(ABOVE_ZERO).tolist()
        rows = zip(score.tolist(), hits, shown, relevant, strict=True)
        return [
            KDetail(one, hits_in_top_k=hit, total_retrieved_at_k=seen, total_relevant=total)
            for one, hit, seen, total in rows
        ]


class HitRateAtK(_AtK):
    """1.0 if any of the first K documents is relevant, else 0.0.

    >>> HitRateAtK(k=[1, 3]).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    1.0
    """

    key = "hit_rate_at_k"
    default_name = "Hit Rate @ K"
    best_for = "Quick sanity check"
    key_question = "Did we find anything relevant?"
    formula = "1 if any relevant in K"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        return [KDetail(one, is_hit=one > 0) for one in values("Success", k, placed, AXION).tolist()]

    def _told(self, score: float) -> str:
        return str(score)


class MeanReciprocalRank(_Metric):
    """1 / rank of the first relevant document of the whole ranking; 0.0 if there is none.

    >>> MeanReciprocalRank().score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    0.5
    """

    key = "mean_reciprocal_rank"
    default_name = "Mean Reciprocal Rank (MRR)"
    best_for = "First-result systems"
    key_question = "How fast do users find what they need?"
    formula = "1 / first_relevant_rank"

    def _measured(self, batch: _Batch, placed: Placements) -> list[MetricEvaluationResult]:
        scores = values("RR", None, placed, AXION).tolist()
        first = placed.first(placed.grade >= ABOVE_ZERO).tolist()
        results = []
        for ranking, rank, score in zip(batch.rankings, first, scores, strict=True):
            told = (
                f"First relevant document ('{ranking[rank - 1]}') found at rank {rank}."
                if rank
                else "No relevant documents found in the retrieved results."
            )
            signals = MeanReciprocalRankResult(rank or None, score)
            results.append(MetricEvaluationResult(self.metric_name, score, told, signals))
        return results


class NDCGAtK(_AtK):
    """Graded relevance, discounted by position, as a share of the best possible.

    >>> item = DatasetItem(actual_ranking=["x", "a"], expected_reference=[{"id": "a", "relevance": 2.0}])
    >>> round(NDCGAtK(k=5).score(item).score, 4)
    0.6309
    """

    key = "ndcg_at_k"
    default_name = "NDCG @ K"
    best_for = "Graded relevance"
    key_question = "Is the ranking order optimal?"
    formula = "DCG / IDCG"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        found = values("nDCG", k, placed, AXION).tolist()
        gained = values("DCG", k, placed, AXION).tolist()
        best = ideal_dcg(placed, k, ABOVE_ZERO, "linear", "log2", "keep", "judged").tolist()
        return [KDetail(n, dcg=d, idcg=i) for n, d, i in zip(found, gained, best, strict=True)]


class PrecisionAtK(_AtK):
    """The share of relevant documents among the first K.

    >>> PrecisionAtK(k=2).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    0.5
    """

    key = "precision_at_k"
    default_name = "Precision @ K"
    best_for = "Result quality"
    key_question = "Are results mostly relevant?"
    formula = "relevant_in_K / K"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        more = {"divisor": "retrieved"} if self.as_released else None
        return self._counted(k, placed, values("P", k, placed, AXION, more))


class RecallAtK(_AtK):
    """The share of all relevant documents that is among the first K.

    >>> RecallAtK(k=2).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a", "b"])).score
    0.5
    """

    key = "recall_at_k"
    default_name = "Recall @ K"
    best_for = "Coverage"
    key_question = "Did we miss relevant docs?"
    formula = "relevant_in_K / total_relevant"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        return self._counted(k, placed, values("R", k, placed, AXION))

    def _measured(self, batch: _Batch, placed: Placements) -> list[MetricEvaluationResult]:
        results = super()._measured(batch, placed)
        for i in np.flatnonzero(placed.relevant(ABOVE_ZERO) == 0).tolist():
            told = "No relevant documents were expected"
            if self.as_released:
                signals = MultiKResult(list(self.k), {k: KDetail(1.0) for k in self.k}, 1.0, self.main_k)
                told += ", so recall is trivially 1.0 for all K."
                results[i] = MetricEvaluationResult(self.metric_name, 1.0, told, signals)
            else:
                told += ": every judged document has relevance 0 or less."
                results[i] = MetricEvaluationResult(self.metric_name, 0.0, told, results[i].signals)
        return results


# Metrics that ask a judge.

Judge = Callable[..., bool | float | Awaitable[bool | float]]
"""A function, asynchronous or not, that answers for one text; it may call a language model."""


class _Judged(_Metric):
    tags: ClassVar[tuple[str, ...]] = ("retrieval", "judged")
    required_fields: ClassVar[tuple[str, ...]] = ("retrieved_content",)

    def __init__(
        self,
        judge: Judge,
        *,
        metric_name: str | None = None,
        threshold: float | None = None,
        as_released: bool = False,
    ) -> None:
        super().__init__(metric_name=metric_name, threshold=threshold, as_released=as_released)
        self.judge = judge

    @property
    def parameters(self) -> tuple[Any, ...]:
        return (*super().parameters, self.judge)

    def score(self, item: DatasetItem) -> MetricEvaluationResult:
        return _run_now(self.execute(item))

    def score_all(self, items: Sequence[Any]) -> list[MetricEvaluationResult]:
        return [self.score(item) for item in items]

    async def execute(self, item: DatasetItem) -> MetricEvaluationResult:
        for name in self.required_fields:
            if not getattr(item, name, None):
                told = f"Metric computation failed: `{name}` field is missing or empty."
                return MetricEvaluationResult(self.metric_name, math.nan, told)
        texts = self._texts(item)
        verdicts = []
        for text in texts:
            answer = self.judge(item, text)
            verdicts.append(float(await answer if inspect.isawaitable(answer) else answer))
        score = float(self._value(place([list(range(len(texts)))], [dict(enumerate(verdicts))]))[0])
        useful = sum(verdict > 0 for verdict in verdicts)
        told = f"The judge accepted {useful} of {len(texts)} texts."
        return MetricEvaluationResult(self.metric_name, score, told, dict(zip(texts, verdicts, strict=True)))

    def _texts(self, item: DatasetItem) -> list[str]:
        return item.retrieved_content

    def _value(self, placed: Placements) -> np.ndarray:
        raise NotImplementedError


class ContextualPrecision(_Judged):
    """Average precision over the retrieved texts that `judge(item, text)` calls useful, divided by those seen.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> ContextualPrecision(judge=lambda item, text: text == "yes").score(item).score
    0.5
    """

    key = "contextual_precision"
    default_name = "Contextual Precision"
    best_for = "Judged context"
    key_question = "Do useful texts come first?"
    formula = "mean of precision at the useful texts"

    def _value(self, placed: Placements) -> np.ndarray:
        return values("AP", None, placed, AXION, {"divisor": "hits", "rel": ABOVE_ZERO})


class ContextualRanking(_Judged):
    """nDCG of the retrieved texts with the judge's answers as grades; the ideal is their best order.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> round(ContextualRanking(judge=lambda item, text: text == "yes").score(item).score, 4)
    0.6309
    """

    key = "contextual_ranking"
    default_name = "Contextual Ranking"
    best_for = "Judged context"
    key_question = "Is the order of the context optimal?"
    formula = "DCG / DCG of the best order"

    def _value(self, placed: Placements) -> np.ndarray:
        return values("nDCG", None, placed, AXION, {"ideal": "retrieved"})


class ContextualRecall(_Judged):
    """The share of the expected output's sentences that `judge(item, sentence)` finds in the retrieved texts.

    >>> item = DatasetItem(retrieved_content=["Paris is big."], expected_output="Paris is big. It rains.")
    >>> ContextualRecall(judge=lambda item, text: text in item.retrieved_content).score(item).score
    0.5
    """

    key = "contextual_recall"
    default_name = "Contextual Recall"
    best_for = "Judged context"
    key_question = "Does the context hold everything that the answer needs?"
    formula = "supported sentences / all sentences"
    required_fields: ClassVar[tuple[str, ...]] = ("retrieved_content", "expected_output")

    def _texts(self, item: DatasetItem) -> list[str]:
        return sentences(item.expected_output or "")

    def _value(self, placed: Placements) -> np.ndarray:
        return measure("SetP", None, AXION, (("rel", ABOVE_ZERO),))(placed)


# The registry.


class _Registry:
    """Metrics by key and by tag."""

    def __init__(self, classes: Iterable[type[_Metric]]) -> None:
        self._classes = {one.key: one for one in classes}

    def get(self, key: str) -> type[_Metric]:
        """The class of a key such as 'ndcg_at_k'."""
        if key not in self._classes:
            known = ", ".join(self._classes)
            raise OptionError(f"unknown metric {key!r}; there are: {known}", hint=did_you_mean(key, self._classes))
        return self._classes[key]

    def find(self, tag: str) -> list[type[_Metric]]:
        """The classes with a tag such as 'retrieval'."""
        return [one for one in self._classes.values() if tag in one.tags]

    def compatible(self, item: DatasetItem) -> list[type[_Metric]]:
        """The classes whose required fields an item has."""
        return [one for one in self._classes.values() if all(getattr(item, name) for name in one.required_fields)]

    def describe(self) -> list[dict[str, Any]]:
        """Every metric at a glance."""
        return [
            {
                "key": one.key,
                "name": one.default_name,
                "formula": one.formula,
                "score_range": one.score_range,
                "default_k": 10 if issubclass(one, _AtK) else None,
                "tags": one.tags,
                "required_fields": one.required_fields,
                "best_for": one.best_for,
                "key_question": one.key_question,
            }
            for one in self._classes.values()
        ]


registry = _Registry(
    (
        HitRateAtK,
        MeanReciprocalRank,
        NDCGAtK,
        PrecisionAtK,
        RecallAtK,
        ContextualPrecision,
        ContextualRecall,
        ContextualRanking,
    )
)


# The runner.


@dataclass
class MetricRunner:
    """Several metrics over several items; one that fails never takes another with it.

    `metrics` may hold one's own: anything with `async execute(item)` that returns an object with `score`.
    They run at most `max_concurrent` at a time. `thresholds` maps a metric's class name, key or display name
    to the score that passes. `cache_manager` is any mutable mapping; its keys hold the metric's parameters.
    `progress` is called with the number of scores done and to do.
    """

    metrics: Sequence[Any]
    name: str | None = None
    description: str | None = None
    max_concurrent: int = 5
    thresholds: Mapping[str, float] | None = None
    cache_manager: MutableMapping[Any, Any] | None = None
    progress: Callable[[int, int], None] | None = None
    summary: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    elapsed_time: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if isinstance(self.max_concurrent, bool) or not isinstance(self.max_concurrent, int) or self.max_concurrent < 1:
            raise OptionError(f"max_concurrent is {self.max_concurrent!r}; it must be a positive integer")

    async def run(self, items: Any) -> list[MetricScore]:
        """All scores in one list: for each item, in the order of the metrics."""
        return [score for result in await self.execute_batch(items) for score in result.score_results]

    def score(self, items: Any) -> list[MetricScore]:
        """`run` without await."""
        return _run_now(self.run(items))

    async def execute_batch(self, items: Any, *, show_progress: bool = True) -> list[TestResult]:
        """All scores, by item; `show_progress=False` leaves `progress` alone."""
        began = time.perf_counter()
        cases = _as_items(items)
        total, done = len(cases) * len(self.metrics), 0
        batches: dict[bool, _Batch] = {}
        gate = asyncio.Semaphore(self.max_concurrent)
        columns: list[list[MetricScore]] = []
        for metric in self.metrics:
            if isinstance(metric, _Metric) and not isinstance(metric, _Judged):
                flag = metric.as_released
                if flag not in batches:
                    batches[flag] = _Batch.of(cases, flag)
                found: list[Any] = list(metric._results(batches[flag]))
            else:
                found = list(await asyncio.gather(*(self._guarded(metric, case, gate) for case in cases)))
            columns.append([self._scored(metric, case, one) for case, one in zip(cases, found, strict=True)])
            done += len(cases)
            if self.progress and show_progress:
                self.progress(done, total)
        self.elapsed_time = time.perf_counter() - began
        self.summary = {_name(metric): _summary(column) for metric, column in zip(self.metrics, columns, strict=True)}
        return [TestResult(case, [column[i] for column in columns]) for i, case in enumerate(cases)]

    async def _guarded(self, metric: Any, case: Any, gate: asyncio.Semaphore) -> Any:
        key = None
        if self.cache_manager is not None:
            key = (getattr(metric, "parameters", id(metric)), getattr(case, "id", id(case)))
            if key in self.cache_manager:
                return self.cache_manager[key]
        try:
            async with gate:
                found = await metric.execute(case)
        except Exception as error:  # one's own metric may fail in any way, and the others go on
            return MetricEvaluationResult(_name(metric), math.nan, f"Error executing metric: {error}")
        if self.cache_manager is not None:
            self.cache_manager[key] = found
        return found

    def _scored(self, metric: Any, case: Any, found: Any) -> MetricScore:
        score = float(found.score)
        told = getattr(found, "explanation", "") or ""
        threshold = None if told.startswith("Error executing metric:") else self._threshold(metric)
        return MetricScore(
            metric_name=_name(metric),
            score=score,
            explanation=told,
            signals=getattr(found, "signals", None),
            threshold=threshold,
            passed=None if math.isnan(score) or threshold is None else score >= threshold,
            item_id=getattr(case, "id", None),
        )

    def _threshold(self, metric: Any) -> float | None:
        for name in (type(metric).__name__, getattr(metric, "key", None), _name(metric)):
            if name is not None and name in (self.thresholds or {}):
                return (self.thresholds or {})[name]
        return getattr(metric, "threshold", None)


def _run_now(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of asynchronous work for code that is not; in code that is, an error that says what to write."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise GoldrankError(
        "score() waits for asynchronous work and cannot do so inside an event loop (a notebook has one)",
        hint="Write `await metric.execute(item)` or `await runner.run(items)` here.",
    )


def _name(metric: Any) -> str:
    return str(getattr(metric, "metric_name", None) or getattr(metric, "name", None) or type(metric).__name__)


def _as_items(items: Any) -> list[Any]:
    if hasattr(items, "to_dict") and hasattr(items, "columns"):
        items = items.to_dict("records")
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise ItemTypeError(
            f"Invalid input type '{type(items).__name__}'. "
            "Expected one of: Dataset, List[DatasetItem], or pandas.DataFrame."
        )
    cases: list[Any] = []
    for item in items:
        if isinstance(item, Mapping):
            # What does not make an item stays as it is, and every metric says of it that it is none.
            with contextlib.suppress(TypeError, InputError):
                item = DatasetItem(**item)
        cases.append(item)
    return cases


def _summary(column: Sequence[MetricScore]) -> dict[str, Any]:
    """Statistics of one metric; items without a score are counted and left out."""
    scores = [one.score for one in column if not math.isnan(one.score)]
    passed = [one.passed for one in column if one.passed is not None]
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
