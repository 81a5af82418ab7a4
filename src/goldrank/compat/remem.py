"""REMem's retrieval metrics (`from goldrank.compat.remem import RetrievalRecall`).

Every metric has `calculate_metric_scores(gold_docs, retrieved_docs, k_list)` and returns the means over all
queries, rounded to four decimals, and one dictionary per query.

Gold documents are ids or content. `gold="ids"` compares whole strings; with `gold="content"` a retrieved chunk counts
for a gold document if it is a part of it (`is_chunk_from_original`), in all metrics, as the document says. Without
`gold`, they are ids where no text of the call has white space in it, gold or retrieved, else content. Where the other
reading would give other matches, that is logged, and `notes` has it. Ids may be integers, if all are.

The document also speaks of "fuzzy matching between chunks and original documents". REMem's code has none: a chunk that
differs from its document by one letter is not found. `gold="fuzzy"` finds it: 90% of the chunk's words must be close
together in the document (`gold="fuzzy:0.8"`: 80%), in any case and with any punctuation. See
`goldrank.match.contain.is_near_part` for the rule.

`as_released=True` gives the numbers of REMem's code: `RetrievalRecall` compares whole strings and the other metrics
look for parts (so that the id doc1 is found in doc10), a gold document that is listed twice can never be complete in
`RetrievalRecallAll`, lists of unequal number are cut to the shorter one and still divided by the number of gold lists,
and k may be 0 (the value is 0) or less (Python's slices; those of `RetrievalNDCGAny` cut the retrieved list twice, and
the ideal once). Not imitated: division by zero where there are no queries, and an index error where there is no k; both
are errors that say so.

`RetrievalNDCGAny` is the document's: ranks 1 and 2 have equal weight, and the ideal is the best order of the retrieved
documents, so that gold documents that were not found cost nothing. For the usual one use `nDCG@k`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, OptionError, one_of
from goldrank.base.notes import Note
from goldrank.compat._common import (
    TextLists,
    checked_texts,
    column_of,
    entries_of,
    has_entries,
    is_list,
    is_number,
    is_whole,
    mean,
    positive,
    sliced_values,
    values,
    without_last,
)
from goldrank.conventions.seeds import REMEM
from goldrank.data.placements import Placements
from goldrank.data.text_item import Texts
from goldrank.match import TextRule, place
from goldrank.match.contain import is_near_part, is_part, is_part_remem
from goldrank.match.exact import same
from goldrank.measures.cutoff import ratio

__all__ = [
    "BaseMetric",
    "RetrievalNDCGAny",
    "RetrievalRecall",
    "RetrievalRecallAll",
    "RetrievalRecallAny",
    "describe",
    "is_chunk_from_original",
    "problem_queries",
    "score_distribution",
]

DocLists: TypeAlias = Sequence[Texts | Sequence[int] | np.ndarray]
"""For each query a list of texts, or of integer ids."""
DEFAULT_K = (1, 5, 10, 20)
GOLD: dict[str, TextRule] = {"ids": same, "content": is_part, "fuzzy": is_near_part}
"""The kinds of gold documents, and the rule by which a retrieved text counts for one."""
logger = logging.getLogger(__name__)


def is_chunk_from_original(chunk: str, original: str, *, fuzzy: float | None = None, as_released: bool = False) -> bool:
    """Whether a chunk was cut from a document: see `goldrank.match.contain`.

    `fuzzy` is the share of the chunk's words, above 0 and up to 1, that must be close together in the document; without
    it the chunk must be there letter by letter. A chunk without a letter or digit matches nothing: "." is in nearly
    every document by accident. In REMem's code it matches, and an empty chunk, a date line alone and an empty turn
    match every document.

    >>> is_chunk_from_original("user: hello", "say hello world")
    True
    >>> is_chunk_from_original("HELLO, world!", "say hello world", fuzzy=0.9)
    True
    >>> is_chunk_from_original(".", "Hello."), is_chunk_from_original(".", "Hello.", as_released=True)
    (False, True)
    """
    for text in (chunk, original):
        if not isinstance(text, str):
            raise InputError(f"{text!r:.60} is a {type(text).__name__}, not a text", code="wrong-type")
    if fuzzy is not None:
        _refuse_with_released(as_released, f"fuzzy={fuzzy!r}")
        return is_near_part(chunk, original, _share(fuzzy, "fuzzy"))
    if as_released:
        return is_part_remem(chunk, original)
    return is_part(chunk, original)


def _refuse_with_released(as_released: bool, option: str) -> None:
    if as_released:
        message = f"{option} with as_released=True, which compares as REMem's code does"
        raise OptionError(message, hint="Leave one of them out.", code="options-conflict")


def _share(value: object, name: str) -> float:
    """The share of words that must be found; raise unless it is above 0 and up to 1."""
    if not is_number(value) or not 0 < value <= 1:
        message = f"{name} is {value!r}; it must be a number above 0 and up to 1"
        raise OptionError(message, hint="For example 0.9.", code="bad-number")
    return float(value)


def _rule(gold: str) -> TextRule:
    """The rule by which a retrieved text counts for a gold document: "ids", "content", "fuzzy", or "fuzzy:0.8"."""
    name, colon, share = gold.partition(":")
    if name != "fuzzy" or not colon:
        return GOLD[one_of(gold, GOLD, "gold")]
    try:
        number = float(share)
    except ValueError:
        number = math.nan
    return partial(is_near_part, share=_share(number, f"the share in gold={gold!r}"))


class BaseMetric:
    """The base of all metrics. A new one needs `metric_name`, `label` and `measured`.

    `global_config` is kept and not used, as in REMem.
    """

    metric_name: ClassVar[str] = "base"
    label: ClassVar[str] = "Metric"
    """The text before @k in the results' keys."""
    logged_as: ClassVar[str] = "recall"
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    binary: ClassVar[bool] = False
    """Whether a query has one end of the range or the other."""
    higher_is_better: ClassVar[bool] = True
    considers_ranking: ClassVar[bool] = False
    formula: ClassVar[str] = ""
    measures: ClassVar[str] = ""
    """What it measures, in a line."""
    best_for: ClassVar[str] = ""
    use_when: ClassVar[str] = ""
    use_case: ClassVar[str] = ""
    remarks: ClassVar[Mapping[str, str]] = {}
    """Other remarks, by title: a note, the difference from another metric, the key insight."""
    released_rule: ClassVar[str] = "part"
    """Whether REMem's code counts a text that is a "part" of a gold document, or only the "whole"."""
    released_repeats: ClassVar[str] = "once"
    """Whether REMem's code counts a gold document that is listed twice "once" or "each" time."""

    def __init__(self, global_config: object = None, *, gold: str | None = None, as_released: bool = False) -> None:
        self.global_config = global_config
        self.as_released = as_released
        self.gold = gold
        if gold is not None:
            if not isinstance(gold, str):
                one_of(gold, GOLD, "gold")
            _rule(gold)
            _refuse_with_released(as_released, f"gold={gold!r}")
        self.notes: tuple[Note, ...] = ()
        """Notes about the last call: whether it had to guess if gold documents are ids or content."""

    @classmethod
    def interpretation(cls) -> dict[str, str]:
        """How to read the metric: its range, formula, use case and other remarks.

        >>> RetrievalRecallAll.interpretation()["Score range"]
        '0.0 or 1.0 per example'
        """
        low, high = cls.score_range
        score_range = f"{low} to {high}"
        if cls.binary:
            score_range = f"{low} or {high} per example"
        is_better = "no"
        if cls.higher_is_better:
            is_better = "yes"
        return {
            "Score range": score_range,
            "Higher is better": is_better,
            "Formula": cls.formula,
            "Use case": cls.use_case,
            **cls.remarks,
        }

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        """One value per query at k. `placed` holds whole rankings."""
        raise NotImplementedError

    def calculate_metric_scores(
        self,
        gold_docs: DocLists,
        retrieved_docs: DocLists | None = None,
        k_list: Sequence[int] = DEFAULT_K,
        *,
        retrieved_chunks: DocLists | None = None,
    ) -> tuple[dict[str, float], list[dict[str, float]]]:
        """The pooled values and those of each query, at every k. `retrieved_chunks` is another name of an argument."""
        retrieved = retrieved_docs
        if retrieved is None:
            retrieved = retrieved_chunks
        if retrieved is None:
            message = "no retrieved documents were given"
            raise InputError(message, hint="Give retrieved_docs (or retrieved_chunks).", code="missing-argument")

        if retrieved_docs is not None and retrieved_chunks is not None:
            message = "retrieved_docs and retrieved_chunks are one argument, and both were given"
            raise InputError(message, code="fields-differ")

        gold, lists, reading = self._texts(_queries(gold_docs, "gold_docs"), _queries(retrieved, "retrieved_docs"))
        if not gold:
            raise InputError("there are no queries, so there is no mean")
        if len(gold) != len(lists) and not self.as_released:
            message = f"gold_docs has {len(gold):,} queries and retrieved_docs {len(lists):,}"
            hint = "Give one list of each for every query, an empty one where nothing was retrieved."
            raise InputError(message, hint=hint)

        cuts = self._cuts(k_list)
        count = min(len(gold), len(lists))
        for texts in lists[:count]:
            if len(texts) < cuts[-1]:
                message = "Length of retrieved docs (%d) is smaller than largest topk for %s score (%d)"
                logger.warning(message, len(texts), self.logged_as, cuts[-1])

        placed = self._placed(lists[:count], gold[:count], reading)
        columns = {f"{self.label}@{k}": self.measured(placed, k) for k in cuts}
        missing = np.zeros(len(gold) - count)
        pooled = {key: round(mean(np.concatenate((column, missing))), 4) for key, column in columns.items()}
        per_query = []
        for i in range(count):
            per_query.append({key: float(column[i]) for key, column in columns.items()})
        return pooled, per_query

    def _texts(self, gold: list[Any], lists: list[Any]) -> tuple[list[Texts], list[Texts], str | None]:
        """Both sides as texts, and their kind, if that is known. If all are integers, they are ids."""
        reading = self.gold
        takes_integers = not self.as_released and self.gold in (None, "ids")
        if takes_integers and all(map(_holds_integers, (*gold, *lists))) and any(map(len, (*gold, *lists))):
            gold, lists = _as_text(gold), _as_text(lists)
            reading = "ids"
        for name, side in (("gold_docs", gold), ("retrieved_docs", lists)):
            for i, texts in enumerate(side):
                checked_texts(texts, f"{name} of query {i} is")
        return gold, lists, reading

    def _placed(self, retrieved: TextLists, gold: TextLists, reading: str | None) -> Placements:
        self.notes = ()
        if self.as_released:
            rule: TextRule = is_part_remem
            if self.released_rule == "whole":
                rule = same
            return place(retrieved, gold, rule, repeated_references=self.released_repeats)

        if reading is not None:
            if reading == "ids":
                _check_ids(gold)
            return place(retrieved, gold, _rule(reading))

        spaced = next((text for texts in (*gold, *retrieved) for text in texts if any(map(str.isspace, text))), None)
        if spaced is None:
            guess, alternative, why = "ids", "content", "no text has white space in it"
            _check_ids(gold)
        else:
            guess, alternative, why = "content", "ids", f"{spaced[:40]!r} has white space in it"

        placed = place(retrieved, gold, GOLD[guess])
        differing = _differing(placed, place(retrieved, gold, GOLD[alternative]))
        if differing:
            self.notes = (Note.of("guessed-gold", taken=guess, other=alternative, why=why, count=differing),)
            logger.warning("%s", self.notes[0])

        return placed

    def _cuts(self, k_list: Sequence[int]) -> list[int]:
        if not has_entries(k_list):
            raise OptionError(f"k_list is {k_list!r}, not a list of cut-offs", hint="For example k_list=[1, 5, 10].")
        cuts = list(k_list)
        if not cuts:
            raise OptionError("k_list is empty", hint="For example k_list=[1, 5, 10].")

        for k in cuts:
            if not self.as_released:
                positive(k)
            elif not is_whole(k):
                raise OptionError(f"k_list holds {k!r}, which is not an integer")
        return sorted({int(k) for k in cuts})

    def _values_at(self, name: str, placed: Placements, k: int) -> np.ndarray:
        if k > 0:
            return values(name, k, placed, REMEM)
        return sliced_values(name, k, placed, REMEM)


