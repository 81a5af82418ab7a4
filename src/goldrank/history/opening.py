"""Opening a history for the commands that read and change it."""

from __future__ import annotations

import os

from goldrank.history.store import History


def open_history(path: str, *, write: bool = False) -> History:
    """The history in a file, which must exist; read-only unless `write` is set."""
    if write and os.path.exists(path):
        return History(path, mode="a")
    return History(path, mode="r")
