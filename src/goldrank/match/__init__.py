"""Texts -> Placements: which retrieved texts hold which reference texts.

A rule is a function of two texts, `rule(retrieved, reference) -> bool`, in a file of its own; `place` asks it
for every pair and makes the one table that measures read.
"""

from goldrank.match.matcher import Matcher, matcher
from goldrank.match.pairs import Rule, place, place_items

__all__ = ["Matcher", "Rule", "matcher", "place", "place_items"]
