"""Compare two rankings of the same queries without judgements: what moved, and what to judge to know which is better.

Nothing here says *better*: results that changed are not results that are wrong.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from goldrank import io
from goldrank.base import ids
from goldrank.base.errors import MismatchError, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import DocumentsLike, QueriesLike, RunLike
from goldrank.comparison.agreement import kendall_tau, rbo
from goldrank.comparison.intervals import Interval, mean_interval
from goldrank.comparison.slices import no_slice_values, slice_names, slice_parts, word_counts
from goldrank.data.documents import Document
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.data.showing import Result
from goldrank.data.table import Part, count
from goldrank.io.by_id.document_files import read_documents
from goldrank.io.by_id.query_files import read_queries
from goldrank.retrieval.engine_run import EngineRun
from goldrank.retrieval.run_records import NO_RECORDS, RunRecords, records_beside, records_of

PATIENCE = 0.9
"""RBO's reader: the first ten ranks have 85.6 % of the weight."""
TITLE = 80
"""Characters of a document without a title that are shown in place of one."""
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
    interval : Interval
        The 95 % interval of the ratio, over queries.
    """

    queries: int
    before: tuple[float, float]
    after: tuple[float, float]
    ratio: float
    interval: Interval


@dataclass(frozen=True)
class SliceChurn:
    """What changed on the queries that have one value of an attribute.

    Attributes
    ----------
    attribute, value : str
        Which queries these are.
    queries : int
        How many.
    overlap, rbo, first_changed : float
        As of all queries.
    """

    attribute: str
    value: str
    queries: int
    overlap: float
    rbo: float
    first_changed: float


class JudgingStep(NamedTuple):
    """What some judgements bring.

    Attributes
    ----------
    judgements : int
        How many documents are judged, the first ones of `judge_first`.
    queries : int
        How many queries they are of.
    weight : float
        The share of all weight, which decides between the two rankings, that they have.
    remaining : float
        The largest mean difference, for each unit of gain, that the others can still make.
    """

    judgements: int
    queries: int
    weight: float
    remaining: float


class JudgedChange(NamedTuple):
    """What judgements say about two rankings so far, in the sums that nDCG@k divides.

    Attributes
    ----------
    judged : int
        How many documents that tell the rankings apart are judged.
    open : int
        How many are not.
    difference : float
        The mean of after minus before, counting judged documents only.
    low, high : float
        The least and the greatest it can become, whatever the open ones are.
    """

    judged: int
    open: int
    difference: float
    low: float
    high: float

    @property
    def is_decided(self) -> bool:
        """Whether no judgement of an open document can turn the sign."""
        return self.judged > 0 and (self.low > 0 or self.high < 0)


STEPS = (40, 120, 400)
"""Numbers of judgements for which `judging_steps` says what they bring."""


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
    failed: Mapping[str, str] = field(default_factory=dict)
    """The queries that an engine failed to answer, with its name and why: they are in no figure."""
    slices: tuple[SliceChurn, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """The first words of documents, if their texts are known."""
    listed: int = 10
    """How many documents to judge are listed."""

    @cached_property
    def _by_query(self) -> dict[str, QueryChurn]:
        return {change.query: change for change in self.changes}

    def parts(self) -> list[Part]:
        """Tables and sentences, as data."""
        from goldrank.retrieval import churn_report

        return churn_report.parts(self)

    def with_documents(self, documents: DocumentsLike) -> Churn:
        """What changed with the texts of documents, so that both rankings can be read side by side.

        Parameters
        ----------
        documents : documents
            `Documents`, a file, a mapping or a function.

        Returns
        -------
        Churn

        Raises
        ------
        InputError
            If no document has a text.
        """
        wanted = [doc for change in self.changes for doc in (*change.before, *change.after)]
        texts = read_documents(documents).some(list(dict.fromkeys(wanted)))
        return replace(self, titles={doc: text.title or text.line(TITLE) for doc, text in texts.items()})

    def with_listed(self, n: int) -> Churn:
        """What changed, with another number of documents to judge in its tables.

        Parameters
        ----------
        n : int
            How many at most.

        Returns
        -------
        Churn
        """
        whole_number(n, "n", 0)
        return replace(self, listed=n)

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
    def churn(self) -> float:
        """The mean share of the first k results that changed: 1 - overlap."""
        return 1 - self.overlap

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

    def judged(self, qrels: Mapping[str, Mapping[str, float]], highest: float) -> JudgedChange:
        """What judgements say so far, and how far the documents that are left can move it.

        Parameters
        ----------
        qrels : mapping
            Judgements: by query and document, a grade.
        highest : float
            The highest grade that a document can get.

        Returns
        -------
        JudgedChange
        """
        known, gains, losses = [], [], []
        for pair in self._rounds:
            grade = qrels.get(pair.query, {}).get(pair.doc)
            if grade is not None:
                known.append(-pair.weight * max(0.0, grade))
            elif pair.weight < 0:
                gains.append(-pair.weight * highest)
            else:
                losses.append(-pair.weight * highest)

        total = len(self)
        difference = math.fsum(known) / total
        low, high = difference + math.fsum(losses) / total, difference + math.fsum(gains) / total
        return JudgedChange(len(known), len(gains) + len(losses), difference, low, high)

    @property
    def judging_steps(self) -> list[JudgingStep]:
        """What 40, 120, 400 and all judgements bring, as far as there are documents to judge."""
        total = len(self._rounds)
        steps = []
        for number in (*(step for step in STEPS if step < total), total):
            judged = self._rounds[:number]
            weight = math.fsum(abs(pair.weight) for pair in judged) / (self._weight or 1.0)
            steps.append(JudgingStep(number, len({pair.query for pair in judged}), weight, self.remaining(number)))
        return steps

    @cached_property
    def _weight(self) -> float:
        return math.fsum(abs(pair.weight) for pair in self._rounds)

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
            latency = {**vars(self.latency), "interval": list(self.latency.interval)}

        return {
            "before": self.before,
            "after": self.after,
            "k": self.k,
            "p": PATIENCE,
            "overlap": self.overlap,
            "churn": self.churn,
            "rbo": self.rbo,
            "tau": self.tau,
            "first_changed": self.first_changed,
            "vanished": list(self.vanished),
            "failed": dict(self.failed),
            "latency": latency,
            "scores": [_spread_dict(spread) for spread in self.scores],
            "slices": [dict(vars(part)) for part in self.slices],
            "judge_first": [pair._asdict() for pair in self.judge_first(self.listed)],
            "judging": [step._asdict() for step in self.judging_steps],
            "queries": [
                {**row, "came": list(change.came), "went": list(change.went)}
                for row, change in zip(self.rows(), self.changes, strict=True)
            ],
        }


def _spread_dict(spread: ScoreSpread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"first": list(spread.first), "gap": list(spread.gap)}


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
    before: RunLike | EngineRun,
    after: RunLike | EngineRun,
    *,
    k: int = 10,
    queries: QueriesLike | None = None,
    slice_by: str | Sequence[str] = (),
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
        Texts of queries, to show them, and their attributes.
    slice_by : str or list of str
        Attributes of queries, or "length" for their number of words: the figures of each value.

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
    InputError
        If no query has a value to slice by.

    Examples
    --------
    >>> churn = compare_rankings({"q": ["a", "b", "c", "d"]}, {"q": ["a", "b", "x", "y"]}, k=5)
    >>> churn.overlap, churn["q"].came, churn["q"].went
    (0.5, ('x', 'y'), ('c', 'd'))
    >>> [(pair.doc, round(pair.weight, 4)) for pair in churn.judge_first(2)]
    [('c', 0.5), ('x', -0.5)]
    """
    known = None
    if queries is not None:
        known = read_queries(queries)
    return _compared(_side(before), _side(after), k, known, slice_by)


