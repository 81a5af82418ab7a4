"""REMem's retrieval metrics (`from goldrank.compat.remem import RetrievalRecall`).

Every metric has `calculate_metric_scores(gold_docs, retrieved_docs, k_list)` and returns the means over all
queries, rounded to four decimals, and one dictionary per query. A retrieved chunk counts for a gold document
if it is a part of it (`is_chunk_from_original`), in all metrics, as the document says.

`as_released=True` gives the numbers of REMem's code: `RetrievalRecall` compares whole strings, a gold document
that is listed twice can never be complete in `RetrievalRecallAll`, lists of unequal number are cut to the
shorter one and still divided by the number of gold lists, and k may be 0 or less. Not imitated: division by
zero where there are no queries, and an index error where there is no k; both are errors that say so.

`RetrievalNDCGAny` is the document's: ranks 1 and 2 weigh the same, and the ideal is the best order of what was
retrieved, so that gold documents that were not found cost nothing. For the usual one use `nDCG@k`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from goldrank.compat._common import TextLists, checked_texts, column_of, is_whole, mean, positive, sliced_values, values
from goldrank.conventions import REMEM
from goldrank.data.placements import Placements
from goldrank.errors import InputError, OptionError
from goldrank.match import TextRule, place
from goldrank.match.contain import is_part, is_part_remem
from goldrank.match.exact import same

__all__ = [
    "BaseMetric",
    "RetrievalNDCGAny",
    "RetrievalRecall",
    "RetrievalRecallAll",
    "RetrievalRecallAny",
    "is_chunk_from_original",
    "problem_queries",
    "score_distribution",
]

DEFAULT_K = (1, 5, 10, 20)
logger = logging.getLogger(__name__)


def is_chunk_from_original(chunk: str, original: str, *, as_released: bool = False) -> bool:
    """Whether a chunk was cut from a document: see `goldrank.match.contain`.

    In REMem's code an empty chunk, a date line alone and an empty turn match every document.

    >>> is_chunk_from_original("user: hello", "say hello world")
    True
    >>> is_chunk_from_original("", "anything"), is_chunk_from_original("", "anything", as_released=True)
    (False, True)
    """
    return (is_part_remem if as_released else is_part)(chunk, original)


class BaseMetric:
    """Write one's own metric by giving `metric_name`, `label` and `measured`; everything else is here.

    `global_config` is kept and not used, as in REMem.
    """

    metric_name: ClassVar[str] = "base"
    label: ClassVar[str] = "Metric"
    """What stands before @k in the results' keys."""
    logged_as: ClassVar[str] = "recall"
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    considers_ranking: ClassVar[bool] = False
    formula: ClassVar[str] = ""
    best_for: ClassVar[str] = ""
    use_when: ClassVar[str] = ""
    released_repeats: ClassVar[str] = "once"
    """Whether REMem's code counts a gold document that is listed twice "once" or "each" time."""

    def __init__(self, global_config: object = None, *, as_released: bool = False) -> None:
        self.global_config = global_config
        self.as_released = as_released

    def rule(self) -> TextRule:
        """When a retrieved text counts for a gold one."""
        return is_part_remem if self.as_released else is_part

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        """One value per query at k. `placed` holds whole rankings."""
        raise NotImplementedError

    def calculate_metric_scores(
        self,
        gold_docs: TextLists,
        retrieved_docs: TextLists | None = None,
        k_list: Sequence[int] = DEFAULT_K,
        *,
        retrieved_chunks: TextLists | None = None,
    ) -> tuple[dict[str, float], list[dict[str, float]]]:
        """The pooled values and those of each query, at every k. `retrieved_chunks` is the same argument."""
        retrieved = retrieved_chunks if retrieved_docs is None else retrieved_docs
        if retrieved is None:
            raise InputError("no retrieved documents were given", hint="Give retrieved_docs (or retrieved_chunks).")
        gold, lists = list(gold_docs), list(retrieved)
        for name, given in (("gold_docs", gold), ("retrieved_docs", lists)):
            for i, texts in enumerate(given):
                checked_texts(texts, f"{name} of query {i} is")
        if not gold:
            raise InputError("there are no queries, so there is no mean")
        if len(gold) != len(lists) and not self.as_released:
            raise InputError(
                f"gold_docs has {len(gold):,} queries and retrieved_docs {len(lists):,}",
                hint="Give one list of each for every query, an empty one where nothing was retrieved.",
            )
        cuts = self._cuts(k_list)
        count = min(len(gold), len(lists))
        for texts in lists[:count]:
            if len(texts) < cuts[-1]:
                message = "Length of retrieved docs (%d) is smaller than largest topk for %s score (%d)"
                logger.warning(message, len(texts), self.logged_as, cuts[-1])
        repeats = self.released_repeats if self.as_released else "once"
        placed = place(lists[:count], gold[:count], self.rule(), repeated_references=repeats)
        columns = {f"{self.label}@{k}": self.measured(placed, k) for k in cuts}
        missing = np.zeros(len(gold) - count)
        pooled = {key: round(mean(np.concatenate((column, missing))), 4) for key, column in columns.items()}
        each = [{key: float(column[i]) for key, column in columns.items()} for i in range(count)]
        return pooled, each

    def _cuts(self, k_list: Sequence[int]) -> list[int]:
        cuts = sorted(set(k_list))
        if not cuts:
            raise OptionError("k_list is empty", hint="For example k_list=[1, 5, 10].")
        if not self.as_released:
            return [positive(k) for k in cuts]
        for k in cuts:
            if not is_whole(k):
                raise OptionError(f"k_list holds {k!r}, which is no integer")
        return [int(k) for k in cuts]

    def _at(self, name: str, placed: Placements, k: int) -> np.ndarray:
        return values(name, k, placed, REMEM) if k > 0 else sliced_values(name, k, placed, REMEM)


