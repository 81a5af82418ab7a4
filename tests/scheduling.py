"""Which tests run in the same process."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = "tests/engine/spark/"
"""Tests of Spark share one process, and so one Java machine."""


def piece(nodeid: str) -> str:
    """The piece of work that a test belongs to: its file, but for the tests that stay together."""
    return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.split("::", 1)[0]


class FilesAreWhole(LoadScopeScheduling):
    """Hands out pieces in the order in which they were collected."""

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the number of its tests does not say how long a file takes

    def _split_scope(self, nodeid: str) -> str:
        return piece(nodeid)
