"""continuous-eval's metrics that ask a judge: a function of the user, which may call a language model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError
from goldrank.base.waiting import FailedCall, outcomes
from goldrank.compat._common import is_judge, judged, mean, placed_verdicts, values
from goldrank.compat.continuous_eval.base import (
    ANSWERS,
    QUESTION,
    RETRIEVED,
    Columns,
    Field,
    Input,
    Metric,
    Values,
    fractions,
)
from goldrank.conventions.seeds import CONTINUOUS_EVAL
from goldrank.data.text_item import Texts
from goldrank.match.answers import as_number
from goldrank.match.units import sentences

Answer: TypeAlias = bool | float | str
Judge: TypeAlias = Callable[[str, str], Answer | Awaitable[Answer]]
"""A function, asynchronous or not, that answers for a question (or statement) and a text: a bool, a number from 0 to 1
(yes means above 0.5), or a word as yes or no. It may call a language model. A judge of `goldrank.judging` can be used
too, with its job, cache and log."""

RELEVANT_ABOVE = 0.5


class JudgedMetric(Metric):
    """A metric over a judge's answers. A judge that fails or gives no answer is an error that names the text."""

    def __init__(self, judge: Judge | None = None, *, model: object = None, use_few_shot: bool = True) -> None:
        """Make a metric ready; `use_few_shot` changes nothing, because the judge has its own prompt.

        continuous-eval's `model` is refused: nothing here asks a language model, but `judge` may.
        """
        hint = "Give judge=, a function of a question (or statement) and a text; it may ask a language model."
        if model is not None:
            raise OptionError("no model is asked from here", hint=hint, code="not-a-function")
        if judge is None or not (callable(judge) or is_judge(judge)):
            raise OptionError(f"judge is {judge!r}, which cannot be called", hint=hint, code="not-a-function")

        self.judge = judge
        self.use_few_shot = use_few_shot

    def _answers(self, questions: Sequence[tuple[str, str, str]]) -> Iterator[float]:
        """The judge's numbers for each (question or statement, text, position), in order. Several calls run at once."""
        if is_judge(self.judge):
            answers = judged(self.judge, [(about, text, about) for about, text, _ in questions])
        else:
            calls = [partial(self.judge, about, text) for about, text, _ in questions]
            answers = outcomes(calls, [0] * len(calls))

        for answer, (_, text, where) in zip(answers, questions, strict=True):
            text_where = f"{where}, '{ids.show(text)}'"
            if isinstance(answer, FailedCall):  # a judge may fail in any way
                error = answer.error
                message = f"the judge failed with {type(error).__name__}: {error}"
                raise InputError(message, where=text_where, code="function-failed") from error
            yield as_number(answer, "the judge", text_where)


