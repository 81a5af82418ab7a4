"""What to judge next: the unjudged documents that could change a measure most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from goldrank import conventions
from goldrank.errors import whole_number
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve, resolve_measures
from goldrank.measures import parse
from goldrank.measures.holes import judging_order, relevant_shares, single_moves
from goldrank.misuse import checked
from goldrank.types import ConventionLike, MeasureLike, Policies, QrelsLike, RunLike


@dataclass(frozen=True)
class Unjudged:
    """A returned document that nobody judged, and how far the query's value moves if it is relevant."""

    query: str
    doc: str
    rank: int
    move: float


@checked
def worth_judging(
    qrels: QrelsLike,
    run: RunLike,
    measure: MeasureLike = "nDCG@10",
    *,
    limit: int = 20,
    depth: int = 100,
    convention: ConventionLike = "trec_eval-10",
    **policies: Unpack[Policies],
) -> list[Unjudged]:
    """The unjudged documents whose judging would narrow a measure most, the most telling first.

    Each is weighed alone: by how much its query's value moves if it turns out to have the query's highest
    grade and nothing else changes, times the chance of that: the share of relevant documents among those that were
    judged at such ranks (1 to 3, 4 to 10, beyond). Without a cut-off in the measure, the first `depth` ranks are
    looked at. A comparison of two systems orders what to judge in the same way, by the move of their difference.

    >>> from goldrank import worth_judging
    >>> [(one.doc, one.rank) for one in worth_judging({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "P@2")]
    [('x', 1)]
    """
    rules = conventions.get(convention).with_policies(**policies)
    whole_number(depth, "depth", 1)
    (wanted,) = resolve_measures(parse(measure), rules)
    inputs = resolve(qrels, run, rules)
    placed = pipeline.place(inputs.judgements, inputs.runs[0], rules)
    query, rank, move = single_moves(wanted, placed.placements, depth)
    shares = relevant_shares(wanted, [placed.placements])
    order = judging_order(shares, rank, move, query)[:limit]
    docs = placed.top_documents(int(rank[order].max(initial=0)))
    return [
        Unjudged(placed.placements.queries[query[i]], docs[query[i]][rank[i] - 1], int(rank[i]), float(move[i]))
        for i in order.tolist()
    ]
