"""What each rank adds to a query's value, whatever the measure: its value down to this rank less that down to the one
above. The pieces add up to the value, because each begins where the one before it ended.

For measures that are sums over ranks (DCG, nDCG, P, R, AP, RBP, ERR) a piece is the term of the sum; for those of the
first relevant document (RR, Success) the rank that decides has it all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures import Measure
from goldrank.measures.holes import copies


def has_pieces(measure: Measure) -> bool:
    """Whether a measure is about documents at ranks."""
    return measure.declaration.over == "placements" and not measure.option("judged_only")


def pieces(measure: Measure, p: Placements) -> tuple[np.ndarray, float]:
    """What each placement of a single query adds, and what all ranks without a placement add together."""
    ranks = p.rank
    if not len(ranks):
        return np.zeros(0), float(measure(p)[0])
    depths = np.unique(np.concatenate((ranks - 1, ranks, [int(p.retrieved[0])])))
    cut = copies(p, np.zeros(len(depths), np.int64)).cut(depths)
    values = measure(replace(cut, queries=("",) * len(depths)))
    at = np.searchsorted(depths, ranks)
    added = values[at] - values[at - 1]
    return added, float(values[-1] - added.sum())


def ideal_pieces(measure: Measure, p: Placements) -> np.ndarray:
    """What each rank of the ideal ranking adds, from rank 1 on."""
    ideal = p.ideal
    added, _ = pieces(measure, ideal)
    return added