class LLMBasedContextPrecision(JudgedMetric):
    """Precision and average precision over the contexts that `judge(question, context)` calls useful.

    `log_relevance_by_context=True` adds the verdict on each context.

    >>> metric = LLMBasedContextPrecision(judge=lambda question, context: "Paris" in context)
    >>> metric.calculate(question="Capital of France?", retrieved_contexts=["Lyon.", "Paris."])
    {'LLM_based_context_precision': 0.5, 'LLM_based_context_average_precision': 0.5}
    """

    outputs: ClassVar[dict[str, str]] = {
        "LLM_based_context_precision": "SetP",
        "LLM_based_context_average_precision": "AP",
    }
    """The measure of each output over the verdicts."""
    by_context: ClassVar[str] = "LLM_based_context_relevance_by_context"
    schema = fractions(*outputs)
    inputs = (RETRIEVED, QUESTION)

    def __init__(
        self,
        judge: Judge | None = None,
        *,
        model: object = None,
        use_few_shot: bool = True,
        log_relevance_by_context: bool = False,
    ) -> None:
        """Make a metric ready; `use_few_shot` changes nothing, because the judge has its own prompt."""
        super().__init__(judge, model=model, use_few_shot=use_few_shot)
        self.log_relevance_by_context = log_relevance_by_context

    def calculate(self, question: str, retrieved_contexts: Texts, **_: object) -> Values:
        """The values of one query, by the call of the document's version."""
        return self._values_of_one("0.2", retrieved_contexts=retrieved_contexts, question=question)

    def compute(self, retrieved_context: Texts, question: str, **_: object) -> Values:
        """The values of one query, by the call of later versions."""
        return self._values_of_one("later", retrieved_contexts=retrieved_context, question=question)

    def many(self, columns: Columns, form: str, k: int | None = None) -> list[Values]:
        shown = [contexts[:k] for contexts in columns[RETRIEVED.names[0]]]
        questions = []
        for i, (question, contexts) in enumerate(zip(columns[QUESTION.names[0]], shown, strict=True)):
            for number, text in enumerate(contexts, 1):
                questions.append((question, text, f"query {i}, context {number}"))

        numbers = self._answers(questions)
        return [self._valued(list(islice(numbers, len(contexts)))) for contexts in shown]

    def _valued(self, numbers: Sequence[float]) -> Values:
        verdicts = [number > RELEVANT_ABOVE for number in numbers]
        placed = placed_verdicts(verdicts)
        result: Values = {
            key: float(values(name, None, placed, CONTINUOUS_EVAL)[0]) for key, name in self.outputs.items()
        }
        if self.log_relevance_by_context:
            result[self.by_context] = verdicts
        return result


class ContextPrecision(LLMBasedContextPrecision):
    """`LLMBasedContextPrecision` of later versions: the mean of the judge's numbers, and the share above 0.5.

    >>> metric = ContextPrecision(judge=lambda question, context: 0.75 if "Paris" in context else 0.25)
    >>> metric(question="Capital of France?", retrieved_context=["Lyon.", "Paris."])
    {'percentage_relevant': 0.5, 'context_precision': 0.5, 'context_mean_average_precision': 0.5}
    """

    outputs: ClassVar[dict[str, str]] = {"percentage_relevant": "SetP", "context_mean_average_precision": "AP"}
    by_context: ClassVar[str] = "context_relevance_by_context"
    schema = fractions("percentage_relevant", "context_precision", "context_mean_average_precision")

    def _valued(self, numbers: Sequence[float]) -> Values:
        result = super()._valued(numbers)
        result["context_precision"] = 0.0
        if numbers:
            result["context_precision"] = mean(np.array(numbers))
        if self.log_relevance_by_context:
            result[self.by_context] = list(numbers)
        return {key: result[key] for key in (*self.schema, self.by_context) if key in result}


