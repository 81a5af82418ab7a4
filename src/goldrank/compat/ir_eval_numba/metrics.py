"""The functions of ir_eval_numba; the package's help says where they differ from the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from goldrank.base.errors import InputError
from goldrank.compat._common import has_entries, is_whole, mean, positive, short_value, sliced_values, values
from goldrank.conventions.seeds import IR_EVAL_NUMBA
from goldrank.data.placements import Placements
from goldrank.engine.lists import place_integers, ranks_of_one_query

__all__ = [
    "average_precision",
    "f1_score",
    "find_relevant_indices",
    "mean_average_precision",
    "mean_of_array",
    "mean_reciprocal_rank",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
]

Array: TypeAlias = np.ndarray | Sequence[int]
"""An array of integer ids of any dtype, or a list of integers."""


def recall(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """The share of the relevant items that is among the first k predictions.

    Use it for early retrieval stages, where many candidates are returned and none should be missed.

    >>> recall([1, 3, 5], [1, 2, 3, 4, 5], 3)
    0.6666666666666666
    """
    if as_released and is_whole(k) and k < 1:
        everything = _placed([actual], [predicted], len(predicted))
        return float(sliced_values("R", k, everything.per_label, IR_EVAL_NUMBA)[0])
    return _value("R", actual, predicted, k)


def precision(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """The share of relevant items among the first k predictions; the divisor is always k.

    Use it for later ranking stages, where false positives cost most.

    >>> precision([1, 3, 5], [1, 2, 3, 4, 5], 5)
    0.6
    """
    return _value("P", actual, predicted, k)


def f1_score(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """The harmonic mean of precision and recall of the first k predictions.

    Use it where missed items and false positives both cost.

    >>> f1_score([1, 3, 5], [1, 2, 3, 4, 5], 3)
    0.6666666666666666
    """
    return _value("F", actual, predicted, k)


def average_precision(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """The mean of precision at each of the first k ranks that holds a relevant item.

    Use it to see how well the relevant items are ranked within the first k.

    The divisor is the number of such ranks, so that relevant items that were not found cost nothing. This is
    not trec_eval's AP, which divides by all relevant items: goldrank's `AP@k`.

    >>> average_precision([1, 3, 5], [1, 2, 3, 4, 5], 5)
    0.7555555555555555
    """
    return _value("AP", actual, predicted, k)


def mean_average_precision(
    actual_list: Sequence[Array], predicted_list: Sequence[Array], k: int, *, as_released: bool = False
) -> float:
    """The mean of `average_precision` over queries; 0 for no queries.

    Use it for one number over many queries that weighs recall and precision against each other.

    >>> mean_average_precision([[1, 3, 5], [2]], [[1, 2, 3], [9, 2]], 3)
    0.6666666666666666
    """
    return _mean_value("AP", actual_list, predicted_list, k)


def ndcg(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """Binary nDCG of the first k predictions: how near the order is to the best one.

    Use it when relevant items should come first; a good overall measure.

    >>> ndcg([1, 3, 5], [1, 2, 3, 4, 5], 5)
    0.8854598815714874
    """
    return _value("nDCG", actual, predicted, k)


def reciprocal_rank(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> float:
    """One over the rank of the first relevant item among the first k predictions, else 0.

    Use it when people are shown one or very few results.

    >>> reciprocal_rank([3], [1, 2, 3], 5)
    0.3333333333333333
    """
    if as_released and is_whole(k) and k < 1:
        return 0.0
    return _value("RR", actual, predicted, k)


def mean_reciprocal_rank(
    actual_list: Sequence[Array], predicted_list: Sequence[Array], k: int, *, as_released: bool = False
) -> float:
    """The mean of `reciprocal_rank` over queries; 0 for no queries.

    Use it for one number over many queries of how soon the first relevant item comes.

    >>> mean_reciprocal_rank([[1], [2]], [[1, 2], [1, 2]], 2)
    0.75
    """
    if as_released and is_whole(k) and k < 1:
        _check_pairs(actual_list, predicted_list)
        return 0.0
    return _mean_value("RR", actual_list, predicted_list, k)


def find_relevant_indices(actual: Array, predicted: Array, k: int, *, as_released: bool = False) -> np.ndarray:
    """The indices, from 0, of the relevant items among the first k predictions.

    >>> find_relevant_indices([1, 3], [3, 2, 1], 3)
    array([0, 2])
    """
    depth = 0
    if not (as_released and is_whole(k) and k < 1):
        depth = positive(k)
    indices: np.ndarray = _placed([actual], [predicted], depth).rank - 1
    return indices


def mean_of_array(array: np.ndarray | Sequence[float]) -> float:
    """The mean of some values; 0 for none.

    >>> mean_of_array([0.5, 1.0])
    0.75
    """
    try:
        column = np.asarray(array, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"these are not numbers: {error}") from None
    if column.ndim != 1:
        raise InputError(f"the values are an array of {column.ndim} dimensions, not of one")
    if len(column):
        return mean(column)
    return 0.0


def _value(name: str, actual: Array, predicted: Array, k: object) -> float:
    depth = positive(k)
    plain = ranks_of_one_query(predicted, actual, depth)
    if plain is not None:
        ranks, relevant = plain
        value = short_value(name, depth, relevant, IR_EVAL_NUMBA)
        return value(ranks)

    placed = _placed([actual], [predicted], depth)
    if placed.shared and name in ("P", "R", "F"):
        placed = placed.per_label  # a repeated prediction counts once
    return float(values(name, depth, placed, IR_EVAL_NUMBA)[0])


def _mean_value(name: str, actual_list: Sequence[Array], predicted_list: Sequence[Array], k: object) -> float:
    depth = positive(k)
    _check_pairs(actual_list, predicted_list)
    if not len(actual_list):
        return 0.0
    return mean(values(name, depth, _placed(actual_list, predicted_list, depth), IR_EVAL_NUMBA))


def _check_pairs(actual_list: Sequence[Array], predicted_list: Sequence[Array]) -> None:
    for name, arrays in (("actual_list", actual_list), ("predicted_list", predicted_list)):
        if not has_entries(arrays) or not hasattr(arrays, "__len__"):
            raise InputError(f"{name} is a {type(arrays).__name__}, not a list of arrays")

    if len(actual_list) != len(predicted_list):
        message = f"actual_list has {len(actual_list):,} queries and predicted_list {len(predicted_list):,}"
        raise InputError(message, hint="Give one array of each for every query.")


def _placed(actual: Sequence[Array], predicted: Sequence[Array], depth: int) -> Placements:
    return place_integers(_arrays(predicted, "predicted"), _arrays(actual, "actual"), depth)


def _arrays(lists: Sequence[Array], noun: str) -> Sequence[np.ndarray]:
    arrays = []
    for number, array in enumerate(lists):
        try:
            arrays.append(np.asarray(array))
        except ValueError as error:
            raise InputError(f"{noun} of query {number} is not an array of ids: {error}") from None
        if arrays[-1].ndim != 1:
            message = f"{noun} of query {number} is {array!r:.60}, not an array of ids"
            raise InputError(message, hint="Give an array or a list.", code="wrong-type")
    return arrays
