"""`judge`: ask a model for the judgements that are missing, and keep its answers."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from goldrank import conventions, io
from goldrank.base.errors import InputError, OptionError, of_type
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, DocumentsLike, QrelsLike, QueriesLike, RunsLike
from goldrank.base.waiting import finished
from goldrank.comparison.intervals import wilson
from goldrank.comparison.tabular import attributes
from goldrank.data.documents import Documents
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.queries import Queries
from goldrank.data.run import Run
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.engine import engine_for
from goldrank.evaluation.worth_judging import worth_judging
from goldrank.io.by_id.document_files import read_documents
from goldrank.io.by_id.query_files import read_queries
from goldrank.judging.coefficients import alpha
from goldrank.judging.function import Function
from goldrank.judging.item import Judge, JudgeItem
from goldrank.judging.log import JudgementLog
from goldrank.judging.pool_and_calls import Calls, Pool
from goldrank.judging.runner import Job, JobOutcome

JudgeLike: TypeAlias = Judge | Callable[..., Any]
"""A judge that can be asked: an `Endpoint`, a `Command`, or a function of (question, text[, reference][, criteria])."""


@dataclass(frozen=True)
class Consistency:
    """How steady a judge is over repeated questions."""

    pairs: int
    """Pairs with two or more answers."""
    alpha: float
    """Krippendorff's, ordinal; NaN if all grades are equal."""
    unanimous: float
    """The share of pairs that always got one grade, with Wilson's interval."""
    low: float
    high: float