def compare_files(
    runs: Mapping[str, Run], paths: Sequence[str], k: int, queries: Queries | None, slice_by: Sequence[str]
) -> Churn:
    """What changed between two runs that were read from files, beside which records may be."""
    first, second = runs.values()
    sides = [
        RunWithRecords(run.drop_duplicates(), records_beside(path))
        for run, path in zip((first, second), paths, strict=True)
    ]
    return _compared(sides[0], sides[1], k, queries, slice_by)


class RunWithRecords(NamedTuple):
    """A run, and what is known of its queries beside the rankings."""

    run: Run
    records: RunRecords

    def has(self, query: str) -> bool:
        """Whether the query was answered, with or without documents."""
        return query in self.run or query in self.records.empty

    def ranking(self, query: str) -> list[str]:
        """The documents of a query, best first."""
        if query not in self.run:
            return []
        return self.run.ranking(query)


def _side(source: RunLike | EngineRun) -> RunWithRecords:
    if isinstance(source, EngineRun):
        return RunWithRecords(source.run, records_of(list(source.records)))

    run = io.as_run(source).drop_duplicates()
    records = NO_RECORDS
    if isinstance(source, str | os.PathLike):
        records = records_beside(os.fspath(source))
    return RunWithRecords(run, records)


def _compared(
    first: RunWithRecords, second: RunWithRecords, k: int, queries: Queries | None, slice_by: str | Sequence[str]
) -> Churn:
    whole_number(k, "k", 1)
    texts: Mapping[str, str] = {}
    if queries is not None and queries.has("text"):
        texts = queries.column("text")

    failed: dict[str, str] = {}
    for side in (first, second):
        failed |= {query: f"{side.run.name}: {code}" for query, code in side.records.failures.items()}

    known_queries = {*first.run, *second.run, *first.records.empty, *second.records.empty}
    query_ids = sorted(known_queries - failed.keys(), key=ids.encode)
    if not any(first.has(query) and second.has(query) for query in query_ids):
        message = "the two runs have no query in common"
        raise MismatchError(message, where=f"{first.run.name}, {second.run.name}", code="no-common-queries")

    changes = tuple(_change(query, texts.get(query, ""), first, second, k) for query in query_ids)
    texts_of_documents = {**first.records.texts, **second.records.texts}
    return Churn(
        before=first.run.name,
        after=second.run.name,
        k=k,
        changes=changes,
        scores=(_spread(first.run), _spread(second.run)),
        latency=latency_shift(first.records.latency_ms, second.records.latency_ms),
        failed=failed,
        slices=_slices(changes, queries, slice_names(slice_by)),
        titles={doc: Document(text).line(TITLE) for doc, text in texts_of_documents.items()},
    )


