"""Exact means over all orders of tied documents.

Documents with the same score could stand in any order. McSherry and Najork 2008 (Computing information
retrieval performance measures efficiently in the presence of tied scores) give the mean over all of them in
closed form, measure by measure: a document of a group of n ties is at each of the group's n ranks with the
same chance, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from goldrank.data.placements import Placements, log2
from goldrank.errors import MeasureError
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import Measure
from goldrank.measures.gain import discounted, gains, ideal_dcg

EXPECTED: dict[str, Callable[..., np.ndarray]] = {}
"""By measure, the kernel of its mean over all orders; it takes the options of the measure itself."""


def expected(measure: Measure, placements: Placements) -> np.ndarray:
    """Per query, the mean of a measure over all orders of documents with equal scores."""
    if measure.name not in EXPECTED:
        raise MeasureError(
            f"{measure} has no closed form over ties", hint=f"ties='expected' goes with {', '.join(EXPECTED)}."
        )
    return measure.with_kernel(EXPECTED[measure.name], placements)


def _share(p: Placements, k: int | None) -> np.ndarray:
    """The chance of each placement to be among the first k."""
    size = p.tie_last - p.tie_first + 1
    if k is None:
        return np.ones(len(size))
    inside: np.ndarray = np.clip(np.minimum(p.tie_last, k) - p.tie_first + 1, 0, None) / size
    return inside


def _hits(p: Placements, k: int | None, rel: float) -> np.ndarray:
    return p.sum(np.where(p.grade >= rel, _share(p, k), 0.0))


def _precision(p: Placements, *, k: int, rel: float = 1, divisor: str = "k") -> np.ndarray:
    return ratio(_hits(p, k, rel), np.minimum(p.retrieved, k) if divisor == "retrieved" else np.full(len(p), k))


def _recall(p: Placements, *, k: int | None, rel: float = 1, divisor: str = "relevant") -> np.ndarray:
    return ratio(_hits(p, k, rel), p.relevant(rel) if divisor == "relevant" else _hits(p, None, rel))


def _groups(p: Placements, rel: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Groups of ties with a relevant document: query, first rank, size, relevant in it, relevant before it."""
    rows = np.flatnonzero(p.grade >= rel)
    query, first, last = p.query[rows], p.tie_first[rows], p.tie_last[rows]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    start = np.flatnonzero(fresh)
    count = np.diff(np.append(start, len(rows)))
    before = p.cumulate(p.grade >= rel)[rows][start] - 1
    return query[start], first[start], (last - first + 1)[start], count, before


def _success(p: Placements, *, k: int, rel: float = 1) -> np.ndarray:
    value = np.zeros(len(p))
    query, first, size, count, _ = _groups(p, rel)
    for q, f, n, m in zip(query.tolist(), first.tolist(), size.tolist(), count.tolist(), strict=True):
        if value[q] < 1.0 and f <= k:
            # The chance that the first k, as far as they reach into the group, miss all m of n.
            value[q] = max(value[q], 1.0 - math.comb(n - m, min(n, k - f + 1)) / math.comb(n, min(n, k - f + 1)))
    return value


def _reciprocal_rank(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    value = np.zeros(len(p))
    done = np.zeros(len(p), bool)
    query, first, size, count, _ = _groups(p, rel)
    for q, f, n, m in zip(query.tolist(), first.tolist(), size.tolist(), count.tolist(), strict=True):
        if done[q]:
            continue
        done[q] = True
        chance = m / n  # that the first of the group is relevant; then each next one, none having been so
        for j in range(n - m + 1):
            if k is not None and f + j > k:
                break
            value[q] += chance / (f + j)
            if j < n - m:
                chance *= (n - m - j) / (n - 1 - j)
    return value


def _average_precision(p: Placements, *, k: int | None, rel: float = 1, divisor: str = "relevant") -> np.ndarray:
    if divisor == "hits" and k is not None:
        raise MeasureError('AP(divisor="hits") with a cut-off has no closed form over ties')
    value = np.zeros(len(p))
    for q, f, n, m, before in zip(*(column.tolist() for column in _groups(p, rel)), strict=True):
        rank = np.arange(f, f + n if k is None else min(f + n, k + 1))
        above = (rank - f) * ((m - 1) / (n - 1) if n > 1 else 0.0)
        value[q] += float(((m / n) * (before + 1 + above) / rank).sum())
    relevant = p.count(p.grade >= rel) if divisor == "hits" else p.relevant(rel)
    return ratio(value, np.minimum(relevant, k) if divisor == "min" and k is not None else relevant)


def _dcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: str | Mapping[int, float] = "linear",
    discount: str = "log2",
    negative: str = "none",
) -> np.ndarray:
    last = int(p.tie_last.max(initial=1))
    rank = np.arange(1, last + 1)
    share = 1.0 / log2(rank + 1 if discount == "log2" else np.maximum(rank, 2))
    if k is not None:
        share[rank > k] = 0.0
    total = np.concatenate(([0.0], np.cumsum(share)))
    mean = (total[p.tie_last] - total[p.tie_first - 1]) / (p.tie_last - p.tie_first + 1)
    worth = gains(p.grade, gain, rel, negative)
    # A document without ties keeps its value to the last bit.
    alone = np.where(p.rank <= k, 1.0, 0.0) if k is not None else 1.0
    return p.sum(np.where(p.tie_first == p.tie_last, discounted(worth, p.rank, discount) * alone, worth * mean))


def _ndcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: str | Mapping[int, float] = "linear",
    discount: str = "log2",
    ideal: str = "judged",
    cut_ideal: bool = True,
    negative: str = "none",
) -> np.ndarray:
    best = ideal_dcg(p, k if cut_ideal else None, rel, gain, discount, negative, ideal)
    return ratio(_dcg(p, k=k, rel=rel, gain=gain, discount=discount, negative=negative), best)


def _set_measure(name: str) -> Callable[..., np.ndarray]:
    def same(p: Placements, **given: Any) -> np.ndarray:
        from goldrank.measures.declare import REGISTRY

        return REGISTRY[name].kernel(p, **given)

    return same


EXPECTED |= {
    "P": _precision,
    "R": _recall,
    "Success": _success,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
    "DCG": _dcg,
    "nDCG": _ndcg,
}
# Measures of what was returned, whatever its order, are the same in every order.
_UNORDERED = ("SetP", "SetR", "SetF", "SetAP", "NumQ", "NumRet", "NumRel", "NumNonrelRet", "Utility", "IdealDCG")
EXPECTED |= {name: _set_measure(name) for name in _UNORDERED}
