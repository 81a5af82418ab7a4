"""The data of the explorer: judgements, systems, texts, and values that are computed when a page needs them."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, ClassVar, TypeVar

import numpy as np

from goldrank.base.errors import InputError, OptionError, did_you_mean
from goldrank.base.types import MeasuresLike
from goldrank.comparison.holes import HoleFinder, PairHoles, System, ToJudge, wanted_depth
from goldrank.comparison.slices import group_queries, no_slice_values
from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.explorer.document_texts import Texts
from goldrank.explorer.first_documents import DEPTH, FirstDocuments
from goldrank.explorer.live import LiveSystem, placed_now
from goldrank.explorer.snippets import visible
from goldrank.explorer.work import Verdicts, Worker
from goldrank.measures import Measure
from goldrank.measures.unjudged_share import (
    hole_reach,
    hole_rule,
    judging_order,
    relevance_level,
    relevant_shares,
    single_moves,
)

LEAST_GRADES = (0, 1)
"""Grades that are offered even if no judgement has them."""
MOST_OFFERED = 10
FEW = 500
"""With more queries, slow values are computed in a thread."""
LEAST_REACH = 20
"""The queue reads at least this number of first ranks."""
MOST_NAMED = 100_000
"""The queue reads more ranks if that gives at most this number of documents."""
QUEUE = 2_000
"""Documents in the queue."""


@dataclass(frozen=True)
class View:
    """A measure and two systems, which a page shows; `b` is None if there is one system."""

    measure: Measure
    a: LiveSystem
    b: LiveSystem | None

    @property
    def name(self) -> str:
        """The measure's name."""
        return str(self.measure)

    @property
    def systems(self) -> list[LiveSystem]:
        """A, and B if there is one."""
        if self.b is None:
            return [self.a]
        return [self.a, self.b]

    @property
    def key(self) -> tuple[str, ...]:
        """A key that no other view has."""
        return (self.name, *(system.name for system in self.systems))

    @property
    def better(self) -> float:
        """1 if more is better, -1 if less is."""
        if self.measure.declaration.higher_is_better:
            return 1.0
        return -1.0


@dataclass(frozen=True)
class Criterion:
    """What a grade means."""

    grade: Grade
    name: str
    sentence: str = ""


Made = TypeVar("Made")


def until_judged(make: Callable[..., Made]) -> Callable[..., Made]:
    """A method of a session whose answer for a view or a system is cached until the next judgement."""

    @wraps(make)
    def answer(session: Session, *about: View | LiveSystem) -> Made:
        key = (make.__name__, *map(_cache_key, about))
        known = session._cache.get(key)
        if known is None or known[0] != session.seq:
            known = session._cache[key] = (session.seq, make(session, *about))
        result: Made = known[1]
        return result

    return answer


def _cache_key(subject: View | LiveSystem) -> object:
    if isinstance(subject, View):
        return subject.key
    return subject.name


