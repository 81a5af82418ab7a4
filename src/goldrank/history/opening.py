"""Opening a history for the commands that read and change it."""

from __future__ import annotations

import os

from goldrank.history.store import History


def open_history(path: str, *, write: bool = False) -> History:
    """The history in a file, which must be there; it is written to only where that is asked for."""
    return History(path, mode="a" if write and os.path.exists(path) else "r")
