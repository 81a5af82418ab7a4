"""How alike are two rankings? And do measures order the systems alike?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from goldrank import io
from goldrank.base.errors import MismatchError, OptionError, is_number, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.packages import stats
from goldrank.base.types import RunLike
from goldrank.comparison.result import Comparison
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count

STATISTICS = {
    "rbo": "rank-biased overlap, extrapolated (Webber, Moffat and Zobel 2010): 1 for equal rankings, 0 for disjoint",
    "tau": "Kendall's tau of the documents that both returned",
    "tau_ap": "tau-AP (Yilmaz, Aslam and Robertson 2008) of the documents that both returned: the top counts more",
    "jaccard": "shared documents among the first k: intersection over union",
}


@dataclass(frozen=True, repr=False, eq=False)
class RankAgreement(Result):
    """How alike two runs are: per query and on average over the queries for which each is defined."""

    queries: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    """By statistic, one of `STATISTICS`: the value of each query, NaN where it is not defined."""
    notes: tuple[Note, ...] = ()

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """By statistic and query."""
        return {name: dict(zip(self.queries, column.tolist(), strict=True)) for name, column in self.values.items()}

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each statistic; NaN if it is defined for no query."""
        return {name: _mean_of_defined(values) for name, values in self.values.items()}

    @property
    def words(self) -> str:
        """The means in a sentence."""
        means = ", ".join(f"{name} {value:.4f}" for name, value in self.mean.items())
        return f"{means}, {count(len(self.queries), 'query')}"

    def parts(self) -> list[Part]:
        """The mean of each statistic, with what it is."""
        rows: list[Cells] = []
        for name, value in self.mean.items():
            rows.append([name, Cell(_four_decimals(value), value), STATISTICS[name]])

        columns = [*Head.names("statistic"), *Head.numbers("mean"), *Head.texts("what it is")]
        return [Table(columns, rows), Sentence(count(len(self.queries), "query"), "remark")]

    def rows(self) -> list[dict[str, Any]]:
        """A row per query, with each statistic."""
        columns = [column.tolist() for column in self.values.values()]
        names = ("query", *self.values)
        return [dict(zip(names, row, strict=True)) for row in zip(self.queries, *columns, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {"mean": self.mean, "per_query": self.per_query, "notes": [note.to_dict() for note in self.notes]}


def _mean_of_defined(values: np.ndarray) -> float:
    if np.isnan(values).all():
        return math.nan
    return float(np.nanmean(values))


def _four_decimals(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.4f}"


@named_arguments
def rank_agreement(a: RunLike, b: RunLike, *, k: int = 10, p: float = 0.9, depth: int = 1000) -> RankAgreement:
    """Say how alike two runs are: RBO, Kendall's tau, tau-AP and Jaccard@k, on the queries that both have.

    Parameters
    ----------
    a, b : run
        `Run`, a file, a data frame, a mapping or rows.
    k : int
        How many first documents Jaccard looks at.
    p : float
        How patient RBO's reader is: the chance to look one further, between 0 and 1.
    depth : int
        How many documents of a ranking are looked at.

    Returns
    -------
    RankAgreement
        `.mean["rbo"]`, and `.per_query["rbo"]["q1"]`.

    Raises
    ------
    MismatchError
        If the runs have no query in common.
    OptionError
        If a number is out of its range.

    Examples
    --------
    >>> rank_agreement({"q": ["x", "y"]}, {"q": ["y", "x"]}, k=1).mean["jaccard"]
    0.0
    """
    whole_number(k, "k", 1)
    whole_number(depth, "depth", 1)

    first, second = io.as_run(a), io.as_run(b)
    queries = tuple(query for query in first if query in second.results)
    if not queries:
        message = "the two runs have no query in common"
        raise MismatchError(message, where=f"{first.name}, {second.name}", code="no-common-queries")

    rows = []
    for query in queries:
        rankings = first.ranking(query)[:depth], second.ranking(query)[:depth]
        shared = _shared(*rankings)
        rows.append((rbo(*rankings, p), kendall_tau(*shared), tau_ap(*shared), jaccard(*rankings, k)))

    return RankAgreement(queries, dict(zip(STATISTICS, np.array(rows).T, strict=True)))


def rbo(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Extrapolated rank-biased overlap of two rankings without repetitions; they may differ in length.

    Equation 32 of Webber, Moffat and Zobel. `p` is how patient the reader is: the chance to look one further.
    """
    if not is_number(p) or not 0 < p < 1:
        raise OptionError(f"p is {shown(p)}; it must be between 0 and 1", hint="0.9 is usual.", code="bad-number")
    if not a or not b:
        if not a and not b:
            return 1.0
        return 0.0

    short, long = sorted((a, b), key=len)
    s, n = len(short), len(long)
    rank_in_short = {item: i for i, item in enumerate(short)}
    joining = [0] * n  # how many items become common to both at each depth
    for i, item in enumerate(long):
        if item in rank_in_short:
            joining[max(i, rank_in_short[item])] += 1

    overlap_at_short = sum(joining[:s])
    overlap, total = 0, 0.0
    for d, joined in enumerate(joining, 1):
        overlap += joined
        share = overlap / d
        if d > s:
            share += overlap_at_short * (d - s) / (s * d)
        total += share * p**d

    final = (overlap - overlap_at_short) / n + overlap_at_short / s
    return (1 - p) / p * total + final * p**n


def kendall_tau(a: Sequence[str], b: Sequence[str]) -> float:
    """Kendall's tau of two orders of the same things; NaN for fewer than two."""
    if len(a) < 2:
        return math.nan
    rank_of = {item: i for i, item in enumerate(b)}
    return float(stats.kendalltau(range(len(a)), [rank_of[item] for item in a]).statistic)


def tau_ap(a: Sequence[str], b: Sequence[str]) -> float:
    """tau-AP of two orders of the same things, averaged over which of them is the true one; NaN below two."""
    if len(a) < 2:
        return math.nan
    return (_tau_ap(a, b) + _tau_ap(b, a)) / 2


def _tau_ap(ranked: Sequence[str], truth: Sequence[str]) -> float:
    rank_of = {item: i for i, item in enumerate(truth)}
    ranks = np.array([rank_of[item] for item in ranked])
    concordant = sum(float((ranks[:i] < ranks[i]).sum()) / i for i in range(1, len(ranks)))
    return 2 * concordant / (len(ranks) - 1) - 1


def jaccard(a: Sequence[str], b: Sequence[str], k: int = 10) -> float:
    """Shared documents among the first k, over all documents among them; 1 if both are empty."""
    first, second = set(a[:k]), set(b[:k])
    union = first | second
    if union:
        return len(first & second) / len(union)
    return 1.0


def _shared(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str]]:
    """The documents that both rankings have, in the order of each."""
    common = set(a) & set(b)
    first = [item for item in a if item in common]
    second = [item for item in b if item in common]
    return first, second


def measures_agree(comparison: Comparison) -> dict[tuple[str, str], float]:
    """Kendall's tau-b between the orders in which each two measures put the systems."""
    taus = {}
    for first, second in combinations(comparison.measures, 2):
        first_means = [comparison.summaries[first, run].mean for run in comparison.runs]
        second_means = [comparison.summaries[second, run].mean for run in comparison.runs]
        taus[first, second] = tau_b(first_means, second_means)
    return taus


def tau_b(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's tau-b of two rows of numbers; NaN if one has a single value."""
    constant = len(set(first)) == 1 or len(set(second)) == 1
    if constant:
        return math.nan
    return float(stats.kendalltau(first, second).statistic)
