"""continuous-eval's retrieval metrics (`from goldrank.compat.continuous_eval import RankedRetrievalMetrics`).

Both call forms are here: `metric.calculate(retrieved_contexts=..., ground_truth_contexts=...)` of the document's
version, and `metric(retrieved_context=..., ground_truth_context=...)` of later ones.

Average precision divides by the number of ground truth contexts, each of which can be found once, and the
ideal of NDCG is cut at k where the evaluator has one: the document's formulas. `as_released=True` gives the
released codes' numbers: those of 0.2.4 by `calculate` and the evaluator, those of the later release by the
other form. They divide AP by the matches found; the older one counts every pair of a matching chunk and
ground truth, where no value passes 1. A chunk matches if ROUGE-L recall is at least the threshold; in 0.2.4,
if it is more. Not imitated: division by zero without ground truth (0 here), results in another order than
their queries, means of an earlier run, and long texts that count as different from themselves.
"""

from __future__ import annotations

import enum
import json
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from goldrank.compat._common import mean, values
from goldrank.conventions import CONTINUOUS_EVAL
from goldrank.data.placements import Placements
from goldrank.engine import lists
from goldrank.errors import GoldrankError, InputError, OptionError
from goldrank.match import place
from goldrank.match.exact import same
from goldrank.match.rouge import reaches, rouge_l_recall
from goldrank.match.units import sentences
from goldrank.measures.cutoff import harmonic

__all__ = [
    "Dataset",
    "ExactChunkMatch",
    "ExactSentenceMatch",
    "GreaterOrEqualThan",
    "LLMBasedContextCoverage",
    "LLMBasedContextPrecision",
    "MatchingStrategy",
    "MatchingStrategyType",
    "MeanGreaterOrEqualThan",
    "Metric",
    "PrecisionRecallF1",
    "RankedRetrievalMetrics",
    "RetrievalEvaluator",
    "RougeChunkMatch",
    "RougeSentenceMatch",
    "TokenCount",
    "example_data",
]

Texts = Sequence[str]
RETRIEVED = ("retrieved_contexts", "retrieved_context")
TRUTHS = ("ground_truth_contexts", "ground_truth_context")
"""The names of a datum's two fields, in the document's version and in later ones."""


# When a retrieved text counts for a ground truth.


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

    def in_release(self, release: str | None) -> Callable[[str, str], bool]:
        """`is_relevant` as a release has it: None, '0.2' or 'later'."""
        return self.is_relevant


class ExactChunkMatch(MatchingStrategy):
    """Chunks that are equal.

    >>> ExactChunkMatch().is_relevant("Paris", "paris")
    False
    """

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        return same(retrieved_component, ground_truth_component)

    def in_release(self, release: str | None) -> Callable[[str, str], bool]:
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
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, numbers.Real):
            raise OptionError(f"threshold is {threshold!r}; it must be a number from 0 to 1")
        if not 0 <= self.threshold <= 1:
            raise OptionError(f"threshold is {threshold!r}; it must be a number from 0 to 1")

    def is_relevant(self, retrieved_component: str, ground_truth_component: str) -> bool:
        return reaches(retrieved_component, ground_truth_component, self.threshold, self.inclusive is not False)

    def in_release(self, release: str | None) -> Callable[[str, str], bool]:
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


# Metrics.


class Described:
    """What a metric takes and returns, and how its values are put together."""

    schema: ClassVar[dict[str, dict[str, Any]]] = {}
    """Each output with its type and limits."""
    args: ClassVar[tuple[str, ...]] = ("retrieved_context", "ground_truth_context")
    help: ClassVar[str] = ""

    def aggregate(self, results: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """The mean of every numeric output.

        >>> PrecisionRecallF1().aggregate([{"context_f1": 0.5, "note": "x"}, {"context_f1": 1.0}])
        {'context_f1': 0.75}
        """
        return _means(results)


class Metric(Described):
    """What all of them share: both call forms, and batches."""

    def __init__(self, *, as_released: bool = False) -> None:
        self.as_released = as_released

    def calculate(self, retrieved_contexts: Texts, ground_truth_contexts: Texts, **_: Any) -> dict[str, float]:
        """The values of one query; other fields of a datum are left alone."""
        return self._many([retrieved_contexts], [ground_truth_contexts], "0.2", None)[0]

    def __call__(self, retrieved_context: Texts, ground_truth_context: Texts, **_: Any) -> dict[str, float]:
        """The values of one query."""
        return self._many([retrieved_context], [ground_truth_context], "later", None)[0]

    compute = __call__

    def batch(
        self, retrieved_context: Sequence[Texts], ground_truth_context: Sequence[Texts]
    ) -> list[dict[str, float]]:
        """The values of many queries, in their order."""
        return self._many(retrieved_context, ground_truth_context, "later", None)

    def _many(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], form: str, k: int | None
    ) -> list[dict[str, float]]:
        if len(retrieved) != len(truths):
            raise InputError(f"there are {len(retrieved):,} retrieved lists and {len(truths):,} of ground truth")
        for name, column in (("retrieved", retrieved), ("ground truth", truths)):
            for i, texts in enumerate(column):
                if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
                    raise InputError(f"the {name} contexts of query {i} are {texts!r}, not a list of texts")
        columns = self._columns(retrieved, truths, form if self.as_released else None, k)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _columns(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], release: str | None, k: int | None
    ) -> dict[str, np.ndarray]:
        raise NotImplementedError