def _slices(changes: Sequence[QueryChurn], queries: Queries | None, names: Sequence[str]) -> tuple[SliceChurn, ...]:
    """The figures of each value of each attribute."""

    def values(name: str) -> Sequence[Any]:
        if queries is not None and queries.has(name):
            return [queries.column(name).get(change.query) for change in changes]
        if name == "length" and any(change.text for change in changes):
            texts = {change.query: change.text for change in changes if change.text}
            return word_counts(texts.get, [change.query for change in changes])
        raise no_slice_values(name, queries)

    notes: list[Note] = []
    slices = []
    for attribute, value, in_slice in slice_parts(names, values, notes):
        members = [change for change, is_member in zip(changes, in_slice, strict=True) if is_member]
        overlap = float(np.mean([change.overlap for change in members]))
        similarity = float(np.mean([change.rbo for change in members]))
        first_changed = float(np.mean([change.first_changed for change in members]))
        slices.append(SliceChurn(attribute, value, len(members), overlap, similarity, first_changed))
    return tuple(slices)


def _change(query: str, text: str, first: RunWithRecords, second: RunWithRecords, k: int) -> QueryChurn:
    before, after = first.ranking(query), second.ranking(query)
    top_before, top_after = before[:k], after[:k]
    shared = set(top_before) & set(top_after)
    shared_before = [doc for doc in top_before if doc in shared]
    shared_after = [doc for doc in top_after if doc in shared]

    lacking: Lacking = ""
    overlap = overlap_of_ranks = 0.0
    if not first.has(query):
        lacking = "before"
    elif not second.has(query):
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


def latency_shift(before: Mapping[str, float], after: Mapping[str, float]) -> LatencyShift | None:
    """How long queries took that both answered; None if there are none."""
    common = sorted(before.keys() & after.keys())
    if not common:
        return None

    first = [before[query] for query in common]
    second = [after[query] for query in common]
    logs = [math.log(b / a) for a, b in zip(first, second, strict=True) if a > 0 and b > 0]
    ratio = math.nan
    if logs:
        ratio = math.exp(math.fsum(logs) / len(logs))
    low, high = mean_interval(np.array(logs), low=-math.inf, high=math.inf)
    interval = Interval(math.exp(low), math.exp(high))
    return LatencyShift(len(common), usual_and_slow(first), usual_and_slow(second), ratio, interval)


def usual_and_slow(times: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile, by nearest rank."""
    ordered = sorted(times)
    positions = [math.ceil(share * len(ordered) / 100) - 1 for share in (50, 95)]
    return ordered[positions[0]], ordered[positions[1]]