@dataclass
class Session:
    """Rankings of systems over judged queries."""

    title: str
    qrels: Qrels
    runs: Sequence[Run]
    rules: Convention
    requested: MeasuresLike = None
    docs: Any = None
    known_queries: Queries = field(default_factory=lambda: Queries({}))
    """Texts and attributes of queries."""
    criteria: Sequence[Criterion] = ()
    slice_by: Sequence[str] = ()
    grades: dict[str, dict[str, Grade]] = field(default_factory=dict)
    """Judgements of queries that were judged here, by query and document."""
    seq: int = 0
    """The last judgement that is in the values."""

    has_rankings: ClassVar[bool] = True
    """Whether there are documents at ranks, which can be judged."""

    def __post_init__(self) -> None:
        if not self.runs:
            raise InputError("no run to show", hint="goldrank serve QRELS old=a.run new=b.run")

        self.measures = resolve_measures(self.requested, self.rules)
        self.lock = threading.RLock()
        self.known_hash = ""
        """The hash of the data, '' as long as it is being computed."""
        self.systems = [
            LiveSystem(run.name, pipeline.place(self.qrels, run, self.rules), self.measures) for run in self.runs
        ]
        self._hashing = threading.Thread(target=self._hash_in_thread, daemon=True, name="goldrank-hash")
        self._hashing.start()  # it reads all files again; the first page of a large session does not wait for it

        self.queries = self.systems[0].queries
        self.numbers = self.systems[0].numbers
        self.texts = Texts(self.docs, self._named_documents)
        self.work = Worker()
        self.verdicts = Verdicts(self)
        self._cache: dict[object, Any] = {}
        self._prepared: set[tuple[str, ...]] = set()
        self._queues: dict[tuple[str, ...], list[ToJudge]] = {}
        self.is_small = len(self.queries) <= FEW
        for system in self.systems:
            system.eager = self.is_small

    @property
    def is_judged(self) -> bool:
        """Whether there are judgements of all queries, by which systems can be told apart."""
        return True

    def so_far(self, view: View) -> str:
        """What was judged, where people judge from zero."""
        return ""

    def ready(self, view: View) -> bool:
        """Whether bounds and the queue of a view are computed; in a large session the worker computes them."""
        if self.is_small:
            with self.lock:
                if view.key not in self._prepared:
                    self._prepare(view)
                    self._prepared.add(view.key)
            return True
        self.ask_top_documents()
        self.work.ask(view.key, lambda: self._prepare(view))
        return self.work.is_made(view.key)

    def _prepare(self, view: View) -> None:
        for system in view.systems:
            system.bounds(view.measure)
        self.queue_all(view)

    def ask_top_documents(self) -> None:
        """Let the worker read the first documents of all queries: everything else needs them."""
        self.work.ask("top documents", lambda: [system.top_documents for system in self.systems])

    def _named_documents(self) -> Collection[str]:
        judged = set(self.qrels.docs)
        for system in self.systems:
            for number in range(len(self.queries)):
                judged.update(system.top_documents.docs(number))
        return judged

    @property
    def data_hash(self) -> str:
        """Eight digits that differ for other inputs."""
        self._hashing.join()
        if not self.known_hash:
            self._hash()
        return self.known_hash

    def _hash(self) -> None:
        digest = hashlib.sha256(self.qrels.digest.encode())
        for run in self.runs:
            digest.update(f"\0{run.name}\0{run.digest}".encode("utf-8", "surrogateescape"))
        self.known_hash = digest.hexdigest()[:8]

    def _hash_in_thread(self) -> None:
        with contextlib.suppress(Exception):  # `data_hash` computes it again, and raises the error
            self._hash()

    # Values of pages.

    def view(self, measure: str | None = None, a: str | None = None, b: str | None = None) -> View:
        """The measure and the systems of an address, or the usual ones."""
        named = {str(candidate): candidate for candidate in self.measures}
        if measure is not None and measure not in named:
            raise OptionError(f"{measure} is not measured here", hint=did_you_mean(measure, named) or ", ".join(named))

        systems = {system.name: system for system in self.systems}
        for name in (a, b):
            if name is not None and name not in systems:
                hint = did_you_mean(name, systems) or ", ".join(systems)
                raise OptionError(f"there is no system {name!r}", hint=hint)

        first = self.systems[0]
        if a is not None:
            first = systems[a]
        second = next((system for system in self.systems if system is not first), None)
        if b is not None:
            second = systems[b]
        if second is first:
            second = None

        chosen = self.measures[0]
        if measure:
            chosen = named[measure]
        return View(chosen, first, second)

    def text_of(self, query: str) -> str:
        """A query's text; empty if it has no text."""
        return self.query_texts.get(query, "")

    def shown(self, query: str) -> str:
        """A query's text as a page shows it, or its id if it has no text."""
        return visible(self.text_of(query) or query)

    def judged(self, query: str) -> Mapping[str, Grade]:
        """The judgements of a query now."""
        return self.grades.get(query, self.qrels.text[query])

    def deltas(self, view: View) -> np.ndarray:
        """The order of queries: B - A, or with one system its value minus the value of the ideal ranking."""
        if view.b is not None:
            return np.asarray(view.b.values[view.name] - view.a.values[view.name])
        return self._below_ideal(view)

    @until_judged
    def _below_ideal(self, view: View) -> np.ndarray:
        ideal = view.measure(self.placed(view.a).placements.ideal)
        return np.asarray(view.a.values[view.name] - ideal)

    @until_judged
    def loss_order(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the queries that count, the largest loss first; and the rank of each query among all."""
        deltas = self.deltas(view) * view.better
        order = np.argsort(np.nan_to_num(deltas, nan=np.inf), kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return order[: int((~np.isnan(deltas)).sum())], rank

    @until_judged
    def qrels_now(self) -> Qrels:
        """All judgements now."""
        if not self.grades:
            return self.qrels
        merged = {**self.qrels.text, **self.grades}
        return Qrels(merged, name=self.qrels.name, criteria=self.qrels.criteria, real_grades=True)

    @until_judged
    def placed(self, system: LiveSystem) -> Placed:
        """A system's whole table under the judgements of now."""
        return placed_now(system, self.qrels_now())

    def retrieved(self, view: View) -> np.ndarray:
        """How many documents B (or A) returned for each query."""
        return (view.b or view.a).original.placements.retrieved

    @until_judged
    def scores(self) -> list[Scores]:
        """The scores of all systems under the judgements of now, computed as on the command line."""
        return [pipeline.score(self.placed(system), self.measures) for system in self.systems]

    # Grades and judging.

    @cached_property
    def offered(self) -> list[Criterion]:
        """The grades that a judge can give, lowest first: those with criteria, else those of the judgements."""
        if self.criteria:
            return sorted(self.criteria, key=lambda criterion: criterion.grade)

        used = {grade for row in self.qrels.text.values() for grade in row.values()}
        whole_grades = {int(grade) for grade in used if float(grade).is_integer() and 0 <= grade < MOST_OFFERED}
        grades = sorted(whole_grades | set(LEAST_GRADES))
        names = {0: "not relevant", grades[-1]: "best"}
        if grades[-1] == 1:
            names[1] = "relevant"
        return [Criterion(grade, names.get(grade, f"grade {grade}")) for grade in grades]

    def grade_name(self, grade: Grade | None) -> str:
        """The meaning of a grade, in words."""
        if grade is None or grade < 0:
            return "not judged"
        return next((criterion.name for criterion in self.offered if criterion.grade == grade), f"grade {grade:g}")

    def set_grades(self, query: str, grades: Mapping[str, Grade], seq: int) -> None:
        """Set the judgements of a query, and place and measure it again in every system."""
        with self.lock:
            self.grades[query] = dict(grades)
            for system in self.systems:
                system.regrade(query, grades)
            self.seq = seq

    @until_judged
    def holes(self, view: View) -> PairHoles | None:
        """The unjudged documents of two systems; None for one system, or if the measure has no rule for them."""
        if view.b is None or hole_rule(view.measure) is None:
            return None
        tables = [self.placed(system).placements for system in view.systems]
        return self._finder(view, tables, min(DEPTH, wanted_depth([view.measure], tables))).pair(view.measure, 0, 1)

    def _finder(self, view: View, tables: Sequence[Placements], depth: int) -> HoleFinder:
        pairs = zip(view.systems, tables, strict=True)
        return HoleFinder([System(p, FirstDocuments(system.top_documents, depth), depth) for system, p in pairs])

    def queue(self, view: View) -> Iterator[ToJudge]:
        """The documents of `queue_all` that are still unjudged."""
        return (document for document in self.queue_all(view) if document.doc not in self.judged(document.query))

    def queue_all(self, view: View) -> list[ToJudge]:
        """The documents to judge first, by the chance of being relevant times the move of the difference.

        Documents of a query are adjacent. The order is computed once, from the first judgements: an order that changes
        while people judge would confuse them.
        """
        if view.key not in self._queues:
            self._queues[view.key] = self._queue(view)
        return self._queues[view.key]

    def _queue(self, view: View) -> list[ToJudge]:
        holes = self._holes_in_reach(view)
        if holes is None:
            documents = self._queue_of_one(view)
        else:
            equal_weights = np.ones(len(self.queries))
            documents = holes.judge_first(equal_weights, QUEUE)

        first_position: dict[str, int] = {}
        for i, document in enumerate(documents):
            first_position.setdefault(document.query, i)
        return sorted(documents, key=lambda document: first_position[document.query])

    def _holes_in_reach(self, view: View) -> PairHoles | None:
        """The unjudged documents of all ranks, or of as many first ranks as are kept.

        A measure without a cut-off is computed as if runs ended there. With many queries fewer ranks are kept: the
        queue has the documents that move most, and those are at the top.
        """
        if view.b is None or hole_rule(view.measure) is None:
            return None
        tables = [self.placed(system).placements for system in view.systems]
        reach = max(hole_reach(view.measure, table) for table in tables)
        depth = min(DEPTH, max(LEAST_REACH, MOST_NAMED // len(self.queries)))
        if reach <= depth:
            return self.holes(view)
        return self._finder(view, [table.cut(depth) for table in tables], depth).pair(view.measure, 0, 1)

    def _queue_of_one(self, view: View) -> list[ToJudge]:
        if not view.measure.declaration.monotone or hole_rule(view.measure) is None:
            return []
        p = self.placed(view.a).placements
        query, rank, move = single_moves(view.measure, p, DEPTH)
        barren = p.relevant(relevance_level(view.measure)) == 0
        order = judging_order(relevant_shares(view.measure, [p]), rank, move, query, barren[query])[:QUEUE]
        documents = []
        for i in order.tolist():
            doc = view.a.top_documents.docs(int(query[i]))[rank[i] - 1]
            documents.append(ToJudge(p.queries[query[i]], doc, int(rank[i]), None, float(move[i]), 0.0))
        return documents

    def unjudged(self, view: View, depth: int) -> np.ndarray:
        """For each query, the number of unjudged documents among the first `depth` of B (or A)."""
        system = view.b or view.a
        p = self.placed(system).placements
        judged = np.bincount(p.query[(p.rank <= depth) & (p.grade >= 0)], minlength=len(p))
        return np.asarray(np.minimum(p.retrieved, depth) - judged)

    @until_judged
    def noted(self, view: View) -> dict[str, np.ndarray]:
        """By the code of a note, the queries of A or B that it is about; codes without a query are left out."""
        masks: dict[str, np.ndarray] = {}
        for system in view.systems:
            p = self.placed(system).placements
            owner = np.repeat(np.arange(len(p)), np.diff(p.judged_start))
            system_masks = {
                "missing-queries": ~p.answered,
                "empty-rankings": p.answered & (p.retrieved == 0),
                "no-relevant": np.bincount(owner[p.judged > 0], minlength=len(p)) == 0,
                "tied-documents": np.bincount(p.query[p.tie_last > p.tie_first], minlength=len(p)) > 0,
            }
            for code, mask in system_masks.items():
                masks[code] = masks.get(code, mask) | mask
        return {code: mask for code, mask in masks.items() if mask.any()}

    @cached_property
    def query_texts(self) -> Mapping[str, str]:
        """The texts of queries, as far as they are known."""
        if self.known_queries.has("text"):
            return self.known_queries.column("text")
        return {}

    def _attribute(self, name: str) -> list[Any]:
        """The value of an attribute for each query, None where it has no value."""
        if self.known_queries.has(name):
            return list(map(self.known_queries.column(name).get, self.queries))
        if name == "length" and self.query_texts:
            return _lengths(self.query_texts, self.queries)
        raise no_slice_values(name, self.known_queries)

    @cached_property
    def groups(self) -> dict[str, dict[str, np.ndarray]]:
        """Slices: by attribute and value, the queries that have it."""
        names = list(self.slice_by)
        if not names and self.query_texts:
            names = ["length"]

        groups: dict[str, dict[str, np.ndarray]] = {}
        for name in names:
            values = self._attribute(name)
            if all(value is None for value in values):
                continue
            parts = group_queries(name, values, [])
            if parts is not None:
                groups[name] = parts
        return groups


def _lengths(texts: Mapping[str, str], queries: Sequence[str]) -> list[str | None]:
    """Each query's number of words, as one of three groups of about equal size; None without a text."""
    counts = [len(texts.get(query, "").split()) for query in queries]
    low, high = np.quantile([count for count in counts if count], [1 / 3, 2 / 3], method="inverted_cdf").astype(int)

    def group(count: int) -> str | None:
        if count == 0:
            return None
        if count <= low:
            return _word_range(1, int(low))
        if count <= high:
            return _word_range(int(low) + 1, int(high))
        return f"{high + 1} or more words"

    return [group(count) for count in counts]


def _word_range(least: int, most: int) -> str:
    if least == most:
        return f"{most} word{'s' * (most != 1)}"
    if least + 1 == most:
        return f"{least} or {most} words"
    return f"{least} to {most} words"
