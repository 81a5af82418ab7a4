"""How much of what exact search finds does approximate search find?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank import conventions, io
from goldrank.base.errors import InputError, real_number, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import RunLike
from goldrank.comparison.intervals import Interval, mean_interval, percent
from goldrank.comparison.tabular import attributes
from goldrank.data.query_costs import facts_about
from goldrank.data.query_facts import NOTHING_KNOWN, QueryFacts
from goldrank.data.score_table import cost_parts
from goldrank.data.scores import Column, Remarks, Scores
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count, note_sentences
from goldrank.engine import engine_for

LEVEL = 0.95
MOST_QUERIES = 20


@dataclass(frozen=True, repr=False, eq=False)
class AnnRecall(Result):
    """Recall of nearest neighbours, in the mean and for each query. Made by `ann_recall`."""

    k: int
    epsilon: float
    per_query: Mapping[str, float]
    ties_at_end: tuple[str, ...]
    """Queries whose exact list ends inside the tie at rank k: documents that are as near may be missing there."""
    notes: tuple[Note, ...] = ()
    run: str = "run"
    facts: QueryFacts = NOTHING_KNOWN
    """What the run says of its queries, such as their latency."""

    @property
    def measure(self) -> str:
        """Its name among measures."""
        return f"ANN-R@{self.k}"

    @property
    def scores(self) -> Scores:
        """The recall as `Scores`: for `compare`, gates and histories."""
        values = np.array(list(self.per_query.values()))
        columns = {self.measure: Column(self.measure, values, self.mean, "mean")}
        remarks = Remarks(notes=self.notes)
        return Scores(self.run, tuple(self.per_query), columns, remarks, "exact search", facts=self.facts)

    @property
    def mean(self) -> float:
        """The mean over the queries of the exact run."""
        return math.fsum(self.per_query.values()) / len(self.per_query)

    @property
    def interval(self) -> Interval:
        """The 95% interval of the mean."""
        return mean_interval(np.array(list(self.per_query.values())), level=LEVEL)

    @property
    def words(self) -> str:
        """The mean in a sentence."""
        low, high = self.interval
        within = f"{percent(LEVEL)} interval {low:.4f} to {high:.4f}"
        return (
            f"Recall@{self.k} against exact search: {self.mean:.4f} ({within}, {count(len(self.per_query), 'query')})."
        )

    def parts(self) -> list[Part]:
        """What people read: the mean, then the queries with the least recall."""
        worst = sorted(self.per_query.items(), key=lambda item: item[1])[:MOST_QUERIES]
        rows: list[Cells] = [[query, Cell(f"{value:.4f}", value)] for query, value in worst]

        left_out = len(self.per_query) - len(worst)
        if left_out:
            caption = f"{left_out:,} more queries have no less."
        else:
            caption = ""

        heads = [*Head.names("query"), *Head.numbers(f"recall@{self.k}")]
        table = Table(heads, rows, "Queries with the least recall", caption)
        return [Sentence(self.words), table, *cost_parts([self.scores]), *note_sentences(self.notes)]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each query."""
        return [
            {"query": query, "recall": value, "tie_at_end": query in self.ties_at_end}
            for query, value in self.per_query.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "format": "goldrank-ann-recall",
            "version": 1,
            **attributes(self, "k epsilon mean words"),
            "interval": {"level": LEVEL, **attributes(self.interval, "low high")},
            "queries": self.rows(),
            "notes": [note.to_dict() for note in self.notes],
        }


@named_arguments
def ann_recall(exact: RunLike, run: RunLike, k: int = 10, epsilon: float = 0.0) -> AnnRecall:
    """How many of the k nearest documents an approximate search finds.

    A document in the first k of the run counts if exact search scores it no lower than its own k-th document, less
    epsilon: of equally near documents any counts. The scores are from the exact run, the higher the nearer.

    Parameters
    ----------
    exact : run
        What exact search returns, with scores, deep enough to hold all ties at rank k.
    run : run
        What approximate search returns. A repeated document uses up a rank and counts once.
    k : int
        How many neighbours the search should return.
    epsilon : float
        How much lower a score may be.

    Returns
    -------
    AnnRecall

    Raises
    ------
    OptionError
        If k or epsilon is out of range.
    InputError
        If something cannot be read, or the runs share no query.

    Examples
    --------
    >>> exact = {"q": {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.1}}
    >>> ann_recall(exact, {"q": ["a", "d"]}, k=2).mean
    1.0
    """
    k = whole_number(k, "k", 1)
    epsilon = real_number(epsilon, "epsilon", 0.0)

    truth, opened = io.as_run(exact, name="exact"), io.as_run(run)
    queries = [query for query in truth if truth[query]]
    if not queries:
        raise InputError("the exact run has no documents", where=truth.name, code="empty-input")

    # A repeated document uses up a rank, as it does in the list that a user gets.
    rules = conventions.get("trec_eval-10").with_policies(duplicates="count")
    first_k = engine_for(opened).top_documents(opened, queries, k, rules)
    per_query: dict[str, float] = {}
    ties_at_end: list[str] = []
    short: list[str] = []
    for query, docs in zip(queries, first_k, strict=True):
        neighbours = Neighbours.of(truth[query], k, epsilon)
        per_query[query] = neighbours.recall(docs)
        if neighbours.ends_inside_tie:
            ties_at_end.append(query)
        if len(truth[query]) < k:
            short.append(query)

    facts = QueryFacts(**facts_about(opened.about, queries))
    notes = []
    if ties_at_end:
        notes.append(Note.of("ann-tie-at-end", count=len(ties_at_end), samples=ties_at_end))
    if short:
        notes.append(Note.of("ann-short-truth", count=len(short)))

    missing = [query for query, docs in zip(queries, first_k, strict=True) if not docs]
    if len(missing) == len(queries) and len(opened):
        message = "no query of the exact run has results in the run"
        raise InputError(message, where=opened.name, hint="Are these results of the same queries?", code="no-overlap")
    if missing:
        notes.append(Note.of("ann-missing-queries", count=len(missing), samples=missing))
    return AnnRecall(k, epsilon, per_query, tuple(ties_at_end), tuple(notes), opened.name, facts)


@dataclass(frozen=True)
class Neighbours:
    """The true neighbours of one query, with all that are as near as the k-th."""

    scores: Mapping[str, float]
    least: float
    """The lowest score that counts."""
    size: int
    """How many neighbours there are to find: k, or all that exact search has."""
    ends_inside_tie: bool

    @classmethod
    def of(cls, scores: Mapping[str, float], k: int, epsilon: float) -> Neighbours:
        """The neighbours by the scores of exact search."""
        ordered = sorted(scores.values(), reverse=True)
        size = min(k, len(ordered))
        score_at_k = ordered[size - 1]
        least = score_at_k - epsilon
        is_tied = len(ordered) > k or ordered.count(score_at_k) > 1
        ends_inside_tie = len(ordered) >= k and is_tied and ordered[-1] >= least
        return cls(scores, least, size, ends_inside_tie)

    def recall(self, docs: Sequence[str]) -> float:
        """The share of the neighbours that some documents hold."""
        near = {doc for doc in docs if doc in self.scores and self.scores[doc] >= self.least}
        return len(near) / self.size
