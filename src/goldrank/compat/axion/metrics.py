"""Axion's metrics: over ids, where items are read into placements once and measures of goldrank give the values, and
those that ask a judge, a function of one's own, which may call a language model."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from goldrank.compat._common import is_whole, placed_verdicts, values
from goldrank.compat.axion.data import (
    DatasetItem,
    KDetail,
    MeanReciprocalRankResult,
    MetricEvaluationResult,
    MultiKResult,
)
from goldrank.conventions import ABOVE_ZERO, AXION
from goldrank.data.placements import Placements
from goldrank.engine.lists import place
from goldrank.errors import GoldrankError, OptionError
from goldrank.match.units import sentences
from goldrank.measures.gain import ideal_dcg

Judge: TypeAlias = Callable[[DatasetItem, str], bool | float | Awaitable[bool | float]]
"""A function, asynchronous or not, that answers for one text of an item."""

Result = TypeVar("Result")
FAILED = "Metric computation failed: "
"""How Axion begins the reason of an item that cannot be scored."""


class BadItemError(Exception):
    """Why an item cannot be scored."""


@dataclass(frozen=True)
class Batch:
    """Items made ready: rankings of ids, placements, and the reasons of those that cannot be scored."""

    rankings: list[list[str]]
    reasons: list[str | None]
    placed: Placements

    @classmethod
    def of(cls, items: Sequence[object], as_released: bool) -> Batch:
        """Every item is in it; one that cannot be scored as an empty ranking."""
        rows = [_read_or_reason(item, as_released) for item in items]
        rankings = [ranking for ranking, _, _ in rows]
        return cls(rankings, [reason for _, _, reason in rows], place(rankings, [grades for _, grades, _ in rows]))


def require_fields(item: object, names: Sequence[str]) -> None:
    """The error that names the first field that an item has not, if there is one."""
    for name in names:
        if not getattr(item, name, None):
            raise BadItemError(f"{FAILED}`{name}` field is missing or empty.")


def _read_or_reason(item: object, as_released: bool) -> tuple[list[str], dict[str, float], str | None]:
    try:
        return *_read(item, as_released), None
    except BadItemError as error:
        return [], {}, str(error)


def _read(item: object, as_released: bool) -> tuple[list[str], dict[str, float]]:
    if not isinstance(item, DatasetItem):
        raise BadItemError(f"{FAILED}a {type(item).__name__} is no DatasetItem")
    require_fields(item, RetrievalMetric.required_fields)
    ranking = [doc for doc, _, _ in _entries(item, "actual_ranking", as_released)]
    entries = _entries(item, "expected_reference", as_released)
    return ranking, {doc: _grade(entry, where, as_released) for doc, entry, where in entries}


def _entries(item: DatasetItem, name: str, as_released: bool) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """The id of each entry, the entry, and its place in words, which Axion does not tell."""
    for at, entry in enumerate(getattr(item, name), 1):
        where = "" if as_released else f" (entry {at} of item {item.id!r})"
        if not isinstance(entry, Mapping) or "id" not in entry:
            raise BadItemError(f"{FAILED}`{name}` items must be dicts with an 'id' key. Error: 'id'{where}")
        yield str(entry["id"]), entry, where


def _grade(entry: Mapping[str, Any], where: str, as_released: bool) -> float:
    try:
        grade = float(entry.get("relevance", 1.0))
    except TypeError as error:
        rule = "items must be dicts with an 'id' key" if as_released else "relevance must be a number"
        raise BadItemError(f"{FAILED}`expected_reference` {rule}. Error: {error}{where}") from None
    except ValueError as error:
        raise BadItemError(f"Error executing metric: {error}{where}") from None
    if not math.isfinite(grade):
        raise BadItemError(f"{FAILED}`expected_reference` relevance is {grade}, not a finite number{where}")
    return grade


class RetrievalMetric:
    """What all of them share: a name, a threshold, and execute / score."""

    key: ClassVar[str]
    default_name: ClassVar[str]
    best_for: ClassVar[str]
    key_question: ClassVar[str]
    formula: ClassVar[str]
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    default_k: ClassVar[int | None] = None
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
    def parameters(self) -> tuple[Hashable, ...]:
        """Everything that changes a result; part of a cache's key."""
        return (type(self).__name__, self.as_released)

    async def execute(self, item: DatasetItem) -> MetricEvaluationResult:
        """The result of one item. A bad item gives NaN and the reason, never an exception."""
        return self.score(item)

    def score(self, item: DatasetItem) -> MetricEvaluationResult:
        """`execute` without await."""
        return self.score_all([item])[0]

    def score_all(self, items: Sequence[object]) -> list[MetricEvaluationResult]:
        """The results of many items in one pass."""
        return self.results(Batch.of(items, self.as_released))

    def results(self, batch: Batch) -> list[MetricEvaluationResult]:
        """The results of items that are read already."""
        measured = self._measured(batch, batch.placed if self.as_released else batch.placed.per_label)
        return [
            self._result(math.nan, reason) if reason is not None else result
            for reason, result in zip(batch.reasons, measured, strict=True)
        ]

    def _result(self, score: float, explanation: str, signals: object = None) -> MetricEvaluationResult:
        return MetricEvaluationResult(self.metric_name, score, explanation, signals)

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        raise NotImplementedError