def _limits(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"type": "float", "limits": (0.0, 1.0)} for name in names}


class _Matching(Metric):
    def __init__(self, matching_strategy: MatchingStrategy | None = None, *, as_released: bool = False) -> None:
        super().__init__(as_released=as_released)
        self.matching_strategy = matching_strategy

    def _strategy(self, release: str | None) -> MatchingStrategy:
        if self.matching_strategy is not None:
            return self.matching_strategy
        return RougeChunkMatch() if release == "later" else ExactChunkMatch()

    def _placed(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], release: str | None, each: bool
    ) -> Placements:
        strategy = self._strategy(release)
        if strategy.type is MatchingStrategyType.SENTENCE_MATCH:
            retrieved, truths = _by_sentence(retrieved), _by_sentence(truths)
        return place(retrieved, truths, strategy.in_release(release), repeated_references="each" if each else "once")


class RankedRetrievalMetrics(_Matching):
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

    def _columns(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], release: str | None, k: int | None
    ) -> dict[str, np.ndarray]:
        pairs = self._placed(retrieved, truths, release, each=release is not None)
        if k is not None:
            pairs = pairs.cut(k)
        once = pairs.one_to_one
        relevant = {"AP": {"divisor": "relevant"}, "nDCG": {"cut_ideal": True}}
        by_release: dict[str | None, tuple[Placements, Placements, Mapping[str, Any]]] = {
            None: (once, once, relevant),
            "0.2": (pairs.every_row, pairs.every_row, {}),
            "later": (pairs.per_rank, once, {}),
        }
        for_ap, for_ndcg, options = by_release[release]
        return {
            "average_precision": values("AP", k, for_ap, CONTINUOUS_EVAL, options.get("AP")),
            "reciprocal_rank": values("RR", k, pairs.per_rank, CONTINUOUS_EVAL),
            "ndcg": values("nDCG", k, for_ndcg, CONTINUOUS_EVAL, options.get("nDCG")),
        }


class PrecisionRecallF1(_Matching):
    """Precision, recall and F1 of retrieved chunks or sentences. Context recall is the one to watch first.

    >>> PrecisionRecallF1().calculate(["a", "x"], ["a"])["context_precision"]
    0.5
    """

    schema = _limits("context_precision", "context_recall", "context_f1")
    help = "Precision, recall and F1 of the retrieved chunks or sentences."

    def _columns(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], release: str | None, k: int | None
    ) -> dict[str, np.ndarray]:
        if k is not None:
            retrieved = [texts[:k] for texts in retrieved]
        pairs = self._placed(retrieved, truths, release, each=release == "0.2")
        counted = pairs.every_row if release == "0.2" else pairs.per_rank
        precision = values("SetP", None, counted, CONTINUOUS_EVAL)
        recall = values("SetR", None, pairs.per_aspect, CONTINUOUS_EVAL)
        return {
            "context_precision": precision,
            "context_recall": recall,
            "context_f1": harmonic(precision, recall, 1.0),
        }


