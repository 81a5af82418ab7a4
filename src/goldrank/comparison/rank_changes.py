"""What moved: the rank of each judged document before and after, and why it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from goldrank import conventions, engine, io
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.errors import InputError, MeasureError
from goldrank.evaluation import documents as evaluation
from goldrank.measures import parse

CAUSES = {
    "lost": "lost from the run: was returned, is not any more",
    "pushed out": "pushed below the cut-off by judged documents",
    "intruder": "pushed down by documents that nobody judged",
    "moved down": "lower, but on the same side of the cut-off",
    "found": "new in the run",
    "pulled in": "raised above the cut-off",
    "moved up": "higher, but on the same side of the cut-off",
    "unchanged": "at the same rank",
    "absent": "in neither run",
}
"""Why a relevant document's rank changed, the graver first."""

FALLS = ("lost", "pushed out", "intruder", "moved down")


@dataclass(frozen=True)
class Ranks:
    """Where each of several runs put each judged document."""

    queries: tuple[str, ...]
    start: np.ndarray
    """Where each query's documents begin; one more entry than queries."""
    docs: tuple[str, ...]
    grade: np.ndarray
    rank: np.ndarray
    """One row per run; 0 where the document was not returned."""
    unjudged: np.ndarray
    """One row per run: how many documents above it nobody judged."""


def locate(
    qrels: Qrels,
    runs: Sequence[Run],
    rules: Convention = conventions.DEFAULT,
    only: Collection[str] | None = None,
) -> Ranks:
    """The rank of every judged document in every run, of all queries or of some.

    Engines know queries and grades but no documents. So the documents of a query are given distinct grades,
    their numbers, and the grade of a placement then says which document it is.
    """
    queries = tuple(query for query in qrels.arrays.queries if only is None or query in only)
    numbered = Qrels({query: {doc: i for i, doc in enumerate(qrels[query])} for query in queries}, name=qrels.name)
    docs = tuple(doc for query in queries for doc in qrels[query])
    grade = np.array([g for query in queries for g in qrels[query].values()], np.float64)
    start = np.concatenate(([0], np.cumsum([len(qrels[query]) for query in queries]))).astype(np.int64)
    rank = np.zeros((len(runs), len(docs)), np.int64)
    unjudged = np.zeros((len(runs), len(docs)), np.int64)
    for i, run in enumerate(runs):
        placed, _ = engine.place(numbered, run, rules)
        rows = (start[placed.query] + placed.grade)[::-1]
        judged = (grade[rows] >= 0)[::-1]
        rank[i, rows] = placed.rank[::-1]
        unjudged[i, rows] = (placed.rank - 1 - (placed.cumulate(judged) - judged))[::-1]
    return Ranks(queries, start, docs, grade, rank, unjudged)


def causes(ranks: Ranks, before: int, after: int, k: int) -> np.ndarray:
    """For each judged document the cause of its change from one run to another, as one of `CAUSES`."""
    old, new = ranks.rank[before], ranks.rank[after]
    intruders = ranks.unjudged[after] - ranks.unjudged[before]
    fell = (old > 0) & (new > old)
    rose = (new > 0) & (old > new)
    return np.select(
        [
            (old == 0) & (new == 0),
            (old > 0) & (new == 0),
            (old == 0) & (new > 0),
            fell & (2 * intruders > new - old),
            fell & (old <= k) & (new > k),
            fell,
            rose & (old > k) & (new <= k),
            rose,
        ],
        ["absent", "lost", "found", "intruder", "pushed out", "moved down", "pulled in", "moved up"],
        "unchanged",
    )


@dataclass(frozen=True)
class Document:
    """One judged document of a query."""

    doc: str
    grade: float
    before: int | None
    """Its rank; None if it was not returned."""
    after: int | None
    cause: str


@dataclass(frozen=True)
class Change:
    """One query: its value in both runs and what happened to its judged documents."""

    query: str
    before: float
    after: float
    documents: tuple[Document, ...]
    """Relevant documents and those judged not relevant that entered or left the first k; what moved most first."""

    @property
    def delta(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def causes(self) -> dict[str, int]:
        """How many relevant documents changed for each cause."""
        return _count_causes([self])

    @property
    def cause(self) -> str:
        """What happened to most of the relevant documents that went the query's way; '' if nothing did."""
        wanted = FALLS if self.delta < 0 else ("found", "pulled in", "moved up")
        counts = {cause: n for cause, n in self.causes.items() if cause in wanted}
        return max(counts, key=lambda cause: counts[cause], default="")


def _count_causes(changes: Sequence[Change]) -> dict[str, int]:
    counts = Counter(d.cause for change in changes for d in change.documents if d.grade >= 1)
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}


