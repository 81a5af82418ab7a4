"""continuous-eval's metrics over texts, those that ask a judge, and when a retrieved text counts for a ground truth."""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, ClassVar, TypeAlias

import numpy as np

from goldrank.compat._common import TextLists, checked_texts, mean, placed_verdicts, values
from goldrank.conventions import CONTINUOUS_EVAL
from goldrank.data.placements import Placements
from goldrank.data.texts import Texts
from goldrank.errors import InputError, OptionError
from goldrank.match import TextRule, place
from goldrank.match.exact import same
from goldrank.match.rouge import reaches, rouge_l_recall
from goldrank.match.units import sentences
from goldrank.measures.cutoff import harmonic

Judge: TypeAlias = Callable[[str, str], bool | float]
"""A function that answers for a question (or statement) and a text; it may call a language model."""

Schema: TypeAlias = dict[str, dict[str, Any]]
"""Each output with its type and limits. `Any`: a word and a pair of numbers."""

Columns: TypeAlias = dict[str, np.ndarray]


class MatchingStrategyType(enum.Enum):
    """What is compared: whole chunks, or their sentences."""

    CHUNK_MATCH = "chunk"
    SENTENCE_MATCH = "sentence"


class MatchingStrategy:
    """Write one's own by giving `type` and `is_relevant`."""

    type: MatchingStrategyType = MatchingStrategyType.CHUNK_MATCH

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        """Whether a retrieved chunk or sentence counts for a ground truth one."""
        raise NotImplementedError

    def in_release(self, release: str | None) -> TextRule:
        """`is_relevant` as a release has it: None, '0.2' or 'later'."""
        return self.is_relevant


class ExactChunkMatch(MatchingStrategy):
    """Chunks that are equal.

    >>> ExactChunkMatch().is_relevant("Paris", "paris")
    False
    """

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        return same(retrieved_component, ground_truth_component)

    def in_release(self, release: str | None) -> TextRule:
        return same


class ExactSentenceMatch(ExactChunkMatch):
    """Sentences that are equal."""

    type = MatchingStrategyType.SENTENCE_MATCH


class RougeChunkMatch(MatchingStrategy):
    """Chunks that hold at least `threshold` of the ground truth's words in order (ROUGE-L recall).

    `inclusive=False` wants more than the threshold; without it, each release has its own rule.

    >>> RougeChunkMatch().is_relevant("a b c d e f g", "a b c d e f g h i j")
    True
    """

    default_threshold: ClassVar[float] = 0.7

    def __init__(self, threshold: float | None = None, *, inclusive: bool | None = None) -> None:
        self.threshold: float = self.default_threshold if threshold is None else threshold
        self.inclusive: bool | None = inclusive
        is_number = isinstance(self.threshold, numbers.Real) and not isinstance(self.threshold, bool)
        if not is_number or not 0 <= self.threshold <= 1:
            raise OptionError(f"threshold is {threshold!r}; it must be a number from 0 to 1")

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        return reaches(retrieved_component, ground_truth_component, self.threshold, self.inclusive is not False)

    def in_release(self, release: str | None) -> TextRule:
        if release != "0.2":
            return self.is_relevant
        more_than = self.type is MatchingStrategyType.CHUNK_MATCH if self.inclusive is None else not self.inclusive

        def older(retrieved: str, truth: str) -> bool:
            recall = rouge_l_recall(retrieved, truth)
            return recall > self.threshold if more_than else recall >= self.threshold

        return older


class RougeSentenceMatch(RougeChunkMatch):
    """Sentences by ROUGE-L recall."""

    type = MatchingStrategyType.SENTENCE_MATCH
    default_threshold: ClassVar[float] = 0.8


class Described:
    """What a metric takes and returns, and how its values are put together."""

    schema: ClassVar[Schema] = {}
    args: ClassVar[tuple[str, ...]] = ("retrieved_context", "ground_truth_context")
    help: ClassVar[str] = ""

    @staticmethod
    def aggregate(results: Sequence[Mapping[str, object]]) -> dict[str, float]:
        """The mean of every numeric output, over the results that have it.

        >>> PrecisionRecallF1().aggregate([{"context_f1": 0.5, "note": "x"}, {"context_f1": 1.0}])
        {'context_f1': 0.75}
        """
        columns: dict[str, list[float]] = {}
        for result in results:
            for key, value in result.items():
                if isinstance(value, numbers.Real):
                    columns.setdefault(key, []).append(float(value))
        return {key: mean(np.array(column)) for key, column in columns.items()}


