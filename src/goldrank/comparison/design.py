"""How the queries of a comparison belong together and what they weigh."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.notes import Note
from goldrank.comparison.flips import unit_sums
from goldrank.data.queries import Queries


class DesignPart(NamedTuple):
    """Units and weights of some queries, as the functions of `intervals` take them."""

    units: np.ndarray | None
    weights: np.ndarray | None


@dataclass(frozen=True)
class Design:
    """The queries of a comparison as units that are drawn together, with weights."""

    order: np.ndarray
    """The positions of the queries in the order of their ids, so that flips do not depend on the order of files."""
    clusters: np.ndarray | None = None
    """The number of each query's cluster, in the order of the clusters' names; None if each query is its own."""
    weights: np.ndarray | None = None
    """What each query weighs, 1 in the mean; None if all weigh the same."""

    @property
    def is_plain(self) -> bool:
        """Whether each query is its own unit and all weigh the same."""
        return self.clusters is None and self.weights is None

    @property
    def effective(self) -> float:
        """As how many queries, or clusters, of the same weight they count (Kish)."""
        weights: np.ndarray = np.ones(len(self.order))
        if self.weights is not None:
            weights = self.weights
        if self.clusters is not None:
            weights = np.bincount(self.clusters, weights)
        shares = weights / weights.sum()
        return 1 / float(np.dot(shares, shares))

    @property
    def words(self) -> str:
        """What is not plain, for the sentence on the method."""
        words = []
        if self.clusters is not None:
            words.append(f"{int(self.clusters.max()) + 1:,} clusters of queries")
        if self.weights is not None:
            words.append("weighted queries")
        return " and ".join(words)

    def part(self, chosen: np.ndarray) -> DesignPart:
        """Clusters and weights of some queries."""
        units = None
        weights = None
        if self.clusters is not None:
            units = np.unique(self.clusters[chosen], return_inverse=True)[1]
        if self.weights is not None:
            weights = self.weights[chosen]
        return DesignPart(units, weights)

    def unit_columns(self, rows: np.ndarray) -> np.ndarray:
        """Rows with a column per query as rows with a column per unit, in the order of the units' ids."""
        if self.clusters is not None:
            return unit_sums(rows, self.clusters, self.weights)
        if self.weights is not None:
            rows = rows * self.weights
        return np.asarray(rows[:, self.order])

    def mean(self, values: np.ndarray, chosen: np.ndarray | None = None) -> float:
        """The weighted mean of some queries' values; NaN if they weigh nothing."""
        if self.weights is None:
            return float(values.mean())
        weights = self.weights
        if chosen is not None:
            weights = weights[chosen]
        if weights.any():
            return float(np.dot(weights, values) / weights.sum())
        return math.nan


def make_design(queries: Sequence[str], query_table: Queries | None, notes: list[Note]) -> Design:
    """The design of queries, with clusters and weights if they are known."""
    order = np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)
    clusters = None
    weights = None
    if query_table is not None and query_table.has("cluster"):
        clusters = _clusters(queries, query_table.column("cluster"), notes)
    if query_table is not None and query_table.has("weight"):
        weights = _weights(queries, query_table.column("weight"))
    return Design(order, clusters, weights)


def _clusters(queries: Sequence[str], cluster_of: Mapping[str, str], notes: list[Note]) -> np.ndarray:
    """The number of each query's cluster. A query without one is a cluster by itself, and a note counts these."""
    alone = [query for query in queries if query not in cluster_of]
    if len(alone) == len(queries):
        raise InputError("no query of the comparison has a cluster", hint="Are the ids the same?", code="no-clusters")
    if alone:
        samples = map(ids.show, alone)
        notes.append(Note.of("unclustered-queries", count=len(alone), queries=len(queries), samples=samples))

    # A name and a query id that are equal are still two clusters.
    names = [(0, cluster_of[query]) if query in cluster_of else (1, query) for query in queries]
    numbers = {name: i for i, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], np.int64)


def _weights(queries: Sequence[str], weight_of: Mapping[str, float]) -> np.ndarray:
    """What each query weighs, 1 in the mean."""
    weightless = [query for query in queries if query not in weight_of]
    if weightless:
        message = f"{len(weightless):,} queries of the comparison have no weight: {ids.samples(weightless)}"
        raise InputError(message, hint="Give every query of the comparison a weight, 0 to leave it out.")

    weights = np.array([weight_of[query] for query in queries], np.float64)
    if not weights.any():
        raise InputError("all weights are 0", hint="Give some query a weight above 0.", code="weights-are-zero")
    return np.asarray(weights / weights.mean())
