"""Axion's metrics that ask a judge: a function of the user, which may call a language model."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, Unpack

from goldrank.base import ids
from goldrank.base.errors import GoldrankError, OptionError
from goldrank.base.waiting import FailedCall, outcomes
from goldrank.compat._common import is_judge, is_number, judged, placed_verdicts, same_object, values
from goldrank.compat.axion.base import ERROR, FAILED, BadItemError, MetricOptions, RetrievalMetric, reason_of
from goldrank.compat.axion.dataset import DatasetItem, JudgedChunk, JudgedResult, MetricEvaluationResult, as_item
from goldrank.conventions.seeds import AXION
from goldrank.match.answers import as_number
from goldrank.match.units import sentences

Answer: TypeAlias = bool | float | str
Judge: TypeAlias = Callable[[DatasetItem, str], Answer | Awaitable[Answer]]
"""A function, asynchronous or not, that answers for one text of an item: a bool, a number, or a word as yes or no."""


def _verdict(answer: Any, where: str) -> float:
    """An answer as a number. `Any`: it is checked here."""
    if isinstance(answer, FailedCall):
        failed = f"the judge failed with {type(answer.error).__name__}: {reason_of(answer.error)}"
        raise BadItemError(f"{ERROR}{failed} ({where})") from answer.error
    try:
        return as_number(answer, "the judge", where, most=math.inf)
    except GoldrankError as error:
        raise BadItemError(f"{ERROR}{error.what} ({where})") from None


class JudgedMetric(RetrievalMetric):
    """A metric over the verdicts of `judge(item, text)`."""

    best_for = "Judged context"
    tags = ("retrieval", "judged")
    required_fields: tuple[str, ...] = ("retrieved_content",)
    measure: str
    """The measure of the verdicts, with these `options`."""
    options: Mapping[str, str | float] = {}
    graded: bool = False
    """Whether the judge's numbers are grades, rather than yes from `useful_from` up."""

    def __init__(
        self, judge: Judge | None = None, *, useful_from: float = 0.5, **options: Unpack[MetricOptions]
    ) -> None:
        """Make a metric ready; it keeps nothing between items.

        `judge(item, text)` answers with a bool, a number from 0 up, or a word such as yes or no, and may be
        asynchronous. A number means yes from `useful_from` on. A judge that fails, or answers with anything else
        (nothing, "maybe"), gives the item NaN and the reason. `threshold` is the score from which a runner says that
        an item passed (0.5 unless given; 0 counts). `as_released` gives the numbers of Axion's released code where they
        differ. `name`, `metric_name`, `metric_description`, `required_fields` and `field_mapping` are those of
        `RetrievalMetric`.
        """
        super().__init__(**options)
        if judge is None or not (callable(judge) or is_judge(judge)):
            hint = "Give judge=, a function of an item and a text; it may ask a language model."
            raise OptionError(f"judge is {judge!r}, which cannot be called", hint=hint, code="not-a-function")
        if not is_number(useful_from) or not useful_from > 0:
            raise OptionError(f"useful_from is {useful_from!r}; it must be a number above 0")
        self.judge = judge
        self.useful_from = useful_from

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (*super().parameters, same_object(self.judge), self.useful_from)

    def score_all(self, items: Sequence[Any]) -> list[MetricEvaluationResult]:
        """The values of several items; an asynchronous judge is asked about several texts at once."""
        prepared = [self._prepared(item) for item in items]
        pairs: list[tuple[DatasetItem, str]] = []
        item_numbers: list[int] = []
        for number, row in enumerate(prepared):
            if isinstance(row, tuple):
                item, texts = row
                pairs += [(item, text) for text in texts]
                item_numbers += [number] * len(texts)

        if is_judge(self.judge):
            answers = iter(judged(self.judge, [self._about(item, text) for item, text in pairs]))
        else:
            answers = iter(outcomes([partial(self.judge, item, text) for item, text in pairs], item_numbers))

        results = []
        for row in prepared:
            if isinstance(row, tuple):
                item, texts = row
                results.append(self._scored(item, texts, list(islice(answers, len(texts)))))
            else:
                results.append(row)
        return results

    async def execute(self, item: Any, **_: object) -> MetricEvaluationResult:
        """The value of one item. Texts are asked about one by one: a runner has several items under way."""
        if is_judge(self.judge):
            return await asyncio.to_thread(self.score, item)

        prepared = self._prepared(item)
        if not isinstance(prepared, tuple):
            return prepared

        case, texts = prepared
        answers: list[Any] = []
        for text in texts:
            try:
                answer: Any = self.judge(case, text)
                if inspect.isawaitable(answer):
                    answer = await answer
                answers.append(answer)
            except Exception as error:  # a judge may fail in any way, and other items go on
                answers.append(FailedCall(error))
                break

        return self._scored(case, texts, answers)

    def _prepared(self, source: Any) -> tuple[DatasetItem, list[str]] | MetricEvaluationResult:
        """An item and the texts for the judge, or the result of an item that cannot be judged."""
        item = as_item(source)
        try:
            self.require_fields(item)
            assert isinstance(item, DatasetItem)
            return item, self._texts(item)
        except BadItemError as error:
            return self._result(math.nan, str(error))

    def _scored(self, item: DatasetItem, texts: list[str], answers: Sequence[Any]) -> MetricEvaluationResult:
        """The result of the judge's answers, up to the first `FailedCall`."""
        try:
            verdicts = [
                _verdict(answer, f"text {number} of item {item.id!r}, '{ids.show(text)}'")
                for number, (text, answer) in enumerate(zip(texts, answers, strict=False), 1)
            ]
        except BadItemError as error:
            return self._result(math.nan, str(error))

        useful = [verdict >= self.useful_from for verdict in verdicts]
        grades: Sequence[float] = useful
        if self.graded:
            grades = verdicts
        score = float(values(self.measure, None, placed_verdicts(grades), AXION, **self.options)[0])
        first = next((number for number, is_useful in enumerate(useful, 1) if is_useful), None)
        chunks = [JudgedChunk(*chunk) for chunk in zip(texts, verdicts, useful, strict=True)]
        signals = JudgedResult(score, len(texts), sum(useful), first, chunks)
        return self._result(score, f"The judge accepted {sum(useful)} of {len(texts)} texts.", signals)

    def _about(self, item: DatasetItem, text: str) -> tuple[str, str, str]:
        """Question, text and reference, as a judge of `goldrank.judging` is asked."""
        return item.query or "", text, item.expected_output or ""

    def _texts(self, item: DatasetItem) -> list[str]:
        return self._checked(item, "retrieved_content")

    def _checked(self, item: DatasetItem, name: str) -> list[str]:
        """A field that holds texts."""
        value = self.get_field(item, name)
        texts = value
        if isinstance(value, str):
            texts = [value]
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise BadItemError(f"{FAILED}`{name}` is {ids.show(repr(value))}, not a list of texts")
        return list(texts)


