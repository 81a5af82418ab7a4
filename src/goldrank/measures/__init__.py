"""Placements -> one value per query. One file per family; importing this package registers all of them."""

from goldrank.measures import (  # noqa: F401 - they register themselves
    abstention,
    browsing,
    claims,
    cutoff,
    diversity,
    evidence,
    gain,
    judged,
    preference,
    rank,
    recommending,
    sampled,
    sets,
    similarity,
    texts,
)
from goldrank.measures.apply import summarise
from goldrank.measures.declare import REGISTRY, Declaration, measure
from goldrank.measures.spelling import DEFAULT, Measure, known, make, parse, parse_all

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
