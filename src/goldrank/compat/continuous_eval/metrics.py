"""continuous-eval's metrics over texts. Strategies and metrics that ask a judge can be imported from here, as there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from goldrank.base.errors import GoldrankError, InputError, OptionError
from goldrank.base.packages import needed
from goldrank.base.waiting import within
from goldrank.compat._common import values
from goldrank.compat.continuous_eval.base import (
    RELEVANCE,
    RETRIEVED,
    TRUTHS,
    Arg,
    Columns,
    Field,
    Input,
    Metric,
    Values,
    fractions,
)
from goldrank.compat.continuous_eval.judges import (
    ContextCoverage,
    ContextPrecision,
    LLMBasedContextCoverage,
    LLMBasedContextPrecision,
)
from goldrank.compat.continuous_eval.strategies import (
    ExactChunkMatch,
    ExactSentenceMatch,
    MatchingStrategy,
    MatchingStrategyType,
    RougeChunkMatch,
    RougeSentenceMatch,
)
from goldrank.conventions.seeds import ABOVE_ZERO, CONTINUOUS_EVAL, CONTINUOUS_EVAL_RELEASED
from goldrank.data.placements import Placements
from goldrank.data.text_item import Texts
from goldrank.evaluation.text_rules import token_counter
from goldrank.match import place
from goldrank.match.tokens import approximate_tokens
from goldrank.match.units import sentences
from goldrank.measures.cutoff import harmonic

__all__ = [
    "Arg",
    "ContextCoverage",
    "ContextPrecision",
    "ExactChunkMatch",
    "ExactSentenceMatch",
    "Field",
    "LLMBasedContextCoverage",
    "LLMBasedContextPrecision",
    "MatchingStrategy",
    "MatchingStrategyType",
    "Metric",
    "PrecisionRecallF1",
    "RankedRetrievalMetrics",
    "RougeChunkMatch",
    "RougeSentenceMatch",
    "TokenCount",
]


class MatchingMetric(Metric):
    """A metric of retrieved texts that match ground truth ones by a strategy."""

    inputs = (RETRIEVED, TRUTHS, RELEVANCE)

    def __init__(self, matching_strategy: MatchingStrategy | None = None, *, as_released: bool = False) -> None:
        """Make a metric ready.

        Without a `matching_strategy` each call form has the default of its release: `calculate` and the evaluator
        compare chunks as they are (`ExactChunkMatch`), the later form by overlap (`RougeChunkMatch`).
        `as_released=True` gives the numbers of the released codes (see the package's help).
        """
        if matching_strategy is not None and not isinstance(matching_strategy, MatchingStrategy):
            hint = f"It is {matching_strategy!r}; give for example RougeChunkMatch()."
            raise OptionError("Matching strategy must be an instance of MatchingStrategy.", hint=hint)
        self.matching_strategy = matching_strategy
        self.as_released = as_released

    def calculate(
        self,
        retrieved_contexts: Texts,
        ground_truth_contexts: Texts,
        ground_truth_relevance: Sequence[float] | None = None,
        **_: object,
    ) -> Values:
        """The values of one query, by the call of the document's version.

        `ground_truth_relevance` has a number for each ground truth context; above 0 is relevant.
        """
        return self._values_of_one(
            "0.2",
            retrieved_contexts=retrieved_contexts,
            ground_truth_contexts=ground_truth_contexts,
            ground_truth_relevance=ground_truth_relevance,
        )

    def compute(
        self,
        retrieved_context: Texts,
        ground_truth_context: Texts,
        ground_truth_relevance: Sequence[float] | None = None,
        **_: object,
    ) -> Values:
        """The values of one query, by the call of later versions; see `calculate`."""
        return self._values_of_one(
            "later",
            retrieved_contexts=retrieved_context,
            ground_truth_contexts=ground_truth_context,
            ground_truth_relevance=ground_truth_relevance,
        )

    def many(self, columns: Columns, form: str, k: int | None = None) -> list[Values]:
        retrieved = [texts[:k] for texts in columns[RETRIEVED.names[0]]]
        truths = list(columns[TRUTHS.names[0]])
        grades = columns.get(RELEVANCE.names[0])
        if grades is not None:
            if self.as_released:
                message = "the released codes have no grades"
                raise OptionError(message, hint="Leave out as_released or the relevance.", code="options-conflict")
            truths, grades = _relevant(truths, grades)

        release = None
        if self.as_released:
            release = form
        strategy = self.matching_strategy
        if strategy is None and form == "later":
            strategy = RougeChunkMatch()
        elif strategy is None:
            strategy = ExactChunkMatch()
        if strategy.type is MatchingStrategyType.SENTENCE_MATCH:
            grades = None  # sentences are relevant or not
            retrieved = [_sentences(texts) for texts in retrieved]
            truths = [_sentences(texts) for texts in truths]

        repeats = "once"
        if self._counts_each(release):
            repeats = "each"
        pairs = place(retrieved, truths, strategy.in_release(release), repeated_references=repeats, grades=grades)
        measured = self._measured(pairs, release, k, grades is not None)
        rows = zip(*(column.tolist() for column in measured.values()), strict=True)
        return [dict(zip(measured, row, strict=True)) for row in rows]

    def _counts_each(self, release: str | None) -> bool:
        """Whether a ground truth that is listed twice counts twice."""
        raise NotImplementedError

    def _measured(
        self, pairs: Placements, release: str | None, k: int | None, is_graded: bool
    ) -> Mapping[str, np.ndarray]:
        """Each output of all queries; rankings are cut at k already."""
        raise NotImplementedError


def _sentences(texts: Texts) -> list[str]:
    return [sentence for text in texts for sentence in sentences(text)]


def _relevant(truths: Sequence[Texts], relevance: Sequence[Sequence[float]]) -> tuple[list[Texts], list[list[float]]]:
    """The ground truth that is relevant, the most relevant first, and its grades."""
    relevant_texts: list[Texts] = []
    grades: list[list[float]] = []
    for i, (texts, numbers) in enumerate(zip(truths, relevance, strict=True)):
        if len(texts) != len(numbers):
            message = f"query {i} has {len(texts):,} ground truth contexts and {len(numbers):,} numbers of relevance"
            raise InputError(message)

        by_text: dict[str, float] = {}
        for text, number in zip(texts, numbers, strict=True):
            if number < 0:
                raise InputError(f"query {i}: relevance {number!r} is below 0")
            if by_text.setdefault(text, number) != number:
                raise InputError(f"query {i}: {text!r} is listed with relevance {by_text[text]!r} and {number!r}")

        ordered = sorted((text for text in by_text if by_text[text] > 0), key=lambda text: -by_text[text])
        relevant_texts.append(ordered)
        grades.append([float(by_text[text]) for text in ordered])

    return relevant_texts, grades


class RankedRetrievalMetrics(MatchingMetric):
    """Average precision, reciprocal rank and NDCG of retrieved chunks.

    Look at reciprocal rank if one chunk holds the whole answer, at average precision if several are needed. Give
    `ground_truth_relevance` where some ground truths are more relevant than others: NDCG then gains these numbers.

    >>> RankedRetrievalMetrics().calculate(["x", "a"], ["a"])
    {'average_precision': 0.5, 'reciprocal_rank': 0.5, 'ndcg': 0.6309297535714574}
    """

    schema = fractions("average_precision", "reciprocal_rank", "ndcg")

    def __init__(self, matching_strategy: MatchingStrategy | None = None, *, as_released: bool = False) -> None:
        super().__init__(matching_strategy, as_released=as_released)
        if matching_strategy is not None and matching_strategy.type is not MatchingStrategyType.CHUNK_MATCH:
            raise OptionError("Ranked metrics are calculated at chunk level.", hint="Use a chunk matching strategy.")

    __init__.__doc__ = MatchingMetric.__init__.__doc__

    def _counts_each(self, release: str | None) -> bool:
        return release is not None

    def _measured(
        self, pairs: Placements, release: str | None, k: int | None, is_graded: bool
    ) -> Mapping[str, np.ndarray]:
        relevant: dict[str, Any] = {}
        gain: dict[str, Any] = {}
        if is_graded:
            relevant, gain = {"rel": ABOVE_ZERO}, {"gain": "linear"}

        reciprocal_rank = values("RR", k, pairs.per_rank, CONTINUOUS_EVAL, **relevant)
        if release is None:
            ap = values("AP", k, pairs.first_free, CONTINUOUS_EVAL, **relevant)
            ndcg = values("nDCG", k, pairs.first_free, CONTINUOUS_EVAL, **gain)
        elif release == "0.2":
            ap = values("AP", k, pairs.every_row, CONTINUOUS_EVAL_RELEASED)
            ndcg = values("nDCG", k, pairs.every_row, CONTINUOUS_EVAL_RELEASED)
        else:
            ap = values("AP", k, pairs.per_rank, CONTINUOUS_EVAL_RELEASED)
            ndcg = values("nDCG", k, pairs.first_free, CONTINUOUS_EVAL_RELEASED)

        return {"average_precision": ap, "reciprocal_rank": reciprocal_rank, "ndcg": ndcg}


class PrecisionRecallF1(MatchingMetric):
    """Precision, recall and F1 of retrieved chunks or sentences. Context recall is the one to watch first.

    >>> PrecisionRecallF1().calculate(["a", "x"], ["a"])["context_precision"]
    0.5
    """

    schema = fractions("context_precision", "context_recall", "context_f1")

    def _counts_each(self, release: str | None) -> bool:
        return release == "0.2"

    def _measured(
        self, pairs: Placements, release: str | None, k: int | None, is_graded: bool
    ) -> Mapping[str, np.ndarray]:
        relevant: dict[str, Any] = {}
        if is_graded:
            relevant["rel"] = ABOVE_ZERO
        counted = pairs.per_rank
        if release == "0.2":
            counted = pairs.every_row
        precision = values("SetP", None, counted, CONTINUOUS_EVAL, **relevant)
        recall = values("SetR", None, pairs.per_label, CONTINUOUS_EVAL, **relevant)
        f1 = harmonic(precision, recall, 1.0)
        return {"context_precision": precision, "context_recall": recall, "context_f1": f1}


class TokenCount(Metric):
    """How many tokens the retrieved contexts have, written one below the other.

    `encoder_name` is "approx" (a token for every four characters), the name of an encoding or a model that the
    package tiktoken knows ("o200k_base", "cl100k_base", "gpt-4o-mini"), or a function from a text to tokens, or to
    their number.
    continuous-eval's default is "gpt-4o-mini"; here it is "approx", which needs no package and no network. tiktoken
    downloads an encoding when it is first used: without a network that is an error, after 30 seconds at most.

    >>> TokenCount().calculate(["abcdefgh", "abcd"])
    {'num_tokens': 3}
    """

    schema: ClassVar[dict[str, Field]] = {"num_tokens": Field(int)}
    inputs = (Input(RETRIEVED.names, "text or texts", RETRIEVED.description),)

    def __init__(self, encoder_name: str | Callable[[str], Sized | int] = "approx") -> None:
        self._count: Callable[[str], int]
        if isinstance(encoder_name, str) and encoder_name == "approx":
            self._count = approximate_tokens
        elif isinstance(encoder_name, str):
            self._count = _encoder(encoder_name)
        elif callable(encoder_name):
            self._count = token_counter(encoder_name)
        else:
            message = f"encoder_name is {encoder_name!r}; it must be a name or a function from a text to tokens"
            raise OptionError(message)
        self.encoder_name = encoder_name

    def calculate(self, retrieved_contexts: Texts | str, ground_truth_contexts: object = None, **_: object) -> Values:
        """The number of tokens of one query's contexts; ground truth and other fields are ignored."""
        return self._values_of_one("0.2", **{RETRIEVED.names[0]: retrieved_contexts})

    def compute(self, retrieved_context: Texts | str, **_: object) -> Values:
        """The number of tokens of one query's contexts."""
        return self._values_of_one("later", **{RETRIEVED.names[0]: retrieved_context})

    def many(self, columns: Columns, form: str, k: int | None = None) -> list[Values]:
        (retrieved,) = columns.values()
        return [{"num_tokens": self._count(_joined(texts, k))} for texts in retrieved]


def _joined(texts: Texts | str, k: int | None) -> str:
    if isinstance(texts, str):
        return texts
    return "\n".join(texts[:k])


DOWNLOAD_SECONDS = 30.0
"""Seconds that tiktoken may take to get an encoding, which it downloads unless it is on the disk already."""
_OFFLINE = "tiktoken downloads an encoding when it is first used. Without a network give 'approx' as encoder_name."


def _encoder(name: str) -> Callable[[str], int]:
    """tiktoken's function that counts tokens, by the name of an encoding or a model."""
    with needed("tiktoken", instead="give 'approx' or a function from a text to tokens as encoder_name"):
        tiktoken = import_module("tiktoken")
    try:
        encoding = within(DOWNLOAD_SECONDS, lambda: _encoding(tiktoken, name))
    except TimeoutError:
        message = f"tiktoken did not get the encoding {name!r} within {DOWNLOAD_SECONDS:g} seconds"
        raise GoldrankError(message, hint=_OFFLINE, code="downloads-nothing") from None
    except OSError as error:  # all errors of a network are such
        message = f"tiktoken cannot get the encoding {name!r}: {error}"
        raise GoldrankError(message, hint=_OFFLINE, code="downloads-nothing") from None
    return lambda text: len(encoding.encode(text))


def _encoding(tiktoken: Any, name: str) -> Any:
    """An encoding by its name, or by the name of a model."""
    try:
        return tiktoken.get_encoding(name)
    except ValueError:
        pass
    try:
        return tiktoken.encoding_for_model(name)
    except (KeyError, ValueError):
        message = f"encoder_name is {name!r}, which is not an encoding or a model of tiktoken"
        hint = "For example 'o200k_base', 'cl100k_base', 'gpt-4o-mini', or 'approx'."
        raise OptionError(message, hint=hint) from None
