"""Click-through corrected by known propensities: how likely a document at a rank is looked at.

By default clicks / sum(p), which varies less; `unbiased=True` gives sum(click / p) / shown, which can exceed 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from goldrank.base.errors import OptionError
from goldrank.clicks.sessions import ClickLog, ratio

LEAST = 0.05
"""Propensities below this are raised to it: a click there would count for too much."""


def of_rows(log: ClickLog, propensities: Mapping[int, float] | None) -> tuple[np.ndarray, int]:
    """The propensity of each row, and the number of rows whose propensity was raised to `LEAST`."""
    if not propensities:
        hint = (
            "Give one for each rank, {1: 1.0, 2: 0.6} (--model propensity,propensities=1+0.6), "
            "or use the model pbm, which finds them."
        )
        raise OptionError("the model 'propensity' needs propensities", hint=hint)

    known = {int(rank): float(value) for rank, value in propensities.items()}
    wrong = next((value for value in known.values() if not 0 < value <= 1), None)
    if wrong is not None:
        raise OptionError(f"a propensity is {wrong!r}", hint="It is a share above 0 and up to 1.")

    unknown = sorted(set(log.rank.tolist()) - known.keys())
    if unknown:
        raise OptionError(f"there is no propensity for rank {unknown[0]}", hint="Give one for each rank of the log.")

    table = np.zeros(int(log.rank.max()) + 1)
    for rank, value in known.items():
        if rank < len(table):
            table[rank] = value

    by_row = table[log.rank]
    return np.maximum(by_row, LEAST), int((by_row < LEAST).sum())


def exposure(log: ClickLog, propensities: Mapping[int, float] | None = None, unbiased: bool = False) -> np.ndarray:
    """How many views of each pair were looked at, on average."""
    return log.per_pair(of_rows(log, propensities)[0])


def estimate(
    log: ClickLog, weights: np.ndarray, propensities: Mapping[int, float] | None = None, unbiased: bool = False
) -> np.ndarray:
    """The corrected share of views with a click, for each pair."""
    p, _ = of_rows(log, propensities)
    if unbiased:
        return ratio(log.per_pair(weights * log.click / p), log.per_pair(weights))
    return ratio(log.per_pair(weights * log.click), log.per_pair(weights * p))
