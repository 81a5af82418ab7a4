"""Fusion by scores: sums and their kin of what each run gave a document."""

from __future__ import annotations

import numpy as np

from goldrank.fusion.lists import RankedLists
from goldrank.fusion.methods import WEIGHTS, method, number

_FOX_SHAW = "Fox and Shaw 1994"
_WU = "Wu and Crestani 2002"


@method("sum", "the sum of scores", _FOX_SHAW)
def comb_sum(lists: RankedLists) -> np.ndarray:
    return lists.total(lists.score)


@method("mnz", "the sum of scores times the number of runs that returned the document", _FOX_SHAW)
def comb_mnz(lists: RankedLists) -> np.ndarray:
    value: np.ndarray = lists.total(lists.score) * lists.count
    return value


@method("anz", "the mean of the scores of the runs that returned the document", _FOX_SHAW)
def comb_anz(lists: RankedLists) -> np.ndarray:
    value: np.ndarray = lists.total(lists.score) / lists.count
    return value


@method("min", "the lowest score of the runs that returned the document", _FOX_SHAW)
def comb_min(lists: RankedLists) -> np.ndarray:
    lowest = np.full(len(lists.docs), np.inf)
    np.minimum.at(lowest, lists.candidate, lists.score)
    return lowest


@method("max", "the highest score of the runs that returned the document", _FOX_SHAW)
def comb_max(lists: RankedLists) -> np.ndarray:
    highest = np.full(len(lists.docs), -np.inf)
    np.maximum.at(highest, lists.candidate, lists.score)
    return highest


@method("med", "the median of the scores of the runs that returned the document", _FOX_SHAW)
def comb_med(lists: RankedLists) -> np.ndarray:
    median = np.empty(len(lists.docs))
    for candidates, table in lists.side_by_side():
        count, row = lists.count[candidates], np.arange(len(table))
        median[candidates] = (table[row, (count - 1) // 2] + table[row, count // 2]) / 2
    return median


@method("gmnz", "the sum of scores times the number of runs that returned the document, to the power of gamma",
        "Lee 1997", number("gamma", "the power: 0 gives sum, 1 gives mnz", -10, 10, default=1.0,
                           tried=[i / 20 for i in range(21)]))  # fmt: skip
def comb_gmnz(lists: RankedLists, gamma: float) -> np.ndarray:
    return lists.total(lists.score) * lists.count.astype(np.float64) ** gamma


@method("wsum", "the weighted sum of scores", "Vogt and Cottrell 1999", WEIGHTS, counts_absent=True)
def weighted_sum(lists: RankedLists, weights: np.ndarray) -> np.ndarray:
    total = lists.total(weights[lists.run] * lists.score)
    if lists.absent is None:
        return total
    # What every list gives to a document that it does not have, without the lists that do have it.
    absent = np.tile(weights, len(lists.queries)) * lists.absent
    value: np.ndarray = total + (lists.over_lists(absent) - lists.total(absent[lists.list]))
    return value


@method("wmnz", "the sum of scores times the weights of the runs that returned the document", _WU, WEIGHTS)
def weighted_mnz(lists: RankedLists, weights: np.ndarray) -> np.ndarray:
    value: np.ndarray = lists.total(lists.score) * lists.total(weights[lists.run])
    return value


@method("mixed", "the weighted sum of scores times the root of the number of runs that returned the document", _WU,
        WEIGHTS)  # fmt: skip
def mixed(lists: RankedLists, weights: np.ndarray) -> np.ndarray:
    value: np.ndarray = lists.total(lists.score * weights[lists.run]) * np.sqrt(lists.count)
    return value