class TokenCount(Metric):
    """How many tokens the retrieved contexts have.

    `encoder_name` is "approx" (a token is four characters) or one's own function from a text to tokens.

    >>> TokenCount().calculate(["abcdefgh", "abcd"], [])
    {'num_tokens': 3.0}
    """

    schema: ClassVar[dict[str, dict[str, Any]]] = {"num_tokens": {"type": "int", "limits": (0.0, math.inf)}}
    args = ("retrieved_context",)
    help = "The number of tokens of the retrieved contexts."

    def __init__(self, encoder_name: str | Callable[[str], Sequence[Any]] = "approx") -> None:
        super().__init__()
        if encoder_name != "approx" and not callable(encoder_name):
            raise OptionError(
                f"encoder_name is {encoder_name!r}; it must be 'approx' or a function",
                hint="For example tiktoken.get_encoding('cl100k_base').encode.",
            )
        self.encoder = encoder_name

    def _columns(
        self, retrieved: Sequence[Texts], truths: Sequence[Texts], release: str | None, k: int | None
    ) -> dict[str, np.ndarray]:
        def tokens(text: str) -> float:
            return len(self.encoder(text)) if callable(self.encoder) else len(text) / 4

        return {"num_tokens": np.array([math.ceil(sum(map(tokens, texts[:k]))) for texts in retrieved], np.float64)}


# Metrics that ask a judge.

Judge = Callable[[str, str], bool | float]
"""A function that answers for a question (or statement) and a text; it may call a language model."""


class LLMBasedContextPrecision(Described):
    """Average precision over the contexts that `judge(question, context)` calls useful.

    >>> metric = LLMBasedContextPrecision(judge=lambda question, context: "Paris" in context)
    >>> metric(question="Capital of France?", retrieved_context=["Lyon.", "Paris."])
    {'context_precision': 0.5, 'average_precision': 0.5}
    """

    schema = _limits("context_precision", "average_precision")
    args = ("question", "retrieved_context")

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def __call__(self, question: str, retrieved_context: Texts, **_: Any) -> dict[str, float]:
        """The values of one query."""
        useful = {i: 1 for i, text in enumerate(retrieved_context) if self.judge(question, text)}
        placed = lists.place([list(range(len(retrieved_context)))], [useful])
        return {
            "context_precision": float(values("SetP", None, placed, CONTINUOUS_EVAL)[0]),
            "average_precision": float(values("AP", None, placed, CONTINUOUS_EVAL)[0]),
        }

    compute = __call__


class LLMBasedContextCoverage(Described):
    """The share of the answer's sentences that `judge(statement, contexts)` finds in the contexts.

    >>> metric = LLMBasedContextCoverage(judge=lambda statement, contexts: statement in contexts)
    >>> metric(retrieved_context=["Paris is big."], ground_truth_answer="Paris is big. It rains.")
    {'context_coverage': 0.5}
    """

    schema = _limits("context_coverage")
    args = ("retrieved_context", "ground_truth_answer")

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def __call__(self, retrieved_context: Texts, ground_truth_answer: str, **_: Any) -> dict[str, float]:
        """The value of one query."""
        statements = sentences(ground_truth_answer)
        contexts = "\n".join(retrieved_context)
        found = {i: 1 for i, statement in enumerate(statements) if self.judge(statement, contexts)}
        placed = lists.place([list(range(len(statements)))], [found])
        return {"context_coverage": float(values("SetP", None, placed, CONTINUOUS_EVAL)[0])}

    compute = __call__


# Datasets.


class Dataset(Sequence[Mapping[str, Any]]):
    """Data to evaluate: one dictionary per query.

    >>> Dataset([{"retrieved_contexts": ["a"], "ground_truth_contexts": ["a"]}]).validate()
    """

    def __init__(self, data: Iterable[Mapping[str, Any]]) -> None:
        self.data = list(data)

    def __getitem__(self, at: Any) -> Any:
        return self.data[at]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.data)

    def validate(self) -> None:
        """Raise the error that names the datum and the field that is missing or wrong."""
        for i, datum in enumerate(self.data):
            for names in (
                ("retrieved_contexts", "retrieved_context"),
                ("ground_truth_contexts", "ground_truth_context"),
            ):
                _field(datum, names, i)

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Dataset:
        """Read one JSON object per line."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", where=str(path)) from None
        data = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                datum = json.loads(line)
            except ValueError as error:
                raise InputError(f"is not JSON: {error}", where=f"{path}:{number}") from None
            if not isinstance(datum, dict):
                raise InputError("is no JSON object", where=f"{path}:{number}")
            data.append(datum)
        return cls(data)

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object per line."""
        _write(path, self.data)


def example_data() -> Dataset:
    """A few queries to try things with (continuous-eval downloads its own; nothing is downloaded here).

    >>> len(example_data())
    2
    """
    france = "Paris is the capital of France."
    play = "Romeo and Juliet is a play by William Shakespeare."
    return Dataset(
        [
            {
                "question": "What is the capital of France?",
                "retrieved_contexts": ["Lyon is a major city in France.", france],
                "ground_truth_contexts": [france],
            },
            {
                "question": "Who wrote Romeo and Juliet?",
                "retrieved_contexts": ["Shakespeare was a playwright.", play],
                "ground_truth_contexts": ["Shakespeare was a playwright.", play],
            },
        ]
    )


