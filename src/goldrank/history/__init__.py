"""Scores over time: a `History` of `Record`s in one file."""

from goldrank.history.record import Record
from goldrank.history.store import History

__all__ = ["History", "Record"]
