"""Placements -> one value per query. One file per family; importing this package registers all of them.

Families that read more than placements are imported when one of their names is used.
"""

from goldrank.measures import browsing, cutoff, families, gain, judged, rank, sets  # noqa: F401 - they register themselves
from goldrank.measures.apply import summarise
from goldrank.measures.declare import REGISTRY, Declaration, in_order, measure
from goldrank.measures.spelling import DEFAULT, Measure, known, make, parse, parse_all

LATER = "abstention claims citations nuggets diversity evidence preference recommending sampled similarity cover"
"""Families that most calls do without."""
families.wait_with([f"goldrank.measures.{family}" for family in LATER.split()], lambda: in_order(LATER.split()))

__all__ = [
    "DEFAULT",
    "REGISTRY",
    "Declaration",
    "Measure",
    "known",
    "make",
    "measure",
    "parse",
    "parse_all",
    "summarise",
]
