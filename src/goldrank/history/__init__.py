"""Scores over time: a `History` of `Record`s in one file."""

from goldrank.history.store import History, Record

__all__ = ["History", "Record"]
