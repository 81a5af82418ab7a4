"""A row of numbers as a row of bars, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable

BARS = "▁▂▃▄▅▆▇█"
MISSING = "·"


def sparkline(values: Iterable[float], low: float = 0.0, high: float = 1.0) -> str:
    """One bar per value, the lowest for `low` or less and the highest for `high` or more; a dot for NaN.

    >>> sparkline([0, 0.5, 1, float("nan")])
    '▁▅█·'
    """
    span = high - low
    bars = []
    for value in values:
        if math.isnan(value):
            bars.append(MISSING)
        else:
            share = min(1.0, max(0.0, (value - low) / span)) if span > 0 else 0.0
            bars.append(BARS[min(len(BARS) - 1, int(share * len(BARS)))])
    return "".join(bars)
