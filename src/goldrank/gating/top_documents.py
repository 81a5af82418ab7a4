"""The documents that a baseline keeps: enough to score it again on other judgements, and to say why a query lost.

Of each query it keeps the first documents, down to its deepest cut-off, the ranks of judged documents below, and how
many documents were returned. On the old judgements that gives every measure as it was; on others, every measure that
looks no deeper than what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import BaselineError, GoldrankError, whole_number
from goldrank.comparison.holes import System
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.run import Rankings, Run
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import Judgements
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure, parse

WITHOUT_CUTOFF = 100
"""How many documents of a query are kept for measures that have no cut-off."""
MOST_KEPT = 1_000
MOST_RETURNED = 10_000_000
"""Documents of a query. A gate makes rows of those that could be judged, and a file of 3 KB may claim any number."""


class KeptRanking(NamedTuple):
    """One query's ranking, as far as it is kept."""

    returned: int
    top: tuple[str, ...]
    below: tuple[tuple[int, str], ...]
    """Rank and id of the documents below that were judged."""

    def ranks(self) -> dict[str, int]:
        """The rank of each document; the first if it is repeated."""
        ranks: dict[str, int] = {}
        for rank, doc in chain(enumerate(self.top, 1), self.below):
            ranks.setdefault(doc, rank)
        return ranks


@dataclass(frozen=True)
class KeptDocuments:
    """The rankings of a baseline, as far as they are kept."""

    depth: int
    rankings: Mapping[str, KeptRanking]

    @classmethod
    def of(cls, placed_run: Placed, measures: Sequence[str]) -> KeptDocuments:
        """What a placed run must keep for some measures."""
        placements = placed_run.placements
        depth = min(depth_of(measures), max(1, int(placements.retrieved.max(initial=1))))
        below: list[list[tuple[int, str]]] = [[] for _ in placements.queries]
        docs, label = placed_run.qrels.docs, placements.label
        if label is not None:
            for row in np.flatnonzero(placements.rank > depth).tolist():
                below[placements.query[row]].append((int(placements.rank[row]), docs[label[row]]))

        top_documents = placed_run.top_documents(depth)
        rankings = {}
        for i, (query, top) in enumerate(zip(placements.queries, top_documents, strict=True)):
            if placements.answered[i]:
                rankings[query] = KeptRanking(int(placements.retrieved[i]), tuple(top), tuple(below[i]))
        return cls(depth, rankings)

    def place(self, judgements: Judgements, name: str, rules: Convention) -> Placed:
        """The kept rankings against judgements: as the run was placed, except for documents that are not kept."""
        results = {}
        for query, ranking in self.rankings.items():
            results[query] = {doc: -float(rank) for doc, rank in ranking.ranks().items()}
        run = Run(Rankings(results), name=name)
        # Whether anything matches and which queries are missing was looked at when the baseline was set.
        placed_run = pipeline.place(judgements, run, rules.with_policies(overlap="allow", missing="zero", ties="docid"))
        return replace(placed_run, placements=self._at_own_ranks(placed_run.placements), rules=rules)

    def _at_own_ranks(self, p: Placements) -> Placements:
        """The table with the ranks that documents had, which leave gaps where documents are not kept."""
        empty = KeptRanking(0, (), ())
        rankings = [self.rankings.get(query, empty) for query in p.queries]
        ranks = [ranking.ranks().values() for ranking in rankings]
        sizes = np.fromiter(map(len, ranks), np.int64, len(ranks))
        flat = np.fromiter(chain.from_iterable(ranks), np.int64, int(sizes.sum()))
        rank = flat[(np.cumsum(sizes) - sizes)[p.query] + p.rank - 1]
        returned = np.array([ranking.returned for ranking in rankings], np.int64)
        return replace(p, rank=rank, tie_first=rank, tie_last=rank, retrieved=returned)

    def system(self, p: Placements) -> System:
        """What is known about the documents, for the queries of a table."""
        empty = KeptRanking(0, (), ())
        top_documents = [self.rankings.get(query, empty).top for query in p.queries]
        return System(p, top_documents, self.depth)

    def partly_known(self, measures: Sequence[str], placements: Placements) -> list[str]:
        """The measures that look below what is kept, so that documents judged since then may be missing there."""
        if int(placements.retrieved.max(initial=0)) <= self.depth:
            return []
        return [name for name in measures if (_reach(parse(name)) or MOST_KEPT + 1) > self.depth]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: per query the number returned, the first documents, and [rank, document] of judged ones."""
        rows = {
            query: [ranking.returned, list(ranking.top), list(map(list, ranking.below))]
            for query, ranking in self.rankings.items()
        }
        return {"depth": self.depth, "queries": rows}

    @classmethod
    def from_dict(cls, data: Any, file: str) -> KeptDocuments:
        """The inverse of `to_dict`."""
        try:
            depth = whole_number(data["depth"], "the depth", 1, MOST_KEPT)
            rankings = {}
            for query, (returned, top, below) in data["queries"].items():
                judged_below = tuple(
                    (whole_number(rank, "a rank"), ids.as_text(doc, "document id")) for rank, doc in below
                )
                docs = tuple(ids.as_text(doc, "document id") for doc in top)
                rankings[query] = KeptRanking(whole_number(returned, "the number of documents"), docs, judged_below)
                _check(query, rankings[query], depth)
            return cls(depth, rankings)
        except (KeyError, TypeError, ValueError, AttributeError, GoldrankError) as error:
            raise BaselineError(f"its documents are damaged: {error}", where=file, code="damaged-file") from None


def depth_of(measures: Sequence[str]) -> int:
    """How many documents of a query are kept for some measures, if a query has as many."""
    deepest = max((_reach(parse(name)) or WITHOUT_CUTOFF for name in measures), default=WITHOUT_CUTOFF)
    return min(deepest, MOST_KEPT)


def _check(query: str, ranking: KeptRanking, depth: int) -> None:
    """Raises ValueError for what no ranking can be: too few documents, ranks out of order or beyond its end."""
    ranks = [depth, *(rank for rank, _ in ranking.below)]
    is_full = 0 <= ranking.returned <= MOST_RETURNED and len(ranking.top) == min(ranking.returned, depth)
    is_ordered = all(a < b for a, b in pairwise(ranks))
    is_within = not ranking.below or ranks[-1] <= ranking.returned
    if not (is_full and is_ordered and is_within):
        raise ValueError(f"query {query!r:.60} has ranks that no ranking has")


def _reach(measure: Measure) -> int | None:
    """The cut-off of a measure, None if it looks at everything; diagnostics without one look at no document."""
    declared = measure.declaration
    if declared.cutoff in ("optional", "needed") and measure.k is not None:
        return int(measure.k)
    if declared.diagnostic:
        return 1
    return None
