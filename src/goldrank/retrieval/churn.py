"""Compare two rankings of the same queries without judgements: what moved, and what to judge to know which is better.

Nothing here says *better*: results that changed are not results that are wrong.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import InputError, MismatchError, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import QueriesLike, RunLike
from goldrank.comparison.agreement import kendall_tau, rbo
from goldrank.data.run import Run
from goldrank.data.showing import Result
from goldrank.data.table import Part, count
from goldrank.io.by_id.query_files import read_queries
from goldrank.retrieval.engine_run import EngineRun

PATIENCE = 0.9
"""RBO's reader: the first ten ranks have 85.6 % of the weight."""
Lacking: TypeAlias = Literal["", "before", "after"]


class JudgeNext(NamedTuple):
    """A document whose judgement says which of two rankings is better.

    Attributes
    ----------
    query : str
        The query's id.
    doc : str
        The document's id.
    weight : float
        How far nDCG's sum moves towards `before` (or, below zero, `after`) for each unit of gain.
    rank_before, rank_after : int or None
        Its ranks; None beyond the first k.
    """

    query: str
    doc: str
    weight: float
    rank_before: int | None
    rank_after: int | None


@dataclass(frozen=True)
class QueryChurn:
    """How the results of one query changed.

    Attributes
    ----------
    query, text : str
        The query's id and, if it is known, its words.
    before, after : tuple of str
        The first k documents.
    overlap : float
        Shared documents among the first k, as a share of the longer list; 1 if both are empty.
    rbo : float
        Rank-biased overlap of the whole rankings, extrapolated, with p = 0.9.
    tau : float
        Kendall's tau of the documents that both have among the first k; NaN for fewer than two.
    lengths : tuple of int
        How many documents each ranking has in all.
    lacking : str
        Which run does not have the query at all: "before", "after" or neither.
    """

    query: str
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    overlap: float
    rbo: float
    tau: float
    lengths: tuple[int, int]
    lacking: Lacking = ""

    @property
    def came(self) -> tuple[str, ...]:
        """The documents that are new among the first k."""
        return tuple(doc for doc in self.after if doc not in set(self.before))

    @property
    def went(self) -> tuple[str, ...]:
        """The documents that are no longer among the first k."""
        return tuple(doc for doc in self.before if doc not in set(self.after))

    @property
    def first_changed(self) -> bool:
        """Whether another document is at rank 1."""
        return self.before[:1] != self.after[:1]

    @property
    def vanished(self) -> bool:
        """Whether there were results, and are none now."""
        return bool(self.before) and not self.after

    @property
    def shorter_by(self) -> int:
        """How many results fewer there are in all."""
        return max(0, self.lengths[0] - self.lengths[1])


@dataclass(frozen=True)
class ScoreSpread:
    """Quartiles of an engine's scores over queries. Scores of two engines cannot be compared.

    Attributes
    ----------
    first : tuple of float
        Quartiles of the first document's score.
    gap : tuple of float
        Quartiles of the gap between the first two scores.
    """

    first: tuple[float, float, float]
    gap: tuple[float, float, float]


@dataclass(frozen=True)
class LatencyShift:
    """How long queries took that both engines answered.

    Attributes
    ----------
    queries : int
        How many these are.
    before, after : tuple of float
        The median and the 95th percentile, in milliseconds, by nearest rank.
    ratio : float
        The geometric mean of after divided by before.
    """

    queries: int
    before: tuple[float, float]
    after: tuple[float, float]
    ratio: float