@dataclass(frozen=True)
class Diff:
    """Two runs, query by query."""

    a: str
    b: str
    measure: str
    k: int
    changes: tuple[Change, ...]
    """All queries, in byte order."""

    @property
    def delta(self) -> float:
        """The difference of the means."""
        return sum(change.delta for change in self.changes) / len(self.changes)

    @property
    def causes(self) -> dict[str, int]:
        """How many relevant documents changed for each cause."""
        return _count_causes(self.changes)

    def read_first(self, count: int = 10) -> list[Change]:
        """The queries that changed most, largest change first."""
        changed = [change for change in self.changes if abs(change.delta) > 1e-12]
        return sorted(changed, key=lambda change: (-abs(change.delta), change.query))[:count]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        return {
            "format": "goldrank-diff",
            "version": 1,
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "k": self.k,
            "delta": self.delta,
            "causes": self.causes,
            "queries": [
                {
                    "query": change.query,
                    "before": change.before,
                    "after": change.after,
                    "delta": change.delta,
                    "cause": change.cause,
                    "documents": [vars(document) for document in change.documents],
                }
                for change in self.changes
            ],
        }

    def _repr_html_(self) -> str:
        from goldrank.data.table import html
        from goldrank.report.diff import parts

        return html(parts(self))


def diff(
    qrels: Any,
    before: Any,
    after: Any,
    measure: str = "nDCG@10",
    *,
    k: int | None = None,
    names: tuple[str, str] = ("A", "B"),
    convention: str | Convention = conventions.DEFAULT,
    **policies: Any,
) -> Diff:
    """What moved from one run to another, for each query and judged document.

    `k` is the rank below which nobody looks; by default the measure's cut-off, or 10.

    >>> changes = diff({"q": {"d": 1}}, {"q": ["d", "x"]}, {"q": ["x", "y", "d"]}, "RR")
    >>> changes.read_first()[0].cause
    'intruder'
    """
    rules = conventions.get(convention).having(**policies)
    judgements = io.as_qrels(qrels, judgements=rules.judgements)
    runs = [
        io.as_run(run, duplicates=rules.duplicates, name=name).renamed(name)
        for run, name in zip((before, after), names, strict=True)
    ]
    spelled = parse(measure)
    cutoff = k if k is not None else spelled.k if isinstance(spelled.k, int) else 10
    if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
        raise MeasureError(f"k is {k!r}; it must be a whole number, 1 or more")
    scores = [evaluation.evaluate(judgements, run, spelled, convention=rules) for run in runs]
    column = scores[0].measures[0]
    values = [one.per_query[column] for one in scores]
    return describe(locate(judgements, runs, rules), 0, 1, names, column, cutoff, values)


def describe(
    ranks: Ranks,
    before: int,
    after: int,
    names: tuple[str, str],
    measure: str,
    k: int,
    values: Sequence[Mapping[str, float]],
) -> Diff:
    """The changes between two of the located runs; `values` has each run's values by query."""
    why = causes(ranks, before, after, k)
    old, new = ranks.rank[before], ranks.rank[after]
    inside = (old > 0) & (old <= k) | (new > 0) & (new <= k)
    told = (ranks.grade >= 1) | (ranks.grade >= 0) & inside & (why != "unchanged")
    far = int(max(old.max(initial=0), new.max(initial=0))) + 1
    shift = np.abs(np.where(old == 0, far, old) - np.where(new == 0, far, new))
    changes = []
    for i, query in enumerate(ranks.queries):
        if query not in values[0] or query not in values[1]:
            continue
        rows = [row for row in range(ranks.start[i], ranks.start[i + 1]) if told[row]]
        rows.sort(key=lambda row: (ranks.grade[row] < 1, -shift[row], ranks.docs[row]))
        documents = tuple(
            Document(
                ranks.docs[row],
                float(ranks.grade[row]),
                int(old[row]) or None,
                int(new[row]) or None,
                str(why[row]),
            )
            for row in rows
        )
        changes.append(Change(query, float(values[0][query]), float(values[1][query]), documents))
    if not changes:
        raise InputError("no query has a value in both runs", where=f"{names[0]}, {names[1]}")
    return Diff(names[0], names[1], measure, k, tuple(changes))
