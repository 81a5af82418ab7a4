"""Which tests run in the same process, and in which order."""

from __future__ import annotations

from typing import Any

TOGETHER = "tests/engine/spark/"
"""Tests of Spark share one process, and so one Java machine."""

LONGEST = (
    TOGETHER,
    "tests/evaluation/test_memory.py",
    "tests/peers/test_conventions.py",
    "tests/match/test_matchers.py",
    "tests/engine/test_differential.py",
    "tests/explorer/test_explorer.py",
    "tests/fuzz/test_fuzz.py",
    "tests/measures/test_properties.py",
    "tests/typing/test_typing.py",
)
"""Pieces that take long in `make test`, the longest first: none of them must be the last that is begun."""


def piece(nodeid: str) -> str:
    """The piece of work that a test belongs to: its file, but for the tests that stay together."""
    return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.split("::", 1)[0]


def place_in_line(nodeid: str, slow: bool) -> int:
    """What is begun first: the longest pieces, then files with slow tests, then all others."""
    name = piece(nodeid)
    return LONGEST.index(name) if name in LONGEST else len(LONGEST) + (not slow)


def scheduler(config: Any, log: Any) -> Any:
    """Hands out pieces in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class PiecesAreWhole(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return piece(nodeid)

    config.option.loadscopereorder = False  # the number of its tests does not say how long a file takes
    return PiecesAreWhole(config, log)
