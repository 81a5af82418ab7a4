"""`judge`: ask a model for the judgements that are missing, and keep what it says."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from goldrank import conventions, io
from goldrank.comparison.metadata import document_texts, lookup
from goldrank.comparison.ppi import wilson
from goldrank.data.qrels import Grade, Qrels
from goldrank.data.run import Run
from goldrank.engine import engine_for
from goldrank.errors import InputError, OptionError, one_of, whole_number
from goldrank.evaluation.unjudged import worth_judging
from goldrank.judgements.agreement import alpha
from goldrank.judgements.log import JudgementLog
from goldrank.judging.function import Function
from goldrank.judging.item import Judge, JudgeItem
from goldrank.judging.runner import Asking, AskOptions, JobOutcome, LogLike
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import ConventionLike, MeasureLike, QrelsLike, RunLike, RunsLike
from goldrank.waiting import finished

WHICH = {
    "holes": "unjudged documents, those that could change the measure most first",
    "all": "the first `depth` documents of every run, judged or not",
    "judged": "what people judged: to see how far the model agrees with them",
}


@dataclass(frozen=True)
class Consistency:
    """How steady a judge is over repeated questions."""

    pairs: int
    """Pairs with two or more answers."""
    alpha: float
    """Krippendorff's, ordinal; NaN if all grades are the same."""
    unanimous: float
    """The share of pairs that always had the same grade, with Wilson's interval."""
    low: float
    high: float


@dataclass(frozen=True)
class Judged:
    """What a judge was asked and answered."""

    judge: str
    qrels: Qrels
    """The judgements that were given, and the model's for pairs that had none. A note says how many are whose."""
    grades: dict[tuple[str, str], Grade]
    """The model's grades, by query and document."""
    outcome: JobOutcome
    notes: tuple[Note, ...]
    asked: int = 0
    """Items to be asked, after what the log answers; with `dry_run` nothing was asked."""
    tokens: int = 0
    """Of their prompts, estimated."""
    most_cost: float = 0.0
    """What they cost at most, by the prices."""
    scale: tuple[Grade, ...] | None = None
    items: tuple[JudgeItem, ...] = field(default=(), repr=False)

    @property
    def consistency(self) -> Consistency | None:
        """Whether the judge agrees with itself, if pairs were asked about several times."""
        return consistency(self.outcome.repeated)

    @property
    def doubts(self) -> dict[str, float]:
        """By query, how far the judge's answers to the same question lie apart, on average: strata to judge by."""
        return doubts(self.outcome.repeated)


@checked
def judge(
    qrels: QrelsLike | None,
    runs: RunLike | RunsLike,
    *,
    judge: Judge | Callable[..., Any],
    docs: Any,  # a mapping, a function, a file, a data frame
    queries: Any,
    which: str = "holes",
    measure: MeasureLike | None = None,
    depth: int = 10,
    limit: int | None = None,
    repeats: int = 1,
    dry_run: bool = False,
    convention: ConventionLike = "trec_eval-10",
    **options: Unpack[AskOptions],
) -> Judged:
    """Ask a judge for the judgements that matter, keep its answers in a log, and return them.

    `judge` is an `Endpoint`, a `Command`, a `Function` or any function of (question, text[, reference][, criteria]).
    `docs` and `queries` have the texts: a mapping, a function of the id, a JSONL file or a data frame. `which` says
    what is asked: "holes" (unjudged documents that matter, as `worth_judging` orders them), "all" (everything to
    `depth`) or "judged".

    Answers are kept in `log` ("judgements.db") under everything that they depend on: what was answered once is not
    asked again, also after a crash. `criteria` says in words what counts as relevant; `concurrency` (8) calls are made
    at a time, `rate` a minute, each tried `attempts` (6) times. `budget` (with `prices` of a million tokens) and
    `max_calls` stop in time; `progress` is told how far it is. Answers that cannot be read are asked for once more, and
    then counted; nothing is guessed.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "log.db")
    >>> texts = {"a": "cats purr", "b": "dogs bark"}
    >>> found = judge({"q": {"a": 1}}, {"q": ["b", "a"]}, docs=texts, queries={"q": "who barks?"}, log=path,
    ...               judge=lambda question, text: 3 if "bark" in text else 0)
    >>> dict(found.qrels["q"])
    {'a': 1, 'b': 3}
    """
    one_of(which, WHICH, "which")
    whole_number(depth, "depth", 1)
    if limit is not None:
        whole_number(limit, "limit", 0)
    asked, how = as_judge(judge), Asking(**options)
    if how.budget is not None and not asked.max_tokens:
        raise OptionError(f"a budget has no meaning for {asked.name}", hint="max_calls limits what is asked.")
    judged = io.as_qrels(qrels) if qrels is not None else Qrels({})
    opened = io.as_runs(runs) or [io.as_run(runs)]
    pairs = _pairs(judged, opened, which, measure, depth, convention)
    items, notes = _items(pairs, docs, queries, how.criteria, limit)
    with opened_log(how.log, dry_run) as kept:
        job = how.job(asked, items, kept, repeats=repeats)
        to_ask, (tokens, most) = job.to_ask, job.estimate()
        outcome = job.outcome if dry_run else finished(job.run())
    return Judged(
        asked.name, _with_grades(judged, outcome.grades), outcome.grades, outcome, (*notes, *outcome.notes),
        to_ask, tokens, most, asked.scale, tuple(items),
    )  # fmt: skip


