"""Scores -> Comparison: is B better than A, by how much, how sure is it, and what moved?"""

from __future__ import annotations

from goldrank.comparison.build import compare
from goldrank.comparison.result import Comparison, Pair, Settings

__all__ = ["Comparison", "Pair", "Settings", "compare"]