def _field(datum: Mapping[str, Any], names: Sequence[str], at: int) -> Texts:
    for name in names:
        if name in datum:
            texts = datum[name]
            if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
                raise InputError(f"datum {at}: {name} is {texts!r}, not a list of texts")
            found: Texts = texts
            return found
    raise InputError(f"datum {at} has no {names[0]!r}; it has: {', '.join(map(repr, datum))}")


class RetrievalEvaluator:
    """Metrics over a dataset, optionally of the first k contexts only.

    >>> evaluator = RetrievalEvaluator(example_data(), [RankedRetrievalMetrics()])
    >>> evaluator.run(k=2)[0]["reciprocal_rank"], evaluator.aggregated_results["reciprocal_rank"]
    (0.5, 0.75)
    """

    def __init__(self, dataset: Iterable[Mapping[str, Any]], metrics: Sequence[Metric]) -> None:
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.metrics = list(metrics)
        self._results: list[dict[str, float]] | None = None

    def run(self, k: int | None = None, batch_size: int | float = 32, quiet: bool = True) -> list[dict[str, float]]:
        """The values of every datum. All are made in one pass: `batch_size` and `quiet` change nothing."""
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise OptionError("K must be a positive integer or None.", hint=f"It is {k!r}.")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int | float) or batch_size <= 0:
            raise OptionError(f"batch_size is {batch_size!r}; it must be a positive number")
        data = list(self.dataset)
        retrieved = [_field(d, RETRIEVED, i) for i, d in enumerate(data)]
        truths = [_field(d, TRUTHS, i) for i, d in enumerate(data)]
        results: list[dict[str, float]] = [{} for _ in data]
        for metric in self.metrics:
            for result, found in zip(results, metric._many(retrieved, truths, "0.2", k), strict=True):
                for key, value in found.items():
                    result.setdefault(key, value)
        self._results = results
        return results

    @property
    def results(self) -> list[dict[str, float]]:
        """The values of the last run."""
        if self._results is None:
            raise GoldrankError("nothing was run yet", hint="Call run() first.")
        return self._results

    @property
    def aggregated_results(self) -> dict[str, float]:
        """The means of the last run."""
        return _means(self.results)

    def save(self, path: str | Path) -> None:
        """Write every datum with its values, one JSON object per line."""
        _write(path, [{**datum, **result} for datum, result in zip(self.dataset, self.results, strict=True)])


# Pass or fail.


@dataclass(frozen=True)
class GreaterOrEqualThan:
    """Whether each value of a metric is at least a minimum.

    >>> GreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    [False, True]
    """

    test_name: str
    metric_name: str
    min_value: float

    def run(self, results: Sequence[Mapping[str, Any]]) -> list[bool]:
        """One verdict per datum."""
        return [value >= self.min_value for value in _metric_values(results, self.metric_name)]


@dataclass(frozen=True)
class MeanGreaterOrEqualThan:
    """Whether the mean of a metric is at least a minimum.

    >>> MeanGreaterOrEqualThan("recall", "context_recall", 0.5).run([{"context_recall": 0.4}, {"context_recall": 0.6}])
    True
    """

    test_name: str
    metric_name: str
    min_value: float

    def run(self, results: Sequence[Mapping[str, Any]]) -> bool:
        """One verdict for all data."""
        return mean(np.array(_metric_values(results, self.metric_name), np.float64)) >= self.min_value


def _metric_values(results: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    if not results:
        raise InputError("there are no results")
    for i, one in enumerate(results):
        if name not in one:
            raise InputError(f"result {i} has no {name!r}; it has: {', '.join(one)}")
    return [one[name] for one in results]


def _means(results: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    columns: dict[str, list[float]] = {}
    for one in results:
        for key, value in one.items():
            if isinstance(value, numbers.Real):
                columns.setdefault(key, []).append(float(value))
    return {key: mean(np.array(column)) for key, column in columns.items()}


def _by_sentence(column: Sequence[Texts]) -> list[list[str]]:
    return [[sentence for text in texts for sentence in sentences(text)] for texts in column]


def _write(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise GoldrankError(f"cannot be written: {error.strerror}", where=str(path)) from None