def as_judge(given: Judge | Callable[..., Any]) -> Judge:
    """A judge, or a function made into one."""
    if isinstance(given, Judge):
        return given
    return Function(given)


def doubts(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> dict[str, float]:
    """For each query that was asked about several times, the mean distance of the grades of its documents.

    >>> doubts({("q", "a"): [0, 2], ("q", "b"): [1, 1], ("r", "a"): [1]})
    {'q': 1.0}
    """
    apart: dict[str, list[float]] = {}
    for (query, _), grades in repeated.items():
        if len(grades) > 1:
            apart.setdefault(query, []).append(float(max(grades) - min(grades)))
    return {query: float(np.mean(each)) for query, each in apart.items()}


def consistency(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> Consistency | None:
    """The consistency of all grades of each pair; None if no pair has several.

    >>> consistency({("q", "a"): [0, 0, 1], ("q", "b"): [2, 2, 2], ("q", "c"): [1]}).unanimous
    0.5
    """
    several = [grades for grades in repeated.values() if len(grades) > 1]
    if not several:
        return None
    table = np.full((max(map(len, several)), len(several)), math.nan)
    for at, grades in enumerate(several):
        table[: len(grades), at] = grades
    same = sum(len(set(grades)) == 1 for grades in several)
    return Consistency(len(several), alpha(table), same / len(several), *wilson(same, len(several)))


@contextmanager
def opened_log(log: LogLike, dry_run: bool = False) -> Iterator[JudgementLog]:
    """A log, opened if it is a path; with `dry_run` nothing is written to it."""
    if isinstance(log, JudgementLog):
        yield log
    elif not dry_run:
        with JudgementLog.open(log) as opened:  # type: ignore[arg-type]
            yield opened
    elif os.path.exists(log):
        with JudgementLog.open(log, read_only=True) as opened:  # type: ignore[arg-type]
            yield opened
    else:
        with tempfile.TemporaryDirectory() as folder, JudgementLog.open(os.path.join(folder, "log.db")) as opened:
            yield opened


def _pairs(
    qrels: Qrels, runs: list[Run], which: str, measure: MeasureLike | None, depth: int, convention: ConventionLike
) -> list[tuple[str, str]]:
    """What to ask, the most important first, each pair once."""
    if which == "judged":
        return [(query, doc) for query in qrels for doc in qrels[query]]
    if which == "all" or not len(qrels):
        known = {query: qrels.text.get(query, {}) for query in qrels}
        pairs: dict[tuple[str, str], None] = {}
        tops = [_top_documents(run, depth, convention) for run in runs]
        for rank in range(depth):
            for top in tops:
                for query, docs in top.items():
                    if rank < len(docs) and (which == "all" or docs[rank] not in known.get(query, ())):
                        pairs[query, docs[rank]] = None
        return list(pairs)
    measure = f"nDCG@{depth}" if measure is None else measure
    orders = [
        [(hole.query, hole.doc) for hole in worth_judging(
            qrels, run, measure, limit=10**9, depth=depth, convention=convention)]
        for run in runs
    ]  # fmt: skip
    place: dict[tuple[str, str], int] = {}
    for order in orders:
        for at, pair in enumerate(order):
            place[pair] = min(at, place.get(pair, at))
    return sorted(place, key=lambda pair: place[pair])


def _top_documents(run: Run, depth: int, convention: ConventionLike) -> dict[str, list[str]]:
    queries = tuple(run)
    return dict(
        zip(queries, engine_for(run).top_documents(run, queries, depth, conventions.get(convention)), strict=True)
    )


def _items(
    pairs: list[tuple[str, str]], docs: Any, queries: Any, criteria: str, limit: int | None
) -> tuple[list[JudgeItem], list[Note]]:
    if not pairs:
        raise InputError(
            "there is nothing to judge", hint="which='all' (--all) asks for judged documents too.", code="no-holes"
        )
    questions = lookup(queries, "queries")
    texts = document_texts(docs, {doc for _, doc in pairs}, whole=True)
    items: list[JudgeItem] = []
    without: list[str] = []
    for query, doc in pairs:
        question = questions(query)
        if not isinstance(question, str) or not question.strip() or doc not in texts:
            without.append(f"{query} {doc}")
            continue
        items.append(JudgeItem(query, doc, question, texts[doc], criteria=criteria))
    if not items:
        raise InputError(f"none of {len(pairs):,} pairs has a text of the query and of the document", code="no-texts")
    notes = [Note.of("without-text", count=len(without), samples=without)] if without else []
    return items[:limit], notes


def _with_grades(qrels: Qrels, grades: dict[tuple[str, str], Grade]) -> Qrels:
    """The judgements that were given and, beside those of people, the model's: also those that were given."""
    table: dict[str, dict[str, Grade]] = {}
    if "model" in qrels.judges:
        table = {query: dict(docs) for query, docs in qrels.judges["model"].items()}
    for (query, doc), grade in grades.items():
        table.setdefault(query, {})[doc] = grade
    if not table:
        return qrels
    made = Qrels(table, name=qrels.name, criteria=qrels.criteria, real_grades=True)
    return Qrels.joined(qrels.judges.get("human") if qrels.judges else qrels, made)
