"""What single documents are worth to a system: what a query's value would lose without one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goldrank.data.placements import Placements
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import copies, hole_rule

AT_ONCE = 1_000_000
"""So many rows of copied queries are held at a time."""


def document_worth(placed: Sequence[Placed], measure: Measure, labels: np.ndarray) -> np.ndarray | None:
    """For each system (row) and judged document (column): the query's value less that without the document.

    `labels` number the documents as `Placements.label` does. A document that is taken out leaves its rank to an
    unjudged one, and stays among the judged ones, so that the worth of all documents adds up to the value wherever
    each adds its own, as in nDCG, precision and recall. 0 for documents that were not returned. The worth in one system
    minus that in another is the document's effect on the difference between them. None for measures that are not
    about documents.
    """
    if hole_rule(measure) is None:
        return None
    return np.array([_worth(measure, run.placements, labels) for run in placed])


def _worth(measure: Measure, p: Placements, labels: np.ndarray) -> np.ndarray:
    row_of = p.by_label(np.arange(1, len(p.rank) + 1)) - 1  # by_label gives 0 where there is no row
    rows = row_of[labels].astype(np.int64)
    worth = np.zeros(len(labels))
    returned = np.flatnonzero(rows >= 0)
    base = measure(p)
    sizes = np.cumsum(np.diff(p.start)[p.query[rows[returned]]])
    for part in np.split(returned, np.searchsorted(sizes, np.arange(AT_ONCE, sizes[-1] if len(sizes) else 0, AT_ONCE))):
        if not len(part):
            continue
        owner = p.query[rows[part]]
        copied = copies(p, owner)
        keep = np.ones(len(copied.rank), bool)
        keep[copied.start[:-1] + rows[part] - p.start[owner]] = False
        worth[part] = base[owner] - measure(copied.where(keep))

    return worth
