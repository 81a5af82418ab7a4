"""Scores over time: a `History` of `Record`s in one file; `over_time` has the `Trend` of a measure."""

from goldrank.history.record import Record
from goldrank.history.store import History

__all__ = ["History", "Record"]
