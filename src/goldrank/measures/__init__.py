"""Placements -> one value per query. One file per family; importing this package registers all of them."""

from goldrank.measures import (  # noqa: F401 - they register themselves
    browsing,
    cutoff,
    diversity,
    evidence,
    gain,
    judged,
    preference,
    rank,
    sets,
    similarity,
    texts,
)
from goldrank.measures.declare import REGISTRY, Measure, make, measure, parse, summarise

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""What is measured when nothing is asked for."""

__all__ = ["DEFAULT", "REGISTRY", "Measure", "make", "measure", "parse", "summarise"]