class Metric(Described):
    """What all of them share: both call forms, and batches. Other fields of a datum are left alone."""

    def __init__(self, *, as_released: bool = False) -> None:
        self.as_released = as_released

    def calculate(self, retrieved_contexts: Texts, ground_truth_contexts: Texts, **_: object) -> dict[str, float]:
        """The values of one query."""
        return self.many([retrieved_contexts], [ground_truth_contexts], "0.2")[0]

    def __call__(self, retrieved_context: Texts, ground_truth_context: Texts, **_: object) -> dict[str, float]:
        """The values of one query."""
        return self.many([retrieved_context], [ground_truth_context], "later")[0]

    compute = __call__

    def batch(self, retrieved_context: TextLists, ground_truth_context: TextLists) -> list[dict[str, float]]:
        """The values of many queries, in their order."""
        return self.many(retrieved_context, ground_truth_context, "later")

    def many(self, retrieved: TextLists, truths: TextLists, form: str, k: int | None = None) -> list[dict[str, float]]:
        """The values of many queries, by the call `form` of '0.2' or of 'later' releases."""
        if len(retrieved) != len(truths):
            raise InputError(f"there are {len(retrieved):,} retrieved lists and {len(truths):,} of ground truth")
        for name, column in (("retrieved", retrieved), ("ground truth", truths)):
            for i, texts in enumerate(column):
                checked_texts(texts, f"the {name} contexts of query {i} are")
        columns = self._columns(retrieved, truths, form if self.as_released else None, k)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _columns(self, retrieved: TextLists, truths: TextLists, release: str | None, k: int | None) -> Columns:
        raise NotImplementedError


def _limits(*names: str) -> Schema:
    return {name: {"type": "float", "limits": (0.0, 1.0)} for name in names}


class _MatchingMetric(Metric):
    def __init__(self, matching_strategy: MatchingStrategy | None = None, *, as_released: bool = False) -> None:
        super().__init__(as_released=as_released)
        self.matching_strategy = matching_strategy

    def _strategy(self, release: str | None) -> MatchingStrategy:
        if self.matching_strategy is not None:
            return self.matching_strategy
        return RougeChunkMatch() if release == "later" else ExactChunkMatch()

    def _placed(self, retrieved: TextLists, truths: TextLists, release: str | None, each: bool) -> Placements:
        strategy = self._strategy(release)
        if strategy.type is MatchingStrategyType.SENTENCE_MATCH:
            retrieved, truths = (
                [[sentence for text in texts for sentence in sentences(text)] for texts in column]
                for column in (retrieved, truths)
            )
        return place(retrieved, truths, strategy.in_release(release), repeated_references="each" if each else "once")


class RankedRetrievalMetrics(_MatchingMetric):
    """Average precision, reciprocal rank and NDCG of retrieved chunks.

    Look at reciprocal rank if one chunk holds the whole answer, at average precision if several are needed.

    >>> RankedRetrievalMetrics().calculate(["x", "a"], ["a"])
    {'average_precision': 0.5, 'reciprocal_rank': 0.5, 'ndcg': 0.6309297535714574}
    """

    schema = _limits("average_precision", "reciprocal_rank", "ndcg")
    help = "Average precision, reciprocal rank and NDCG of the retrieved chunks."

    def __init__(self, matching_strategy: MatchingStrategy | None = None, *, as_released: bool = False) -> None:
        super().__init__(matching_strategy, as_released=as_released)
        if self._strategy(None).type is not MatchingStrategyType.CHUNK_MATCH:
            raise OptionError("Ranked metrics are calculated at chunk level.", hint="Use a chunk matching strategy.")

    def _columns(self, retrieved: TextLists, truths: TextLists, release: str | None, k: int | None) -> Columns:
        pairs = self._placed(retrieved, truths, release, each=release is not None)
        if k is not None:
            pairs = pairs.cut(k)
        reciprocal_rank = values("RR", k, pairs.per_rank, CONTINUOUS_EVAL)
        if release is None:
            once = pairs.first_free
            ap = values("AP", k, once, CONTINUOUS_EVAL, divisor="relevant")
            ndcg = values("nDCG", k, once, CONTINUOUS_EVAL, cut_ideal=True)
        else:
            by_rank, by_pair = (pairs.every_row,) * 2 if release == "0.2" else (pairs.per_rank, pairs.first_free)
            ap, ndcg = values("AP", k, by_rank, CONTINUOUS_EVAL), values("nDCG", k, by_pair, CONTINUOUS_EVAL)
        return {"average_precision": ap, "reciprocal_rank": reciprocal_rank, "ndcg": ndcg}