@dataclass(frozen=True, repr=False, eq=False)
class Judged(Result):
    """The answers of a judge, and what they cost."""

    judge: str
    qrels: Qrels
    """The judgements of the input, and the model's for other pairs. A note says how many are whose."""
    grades: Mapping[tuple[str, str], Grade]
    """The model's grades, by query and document."""
    outcome: JobOutcome
    notes: tuple[Note, ...]
    asked: int
    """Items that the log does not answer; in a dry run nothing was asked."""
    tokens: int
    """Of their prompts, estimated."""
    most_cost: float
    """The most that they can cost, by the prices."""
    dry_run: bool
    scale: tuple[Grade, ...] | None
    items: tuple[JudgeItem, ...] = ()

    def __repr__(self) -> str:
        return f"Judged({self.judge!r}, {len(self.grades):,} grades)"

    @property
    def cost(self) -> float:
        """What was spent, by the prices."""
        return self.outcome.cost

    @property
    def consistency(self) -> Consistency | None:
        """Whether the judge agrees with itself, if pairs were asked about several times."""
        return consistency(self.outcome.repeated)

    @property
    def doubts(self) -> Mapping[str, float]:
        """By query, how far the judge's answers to one question are apart, on average: strata to judge by."""
        return doubts(self.outcome.repeated)

    @property
    def words(self) -> str:
        """What was asked, in one sentence."""
        if self.dry_run:
            return f"{self.judge} would be asked {self.asked:,} questions, for {self.most_cost:.4f} at most"
        return f"{self.judge} was asked {self.asked:,} questions and graded {len(self.grades):,} pairs"

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.judging.judged_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each grade of the model."""
        return [{"query": query, "doc": doc, "grade": grade} for (query, doc), grade in self.grades.items()]

    def to_dict(self) -> dict[str, Any]:
        counts = attributes(self, "judge asked tokens most_cost cost dry_run")
        notes = [note.to_dict() for note in self.notes]
        return {**counts, "grades": self.rows(), "doubts": dict(self.doubts), "notes": notes}


@named_arguments
def judge(
    qrels: QrelsLike | None,
    runs: RunsLike,
    judge: JudgeLike,
    *,
    documents: DocumentsLike,
    queries: QueriesLike,
    pool: Pool = Pool(),
    calls: Calls = Calls(),
    convention: ConventionLike = "trec_eval-10",
) -> Judged:
    """Ask a judge for the judgements that matter, keep its answers in a log, and return them.

    No question that has an answer is asked again, also after a crash. Answers that cannot be read are asked for once
    more, and then counted; nothing is guessed.

    Parameters
    ----------
    qrels : judgements, optional
        The judgements that exist; None if there are none.
    runs : runs
        Whose documents are judged.
    judge : Endpoint, Command or function
        Who is asked; a function takes (question, text[, reference][, criteria]) and returns a grade from 0 to 3.
    documents : documents
        Texts of documents.
    queries : queries
        Texts of queries.
    pool : Pool
        The pairs to ask about: which documents, how many, how often.
    calls : Calls
        On which terms: the log, limits of cost and speed, a dry run.
    convention : str or Convention
        How runs are ordered, and how unjudged documents are weighed.

    Returns
    -------
    Judged
        With `qrels`, `asked`, `cost` and `doubts`.

    Raises
    ------
    InputError
        If there is nothing to judge, or no pair has both texts.
    OptionError
        If options do not go together.
    JudgeError
        If the judge cannot be asked; what it answered before is in the log.

    Examples
    --------
    >>> import tempfile, os
    >>> log = os.path.join(tempfile.mkdtemp(), "log.db")
    >>> def barks(question, text):
    ...     return 3 if "bark" in text else 0
    >>> judged = judge({"q": {"a": 1}}, {"mine": {"q": ["b", "a"]}}, barks, calls=Calls(log),
    ...                documents={"a": "cats purr", "b": "dogs bark"}, queries={"q": "who barks?"})
    >>> dict(judged.qrels["q"])
    {'a': 1, 'b': 3}
    """
    of_type(pool, Pool, "pool", "a Pool", hint="For example pool=Pool('all', depth=20).")
    of_type(calls, Calls, "calls", "Calls", hint="For example calls=Calls(max_calls=100).")
    asked_judge = as_judge(judge)
    if calls.max_cost is not None and not asked_judge.max_tokens:
        raise OptionError(f"max_cost has no meaning for {asked_judge.name}", hint="max_calls limits what is asked.")

    people = Qrels({})
    if qrels is not None:
        people = io.as_qrels(qrels)
    opened = [run for _, run in io.as_runs(runs).items()]
    pairs = _pairs(people, opened, pool, convention)
    items, notes = _items(pairs, read_documents(documents), read_queries(queries), asked_judge.criteria, pool.limit)

    with opened_log(calls) as log:
        job = Job(asked_judge, items, log, calls, repeats=pool.repeats)
        to_ask, (tokens, most) = job.to_ask, job.estimate()
        outcome: JobOutcome = job.outcome
        if not calls.dry_run:
            outcome = finished(job.run())

    return Judged(
        judge=asked_judge.name,
        qrels=_with_grades(people, outcome.grades),
        grades=outcome.grades,
        outcome=outcome,
        notes=(*notes, *outcome.notes),
        asked=to_ask,
        tokens=tokens,
        most_cost=most,
        dry_run=calls.dry_run,
        scale=asked_judge.scale,
        items=tuple(items),
    )


def as_judge(judge: JudgeLike) -> Judge:
    """A judge, or a function made into one."""
    if isinstance(judge, Judge):
        return judge
    return Function(judge)


def doubts(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> dict[str, float]:
    """For each query with repeated questions, the mean distance between the grades of a document.

    >>> doubts({("q", "a"): [0, 2], ("q", "b"): [1, 1], ("r", "a"): [1]})
    {'q': 1.0}
    """
    distances: dict[str, list[float]] = {}
    for (query, _), grades in repeated.items():
        if len(grades) > 1:
            distances.setdefault(query, []).append(float(max(grades) - min(grades)))
    return {query: float(np.mean(values)) for query, values in distances.items()}


def consistency(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> Consistency | None:
    """The consistency of all grades of each pair; None if no pair has several.

    >>> consistency({("q", "a"): [0, 0, 1], ("q", "b"): [2, 2, 2], ("q", "c"): [1]}).unanimous
    0.5
    """
    several = [grades for grades in repeated.values() if len(grades) > 1]
    if not several:
        return None

    table = np.full((max(map(len, several)), len(several)), math.nan)
    for column, grades in enumerate(several):
        table[: len(grades), column] = grades
    unanimous = sum(len(set(grades)) == 1 for grades in several)
    return Consistency(len(several), alpha(table), unanimous / len(several), *wilson(unanimous, len(several)))


@contextmanager
def opened_log(calls: Calls) -> Iterator[JudgementLog]:
    """The log of calls; in a dry run nothing is written to it."""
    if not calls.dry_run:
        with JudgementLog(calls.log) as log:
            yield log
    elif os.path.exists(calls.log):
        with JudgementLog(calls.log, mode="r") as log:
            yield log
    else:
        with tempfile.TemporaryDirectory() as folder, JudgementLog(os.path.join(folder, "log.db")) as log:
            yield log


def _pairs(qrels: Qrels, runs: Sequence[Run], pool: Pool, convention: ConventionLike) -> list[tuple[str, str]]:
    """The pairs to ask about, the most important first, each pair once."""
    if pool.which == "judged":
        return [(query, doc) for query in qrels for doc in qrels[query]]
    if pool.which == "all" or not len(qrels):
        return _by_rank(qrels, runs, pool, convention)

    measure = pool.measure
    if measure is None:
        measure = f"nDCG@{pool.depth}"
    best_rank: dict[tuple[str, str], int] = {}
    for run in runs:
        worth = worth_judging(qrels, run, measure, limit=10**9, depth=pool.depth, convention=convention)
        for rank, document in enumerate(worth):
            pair = document.query, document.doc
            best_rank[pair] = min(rank, best_rank.get(pair, rank))
    return sorted(best_rank, key=lambda pair: best_rank[pair])


def _by_rank(qrels: Qrels, runs: Sequence[Run], pool: Pool, convention: ConventionLike) -> list[tuple[str, str]]:
    """The first documents of all runs, first ranks first; judged ones only if all are asked for."""
    known: dict[str, Mapping[str, Grade]] = {}
    if pool.which != "all":
        known = {query: qrels.text.get(query, {}) for query in qrels}

    tops = [_top_documents(run, pool.depth, convention) for run in runs]
    pairs: dict[tuple[str, str], None] = {}
    for rank in range(pool.depth):
        for top in tops:
            for query, docs in top.items():
                if rank < len(docs) and docs[rank] not in known.get(query, ()):
                    pairs[query, docs[rank]] = None
    return list(pairs)


def _top_documents(run: Run, depth: int, convention: ConventionLike) -> dict[str, list[str]]:
    queries = tuple(run)
    rankings = engine_for(run).top_documents(run, queries, depth, conventions.get(convention))
    return dict(zip(queries, rankings, strict=True))


def _items(
    pairs: Sequence[tuple[str, str]], documents: Documents, queries: Queries, criteria: str, limit: int | None
) -> tuple[list[JudgeItem], list[Note]]:
    if not pairs:
        hint = "Pool('all') (--pool which=all) asks for judged documents too."
        raise InputError("there is nothing to judge", hint=hint, code="no-holes")

    texts = documents.some(list(dict.fromkeys(doc for _, doc in pairs)))
    items: list[JudgeItem] = []
    without: list[str] = []
    for query, doc in pairs:
        question = question_of(queries, query)
        if question and doc in texts and texts[doc].whole:
            items.append(JudgeItem(query, doc, question, texts[doc].whole, criteria=criteria))
        else:
            without.append(f"{query} {doc}")

    if not items:
        raise InputError(f"none of {len(pairs):,} pairs has a text of the query and of the document", code="no-texts")
    notes = []
    if without:
        notes.append(Note.of("without-text", count=len(without), samples=without))
    return items[:limit], notes


def question_of(queries: Queries, query: str) -> str:
    """The text of a query; empty if it has no text."""
    if query not in queries:
        return ""
    text = queries[query].text
    if text.strip():
        return text
    return ""


def _with_grades(qrels: Qrels, grades: dict[tuple[str, str], Grade]) -> Qrels:
    """The judgements of the input with the model's beside people's; the input may have some of the model already."""
    table: dict[str, dict[str, Grade]] = {}
    if "model" in qrels.judges:
        table = {query: dict(docs) for query, docs in qrels.judges["model"].items()}
    for (query, doc), grade in grades.items():
        table.setdefault(query, {})[doc] = grade
    if not table:
        return qrels

    by_model = Qrels(table, name=qrels.name, criteria=qrels.criteria, real_grades=True)
    by_people: Qrels | None = qrels
    if qrels.judges:
        by_people = qrels.judges.get("human")
    return Qrels.joined(by_people, by_model)
