"""Axion's metrics that ask a judge: a function of one's own, which may call a language model."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from goldrank.compat._common import placed_verdicts, values
from goldrank.compat.axion.data import DatasetItem, MetricEvaluationResult
from goldrank.compat.axion.metrics import BadItemError, RetrievalMetric, require_fields
from goldrank.conventions import ABOVE_ZERO, AXION
from goldrank.data.placements import Placements
from goldrank.errors import GoldrankError
from goldrank.match.units import sentences

Judge: TypeAlias = Callable[[DatasetItem, str], bool | float | Awaitable[bool | float]]
"""A function, asynchronous or not, that answers for one text of an item."""

Result = TypeVar("Result")


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
        score = float(self._value(placed_verdicts(verdicts))[0])
        accepted = sum(verdict > 0 for verdict in verdicts)
        explanation = f"The judge accepted {accepted} of {len(texts)} texts."
        return self._result(score, explanation, dict(zip(texts, verdicts, strict=True)))

    def _texts(self, item: DatasetItem) -> list[str]:
        return item.retrieved_content

    def _value(self, placed: Placements) -> np.ndarray:
        raise NotImplementedError


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

    def _value(self, placed: Placements) -> np.ndarray:
        return values("AP", None, placed, AXION, divisor="hits", rel=ABOVE_ZERO)


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

    def _value(self, placed: Placements) -> np.ndarray:
        return values("nDCG", None, placed, AXION, ideal="retrieved")


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

    def _texts(self, item: DatasetItem) -> list[str]:
        return sentences(item.expected_output or "")

    def _value(self, placed: Placements) -> np.ndarray:
        return values("SetP", None, placed, AXION, rel=ABOVE_ZERO)
