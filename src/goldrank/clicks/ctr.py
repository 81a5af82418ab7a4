"""Click-through with smoothing: (clicks + a) / (shown + a + b).

The interval comes from Beta(clicks + a, shown - clicks + b). The model takes every shown document as seen, so
documents at high ranks look better than they are.
"""

from __future__ import annotations

import sys

import numpy as np

from goldrank.base.errors import OptionError
from goldrank.base.escaping import shown
from goldrank.base.packages import special
from goldrank.clicks.sessions import ClickLog, ratio


def prior_of(clicks: np.ndarray, shown: np.ndarray) -> tuple[float, float]:
    """a and b by moments over documents: a + b = m(1 - m) / v - 1, at least 2."""
    rates = ratio(clicks, shown)
    mean, variance = float(rates.mean()), float(rates.var())
    mean = min(max(mean, 1e-6), 1 - 1e-6)

    total = 2.0
    if variance > 0:
        total = max(total, mean * (1 - mean) / variance - 1)
    return mean * total, (1 - mean) * total


def estimate(log: ClickLog, weights: np.ndarray, prior: tuple[float, float] | None = None) -> np.ndarray:
    """The smoothed share of views with a click, for each pair."""
    clicks, shown = log.per_pair(weights * log.click), log.per_pair(weights)
    a, b = checked(prior) or prior_of(clicks, shown)
    return (clicks + a) / (shown + a + b)


def interval(clicks: np.ndarray, shown: np.ndarray, prior: tuple[float, float], level: float) -> np.ndarray:
    """The central interval of each pair, as two rows."""
    a, b = clicks + prior[0], shown - clicks + prior[1]
    tail = (1 - level) / 2
    return np.array([special.betaincinv(a, b, tail), special.betaincinv(a, b, 1 - tail)])


def checked(prior: tuple[float, float] | None) -> tuple[float, float] | None:
    """The prior as two floats, or None without one; raise unless it is two numbers above 0."""
    if prior is None:
        return None
    is_pair = isinstance(prior, tuple | list) and len(prior) == 2
    if not is_pair or not all(isinstance(x, int | float) and 0 < x <= sys.float_info.max for x in prior):
        raise OptionError(f"prior is {shown(prior, 80)}", hint="It is two numbers above 0, such as (1, 9).")
    return float(prior[0]), float(prior[1])