def _check_ids(lists: Iterable[Texts]) -> None:
    """Raise for empty gold ids: they would be found wherever a field is empty on both sides."""
    for docs in lists:
        if "" in docs:
            raise ids.missing("", "gold document id")


def _queries(lists: Any, name: str) -> list[Any]:
    return entries_of(lists, name, "Give a list with one list for each query.")


def _holds_integers(docs: Any) -> bool:
    return is_list(docs) and all(map(is_whole, docs))


def _as_text(lists: list[Any]) -> list[Any]:
    """Lists of integers as lists of texts."""
    return [[str(int(doc)) for doc in docs] for docs in lists]


def _differing(first: Placements, second: Placements) -> int:
    """The number of queries in which two readings of the texts match differently."""
    return len({query for query, *_ in _matches(first) ^ _matches(second)})


def _matches(placed: Placements) -> set[tuple[int, int, int]]:
    """Query, rank and label of each match."""
    return set(zip(placed.query.tolist(), placed.rank.tolist(), np.asarray(placed.label).tolist(), strict=True))


class RetrievalRecall(BaseMetric):
    """The share of gold documents that is among the first k.

    >>> RetrievalRecall().calculate_metric_scores([["doc1", "doc2"]], [["doc1", "doc3"]], [1])
    ({'Recall@1': 0.5}, [{'Recall@1': 0.5}])
    """

    metric_name = "retrieval_recall"
    label = "Recall"
    formula = "Recall@k = (# relevant docs in top-k) / (# total relevant docs)"
    measures = "The share of relevant documents among the first k"
    best_for = "Coverage of relevant documents"
    use_when = "You want to know what fraction of relevant documents are being found."
    use_case = "Whether a system gets all that is relevant into the first k results."
    remarks: ClassVar[Mapping[str, str]] = {"Note": "1.0 means that every relevant document is among the first k."}
    released_rule = "whole"

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._values_at("R", placed.per_label, k)


