"""Texts -> Placements: which retrieved texts cover which reference texts.

A `Matcher` decides for many pairs of texts at once, and `place_items` makes of its decisions the table that measures
read. `place` does so for a plain function of two texts. `span_table.py` finds evidence by its place instead.
"""

from goldrank.match.matcher import Matcher, matcher
from goldrank.match.pairs import TextRule, place, place_items

__all__ = ["Matcher", "TextRule", "matcher", "place", "place_items"]
