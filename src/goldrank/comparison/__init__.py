"""Scores -> Comparison: is B better than A, by how much, how sure is it, and what moved?"""

from __future__ import annotations

from goldrank.comparison.build import compare
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.comparison.settings import Statistics

__all__ = ["Comparison", "Pair", "Statistics", "compare"]
