"""Measures of one short ranking, in plain Python: calling numpy takes longer than ten documents do.

Each function here takes what the judgements of one query say, and makes a function of the ranks and grades of the judged
documents that were returned. Its values are those of the measure's kernel, to the last bit: the same operations in the
same order (`tests/measures/test_short.py`). All other measures, and those with other options, are left to their kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import capped_recall, last_rank, precision, recall, success
from goldrank.measures.declare import Kernel
from goldrank.measures.gain import dcg, ideal_dcg, ndcg
from goldrank.measures.rank import average_precision, reciprocal_rank
from goldrank.measures.spelling import Measure

Short: TypeAlias = Callable[[Sequence[int], Sequence[float]], float]
"""The value of a ranking, from the ranks of its judged documents in ascending order, and their grades."""
ShortMaker: TypeAlias = Callable[[Placements, Any, float], Short]
"""Makes it from the judgements of one query, the cut-off and the level from which a grade is relevant."""


def short_maker(measure: Measure) -> ShortMaker | None:
    """What makes the measure for rankings of one query; None if only its kernel can take it."""
    if measure.options.keys() <= {"rel"}:
        return SHORT.get(measure.declaration.kernel)
    return None


def _reciprocal_rank(judged: Placements, k: int | None, rel: float) -> Short:
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                return 1.0 / rank
        return 0.0

    return value


def _average_precision(judged: Placements, k: int | None, rel: float) -> Short:
    last = last_rank(k)
    relevant = int(judged.relevant(rel)[0])

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        total, hits = 0.0, 0
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                hits += 1
                total += hits / rank
        if not hits:
            return 0.0
        return total / relevant

    return value


def _share_of_hits(k: int | None, rel: float, whole: int) -> Short:
    """The relevant documents among the first k as a share of `whole`, which is not 0 where there is one."""
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        hits = 0
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                hits += 1
        if not hits:
            return 0.0
        return hits / whole

    return value


def _precision(judged: Placements, k: int, rel: float) -> Short:
    return _share_of_hits(k, rel, k)


def _recall(judged: Placements, k: int | None, rel: float) -> Short:
    return _share_of_hits(k, rel, int(judged.relevant(rel)[0]))


def _capped_recall(judged: Placements, k: int, rel: float) -> Short:
    return _share_of_hits(k, rel, min(int(judged.relevant(rel)[0]), k))


def _success(judged: Placements, k: int | None, rel: float) -> Short:
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                return 1.0
        return 0.0

    return value


def _dcg(judged: Placements, k: int | None, rel: float) -> Short:
    last = last_rank(k)
    log2 = math.log2

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        total = 0.0
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade > 0:
                total += grade / log2(rank + 1)
        return total

    return value


def _ndcg(judged: Placements, k: int | None, rel: float) -> Short:
    gained = _dcg(judged, k, rel)
    best = float(ideal_dcg(judged, k, rel, "linear", "log2", "none", "judged")[0])

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        if best <= 0:
            return 0.0
        return gained(ranks, grades) / best

    return value


SHORT: dict[Kernel, ShortMaker] = {
    reciprocal_rank: _reciprocal_rank,
    average_precision: _average_precision,
    precision: _precision,
    recall: _recall,
    capped_recall: _capped_recall,
    success: _success,
    dcg: _dcg,
    ndcg: _ndcg,
}
"""By kernel: a measure that replaces one of these under its name has another kernel."""