class RetrievalRecall(BaseMetric):
    """The share of gold documents that is among the first k.

    >>> RetrievalRecall().calculate_metric_scores([["doc1", "doc2"]], [["doc1", "doc3"]], [1])
    ({'Recall@1': 0.5}, [{'Recall@1': 0.5}])
    """

    metric_name = "retrieval_recall"
    label = "Recall"
    formula = "Recall@k = (# relevant docs in top-k) / (# total relevant docs)"
    best_for = "Coverage of relevant documents"
    use_when = "You want to know what fraction of relevant documents are being found."

    def rule(self) -> TextRule:
        return same if self.as_released else is_part

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._at("R", placed.per_label, k)


class RetrievalRecallAll(BaseMetric):
    """1.0 if every gold document is among the first k, else 0.0.

    >>> RetrievalRecallAll().calculate_metric_scores([["a", "b"]], [["a", "b"]], [1, 2])[0]
    {'Recall_all@1': 0.0, 'Recall_all@2': 1.0}
    """

    metric_name = "retrieval_recall_all"
    label = "Recall_all"
    formula = "Recall_all@k = 1.0 if all relevant docs are in top-k, else 0.0"
    best_for = "Tasks requiring complete retrieval"
    use_when = "You need ALL relevant documents."
    released_repeats = "each"

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._at("RecallAll", placed.per_label, k)


class RetrievalRecallAny(BaseMetric):
    """1.0 if any gold document is among the first k, else 0.0. REMem computes this and throws it away.

    >>> RetrievalRecallAny().calculate_metric_scores([["a", "b"]], [["x", "b"]], [1, 2])[0]
    {'Recall_any@1': 0.0, 'Recall_any@2': 1.0}
    """

    metric_name = "retrieval_recall_any"
    label = "Recall_any"
    formula = "Recall_any@k = 1.0 if any relevant doc is in top-k, else 0.0"
    best_for = "Tasks that one document can answer"
    use_when = "One relevant document is enough."

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._at("Success", placed.per_rank, k)


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
    best_for = "Overall retrieval quality with ranking"
    use_when = "Ranking matters and relevant documents should be placed higher."

    def measured(self, placed: Placements, k: int) -> np.ndarray:
        return self._at("nDCG", placed.per_rank, k)


def problem_queries(
    per_example: Sequence[Mapping[str, float]], key: str, below: float = 1.0
) -> list[tuple[int, float]]:
    """Queries whose value is below a limit, the worst first, by their place in the input.

    >>> problem_queries([{"Recall@1": 1.0}, {"Recall@1": 0.0}, {"Recall@1": 0.5}], "Recall@1")
    [(1, 0.0), (2, 0.5)]
    """
    low = [(i, value) for i, value in enumerate(column_of(per_example, key, "query")) if value < below]
    return sorted(low, key=lambda pair: pair[1])


def score_distribution(per_example: Sequence[Mapping[str, float]], key: str) -> dict[str, float]:
    """Lowest, quartiles and highest value of a metric over queries.

    >>> score_distribution([{"Recall@1": 1.0}, {"Recall@1": 0.0}, {"Recall@1": 0.5}], "Recall@1")["median"]
    0.5
    """
    column = column_of(per_example, key, "query")
    if not column:
        raise InputError("there are no queries")
    names = ("min", "lower quartile", "median", "upper quartile", "max")
    return dict(zip(names, np.quantile(column, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))
