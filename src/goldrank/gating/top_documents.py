"""The documents that a baseline keeps: enough to score it again on other judgements, and to say why a query lost.

Of each query it keeps the first documents, down to its deepest cut-off, the places of judged documents below, and how
many documents were returned. On the judgements of then that gives every measure as it was; on others, every measure
that looks no deeper than what is kept.
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
"""So many documents of a query are kept for measures that have no cut-off."""
MOST_KEPT = 1_000
MOST_RETURNED = 10_000_000
"""Documents of a query. A gate makes rows of what could be judged of them, and a file of 3 KB may claim any number."""


class KeptRanking(NamedTuple):
    """One query's ranking, as far as it is kept."""

    returned: int
    top: tuple[str, ...]
    below: tuple[tuple[int, str], ...]
    """Rank and id of the documents below that were judged."""

    def ranks(self) -> dict[str, int]:
        """The rank of each document; of one that is repeated the first counts."""
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
    def of(cls, placed: Placed, measures: Sequence[str]) -> KeptDocuments:
        """What a placed run must keep for some measures."""
        placements = placed.placements
        depth = min(depth_of(measures), max(1, int(placements.retrieved.max(initial=1))))
        below: list[list[tuple[int, str]]] = [[] for _ in placements.queries]
        docs, label = placed.qrels.docs, placements.label
        if label is not None:
            for row in np.flatnonzero(placements.rank > depth).tolist():
                below[placements.query[row]].append((int(placements.rank[row]), docs[label[row]]))

        rows = zip(placements.queries, placements.retrieved.tolist(), placed.top_documents(depth), below, strict=True)
        answered = placements.answered.tolist()
        return cls(
            depth,
            {
                query: KeptRanking(returned, tuple(top), tuple(deeper))
                for (query, returned, top, deeper), there in zip(rows, answered, strict=True)
                if there
            },
        )

    def place(self, judgements: Judgements, name: str, rules: Convention) -> Placed:
        """The kept rankings against judgements: as the run was placed then, but for what is not kept."""
        results = {
            query: {doc: -float(rank) for doc, rank in kept.ranks().items()} for query, kept in self.rankings.items()
        }
        run = Run(Rankings(results), name=name, id_kind="text")
        # Whether anything matches and which queries are missing was looked at when the baseline was set.
        placed = pipeline.place(judgements, run, rules.with_policies(overlap="allow", missing="zero", ties="docid"))
        return replace(placed, placements=self._at_own_ranks(placed.placements), rules=rules)

    def _at_own_ranks(self, p: Placements) -> Placements:
        """The table with the ranks that documents had, which leave gaps where documents are not kept."""
        nothing = KeptRanking(0, (), ())
        kept = [self.rankings.get(query, nothing) for query in p.queries]
        ranks = [ranking.ranks().values() for ranking in kept]
        sizes = np.fromiter(map(len, ranks), np.int64, len(ranks))
        flat = np.fromiter(chain.from_iterable(ranks), np.int64, int(sizes.sum()))
        rank = flat[(np.cumsum(sizes) - sizes)[p.query] + p.rank - 1]
        returned = np.array([ranking.returned for ranking in kept], np.int64)
        return replace(p, rank=rank, tie_first=rank, tie_last=rank, retrieved=returned)

    def system(self, p: Placements) -> System:
        """What is known of the documents, for the queries of a table."""
        return System(p, [self.rankings[q].top if q in self.rankings else () for q in p.queries], self.depth)

    def partly_known(self, measures: Sequence[str], placements: Placements) -> list[str]:
        """The measures that look below what is kept, so that documents judged since then may be missing there."""
        if int(placements.retrieved.max(initial=0)) <= self.depth:
            return []
        return [name for name in measures if (_reach(parse(name)) or MOST_KEPT + 1) > self.depth]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: per query the number returned, the first documents, and [rank, document] of judged ones."""
        rows = {
            query: [kept.returned, list(kept.top), [list(place) for place in kept.below]]
            for query, kept in self.rankings.items()
        }
        return {"depth": self.depth, "queries": rows}

    @classmethod
    def from_dict(cls, data: Any, where: str) -> KeptDocuments:
        """The inverse of `to_dict`."""
        try:
            depth = whole_number(data["depth"], "the depth", 1, MOST_KEPT)
            rankings = {}
            for query, (returned, top, below) in data["queries"].items():
                places = tuple((whole_number(rank, "a rank"), ids.as_text(doc, "document id")) for rank, doc in below)
                docs = tuple(ids.as_text(doc, "document id") for doc in top)
                rankings[query] = KeptRanking(whole_number(returned, "the number of documents"), docs, places)
                _check(query, rankings[query], depth)
            return cls(depth, rankings)
        except (KeyError, TypeError, ValueError, AttributeError, GoldrankError) as error:
            raise BaselineError(f"its documents are damaged: {error}", where=where, code="damaged-file") from None


def depth_of(measures: Sequence[str]) -> int:
    """How many documents of a query are kept for some measures, if so many were returned."""
    deepest = max((_reach(parse(name)) or WITHOUT_CUTOFF for name in measures), default=WITHOUT_CUTOFF)
    return min(deepest, MOST_KEPT)


def _check(query: str, kept: KeptRanking, depth: int) -> None:
    """Raises ValueError for what no ranking can be: too few documents, ranks out of order or beyond its end."""
    ranks = [depth, *(rank for rank, _ in kept.below)]
    full = 0 <= kept.returned <= MOST_RETURNED and len(kept.top) == min(kept.returned, depth)
    descends = all(a < b for a, b in pairwise(ranks)) and (not kept.below or ranks[-1] <= kept.returned)
    if not (full and descends):
        raise ValueError(f"query {query!r:.60} has ranks that no ranking has")


def _reach(measure: Measure) -> int | None:
    """The cut-off of a measure, None if it looks at everything; diagnostics without one look at no document."""
    declared = measure.declaration
    if declared.cutoff in ("optional", "needed") and measure.k is not None:
        return int(measure.k)
    if declared.diagnostic:
        return 1
    return None
