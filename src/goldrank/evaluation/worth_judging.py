"""What to judge next: the unjudged documents that could change a measure most."""

from __future__ import annotations

from typing import NamedTuple

from goldrank import conventions
from goldrank.base.errors import whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.types import ConventionLike, MeasureLike, QrelsLike, RunLike
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve, resolve_measures
from goldrank.measures import parse
from goldrank.measures.unjudged_share import judging_order, relevance_level, relevant_shares, single_moves


class Unjudged(NamedTuple):
    """A returned document without a judgement."""

    query: str
    doc: str
    rank: int
    gain: float
    """How far the query's value moves if the document is relevant."""


@named_arguments
def worth_judging(
    qrels: QrelsLike,
    run: RunLike,
    measure: MeasureLike = "nDCG@10",
    *,
    limit: int = 20,
    depth: int = 100,
    convention: ConventionLike = "trec_eval-10",
) -> list[Unjudged]:
    """List the unjudged documents whose judging would narrow a measure most, the most telling first.

    Each is weighed alone: by how much its query's value moves if it turns out to have the query's highest
    grade and nothing else changes, times the chance of that: the share of relevant documents among those that were
    judged at such ranks (1 to 3, 4 to 10, beyond). Queries without any relevant document come last. A comparison of two
    systems orders what to judge in the same way, by the move of their difference.

    Parameters
    ----------
    qrels : judgements
        `Qrels`, a file, a data frame, a mapping or rows.
    run : run
        `Run`, a file, a data frame, a mapping or rows.
    measure : measure
        The measure that is to be narrowed.
    limit : int
        How many documents are listed at most.
    depth : int
        How many ranks are looked at, if the measure has no cut-off.
    convention : str or Convention
        Whose rules the measure follows.

    Returns
    -------
    list of Unjudged

    Raises
    ------
    MeasureError
        If the measure does not follow relevant documents up and down.
    OptionError
        If `depth` or `limit` is not a whole number in its range.

    Examples
    --------
    >>> from goldrank import worth_judging
    >>> [(one.doc, one.rank) for one in worth_judging({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "P@2")]
    [('x', 1)]
    """
    rules = conventions.get(convention)
    whole_number(depth, "depth", 1)
    whole_number(limit, "limit", 0)
    (only_measure,) = resolve_measures(parse(measure), rules)
    inputs = resolve(qrels, run, rules)
    reach = depth
    if isinstance(only_measure.k, int):
        reach = only_measure.k
    placed = pipeline.place(inputs.judgements, inputs.runs[0], rules, top=reach)

    query, rank, move = single_moves(only_measure, placed.placements, depth)
    shares = relevant_shares(only_measure, [placed.placements])
    barren = placed.placements.relevant(relevance_level(only_measure)) == 0
    order = judging_order(shares, rank, move, query, barren[query])[:limit]
    docs = placed.top_documents(int(rank[order].max(initial=0)))
    return [
        Unjudged(placed.placements.queries[query[i]], docs[query[i]][rank[i] - 1], int(rank[i]), float(move[i]))
        for i in order.tolist()
    ]
