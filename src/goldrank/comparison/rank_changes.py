"""What moved: the rank of each judged document before and after, and why it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from goldrank import conventions, io
from goldrank.base import ids
from goldrank.base.errors import InputError, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasureLike, QrelsLike, RunLike
from goldrank.comparison.tabular import attributes
from goldrank.data.placements import Placements
from goldrank.data.run import Run
from goldrank.data.runs import Runs
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.data.table import count as counted
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import refuse_several, resolve, resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import known as known_measure
from goldrank.measures import parse

CAUSES = {
    "lost": "lost from the run: was returned, is not any more",
    "pushed out": "pushed below the cut-off by judged documents",
    "intruder": "pushed down by unjudged documents",
    "moved down": "lower, but on the same side of the cut-off",
    "found": "new in the run",
    "pulled in": "raised above the cut-off",
    "moved up": "higher, but on the same side of the cut-off",
    "unchanged": "at the same rank",
    "out of reach": "moved below the measure's cut-off only, which does not change its value",
    "absent": "in neither run",
}
"""Why a relevant document's rank changed, the graver first."""

FALLS: tuple[str, ...] = ("lost", "pushed out", "intruder", "moved down")
RISES: tuple[str, ...] = ("found", "pulled in", "moved up")


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
    """One row per run: how many unjudged documents are above it."""
    label: np.ndarray
    """The number of each document among all that are judged, as `Placements.label` has them."""


def locate(placed_runs: Sequence[Placed], only: Collection[str] | None = None) -> Ranks:
    """The rank of every judged document in every placed run, of all queries or of some."""
    qrels = placed_runs[0].qrels
    arrays = qrels.arrays
    rank = np.array([run.placements.by_label(run.placements.rank) for run in placed_runs])
    unjudged = np.array([run.placements.by_label(_unjudged_above(run.placements)) for run in placed_runs])
    sizes = np.diff(arrays.start)
    chosen = np.array([only is None or query in only for query in arrays.queries], bool)
    rows = np.repeat(chosen, sizes)

    return Ranks(
        tuple(compress(arrays.queries, chosen)),
        np.concatenate(([0], np.cumsum(sizes[chosen]))).astype(np.int64),
        tuple(compress(qrels.docs, rows)),
        arrays.grade[rows],
        rank[:, rows],
        unjudged[:, rows],
        np.flatnonzero(rows),
    )


def _unjudged_above(placements: Placements) -> np.ndarray:
    judged = placements.grade >= 0
    return np.asarray(placements.rank - 1 - (placements.cumulate(judged) - judged))


def reach_of(measure: str) -> int | None:
    """The rank below which a measure does not look; None if it looks at all that a run returns."""
    declared = known_measure(measure)
    if declared is None or not isinstance(declared.k, int):
        return None
    return declared.k


def causes(ranks: Ranks, before: int, after: int, k: int, reach: int | None = None) -> np.ndarray:
    """For each judged document the cause of its change from one run to another, as one of `CAUSES`.

    `reach` is the rank below which the measure that is explained does not look.
    """
    old, new = ranks.rank[before], ranks.rank[after]
    out_of_reach = np.zeros(len(old), bool)
    if reach is not None:
        is_seen = (old > 0) & (old <= reach) | (new > 0) & (new <= reach)
        out_of_reach = ~is_seen & (old != new)
    intruders = ranks.unjudged[after] - ranks.unjudged[before]
    fell = (old > 0) & (new > old)
    rose = (new > 0) & (old > new)
    return np.select(
        [
            (old == 0) & (new == 0),
            out_of_reach,
            (old > 0) & (new == 0),
            (old == 0) & (new > 0),
            fell & (2 * intruders > new - old),
            fell & (old <= k) & (new > k),
            fell,
            rose & (old > k) & (new <= k),
            rose,
        ],
        ["absent", "out of reach", "lost", "found", "intruder", "pushed out", "moved down", "pulled in", "moved up"],
        "unchanged",
    )


@dataclass(frozen=True)
class DocumentChange:
    """One judged document of a query."""

    doc: str
    grade: float
    before: int | None
    """Its rank; None if it was not returned."""
    after: int | None
    cause: str


@dataclass(frozen=True)
class Intruder:
    """An unjudged document among the first k that is higher than before."""

    doc: str
    before: int | None
    """Its rank; None if it was not among the first k."""
    after: int


TopDocuments: TypeAlias = "Mapping[str, Sequence[str]]"
"""The first documents of each query, best first."""


