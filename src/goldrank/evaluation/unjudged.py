"""What to judge next: the unjudged documents that could change a measure most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank import conventions, engine, io
from goldrank.conventions import Convention
from goldrank.engine.heads import heads
from goldrank.measures import Measure, parse
from goldrank.measures.holes import single_moves


@dataclass(frozen=True)
class Unjudged:
    """A returned document that nobody judged, and how far the query's value moves if it is relevant."""

    query: str
    doc: str
    rank: int
    move: float


def worth_judging(
    qrels: Any,
    run: Any,
    measure: str | Measure = "nDCG@10",
    *,
    limit: int = 20,
    depth: int = 100,
    convention: str | Convention = conventions.DEFAULT,
    **policies: Any,
) -> list[Unjudged]:
    """The unjudged documents whose judging would narrow a measure most, the most telling first.

    Each is weighed alone: by how much its query's value moves if it turns out to have the query's highest
    grade and nothing else changes. Without a cut-off in the measure, the first `depth` ranks are looked at.

    >>> from goldrank import worth_judging
    >>> [(one.doc, one.rank) for one in worth_judging({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "P@2")]
    [('x', 1)]
    """
    rules = conventions.get(convention).having(**policies)
    judged = io.as_qrels(qrels, judgements=rules.judgements)
    ranked = io.as_run(run, duplicates=rules.duplicates)
    wanted = parse(measure)
    wanted = wanted.having(rules.options.get(wanted.name, {}))
    placements, _ = engine.place(judged, ranked, rules)
    query, rank, move = single_moves(wanted, placements, depth)
    order = np.lexsort((query, rank, -np.abs(move)))
    order = order[move[order] != 0][:limit]
    deepest = int(rank[order].max(initial=0))
    docs = heads(ranked, placements.queries, deepest, rules)
    return [
        Unjudged(placements.queries[query[i]], docs[query[i]][rank[i] - 1], int(rank[i]), float(move[i]))
        for i in order.tolist()
    ]