class LLMBasedContextCoverage(JudgedMetric):
    """The share of the answer's sentences that `judge(statement, contexts)` finds in the contexts.

    Of several answers the one with the highest share counts. The answer is the ground truth, as the document says, or
    `answer` where there is no other. 0.2.4 judged the generated `answer`, and so does `as_released=True`.

    >>> metric = LLMBasedContextCoverage(judge=lambda statement, contexts: statement in contexts)
    >>> found = metric.calculate(retrieved_contexts=["Paris is big."], ground_truths=["Paris is big. It rains."])
    >>> found["LLM_based_context_coverage"]
    0.5
    """

    share: ClassVar[str] = "LLM_based_context_coverage"
    statements_key: ClassVar[str] = "LLM_based_context_statements"
    released: ClassVar[Input] = Input(("answer",), ANSWERS.holds, ANSWERS.description)
    """The answer that the released code judges."""
    schema: ClassVar[dict[str, Field]] = {**fractions(share), statements_key: Field(list)}
    inputs: tuple[Input, ...] = (
        RETRIEVED,
        ANSWERS,
        Input(QUESTION.names, QUESTION.holds, QUESTION.description, is_required=False),
    )

    def __init__(
        self, judge: Judge | None = None, *, model: object = None, use_few_shot: bool = True, as_released: bool = False
    ) -> None:
        """Make a metric ready; `use_few_shot` changes nothing, because the judge has its own prompt."""
        super().__init__(judge, model=model, use_few_shot=use_few_shot)
        if as_released:
            inputs = list(type(self).inputs)
            inputs[inputs.index(ANSWERS)] = self.released
            self.inputs = tuple(inputs)

    def calculate(self, retrieved_contexts: Texts, **answers: Any) -> Values:
        """The values of one query, by the call of the document's version.

        The answer, one or several, is `ground_truths`, `ground_truth_answers`, `ground_truth_answer` or `answer`.
        A question is allowed and ignored: the judge is asked about statements.
        """
        return self._values_of_one("0.2", **self._inputs_of(retrieved_contexts, answers))

    def compute(self, retrieved_context: Texts, **answers: Any) -> Values:
        """The values of one query, by the call of later versions; see `calculate`."""
        return self._values_of_one("later", **self._inputs_of(retrieved_context, answers))

    def _inputs_of(self, contexts: Texts, answers: dict[str, Any]) -> dict[str, Any]:
        answer_input = self.inputs[1]
        inputs: dict[str, Any] = {RETRIEVED.names[0]: contexts}
        name = answer_input.find(answers)
        if name:
            inputs[answer_input.names[0]] = answers[name]
        return inputs

    def many(self, columns: Columns, form: str, k: int | None = None) -> list[Values]:
        joined = ["\n".join(contexts[:k]) for contexts in columns[RETRIEVED.names[0]]]
        all_answers = columns[self.inputs[1].names[0]]
        by_query = [_statements(answers, f"query {i}") for i, answers in enumerate(all_answers)]
        questions = []
        for i, (contexts, answers) in enumerate(zip(joined, by_query, strict=True)):
            for statement in chain.from_iterable(answers):
                questions.append((statement, contexts, f"query {i}, statement '{ids.show(statement)}'"))

        numbers = self._answers(questions)
        return [self._best(answers, numbers) for answers in by_query]

    def _best(self, answers: Sequence[Sequence[str]], numbers: Iterator[float]) -> Values:
        """The values of the answer with the highest share; `numbers` are the judge's for the statements of all."""
        results: list[Values] = []
        for statements in answers:
            supported = [number > RELEVANT_ABOVE for number in islice(numbers, len(statements))]
            share = float(values("SetP", None, placed_verdicts(supported), CONTINUOUS_EVAL)[0])
            results.append({self.share: share, self.statements_key: self._shown(statements, supported)})
        return max(results, key=lambda result: result[self.share])

    def _shown(self, statements: Sequence[str], supported: Sequence[bool]) -> list[Any]:
        return [
            {"statement": statement, "Attributed": int(is_supported)}
            for statement, is_supported in zip(statements, supported, strict=True)
        ]


def _statements(answers: str | Sequence[str], where: str) -> list[list[str]]:
    """The sentences of each answer."""
    if isinstance(answers, str):
        answers = [answers]
    by_answer = []
    for answer in answers:
        statements = sentences(answer)
        if not statements:
            raise InputError(f"the answer {answer!r} has no statement", where=where, code="no-statements")
        by_answer.append(statements)
    if not by_answer:
        raise InputError("there is no answer", where=where, code="no-statements")
    return by_answer


class ContextCoverage(LLMBasedContextCoverage):
    """`LLMBasedContextCoverage` of later versions, which judge the ground truth, so that `as_released` changes nothing.

    >>> metric = ContextCoverage(judge=lambda statement, contexts: statement in contexts)
    >>> metric(retrieved_context=["Paris is big."], ground_truth_answers=["Paris is big. It rains."])
    {'context_coverage': 0.5, 'statements': ['Paris is big.', 'It rains.']}
    """

    share: ClassVar[str] = "context_coverage"
    statements_key: ClassVar[str] = "statements"
    released: ClassVar[Input] = ANSWERS
    schema: ClassVar[dict[str, Field]] = {**fractions(share), statements_key: Field(list)}

    def _shown(self, statements: Sequence[str], supported: Sequence[bool]) -> list[Any]:
        return list(statements)
