"""Measures of one short ranking, in plain Python: calling numpy takes longer than ten documents do.

Each function here takes what the judgements of one query say, and makes a function of the ranks and grades of the
judged documents that were returned. Its values are those of the measure's kernel, to the last bit: the same operations
in the same order (`tests/measures/test_short.py`). Other measures and other options are left to the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import capped_recall, f_measure, last_rank, precision, recall, success
from goldrank.measures.declare import Kernel
from goldrank.measures.gain import dcg, ideal_dcg, ndcg
from goldrank.measures.rank import average_precision, reciprocal_rank
from goldrank.measures.spelling import Measure

Short: TypeAlias = Callable[[Sequence[int], Sequence[float]], float]
"""The value of a ranking, from the ranks of its judged documents in ascending order, and their grades."""
ShortMaker: TypeAlias = Callable[..., Short | None]
"""Makes it from the judgements of one query and the arguments of the kernel; None for options that it does not know."""


def short_kernel(measure: Measure, judged: Placements) -> Short | None:
    """The measure for rankings of one query, whose judgements are given; None if only its kernel can take it."""
    make = SHORT.get(measure.declaration.kernel)
    judged_only, arguments = measure.kernel_arguments
    if make is None or judged_only or measure.option("tokens") is not None:
        return None
    return make(judged, **arguments)


def _hits(ranks: Sequence[int], grades: Sequence[float], last: float, rel: float) -> int:
    """The relevant documents down to a rank."""
    hits = 0
    for rank, grade in zip(ranks, grades, strict=True):
        if rank > last:
            break
        if grade >= rel:
            hits += 1
    return hits


def _reciprocal_rank(judged: Placements, *, k: int | None, rel: float) -> Short:
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                return 1.0 / rank
        return 0.0

    return value


def _average_precision(judged: Placements, *, k: int | None, rel: float, divisor: str) -> Short | None:
    if divisor not in ("relevant", "hits"):
        return None
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
        if divisor == "hits":
            return total / hits
        return total / relevant

    return value


def _share_of_hits(k: int | None, rel: float, whole: int) -> Short:
    """The relevant documents among the first k as a share of `whole`, which is not 0 where there is one."""
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        hits = _hits(ranks, grades, last, rel)
        if not hits:
            return 0.0
        return hits / whole

    return value


def _precision(judged: Placements, *, k: int, rel: float, divisor: str) -> Short | None:
    if divisor != "k":
        return None
    return _share_of_hits(k, rel, k)


def _recall(judged: Placements, *, k: int | None, rel: float, divisor: str) -> Short | None:
    if divisor != "relevant":
        return None
    return _share_of_hits(k, rel, int(judged.relevant(rel)[0]))


def _capped_recall(judged: Placements, *, k: int, rel: float) -> Short:
    return _share_of_hits(k, rel, min(int(judged.relevant(rel)[0]), k))


def _f_measure(judged: Placements, *, k: int, rel: float, beta: float) -> Short:
    relevant = int(judged.relevant(rel)[0])
    weight = beta**2

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        hits = _hits(ranks, grades, k, rel)
        if not hits:
            return 0.0
        precision, recall = hits / k, hits / relevant
        return (weight + 1.0) * precision * recall / (recall + weight * precision)

    return value


def _success(judged: Placements, *, k: int | None, rel: float) -> Short:
    last = last_rank(k)

    def value(ranks: Sequence[int], grades: Sequence[float]) -> float:
        return float(_hits(ranks, grades, last, rel) > 0)

    return value


def _dcg(judged: Placements, *, k: int | None, rel: float, gain: Any, discount: str, negative: str) -> Short | None:
    if gain not in ("linear", "binary") or discount != "log2" or negative != "none":
        return None
    last = last_rank(k)
    log2 = math.log2

    def graded(ranks: Sequence[int], grades: Sequence[float]) -> float:
        total = 0.0
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade > 0:
                total += grade / log2(rank + 1)
        return total

    def binary(ranks: Sequence[int], grades: Sequence[float]) -> float:
        total = 0.0
        for rank, grade in zip(ranks, grades, strict=True):
            if rank > last:
                break
            if grade >= rel:
                total += 1.0 / log2(rank + 1)
        return total

    if gain == "binary":
        return binary
    return graded


def _ndcg(judged: Placements, *, k: int | None, ideal: str, cut_ideal: bool, **options: Any) -> Short | None:
    gained = _dcg(judged, k=k, **options)
    if gained is None or ideal != "judged" or not cut_ideal:
        return None
    best = float(ideal_dcg(judged, k, ideal=ideal, **options)[0])

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
    f_measure: _f_measure,
    success: _success,
    dcg: _dcg,
    ndcg: _ndcg,
}
"""By kernel: a measure that replaces one of these under its name has another kernel."""
