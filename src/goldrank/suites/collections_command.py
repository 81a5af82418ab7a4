"""`goldrank compare --collections FOLDER`: systems on many collections."""

from __future__ import annotations

from pathlib import Path

from goldrank.base.types import ConventionLike
from goldrank.comparison.settings import Statistics
from goldrank.suites.collections import compare_collections
from goldrank.suites.folders import read_collections, task_scores
from goldrank.suites.result import CollectionComparison

USUAL = "nDCG@10"


def compared(
    folder: str, measure: str | None, convention: ConventionLike, statistics: Statistics
) -> CollectionComparison:
    """The comparison of all systems on all collections of a folder."""
    means = {}
    if Path(folder).is_dir():
        means = task_scores(Path(folder))
    if means:
        return compare_collections(means, measure or "main score", statistics=statistics)
    scored = read_collections(folder, measure or USUAL, convention)
    return compare_collections(scored, measure or USUAL, statistics=statistics)
