"""How much is tried: all random cases in `make test`, about a tenth of them in `make check`."""

import os
from collections.abc import Iterable
from typing import TypeVar

QUICK = os.environ.get("GOLDRANK_QUICK") == "1"
Case = TypeVar("Case")


def many(count: int, least: int = 3) -> int:
    """So many cases, or in the quick lane a tenth of them, but not fewer than `least`."""
    return max(least, count // 10) if QUICK else count


def few(cases: Iterable[Case], least: int = 3) -> list[Case]:
    """These cases, or in the quick lane so few of them, spread evenly, with the first among them."""
    every = list(cases)
    return [every[i * len(every) // least] for i in range(least)] if QUICK and len(every) > least else every