class PrecisionRecallF1(_MatchingMetric):
    """Precision, recall and F1 of retrieved chunks or sentences. Context recall is the one to watch first.

    >>> PrecisionRecallF1().calculate(["a", "x"], ["a"])["context_precision"]
    0.5
    """

    schema = _limits("context_precision", "context_recall", "context_f1")
    help = "Precision, recall and F1 of the retrieved chunks or sentences."

    def _columns(self, retrieved: TextLists, truths: TextLists, release: str | None, k: int | None) -> Columns:
        pairs = self._placed([texts[:k] for texts in retrieved], truths, release, each=release == "0.2")
        counted = pairs.every_row if release == "0.2" else pairs.per_rank
        precision = values("SetP", None, counted, CONTINUOUS_EVAL)
        recall = values("SetR", None, pairs.per_label, CONTINUOUS_EVAL)
        f1 = harmonic(precision, recall, 1.0)
        return {"context_precision": precision, "context_recall": recall, "context_f1": f1}


class TokenCount(Metric):
    """How many tokens the retrieved contexts have.

    `encoder_name` is "approx" (a token is four characters) or one's own function from a text to tokens.

    >>> TokenCount().calculate(["abcdefgh", "abcd"], [])
    {'num_tokens': 3.0}
    """

    schema: ClassVar[Schema] = {"num_tokens": {"type": "int", "limits": (0.0, math.inf)}}
    args = ("retrieved_context",)
    help = "The number of tokens of the retrieved contexts."

    def __init__(self, encoder_name: str | Callable[[str], Sized] = "approx") -> None:
        super().__init__()
        if encoder_name != "approx" and not callable(encoder_name):
            raise OptionError(
                f"encoder_name is {encoder_name!r}; it must be 'approx' or a function",
                hint="For example tiktoken.get_encoding('cl100k_base').encode.",
            )
        self.encoder = encoder_name

    def _columns(self, retrieved: TextLists, truths: TextLists, release: str | None, k: int | None) -> Columns:
        def tokens(text: str) -> float:
            return len(self.encoder(text)) if callable(self.encoder) else len(text) / 4

        return {"num_tokens": np.array([math.ceil(sum(map(tokens, texts[:k]))) for texts in retrieved], np.float64)}


class _JudgedMetric(Described):
    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def _values(self, outputs: Mapping[str, str], questions_and_texts: Sequence[tuple[str, str]]) -> dict[str, float]:
        """Each output's measure over the judge's answers."""
        placed = placed_verdicts([bool(self.judge(*pair)) for pair in questions_and_texts])
        return {key: float(values(name, None, placed, CONTINUOUS_EVAL)[0]) for key, name in outputs.items()}


class LLMBasedContextPrecision(_JudgedMetric):
    """Average precision over the contexts that `judge(question, context)` calls useful.

    >>> metric = LLMBasedContextPrecision(judge=lambda question, context: "Paris" in context)
    >>> metric(question="Capital of France?", retrieved_context=["Lyon.", "Paris."])
    {'context_precision': 0.5, 'average_precision': 0.5}
    """

    schema = _limits("context_precision", "average_precision")
    args = ("question", "retrieved_context")

    def __call__(self, question: str, retrieved_context: Texts, **_: object) -> dict[str, float]:
        """The values of one query."""
        outputs = {"context_precision": "SetP", "average_precision": "AP"}
        return self._values(outputs, [(question, context) for context in retrieved_context])

    compute = __call__


class LLMBasedContextCoverage(_JudgedMetric):
    """The share of the answer's sentences that `judge(statement, contexts)` finds in the contexts.

    >>> metric = LLMBasedContextCoverage(judge=lambda statement, contexts: statement in contexts)
    >>> metric(retrieved_context=["Paris is big."], ground_truth_answer="Paris is big. It rains.")
    {'context_coverage': 0.5}
    """

    schema = _limits("context_coverage")
    args = ("retrieved_context", "ground_truth_answer")

    def __call__(self, retrieved_context: Texts, ground_truth_answer: str, **_: object) -> dict[str, float]:
        """The value of one query."""
        contexts = "\n".join(retrieved_context)
        pairs = [(statement, contexts) for statement in sentences(ground_truth_answer)]
        return self._values({"context_coverage": "SetP"}, pairs)

    compute = __call__