class RetrievalRecallAll(BaseMetric):
    """1.0 if every gold document is among the first k, else 0.0.

    >>> RetrievalRecallAll().calculate_metric_scores([["a", "b"]], [["a", "b"]], [1, 2])[0]
    {'Recall_all@1': 0.0, 'Recall_all@2': 1.0}
    """

    metric_name = "retrieval_recall_all"
    label = "Recall_all"
    formula = "Recall_all@k = 1.0 if all relevant docs are in top-k, else 0.0"
    binary = True
    measures = "Whether ALL relevant documents are among the first k"
    best_for = "Tasks requiring complete retrieval"
    use_when = "You need ALL relevant documents, for example for critical information."
    use_case = "Strict: for tasks that cannot be done unless everything relevant was retrieved."
    remarks: ClassVar[Mapping[str, str]] = {
        "Difference from RetrievalRecall": "One relevant document that is not among the first k makes it 0.0.",
        "Chunk matching": "A chunk counts for the gold document that it was cut from (is_chunk_from_original).",
    }
    released_repeats = "each"

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._values_at("RecallAll", placed.per_label, k)


class RetrievalRecallAny(BaseMetric):
    """1.0 if any gold document is among the first k, else 0.0. REMem computes this and throws it away.

    >>> RetrievalRecallAny().calculate_metric_scores([["a", "b"]], [["x", "b"]], [1, 2])[0]
    {'Recall_any@1': 0.0, 'Recall_any@2': 1.0}
    """

    metric_name = "retrieval_recall_any"
    label = "Recall_any"
    formula = "Recall_any@k = 1.0 if any relevant doc is in top-k, else 0.0"
    binary = True
    measures = "Whether any relevant document is among the first k"
    best_for = "Tasks that one document can answer"
    use_when = "One relevant document is enough."
    use_case = "Whether there is anything to work with."

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._values_at("Success", placed.per_rank, k)


