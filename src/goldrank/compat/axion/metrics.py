"""Axion's metrics over ids: items are read into placements once, and measures of goldrank give the values.

Metrics that ask a judge are in `judges` and can be imported from here too, as in Axion.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from goldrank.base.errors import OptionError
from goldrank.compat._common import has_entries, is_whole, values
from goldrank.compat.axion.base import Batch, MetricOptions, RetrievalMetric
from goldrank.compat.axion.dataset import (
    DatasetItem,
    KDetail,
    MeanReciprocalRankResult,
    MetricEvaluationResult,
    MultiKResult,
)
from goldrank.compat.axion.judges import ContextualPrecision, ContextualRanking, ContextualRecall
from goldrank.conventions.seeds import ABOVE_ZERO, AXION
from goldrank.data.placements import Placements
from goldrank.measures.gain import ideal_dcg

__all__ = [
    "ContextualPrecision",
    "ContextualRanking",
    "ContextualRecall",
    "DatasetItem",
    "HitRateAtK",
    "MeanReciprocalRank",
    "NDCGAtK",
    "PrecisionAtK",
    "RecallAtK",
]


class MetricAtK(RetrievalMetric):
    """A metric at one or several cut-offs; `main_k` (by default the largest) makes the score."""

    default_k = 10
    tags = ("retrieval", "heuristic", "multi-k")
    shown_as: ClassVar[str] = ".4f"
    """How the explanation formats the score."""

    def __init__(
        self, k: int | Sequence[int] = 10, main_k: int | None = None, **options: Unpack[MetricOptions]
    ) -> None:
        """Make a metric ready; it keeps nothing between items.

        `k` is a cut-off or a list of them, all of which are evaluated in one pass; they are positive integers, and
        results have them sorted, each once. `main_k` is the one that makes the score, by default the largest; it must
        be one of them. `threshold` is the score from which a runner says that an item passed (by default 0.5; 0
        counts). `as_released=True` gives the numbers of Axion's released code where they differ from its document (see
        the package's help), and leaves out numbers in a list of k that are not positive. `name`, `metric_name`,
        `metric_description`, `required_fields` and `field_mapping` are those of `RetrievalMetric`.
        """
        super().__init__(**options)
        cuts: list[Any] = [k]
        if has_entries(k):
            cuts = list(k)

        cutoffs = sorted({int(cut) for cut in cuts if is_whole(cut) and cut > 0})
        if not cutoffs:
            raise OptionError("k must contain at least one positive integer.", hint=f"It is {k!r}.", code="bad-number")
        for cut in cuts:
            is_valid = is_whole(cut) and (cut > 0 or self.as_released)
            if not is_valid:
                raise OptionError(f"k contains {cut!r}, which is not a positive integer", code="bad-number")

        self.k = cutoffs
        self.main_k = cutoffs[-1]
        if main_k is not None:
            if not (is_whole(main_k) and main_k in cutoffs):
                raise OptionError(f"main_k ({main_k}) must be one of the specified k values: {cutoffs}")
            self.main_k = int(main_k)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k}, main_k={self.main_k}, name={self.metric_name!r})"

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
        """Details with the counts of Precision and Recall."""
        hits = values("NumRelRet", k, placed, AXION, rel=ABOVE_ZERO).astype(int)
        retrieved, relevant = placed.cut(k).retrieved, placed.relevant(ABOVE_ZERO)
        rows = zip(scores.tolist(), hits.tolist(), retrieved.tolist(), relevant.tolist(), strict=True)
        return [KDetail(*row) for row in rows]


class HitRateAtK(MetricAtK):
    """1.0 if any of the first K documents is relevant, else 0.0.

    `k` is the cut-off or a list of them, `main_k` the one that makes the score (by default the largest), `threshold`
    the score that passes. The released code gives equal numbers, so that `as_released` changes no score.

    >>> HitRateAtK(k=[1, 3]).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    1.0
    """

    key = "hit_rate_at_k"
    default_name = "Hit Rate @ K"
    measures = "Any relevant result in top K?"
    use_case = "Quick relevance check"
    group = "coverage"
    relations = (("binary version of", "recall_at_k"),)
    scores = "0 or 1"
    best_for = "Quick sanity check"
    key_question = "Did we find anything relevant?"
    formula = "1 if any relevant in K"
    shown_as = ""

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        return [
            KDetail(score, is_hit=score > 0) for score in values("Success", k, placed, AXION, rel=ABOVE_ZERO).tolist()
        ]


class MeanReciprocalRank(RetrievalMetric):
    """1 / rank of the first relevant document of the whole ranking; 0.0 if no document is relevant.

    It has no k. `threshold` is the score that passes. The released code gives equal numbers, so that `as_released`
    changes no score. `MetricRunner.summary` has the mean over items.

    >>> MeanReciprocalRank().score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    0.5
    """

    key = "mean_reciprocal_rank"
    default_name = "Mean Reciprocal Rank (MRR)"
    measures = "Rank of first relevant result"
    use_case = "First-result quality"
    relations = (("position-aware, as is", "ndcg_at_k"),)
    best_for = "First-result systems"
    key_question = "How fast do users find what they need?"
    formula = "1 / first_relevant_rank"

    def _measured(self, batch: Batch, placed: Placements) -> list[MetricEvaluationResult]:
        scores = values("RR", None, placed, AXION, rel=ABOVE_ZERO).tolist()
        first = placed.first(placed.grade >= ABOVE_ZERO).tolist()
        results = []
        for ranking, rank, score in zip(batch.rankings, first, scores, strict=True):
            if rank:
                explanation = f"First relevant document ('{ranking[rank - 1]}') found at rank {rank}."
            else:
                explanation = "No relevant documents found in the retrieved results."
            results.append(self._result(score, explanation, MeanReciprocalRankResult(rank or None, score)))
        return results


class NDCGAtK(MetricAtK):
    """Graded relevance, discounted by position, as a share of the best possible.

    `k` is the cut-off or a list of them, `main_k` the one that makes the score (by default the largest), `threshold`
    the score that passes. A relevance below 0 is a loss, and the score stops at 0. With `as_released=True` a repeated
    document gains each time; no value passes 1.

    >>> item = DatasetItem(actual_ranking=["x", "a"], expected_reference=[{"id": "a", "relevance": 2.0}])
    >>> round(NDCGAtK(k=5).score(item).score, 4)
    0.6309
    """

    key = "ndcg_at_k"
    default_name = "NDCG @ K"
    measures = "Graded relevance with position discount"
    use_case = "Ranking quality"
    best_for = "Graded relevance"
    key_question = "Is the ranking order optimal?"
    formula = "DCG / IDCG"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        scores = values("nDCG", k, placed, AXION, negative="keep").tolist()
        gained = values("DCG", k, placed, AXION, negative="keep").tolist()
        best = ideal_dcg(placed, k, ABOVE_ZERO, "linear", "log2", "keep", "judged").tolist()
        rows = zip(scores, gained, best, strict=True)
        return [KDetail(score, dcg=dcg, idcg=idcg) for score, dcg, idcg in rows]


class PrecisionAtK(MetricAtK):
    """The share of relevant documents among the first K.

    `k` is the cut-off or a list of them, `main_k` the one that makes the score (by default the largest), `threshold`
    the score that passes. With `as_released=True` it is the share among min(K, retrieved), and a repeated document
    counts each time.

    >>> PrecisionAtK(k=2).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a"])).score
    0.5
    """

    key = "precision_at_k"
    default_name = "Precision @ K"
    measures = "Fraction of top K that's relevant"
    use_case = "Result purity"
    relations = (("complementary to", "recall_at_k"),)
    best_for = "Result quality"
    key_question = "Are results mostly relevant?"
    formula = "relevant_in_K / K"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        divisor = "k"
        if self.as_released:
            divisor = "retrieved"
        return self._counted(k, placed, values("P", k, placed, AXION, divisor=divisor, rel=ABOVE_ZERO))


class RecallAtK(MetricAtK):
    """The share of all relevant documents that is among the first K.

    `k` is the cut-off or a list of them, `main_k` the one that makes the score (by default the largest), `threshold`
    the score that passes. Where everything is judged 0 the document leaves the score open: it is 0 here, and the
    explanation says so. With `as_released=True` it is 1 there, and a repeated document counts each time (no value
    passes 1).

    >>> RecallAtK(k=2).score(DatasetItem(actual_ranking=["x", "a"], expected_reference=["a", "b"])).score
    0.5
    """

    key = "recall_at_k"
    default_name = "Recall @ K"
    measures = "Fraction of relevant docs in top K"
    use_case = "Coverage"
    group = "coverage"
    best_for = "Coverage"
    key_question = "Did we miss relevant docs?"
    formula = "relevant_in_K / total_relevant"

    def _details(self, k: int, placed: Placements) -> list[KDetail]:
        return self._counted(k, placed, values("R", k, placed, AXION, rel=ABOVE_ZERO))

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


METRICS: tuple[type[RetrievalMetric], ...] = (
    *(HitRateAtK, MeanReciprocalRank, NDCGAtK, PrecisionAtK, RecallAtK),
    *(ContextualPrecision, ContextualRecall, ContextualRanking),
)
