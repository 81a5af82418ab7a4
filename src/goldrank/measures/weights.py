"""What a grade is worth and what a rank takes from it: shared by all measures of graded relevance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from goldrank.data.placements import log2
from goldrank.measures.options import Choice

Gain: TypeAlias = str | Mapping[int, float]
GAIN = Choice(("linear", "exp2", "binary"), mapping=True)


def gains(grade: np.ndarray, gain: Gain, rel: float, negative: str = "none") -> np.ndarray:
    """What each grade is worth. Negative grades are worth nothing unless they are to be kept."""
    if not isinstance(gain, str):
        worth = np.where(grade > 0, grade, 0).astype(np.float64)
        for level, value in gain.items():
            worth[grade == level] = value
        return worth

    if gain == "binary":
        return (grade >= rel).astype(np.float64)

    if negative == "keep":
        positive = grade.astype(np.float64)
    else:
        positive = np.maximum(grade, 0.0)

    if gain == "exp2":
        return np.asarray(np.exp2(positive) - 1.0)
    return positive


def discounted(gain: np.ndarray | float, rank: np.ndarray, discount: str = "log2") -> np.ndarray:
    """Gain divided by log2(rank + 1), or by log2(max(rank, 2)) for the form that spares the first two ranks.

    "ln" divides by ln(rank + 1) / ln(2): equal to "log2" except in the last bit, in which some tools differ.
    """
    if discount == "ln":
        logarithm = np.array([math.log(number) for number in (rank + 1).tolist()]) / math.log(2)
    elif discount == "log2":
        logarithm = log2(rank + 1)
    else:
        logarithm = log2(np.maximum(rank, 2))
    return np.asarray(gain / logarithm)


def running_powers(base: float, count: int) -> np.ndarray:
    """1, base, base^2, ..., each made from the one before, as trec_eval does."""
    steps = np.full(max(count, 1), float(base))
    steps[0] = 1.0
    return np.cumprod(steps)
