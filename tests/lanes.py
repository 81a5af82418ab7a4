"""How much is tried: all random cases in `make test`, about a tenth of them in `make check`."""

import os

QUICK = os.environ.get("GOLDRANK_QUICK") == "1"


def many(count: int, least: int = 3) -> int:
    """So many cases, or in the quick lane a tenth of them, but not fewer than `least`."""
    return max(least, count // 10) if QUICK else count
