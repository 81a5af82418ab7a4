"""Is a value on the right side of a limit? Numbers are compared as people write them, not as computers store them.

Three queries of 0.7 have a mean of 0.6999999999999998, which is not below 0.7. So sums are rounded once (`math.fsum`),
and a value equals a limit if they differ by less than `SAME` of the greater one: 12 digits. What is further below is
below. A difference of two values is known as far as the values are: a drop is compared by its two ends, never alone.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from goldrank.data.scores import format_value

SAME = 1e-12
"""The share of the greater number by which two equal numbers may differ."""
MOST_DECIMALS = 15


def is_below(value: float, limit: float) -> bool:
    """Whether a value is below a limit by more than rounding.

    >>> is_below((0.7 + 0.7 + 0.7) / 3, 0.7), is_below(0.699999, 0.7)
    (False, True)
    """
    return limit - value > SAME * max(abs(value), abs(limit))


def exact_mean(values: np.ndarray) -> float:
    """The mean of a sum that is rounded once.

    >>> exact_mean(np.array([0.1] * 10))
    0.1
    """
    return math.fsum(values.tolist()) / len(values)


def has_dropped(before: float, after: float, tolerated: float, scale: float) -> bool:
    """Whether a value is worse by more than tolerated, all in one direction: more is better.

    `scale` is the greatest number that took part, which says how far rounding reaches.
    """
    return before - after - tolerated > SAME * scale


def told_apart(value: float, limit: float, average: str = "mean") -> tuple[str, str]:
    """A value and its distance from a limit, with as many decimals as tell them apart; four at least, unless it counts.

    >>> told_apart(0.6999, 0.7), told_apart(0.69999999, 0.7)
    (('0.6999', '0.0001'), ('0.69999999', '0.00000001'))
    """
    if average == "sum" and value == int(value):
        return format_value(value, average), f"{abs(value - limit):g}"
    decimals = 4
    while decimals < MOST_DECIMALS and f"{value:.{decimals}f}" == f"{limit:.{decimals}f}":
        decimals += 1
    return f"{value:.{decimals}f}", f"{abs(value - limit):.{decimals}f}"


def rank_of(quantile: float, count: int) -> int:
    """Which of `count` ascending numbers is the first that a share of all reaches: the 95th of 100 for 0.95.

    >>> rank_of(0.07, 100), rank_of(0.95, 20)
    (7, 19)
    """
    return max(1, math.ceil(Decimal(repr(quantile)) * count))