@dataclass(frozen=True)
class QueryChange:
    """One query: its value in both runs and what happened to its judged documents."""

    query: str
    before: float
    after: float
    documents: tuple[DocumentChange, ...] = ()
    """Relevant documents and those judged not relevant that entered or left the first k; what moved most first."""
    intruders: tuple[Intruder, ...] = ()
    """Unjudged documents that came in or rose, the highest first; empty if the documents are not known."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    change = difference
    """`difference` by the name that the findings of a gate use."""

    @property
    def causes(self) -> dict[str, int]:
        """How many relevant documents changed for each cause."""
        return _count_causes([self])

    @property
    def cause(self) -> str:
        """The most frequent cause among relevant documents that moved as the query did, within the measure's reach.

        '' if none did.
        """
        possible = FALLS
        if not self.difference < 0:
            possible = RISES
        counts = {cause: n for cause, n in self.causes.items() if cause in possible}
        return max(counts, key=lambda cause: counts[cause], default="")

    def to_dict(self, names: str = "query before after difference cause") -> dict[str, Any]:
        """The named attributes and all documents, as plain values."""
        documents = [vars(document) for document in self.documents]
        intruders = [vars(intruder) for intruder in self.intruders]
        return {**attributes(self, names), "documents": documents, "intruders": intruders}


def _count_causes(changes: Sequence[QueryChange]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for change in changes:
        counts.update(document.cause for document in change.documents if document.grade >= 1)
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}


@dataclass(frozen=True, repr=False, eq=False)
class Diff(Result, Mapping[str, QueryChange]):
    """Two runs, query by query: `diff["q1"]` is what happened to a query."""

    a: str
    b: str
    measure: str
    k: int
    changes: tuple[QueryChange, ...]
    """All queries, in byte order."""
    notes: tuple[Note, ...] = ()

    @cached_property
    def _by_query(self) -> dict[str, QueryChange]:
        return {change.query: change for change in self.changes}

    def __getitem__(self, query: str) -> QueryChange:
        return self._by_query[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def difference(self) -> float:
        """The difference of the means, b minus a."""
        return sum(change.difference for change in self.changes) / len(self.changes)

    @property
    def causes(self) -> dict[str, int]:
        """How many relevant documents changed for each cause."""
        return _count_causes(self.changes)

    def read_first(self, count: int = 10) -> list[QueryChange]:
        """The queries that changed most, largest change first.

        Parameters
        ----------
        count : int
            How many at most.

        Returns
        -------
        list of QueryChange
        """
        changed = [change for change in self.changes if abs(change.difference) > 1e-12]
        return sorted(changed, key=lambda change: (-abs(change.difference), change.query))[:count]

    @property
    def words(self) -> str:
        """The difference in a sentence."""
        better = sum(change.difference > 0 for change in self.changes)
        worse = sum(change.difference < 0 for change in self.changes)
        return (
            f"{self.measure}: {self.difference:+.4f} from {ids.show(self.a)} to {ids.show(self.b)}; "
            f"{counted(better, 'query')} better, {worse:,} worse, {len(self) - better - worse:,} equal"
        )

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.diff import parts

        return parts(self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "goldrank-diff",
            "version": 3,
            **attributes(self, "a b measure k difference causes"),
            "queries": [change.to_dict() for change in self.changes],
        }

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each query."""
        return [attributes(change, "query before after difference cause") for change in self.changes]

    def __repr__(self) -> str:
        return f"Diff({self.a!r}, {self.b!r}, {self.measure!r}, {counted(len(self), 'query')})"


