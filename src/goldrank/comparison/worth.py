"""What single documents are worth to a system: what a query's value would lose without one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goldrank.data.placements import Placements
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import copies, hole_rule

AT_ONCE = 1_000_000
"""The most rows of copied queries that are in memory at a time."""


def document_worth(placed_runs: Sequence[Placed], measure: Measure, labels: np.ndarray) -> np.ndarray | None:
    """For each system (row) and judged document (column): the query's value less its value without the document.

    `labels` number the documents as `Placements.label` does. A document that is taken out leaves its rank to an
    unjudged one, and stays among the judged ones, so that the worth of all documents adds up to the value wherever
    each adds its own, as in nDCG, precision and recall. 0 for documents that were not returned. The worth in one system
    minus the worth in another is the document's effect on the difference between them. None for measures that are not
    about documents.
    """
    if hole_rule(measure) is None:
        return None
    return np.array([_worth(measure, run.placements, labels) for run in placed_runs])


def _worth(measure: Measure, p: Placements, labels: np.ndarray) -> np.ndarray:
    row_of = p.by_label(np.arange(1, len(p.rank) + 1)) - 1  # by_label gives 0 where there is no row
    rows = row_of[labels].astype(np.int64)
    worth = np.zeros(len(labels))
    returned = np.flatnonzero(rows >= 0)
    base = measure(p)
    if not len(returned):
        return worth

    sizes = np.cumsum(np.diff(p.start)[p.query[rows[returned]]])
    block_starts = np.searchsorted(sizes, np.arange(AT_ONCE, sizes[-1], AT_ONCE))
    for block in np.split(returned, block_starts):
        if not len(block):
            continue
        owner = p.query[rows[block]]
        copied = copies(p, owner)
        remaining = np.ones(len(copied.rank), bool)
        remaining[copied.start[:-1] + rows[block] - p.start[owner]] = False
        worth[block] = base[owner] - measure(copied.where(remaining))

    return worth