class MetricAtK(RetrievalMetric):
    """A metric at one or several cut-offs; `main_k` (the largest unless given) makes the score."""

    default_k = 10
    shown_as: ClassVar[str] = ".4f"
    """How the explanation formats the score."""

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
        kept = sorted({int(cut) for cut in given if is_whole(cut) and cut > 0})
        if not kept:
            raise OptionError("k must contain at least one positive integer.", hint=f"It is {k!r}.")
        for cut in given:
            if not is_whole(cut) or (cut < 1 and not as_released):
                raise OptionError(f"k contains {cut!r}, which is not a positive integer")
        if main_k is not None and main_k not in kept:
            raise OptionError(f"main_k ({main_k}) must be one of the specified k values: {kept}")
        self.k = kept
        self.main_k = kept[-1] if main_k is None else int(main_k)

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (*super().parameters, tuple(self.k), self.main_k)

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        raise NotImplementedError

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        by_k = {k: self._details(k, placed) for k in self.k}
        results = []
        for i in range(len(placed)):
            details = {k: by_k[k][i] for k in self.k}
            score = details[self.main_k].score
            explanation = f"Scores calculated for K={self.k}. Main score (K={self.main_k}) is {score:{self.shown_as}}."
            results.append(self._result(score, explanation, self._signals(details, score)))
        return results

    def _signals(self, details: dict[int, KDetail], score: float) -> MultiKResult:
        return MultiKResult(list(self.k), details, score, self.main_k)

    def _counted(self, k: int, placed: Placements, scores: np.ndarray) -> list[KDetail]:
        """Details with the counts that Precision and Recall are made of."""
        hits = values("NumRelRet", k, placed, AXION, rel=ABOVE_ZERO).astype(int)
        columns = (scores, hits, placed.cut(k).retrieved, placed.relevant(ABOVE_ZERO))
        return [KDetail(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


class HitRateAtK(MetricAtK):
    """1.0 if any of the first K documents is relevant, else 0.0.

    >>> HitRateAtK(k=[1, 3]).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    1.0
    """

    key = "hit_rate_at_k"
    default_name = "Hit Rate @ K"
    best_for = "Quick sanity check"
    key_question = "Did we find anything relevant?"
    formula = "1 if any relevant in K"
    shown_as = ""

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        return [KDetail(score, is_hit=score > 0) for score in values("Success", k, placed, AXION).tolist()]


class MeanReciprocalRank(RetrievalMetric):
    """1 / rank of the first relevant document of the whole ranking; 0.0 if there is none.

    >>> MeanReciprocalRank().score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    0.5
    """

    key = "mean_reciprocal_rank"
    default_name = "Mean Reciprocal Rank (MRR)"
    best_for = "First-result systems"
    key_question = "How fast do users find what they need?"
    formula = "1 / first_relevant_rank"

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        scores = values("RR", None, placed, AXION).tolist()
        first = placed.first(placed.grade >= ABOVE_ZERO).tolist()
        results = []
        for ranking, rank, score in zip(batch.rankings, first, scores, strict=True):
            explanation = (
                f"First relevant document ('{ranking[rank - 1]}') found at rank {rank}."
                if rank
                else "No relevant documents found in the retrieved results."
            )
            results.append(self._result(score, explanation, MeanReciprocalRankResult(rank or None, score)))
        return results


class NDCGAtK(MetricAtK):
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
        scores, gained = values("nDCG", k, placed, AXION).tolist(), values("DCG", k, placed, AXION).tolist()
        best = ideal_dcg(placed, k, ABOVE_ZERO, "linear", "log2", "keep", "judged").tolist()
        return [KDetail(n, dcg=d, idcg=i) for n, d, i in zip(scores, gained, best, strict=True)]


class PrecisionAtK(MetricAtK):
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
        divisor = "retrieved" if self.as_released else "k"
        return self._counted(k, placed, values("P", k, placed, AXION, divisor=divisor))


class RecallAtK(MetricAtK):
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

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        results = super()._measured(batch, placed)
        reason = "No relevant documents were expected"
        for i in np.flatnonzero(placed.relevant(ABOVE_ZERO) == 0).tolist():
            if self.as_released:
                signals = self._signals({k: KDetail(1.0) for k in self.k}, 1.0)
                results[i] = self._result(1.0, f"{reason}, so recall is trivially 1.0 for all K.", signals)
            else:
                explanation = f"{reason}: every judged document has relevance 0 or less."
                results[i] = self._result(0.0, explanation, results[i].signals)
        return results


def run_now(work: Coroutine[Any, Any, Result]) -> Result:
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


class JudgedMetric(RetrievalMetric):
    """A metric over the verdicts of `judge(item, text)`."""

    best_for = "Judged context"
    tags = ("retrieval", "judged")
    required_fields: ClassVar[tuple[str, ...]] = ("retrieved_content",)
    measure: ClassVar[str]
    """What is made of the verdicts, with these `options`."""
    options: ClassVar[Mapping[str, str | float]]

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
    def parameters(self) -> tuple[Hashable, ...]:
        return (*super().parameters, self.judge)

    def score(self, item: DatasetItem) -> MetricEvaluationResult:
        return run_now(self.execute(item))

    def score_all(self, items: Sequence[Any]) -> list[MetricEvaluationResult]:
        return [self.score(item) for item in items]

    async def execute(self, item: DatasetItem) -> MetricEvaluationResult:
        try:
            require_fields(item, self.required_fields)
        except BadItemError as error:
            return self._result(math.nan, str(error))
        texts = self._texts(item)
        verdicts = []
        for text in texts:
            answer = self.judge(item, text)
            verdicts.append(float(await answer if inspect.isawaitable(answer) else answer))
        score = float(values(self.measure, None, placed_verdicts(verdicts), AXION, **self.options)[0])
        accepted = sum(verdict > 0 for verdict in verdicts)
        explanation = f"The judge accepted {accepted} of {len(texts)} texts."
        return self._result(score, explanation, dict(zip(texts, verdicts, strict=True)))

    def _texts(self, item: DatasetItem) -> list[str]:
        return item.retrieved_content


class ContextualPrecision(JudgedMetric):
    """Average precision over the retrieved texts that `judge(item, text)` calls useful, divided by those seen.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> ContextualPrecision(judge=lambda item, text: text == "yes").score(item).score
    0.5
    """

    key = "contextual_precision"
    default_name = "Contextual Precision"
    key_question = "Do useful texts come first?"
    formula = "mean of precision at the useful texts"
    measure = "AP"
    options: ClassVar[Mapping[str, str | float]] = {"divisor": "hits", "rel": ABOVE_ZERO}


class ContextualRanking(JudgedMetric):
    """nDCG of the retrieved texts with the judge's answers as grades; the ideal is their best order.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> round(ContextualRanking(judge=lambda item, text: text == "yes").score(item).score, 4)
    0.6309
    """

    key = "contextual_ranking"
    default_name = "Contextual Ranking"
    key_question = "Is the order of the context optimal?"
    formula = "DCG / DCG of the best order"
    measure = "nDCG"
    options: ClassVar[Mapping[str, str | float]] = {"ideal": "retrieved"}


class ContextualRecall(JudgedMetric):
    """The share of the expected output's sentences that `judge(item, sentence)` finds in the retrieved texts.

    >>> item = DatasetItem(retrieved_content=["Paris is big."], expected_output="Paris is big. It rains.")
    >>> ContextualRecall(judge=lambda item, text: text in item.retrieved_content).score(item).score
    0.5
    """

    key = "contextual_recall"
    default_name = "Contextual Recall"
    key_question = "Does the context hold everything that the answer needs?"
    formula = "supported sentences / all sentences"
    required_fields = ("retrieved_content", "expected_output")
    measure = "SetP"
    options: ClassVar[Mapping[str, str | float]] = {"rel": ABOVE_ZERO}

    def _texts(self, item: DatasetItem) -> list[str]:
        return sentences(item.expected_output or "")


METRICS: tuple[type[RetrievalMetric], ...] = (
    *(HitRateAtK, MeanReciprocalRank, NDCGAtK, PrecisionAtK, RecallAtK),
    *(ContextualPrecision, ContextualRecall, ContextualRanking),
)
