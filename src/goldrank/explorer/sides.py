"""One ranking of one query, as the query page shows it: a system's, or the ideal one.

A rank adds to a query's value, for every measure, the value down to this rank minus the value down to the rank above.
The pieces add up to the value. For measures that are sums over ranks (DCG, nDCG, P, R, AP, RBP, ERR) a piece is the
term of the sum; for measures of the first relevant document (RR, Success) one rank has the whole value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.placements import Placements
from goldrank.data.qrels import Grade
from goldrank.explorer.first_documents import DEPTH
from goldrank.explorer.live import LiveSystem, has_pieces
from goldrank.measures import Measure
from goldrank.measures.apply import expected
from goldrank.measures.unjudged_share import copies, count_holes, reached_depth, single_moves

IDEAL = "ideal order"
MOST_HOLES = 200
"""With more unjudged documents than this, bounds take too long for a page, and are not shown."""


@dataclass(frozen=True)
class Ties:
    """The effect of the order of documents with equal scores on a value."""

    first: int
    last: int
    score: float
    low: float
    high: float
    mean: float | None


@dataclass(frozen=True)
class Side:
    """A ranking of the query: its first documents, the ranks of judged ones, and what each adds to the value."""

    name: str
    value: float
    docs: tuple[str, ...]
    """The first documents."""
    retrieved: int
    ranks: Mapping[str, int]
    """Ranks that are known, of the first documents and of all judged ones."""
    pieces: Mapping[str, float] = field(default_factory=dict)
    """What judged documents add to the value."""
    rest_value: float = 0.0
    """What all other ranks add together."""
    scores: Sequence[float] = ()
    tie_first: Sequence[int] = ()
    tie_last: Sequence[int] = ()
    moves: Mapping[int, float] = field(default_factory=dict)
    """By rank, how far the value moves if the unjudged document there has the query's highest grade."""
    bounds: tuple[float, float] | None = None
    too_many: bool = False
    """Whether there are no bounds because too many documents are unjudged."""
    ties: Ties | None = None
    answered: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether every document that was returned is known."""
        return len(self.docs) >= self.retrieved

    def piece(self, doc: str) -> float:
        """What a document adds; 0 if it is not there."""
        return self.pieces.get(doc, 0.0)


def side_of(system: LiveSystem, query: str, measure: Measure, grades: Mapping[str, Grade]) -> Side:
    """A system's ranking of a query."""
    table = system.table(query).per_label
    top = system.query_top(query)
    ranks = top.ranks()
    judged = list(grades)
    assert table.label is not None
    placed = {judged[label]: int(rank) for label, rank in zip(table.label.tolist(), table.rank.tolist(), strict=True)}
    known = has_pieces(measure)
    doc_pieces: dict[str, float] = {}
    rest_value, ties = 0.0, None
    if known:
        added, rest_value = pieces(measure, table)
        docs = [judged[label] for label in table.label.tolist()]
        doc_pieces = dict(zip(docs, added.tolist(), strict=True))
        ties = _ties(measure, table, top.scores)

    moves: dict[int, float] = {}
    bounds, too_many = None, False
    if known and measure.declaration.monotone:
        _, rank, move = single_moves(measure, table, DEPTH)
        moves = dict(zip(rank.tolist(), move.tolist(), strict=True))
        too_many = int(count_holes(table, reached_depth(measure, table))[0]) > MOST_HOLES
        if not too_many:
            bounds = system.query_bounds(measure, query)

    value = float(system.values[str(measure)][system.numbers[query]])
    return Side(
        name=system.name,
        value=value,
        docs=top.docs,
        retrieved=int(table.retrieved[0]),
        ranks={**ranks, **placed},
        pieces=doc_pieces,
        rest_value=rest_value,
        scores=top.scores.tolist(),
        tie_first=top.tie_first.tolist(),
        tie_last=top.tie_last.tolist(),
        moves=moves,
        bounds=bounds,
        too_many=too_many,
        ties=ties,
        answered=bool(table.answered[0]),
    )


def pieces(measure: Measure, p: Placements) -> tuple[np.ndarray, float]:
    """What each placement of a single query adds, and what all ranks without a placement add together."""
    ranks = p.rank
    if not len(ranks):
        return np.zeros(0), float(measure(p)[0])

    depths = np.unique(np.concatenate((ranks - 1, ranks, [int(p.retrieved[0])])))
    cut = copies(p, np.zeros(len(depths), np.int64)).cut(depths)
    values = measure(replace(cut, queries=("",) * len(depths)))
    column = np.searchsorted(depths, ranks)
    added = values[column] - values[column - 1]
    return added, float(values[-1] - added.sum())


def ideal_side(measure: Measure, table: Placements, grades: Mapping[str, Grade]) -> Side:
    """The ranking with the highest grades first; documents of one grade by their ids."""
    order = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: (-grades[doc], doc))
    added: list[float] = []
    value = float("nan")
    if has_pieces(measure):
        added = pieces(measure, table.ideal)[0][: len(order)].tolist()
        value = float(measure(table.ideal)[0])
    ranks = {doc: rank for rank, doc in enumerate(order, 1)}
    return Side(IDEAL, value, tuple(order), len(order), ranks, dict(zip(order, added, strict=False)))


def _ties(measure: Measure, table: Placements, scores: np.ndarray) -> Ties | None:
    """The tie with the highest grade, and the values of all orders of ties."""
    tied = np.flatnonzero(table.tie_last > table.tie_first)
    if not len(tied) or not measure.declaration.monotone:
        return None

    low = float(measure(table.best_of_ties(False))[0])
    high = float(measure(table.best_of_ties(True))[0])
    if low == high:
        return None

    try:
        mean: float | None = float(expected(measure, table)[0])
    except MeasureError:
        mean = None

    # The group that matters most has the highest grade in it.
    row = tied[np.argmax(table.grade[tied])]
    first, last = int(table.tie_first[row]), int(table.tie_last[row])
    score = float("nan")
    if first <= len(scores):
        score = float(scores[first - 1])
    return Ties(first, last, score, low, high, mean)