class ContextualPrecision(JudgedMetric):
    """Average precision over the retrieved texts that `judge(item, text)` calls useful, divided by those seen.

    Axion's released code computes this too, so that `as_released` changes nothing.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> ContextualPrecision(judge=lambda item, text: text == "yes").score(item).score
    0.5
    """

    key = "contextual_precision"
    default_name = "Contextual Precision"
    measures = "Useful retrieved texts ranked first"
    use_case = "Order of the context for an answer"
    key_question = "Do useful texts come first?"
    formula = "mean of precision at the useful texts"
    measure = "AP"
    options: Mapping[str, str | float] = {"divisor": "hits"}


class ContextualRanking(JudgedMetric):
    """nDCG of the retrieved texts with the judge's answers as grades; the ideal is their best order.

    `as_released=True` is Axion's released code: average precision over the texts that count as useful.

    >>> item = DatasetItem(query="q", retrieved_content=["no", "yes"])
    >>> round(ContextualRanking(judge=lambda item, text: text == "yes").score(item).score, 4)
    0.6309
    """

    key = "contextual_ranking"
    default_name = "Contextual Ranking"
    measures = "Graded usefulness of the retrieved texts, discounted by position"
    use_case = "Comparing the orders of one context"
    key_question = "Is the order of the context optimal?"
    formula = "DCG / DCG of the best order"
    measure = "nDCG"
    options: Mapping[str, str | float] = {"ideal": "retrieved"}

    def __init__(
        self, judge: Judge | None = None, *, useful_from: float = 0.5, **options: Unpack[MetricOptions]
    ) -> None:
        super().__init__(judge, useful_from=useful_from, **options)
        self.graded = not self.as_released
        if self.as_released:
            self.measure, self.options = ContextualPrecision.measure, ContextualPrecision.options


class ContextualRecall(JudgedMetric):
    """The share of the expected output's sentences that `judge(item, sentence)` finds in the retrieved texts.

    Axion's released code computes this too, so that `as_released` changes nothing.

    >>> item = DatasetItem(retrieved_content=["Paris is big."], expected_output="Paris is big. It rains.")
    >>> ContextualRecall(judge=lambda item, text: text in item.retrieved_content).score(item).score
    0.5
    """

    key = "contextual_recall"
    default_name = "Contextual Recall"
    measures = "Sentences of the expected answer that the context supports"
    use_case = "Completeness of the context for an answer"
    group = "coverage"
    key_question = "Does the context hold everything that the answer needs?"
    formula = "supported sentences / all sentences"
    required_fields = ("retrieved_content", "expected_output")
    measure = "SetP"

    def _about(self, item: DatasetItem, text: str) -> tuple[str, str, str]:
        return item.query or "", "\n\n".join(super()._texts(item)), text

    def _texts(self, item: DatasetItem) -> list[str]:
        super()._texts(item)  # raises if the judge would look for sentences in what is no text
        (text,) = self._checked(item, "expected_output")[:1]
        texts = sentences(text)
        if not texts:
            raise BadItemError(f"{FAILED}`expected_output` has no sentence.")
        return texts
