"""Fusion by ranks: what a document gets depends on its rank in each list alone."""

from __future__ import annotations

import numpy as np

from goldrank.fusion.lists import RankedLists
from goldrank.fusion.methods import WEIGHTS, by_rank, number

_MOURAO = "Mourao, Martins and Magalhaes 2015"
_ASLAM = "Aslam and Montague 2001"


@by_rank("rrf", "reciprocal rank fusion: the sum of weight / (k + rank)", "Cormack, Clarke and Buettcher 2009", WEIGHTS,
        number("k", "the constant: the higher, the less the first ranks count", 0, default=60,
               tried=(60, 1, 5, 10, 20, 40, 80, 100, 200)))  # fmt: skip
def rrf(lists: RankedLists, weights: np.ndarray, k: float) -> np.ndarray:
    return lists.total(weights[lists.run] / (k + lists.rank))


@by_rank("isr", "the sum of 1 / rank^2 times the number of runs that returned the document", _MOURAO)
def isr(lists: RankedLists) -> np.ndarray:
    value: np.ndarray = _inverse_squares(lists) * lists.count
    return value


@by_rank("log_isr", "the sum of 1 / rank^2 times the logarithm of the number of runs that returned the document: 0 for "
        "what one run alone returned", _MOURAO)  # fmt: skip
def log_isr(lists: RankedLists) -> np.ndarray:
    value: np.ndarray = _inverse_squares(lists) * np.log(lists.count)
    return value


@by_rank("logn_isr", "as log_isr, with sigma added to the number of runs", _MOURAO,
        number("sigma", "what is added, so that one run alone counts too", 0, 1, default=0.01,
               tried=[0.01, *(i / 20 for i in range(1, 21))]))  # fmt: skip
def logn_isr(lists: RankedLists, sigma: float) -> np.ndarray:
    return _inverse_squares(lists) * np.log(lists.count + sigma)


@by_rank("rbc", "rank-biased centroids: the sum of (1 - phi) phi^(rank - 1)", "Bailey, Moffat, Scholer and Thomas 2017",
        number("phi", "how likely a reader goes on to the next rank", 0, 1, default=0.8,
               tried=[0.8, *(i / 20 for i in range(1, 20)), 0.98, 0.99]))  # fmt: skip
def rbc(lists: RankedLists, phi: float) -> np.ndarray:
    return lists.total((1 - phi) * phi ** (lists.rank - 1.0))


@by_rank("bordafuse", "Borda count: a point for each candidate that is not before it; candidates that a run did not "
        "return share its remaining points", _ASLAM)  # fmt: skip
def bordafuse(lists: RankedLists) -> np.ndarray:
    return weighted_bordafuse(lists, np.ones(len(lists.runs)))


@by_rank("w_bordafuse", "Borda count with a weight for each run", _ASLAM, WEIGHTS)
def weighted_bordafuse(lists: RankedLists, weights: np.ndarray) -> np.ndarray:
    weight = np.tile(weights, len(lists.queries))
    shared = weight * (lists.candidates - np.diff(lists.start) + 1) / 2
    points = weight[lists.list] * (lists.candidates[lists.list] + 1 - lists.rank)
    value: np.ndarray = lists.total(points) + (lists.over_lists(shared) - lists.total(shared[lists.list]))
    return value


def _inverse_squares(lists: RankedLists) -> np.ndarray:
    return lists.total(1 / lists.rank.astype(np.float64) ** 2)