class RetrievalNDCGAny(BaseMetric):
    """Ranking quality: a chunk gains 1 if it is a part of any gold document.

    DCG = rel[0] + sum of rel[i] / log2(i + 1) for i = 1 to k - 1; the ideal sorts the same gains.

    >>> RetrievalNDCGAny().calculate_metric_scores([["a"]], [["x", "y", "a"]], [3])[0]
    {'NDCG_any@3': 0.6309}
    """

    metric_name = "retrieval_ndcg_any"
    label = "NDCG_any"
    logged_as = "ndcg"
    considers_ranking = True
    formula = "NDCG@k = DCG@k / IDCG@k"
    measures = "How high relevant documents are ranked"
    best_for = "Overall retrieval quality with ranking"
    use_when = "Ranking matters and relevant documents should be placed higher."
    use_case = "What was retrieved and in which order, in one number."
    remarks: ClassVar[Mapping[str, str]] = {
        "Key insight": "A system that moves relevant documents up scores higher, except between ranks 1 and 2.",
        "Position matters": "A relevant document counts more at rank 1 than at rank 10.",
        "How it works": "Each chunk gains 1 if it matches any gold document; DCG = rel[0] + sum of rel[i] / log2(i + 1)"
        " for i = 1 to k - 1; the ideal is the DCG of all gains in descending order; NDCG = DCG / ideal.",
    }

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        chunks = placed.per_rank
        if k >= 0:
            return self._values_at("nDCG", chunks, k)

        # REMem's code slices the gains twice, and the sorted gains of the whole list once.
        reached = _gained(chunks.cut(without_last(chunks, -2 * k)))
        best = _gained(chunks.condensed.cut(without_last(chunks, -k)))
        return ratio(reached, best)


