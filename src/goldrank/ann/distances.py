"""Recall by distances, as the project ann-benchmarks counts it, with the effects of counting so.

Only distances are compared, so a list with one neighbour k times has recall 1; the tolerance of 0.001 is absolute, so
that small distances all pass; with negative distances the factors make the threshold stricter. `ann_recall` has none
of these effects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank.base.errors import InputError, real_number, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.data.showing import Result
from goldrank.data.table import Cells, Head, Part, Sentence, Table

TOLERANCE = 1e-3
FACTORS = {"eps0.01": 1.01, "eps0.1": 1.1}
LEAST_SUM = 0.01
"""With a smaller sum of true distances the relative error is infinite."""

Distances = Sequence[Sequence[float]]
"""For each query its distances, as returned; infinity stands for a missing result."""


@dataclass(frozen=True)
class CountedRecall:
    """Neighbours within a threshold, over queries."""

    counts: tuple[int, ...]
    """For each query, how many of the first k are near enough."""
    k: int

    @property
    def mean(self) -> float:
        """The mean recall."""
        return float(np.mean(self.counts)) / self.k

    @property
    def std(self) -> float:
        """The population standard deviation of recall over queries."""
        return float(np.std(self.counts)) / self.k


@dataclass(frozen=True, repr=False, eq=False)
class AnnBenchmarks(Result):
    """The numbers of ann-benchmarks. Made by `ann_benchmarks`."""

    recalls: dict[str, CountedRecall]
    """By name: "knn" (within 0.001 of the k-th true distance), "eps0.01" and "eps0.1" (within 1% and 10% of it)."""
    rel: float
    """The sum of all returned distances over the sum of all true ones."""
    notes: tuple[Note, ...] = ()

    @property
    def words(self) -> str:
        """The recalls in a sentence."""
        shown = ", ".join(f"{name} {recall.mean:.4f}" for name, recall in self.recalls.items())
        return f"As ann-benchmarks counts, by distances alone: {shown}; rel {self.rel:.4f}."

    def parts(self) -> list[Part]:
        """What people read."""
        rows: list[Cells] = [[name, recall.mean, recall.std] for name, recall in self.recalls.items()]
        return [Sentence(self.words), Table([*Head.names("recall"), *Head.numbers("mean", "std")], rows)]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each threshold."""
        return [{"recall": name, "mean": each.mean, "std": each.std} for name, each in self.recalls.items()]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values; an infinite `rel` is None."""
        rel: float | None = None
        if math.isfinite(self.rel):
            rel = self.rel

        return {
            "format": "goldrank-ann-benchmarks",
            "version": 1,
            "words": self.words,
            "recalls": [{**row, "counts": list(self.recalls[row["recall"]].counts)} for row in self.rows()],
            "rel": rel,
        }


@named_arguments
def ann_benchmarks(true_distances: Distances, run_distances: Distances, k: int = 10) -> AnnBenchmarks:
    """The recalls and the relative error of ann-benchmarks, from distances.

    Parameters
    ----------
    true_distances : lists of numbers
        For each query the distances of its true neighbours, nearest first, at least k.
    run_distances : lists of numbers
        For each query the distances of what was returned, as returned; infinity for a missing result.
    k : int
        How many neighbours the search should return.

    Returns
    -------
    AnnBenchmarks

    Raises
    ------
    InputError
        If the numbers of queries differ, or a query has fewer than k true neighbours.

    Examples
    --------
    >>> found = ann_benchmarks([[0.1, 0.2, 0.3, 0.4]], [[0.1, 0.3, 0.5]], k=3)
    >>> round(found.recalls["knn"].mean, 4), round(found.rel, 4)
    (0.6667, 0.9)
    """
    k = whole_number(k, "k", 1)
    true_distances = _numbers(true_distances, "true distances")
    run_distances = _numbers(run_distances, "returned distances")
    if len(true_distances) != len(run_distances) or not len(true_distances):
        message = f"true distances of {len(true_distances):,} queries and returned ones of {len(run_distances):,}"
        raise InputError(message, hint="Both are lists with one entry for each query.", code="different-lengths")
    if min(map(len, true_distances)) < k:
        message = f"a query has fewer than {k} true neighbours"
        raise InputError(message, hint="Choose a smaller k; ann_recall divides by what there is.", code="short-truth")

    distances_at_k = [distances[k - 1] for distances in true_distances]
    thresholds = {"knn": [distance + TOLERANCE for distance in distances_at_k]}
    for name, factor in FACTORS.items():
        thresholds[name] = [distance * factor for distance in distances_at_k]
    recalls = {name: _counted(run_distances, limits, k) for name, limits in thresholds.items()}

    true_sum = float(sum(map(sum, true_distances)))
    run_sum = float(sum(map(sum, run_distances)))
    if true_sum < LEAST_SUM:
        rel = math.inf
    else:
        rel = run_sum / true_sum
    return AnnBenchmarks(recalls, rel)


def _numbers(rows: Distances, noun: str) -> list[list[float]]:
    """Lists of numbers, checked."""
    is_list = isinstance(rows, list | tuple | np.ndarray)
    if not is_list or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        raise InputError(f"{noun} are not lists of numbers", hint="For example [[0.1, 0.2], [0.3, 0.4]].")

    checked = []
    for row in rows:
        checked.append([real_number(distance, noun) for distance in row])
    return checked


def _counted(run_distances: Distances, limits: Sequence[float], k: int) -> CountedRecall:
    counts = []
    for returned, limit in zip(run_distances, limits, strict=True):
        counts.append(sum(distance <= limit for distance in returned[:k]))
    return CountedRecall(tuple(counts), k)