@dataclass(frozen=True, repr=False, eq=False)
class Churn(Result, Mapping[str, QueryChurn]):
    """What changed between two rankings of the same queries: `churn["q1"]` is the change of one query."""

    before: str
    after: str
    k: int
    changes: tuple[QueryChurn, ...]
    """All queries, in byte order."""
    scores: tuple[ScoreSpread | None, ScoreSpread | None] = (None, None)
    """Of the two runs; None where they have no scores of their own."""
    latency: LatencyShift | None = None
    """None if it is not known of both."""

    @cached_property
    def _by_query(self) -> dict[str, QueryChurn]:
        return {change.query: change for change in self.changes}

    def parts(self) -> list[Part]:
        """Tables and sentences, as data."""
        from goldrank.retrieval import churn_report

        return churn_report.parts(self)

    def judging_parts(self, n: int) -> list[Part]:
        """The documents whose judgements say soonest which ranking is better, as data.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of parts
        """
        from goldrank.retrieval import churn_report

        return churn_report.judging_parts(self, n)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty: `parts` has all remarks as sentences."""
        return ()

    def __getitem__(self, query: str) -> QueryChurn:
        return self._by_query[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def __len__(self) -> int:
        return len(self.changes)

    def __repr__(self) -> str:
        queries = count(len(self), "query")
        return f"Churn({self.before!r}, {self.after!r}, {queries}, overlap@{self.k} {self.overlap:.4f})"

    @property
    def overlap(self) -> float:
        """The mean share of the first k results that both have."""
        return float(np.mean([change.overlap for change in self.changes]))

    @property
    def rbo(self) -> float:
        """The mean rank-biased overlap."""
        return float(np.mean([change.rbo for change in self.changes]))

    @property
    def tau(self) -> float:
        """The mean Kendall's tau of the queries that have one; NaN if none has."""
        values = [change.tau for change in self.changes if not math.isnan(change.tau)]
        if values:
            return float(np.mean(values))
        return math.nan

    @property
    def first_changed(self) -> float:
        """The share of queries with another document at the top."""
        return float(np.mean([change.first_changed for change in self.changes]))

    @property
    def vanished(self) -> tuple[str, ...]:
        """The queries that had results, and have none now."""
        return tuple(change.query for change in self.changes if change.vanished)

    def moved_most(self, n: int = 10) -> list[QueryChurn]:
        """The queries whose results changed most; those that one run lacks come first.

        Parameters
        ----------
        n : int
            How many at most.

        Returns
        -------
        list of QueryChurn
        """
        whole_number(n, "n", 0)
        moved = [change for change in self.changes if change.lacking or change.before != change.after or change.rbo < 1]
        return sorted(moved, key=lambda change: (not change.lacking, change.rbo, ids.encode(change.query)))[:n]

    def judge_first(self, n: int = 40) -> list[JudgeNext]:
        """The documents whose judgements tell the two rankings apart soonest, by what they weigh in nDCG@k.

        The document of each query that weighs most comes first, then the second of each, and so on. A document at the
        same rank in both is never in the list. Such a set is chosen: it says which ranking is better on these queries,
        and not how good either is.

        Parameters
        ----------
        n : int
            How many at most.

        Returns
        -------
        list of JudgeNext
        """
        whole_number(n, "n", 0)
        return self._rounds[:n]

    def remaining(self, n: int) -> float:
        """How far apart the two may still be once the first `n` of `judge_first` are judged.

        It is the largest mean difference of the sums that nDCG divides, for each unit of gain, that the documents left
        over can make.

        Parameters
        ----------
        n : int
            How many are judged.

        Returns
        -------
        float
        """
        whole_number(n, "n", 0)
        weights = [pair.weight for pair in self._rounds[n:]]
        towards_before = math.fsum(weight for weight in weights if weight > 0)
        towards_after = -math.fsum(weight for weight in weights if weight < 0)
        return max(towards_before, towards_after) / len(self)

    @cached_property
    def _rounds(self) -> list[JudgeNext]:
        """Every pair with a weight, round by round."""
        by_query = [sorted(_weighed(change), key=_order) for change in self.changes]
        pairs: list[JudgeNext] = []
        for one_of_each_query in zip_longest(*by_query):
            pairs += sorted(filter(None, one_of_each_query), key=_order)
        return pairs

    @property
    def words(self) -> str:
        """What changed, in a sentence."""
        changed = sum(change.before != change.after for change in self.changes)
        return (
            f"{ids.show(self.before)} and {ids.show(self.after)} share {self.overlap:.1%} of their first {self.k:,} "
            f"results; {count(changed, 'query')} of {len(self):,} changed, {self.first_changed:.1%} have another first "
            f"result"
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row a query."""
        return [_row(change) for change in self.changes]

    def to_dict(self) -> dict[str, Any]:
        latency = None
        if self.latency is not None:
            latency = vars(self.latency)

        return {
            "before": self.before,
            "after": self.after,
            "k": self.k,
            "p": PATIENCE,
            "overlap": self.overlap,
            "rbo": self.rbo,
            "tau": self.tau,
            "first_changed": self.first_changed,
            "vanished": list(self.vanished),
            "latency": latency,
            "queries": [
                {**row, "came": list(change.came), "went": list(change.went)}
                for row, change in zip(self.rows(), self.changes, strict=True)
            ],
        }


def _row(change: QueryChurn) -> dict[str, Any]:
    tau: float | None = change.tau
    if math.isnan(change.tau):
        tau = None

    return {
        "query": change.query,
        "overlap": change.overlap,
        "rbo": change.rbo,
        "tau": tau,
        "came": len(change.came),
        "went": len(change.went),
        "results_before": change.lengths[0],
        "results_after": change.lengths[1],
        "first_changed": change.first_changed,
        "lacking": change.lacking or None,
    }


def _order(pair: JudgeNext) -> tuple[float, bytes, bytes]:
    return -abs(pair.weight), ids.encode(pair.query), ids.encode(pair.doc)


def _weighed(change: QueryChurn) -> Iterator[JudgeNext]:
    """What each document of a query weighs in the difference of nDCG's sums."""
    ranks_before = {doc: rank for rank, doc in enumerate(change.before, 1)}
    ranks_after = {doc: rank for rank, doc in enumerate(change.after, 1)}
    for doc in dict.fromkeys((*change.before, *change.after)):
        first, second = ranks_before.get(doc), ranks_after.get(doc)
        if first != second:
            yield JudgeNext(change.query, doc, _discount(first) - _discount(second), first, second)


def _discount(rank: int | None) -> float:
    if rank is None:
        return 0.0
    return 1 / math.log2(rank + 1)


@named_arguments
def compare_rankings(
    before: RunLike | EngineRun, after: RunLike | EngineRun, *, k: int = 10, queries: QueriesLike | None = None
) -> Churn:
    """Say what changed between two runs, without judgements: overlap, RBO, and which queries moved most.

    Parameters
    ----------
    before, after : run
        `Run`, a file, a data frame, a mapping or rows; or what `run_engine` returned, whose latencies are compared too.
        Beside a file that `goldrank run` wrote, they are read from its records.
    k : int
        How many first results are looked at.
    queries : queries, optional
        Texts of queries, to show them.

    Returns
    -------
    Churn
        `.moved_most()`, `.judge_first(40)`, `.overlap`, `.rbo`, and `churn["q1"]`.

    Raises
    ------
    MismatchError
        If the runs have no query in common.
    OptionError
        If `k` is not a whole number from 1.

    Examples
    --------
    >>> churn = compare_rankings({"q": ["a", "b", "c", "d"]}, {"q": ["a", "b", "x", "y"]}, k=5)
    >>> churn.overlap, churn["q"].came, churn["q"].went
    (0.5, ('x', 'y'), ('c', 'd'))
    >>> [(pair.doc, round(pair.weight, 4)) for pair in churn.judge_first(2)]
    [('c', 0.5), ('x', -0.5)]
    """
    whole_number(k, "k", 1)
    first, second = _side(before), _side(after)
    texts: dict[str, str] = {}
    if queries is not None:
        texts = {query_id: query.text for query_id, query in read_queries(queries).items()}

    query_ids = sorted({*first.run, *second.run}, key=ids.encode)
    if not any(query in first.run and query in second.run for query in query_ids):
        message = "the two runs have no query in common"
        raise MismatchError(message, where=f"{first.run.name}, {second.run.name}", code="no-common-queries")

    changes = tuple(_change(query, texts.get(query, ""), first.run, second.run, k) for query in query_ids)
    spreads = (_spread(first.run), _spread(second.run))
    return Churn(first.run.name, second.run.name, k, changes, spreads, _latency(first.latency_ms, second.latency_ms))


class _Side(NamedTuple):
    run: Run
    latency_ms: Mapping[str, float]


def _side(source: RunLike | EngineRun) -> _Side:
    if isinstance(source, EngineRun):
        return _Side(source.run, source.latency_ms)

    run = io.as_run(source).drop_duplicates()
    if isinstance(source, str | os.PathLike):
        records = f"{os.fspath(source)}.jsonl"
        if os.path.isfile(records):
            return _Side(run, _recorded(records))
    return _Side(run, {})


def _recorded(path: str) -> dict[str, float]:
    """Latencies from the file of records beside a run."""
    times: dict[str, float] = {}
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                if isinstance(record.get("latency_ms"), int | float):
                    times[str(record["id"])] = float(record["latency_ms"])
            except (ValueError, KeyError, AttributeError, RecursionError):
                message = "is not a record of a run, though it is beside one"
                raise InputError(
                    message, where=f"{path}:{number}", hint="Move it away.", code="not-a-journal"
                ) from None
    return times


def _change(query: str, text: str, first: Run, second: Run, k: int) -> QueryChurn:
    before, after = _ranking(first, query), _ranking(second, query)
    top_before, top_after = before[:k], after[:k]
    shared = set(top_before) & set(top_after)
    shared_before = [doc for doc in top_before if doc in shared]
    shared_after = [doc for doc in top_after if doc in shared]

    lacking: Lacking = ""
    overlap = overlap_of_ranks = 0.0
    if query not in first:
        lacking = "before"
    elif query not in second:
        lacking = "after"
    else:
        overlap = _overlap(top_before, top_after)
        overlap_of_ranks = rbo(before, after, PATIENCE)

    return QueryChurn(
        query=query,
        text=text,
        before=tuple(top_before),
        after=tuple(top_after),
        overlap=overlap,
        rbo=overlap_of_ranks,
        tau=kendall_tau(shared_before, shared_after),
        lengths=(len(before), len(after)),
        lacking=lacking,
    )


def _ranking(run: Run, query: str) -> list[str]:
    if query not in run:
        return []
    return run.ranking(query)


def _overlap(first: Sequence[str], second: Sequence[str]) -> float:
    longer = max(len(first), len(second))
    if longer:
        return len(set(first) & set(second)) / longer
    return 1.0


def _spread(run: Run) -> ScoreSpread | None:
    """Quartiles of a run's scores; None if they are only ranks: -1, -2, and so on."""
    rows = [sorted(row.values(), reverse=True) for row in run.values()]
    filled = [row for row in rows if row]
    if not run.has_scores or all(_are_ranks(row) for row in filled):
        return None

    gaps = [row[0] - row[1] for row in filled if len(row) > 1]
    return ScoreSpread(_quartiles([row[0] for row in filled]), _quartiles(gaps))


def _are_ranks(scores: Sequence[float]) -> bool:
    return scores == [-float(rank) for rank in range(1, len(scores) + 1)]


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if not values:
        return math.nan, math.nan, math.nan
    low, middle, high = np.quantile(np.array(values), [0.25, 0.5, 0.75]).tolist()
    return low, middle, high


def _latency(before: Mapping[str, float], after: Mapping[str, float]) -> LatencyShift | None:
    common = sorted(before.keys() & after.keys())
    if not common:
        return None

    first = [before[query] for query in common]
    second = [after[query] for query in common]
    logs = [math.log(b / a) for a, b in zip(first, second, strict=True) if a > 0 and b > 0]
    ratio = math.nan
    if logs:
        ratio = math.exp(math.fsum(logs) / len(logs))
    return LatencyShift(len(common), _usual_and_slow(first), _usual_and_slow(second), ratio)


def _usual_and_slow(times: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile, by nearest rank."""
    ordered = sorted(times)
    positions = [math.ceil(share * len(ordered) / 100) - 1 for share in (50, 95)]
    return ordered[positions[0]], ordered[positions[1]]