def _gained(placed: Placements) -> np.ndarray:
    """The document's DCG of whole rankings."""
    return values("DCG", None, placed, REMEM, discount="log2_from_2", gain="binary")


def describe() -> list[dict[str, Any]]:
    """The metrics side by side: what each measures, what it is best for, when to use it, whether ranks matter.

    >>> [row["metric"] for row in describe() if row["considers ranking"]]
    ['RetrievalNDCGAny']
    """
    return [
        {
            "metric": metric.__name__,
            "what it measures": metric.measures,
            "best for": metric.best_for,
            "considers ranking": metric.considers_ranking,
            "use when": metric.use_when,
        }
        for metric in (RetrievalRecall, RetrievalRecallAll, RetrievalNDCGAny)
    ]


def problem_queries(
    per_example: Sequence[Mapping[str, float]], key: str, below: float = 1.0
) -> list[tuple[int, float]]:
    """Queries whose value is below a limit, the worst first, by their position in the input.

    >>> problem_queries([{"Recall@1": 1.0}, {"Recall@1": 0.0}, {"Recall@1": 0.5}], "Recall@1")
    [(1, 0.0), (2, 0.5)]
    """
    if not is_number(below):
        raise OptionError(f"below is {below!r:.60}; it must be a number", code="bad-number")
    low = [(i, value) for i, value in enumerate(_numbers(per_example, key)) if value < below]
    return sorted(low, key=lambda pair: pair[1])


def _numbers(per_example: Sequence[Mapping[str, float]], key: str) -> list[float]:
    """The value of every query under a key; raise if one of them is not a number."""
    if not isinstance(key, str):
        raise InputError(f"key is {key!r:.60}; it must be a text such as 'Recall@5'", code="wrong-type")
    column = column_of(per_example, key, "query")
    for i, value in enumerate(column):
        if not is_number(value):
            raise InputError(f"query {i}: {key} is {value!r:.60}, not a number", code="bad-number")
    return column


def score_distribution(per_example: Sequence[Mapping[str, float]], key: str) -> dict[str, float]:
    """Lowest, quartiles and highest value of a metric over queries.

    >>> score_distribution([{"Recall@1": 1.0}, {"Recall@1": 0.0}, {"Recall@1": 0.5}], "Recall@1")["median"]
    0.5
    """
    column = _numbers(per_example, key)
    if not column:
        raise InputError("there are no queries")
    names = ("min", "lower quartile", "median", "upper quartile", "max")
    return dict(zip(names, np.quantile(column, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))
