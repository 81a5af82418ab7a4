"""How the time of some work grows with its input, in CPU time: other programs do not count."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import Any

HIGHEST = 1.7
"""The exponent between n and 4n from which on work counts as n * n, which has 2.

n log n has 1.1; larger inputs that leave a cache, or a busy machine, have given up to 1.5 where work is linear.
"""
_SHORTEST = 0.02
"""Seconds from which on a time says something."""
_TRIES = 5


def exponent(make: Callable[[int], Any], work: Callable[[Any], object], size: int) -> float:
    """The power of the input's size with which the time grows, the least of some tries.

    Work that is too short to be measured gets more input; what is too short with 64 times as much grows slowly enough.
    """
    most = 64 * size
    small = make(size)
    while _seconds(work, small) < _SHORTEST:
        if size >= most:
            return 0.0
        size *= 4
        small = make(size)

    large = make(4 * size)
    least = math.inf
    for _ in range(_TRIES):
        least = min(least, math.log(_seconds(work, large) / _seconds(work, small), 4))
        if least < HIGHEST:
            break
    return least


def _seconds(work: Callable[[Any], object], given: Any) -> float:
    """The shortest of three times."""
    times = []
    gc.collect()
    gc.disable()  # the collector walks through all that other tests left, and more often where there is more input
    try:
        for _ in range(3):
            start = time.process_time()
            work(given)
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return max(min(times), 1e-6)