@named_arguments
def diff(
    qrels: QrelsLike,
    before: RunLike,
    after: RunLike,
    measure: MeasureLike = "nDCG@10",
    *,
    k: int | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> Diff:
    """Say what moved from one run to another, for each query and judged document, and why.

    Each run is read once. Unjudged documents that push others down are named.

    Parameters
    ----------
    qrels : judgements
        `Qrels`, a file, a data frame, a mapping or rows.
    before, after : run
        `Run`, a file, a data frame, a mapping or rows. Runs go by their own names; those that have none are called
        "before" and "after".
    measure : measure
        The measure whose change is explained.
    k : int, optional
        The lowest rank that users look at; by default the measure's cut-off, or 10.
    convention : str or Convention
        Whose rules the measure follows. A document that a ranking repeats has more than one rank: its first or its last
        line must count.

    Returns
    -------
    Diff
        A mapping of `QueryChange` by query; `.read_first(n)` has those that changed most.

    Raises
    ------
    InputError
        If something cannot be read, a run repeats a document (`run.drop_duplicates()` keeps one of each), or no query
        has a value in both runs.
    OptionError
        If `k` is not a whole number from 1.

    Examples
    --------
    >>> changes = diff({"q": {"d": 1}}, {"q": ["d", "x"]}, {"q": ["x", "y", "d"]}, "RR")
    >>> changes["q"].cause, round(changes.difference, 4)
    ('intruder', -0.6667)
    """
    rules = conventions.get(convention)
    if rules.duplicates not in ("first", "last"):
        rules = rules.with_policies(duplicates="error")
    (spelled,) = resolve_measures(parse(measure), rules)
    if k is not None:
        cutoff = k
    elif isinstance(spelled.k, int):
        cutoff = spelled.k
    else:
        cutoff = 10
    whole_number(cutoff, "k", 1)

    runs = _two_runs(before, after)
    try:
        placed_runs = list(pipeline.place_all(resolve(qrels, runs, rules), cutoff))
        top_documents = [
            dict(zip(run.placements.queries, run.top_documents(cutoff), strict=True)) for run in placed_runs
        ]
    except InputError as error:
        raise _without_choices(error) from None
    values = [pipeline.score(run, [spelled]).per_query[str(spelled)] for run in placed_runs]
    return describe(
        locate(placed_runs), 0, 1, (runs.names[0], runs.names[1]), str(spelled), cutoff, values, top_documents
    )


def _two_runs(before: RunLike, after: RunLike) -> Runs:
    """The two runs by their own names, which are made different; "before" and "after" where they have none."""
    if isinstance(before, str | PathLike) and isinstance(after, str | PathLike):
        return Runs([before, after])
    runs_by_word = {"before": before, "after": after}
    opened = []
    for word, run in runs_by_word.items():
        refuse_several(run)
        if isinstance(run, Run) or io.is_file(run):
            opened.append(io.as_run(run))
        else:
            opened.append(io.as_run(run, name=word))
    return Runs(opened)


def _without_choices(error: InputError) -> InputError:
    """The error, and if it is about a repeated document, without ways to count it at several ranks."""
    if error.code != "duplicate-document":
        return error
    hint = "Compare run.drop_duplicates(), or choose: Convention(duplicates='first') or 'last'."
    return type(error)(error.what, where=error.where, hint=hint, code=error.code)


def describe(
    ranks: Ranks,
    before: int,
    after: int,
    names: tuple[str, str],
    measure: str,
    k: int,
    values: Sequence[Mapping[str, float]],
    top_documents: Sequence[TopDocuments] | None = None,
) -> Diff:
    """The changes between two of the located runs; `values` and `top_documents` are by run, then by query."""
    cause_of = causes(ranks, before, after, k, reach_of(measure))
    old, new = ranks.rank[before], ranks.rank[after]
    within_k = (old > 0) & (old <= k) | (new > 0) & (new <= k)
    is_listed = (ranks.grade >= 1) | (ranks.grade >= 0) & within_k & (cause_of != "unchanged")
    far = int(max(old.max(initial=0), new.max(initial=0))) + 1
    shift = np.abs(np.where(old == 0, far, old) - np.where(new == 0, far, new))

    changes = []
    for i, query in enumerate(ranks.queries):
        if query not in values[0] or query not in values[1]:
            continue
        judged_rows = range(ranks.start[i], ranks.start[i + 1])
        rows = [row for row in judged_rows if is_listed[row]]
        rows.sort(key=lambda row: (ranks.grade[row] < 1, cause_of[row] == "out of reach", -shift[row], ranks.docs[row]))
        changes_of_documents = []
        for row in rows:
            doc, grade = ranks.docs[row], float(ranks.grade[row])
            changes_of_documents.append(
                DocumentChange(doc, grade, int(old[row]) or None, int(new[row]) or None, str(cause_of[row]))
            )

        intruders: tuple[Intruder, ...] = ()
        if top_documents is not None:
            judged = {ranks.docs[row] for row in judged_rows if ranks.grade[row] >= 0}
            first, second = (documents_of_run.get(query, ())[:k] for documents_of_run in top_documents)
            intruders = _intruders(first, second, judged)

        query_values = float(values[0][query]), float(values[1][query])
        changes.append(QueryChange(query, *query_values, tuple(changes_of_documents), intruders))

    if not changes:
        raise InputError("no query has a value in both runs", where=f"{names[0]}, {names[1]}")
    return Diff(names[0], names[1], measure, k, tuple(changes))


def _intruders(before: Sequence[str], after: Sequence[str], judged: Collection[str]) -> tuple[Intruder, ...]:
    """The unjudged documents that are higher than before."""
    rank_before = {doc: rank for rank, doc in enumerate(before, 1)}
    unjudged = ((doc, rank_before.get(doc), rank) for rank, doc in enumerate(after, 1) if doc not in judged)
    return tuple(Intruder(doc, old, rank) for doc, old, rank in unjudged if old is None or rank < old)
