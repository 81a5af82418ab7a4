"""Where is a ranking lost: before the candidates, between the stages, or in the last order?

Sorting a list by grade gives the best value that its documents allow (its ceiling). The ceilings of all stages share
out the distance between a perfect ranking and what the last stage returned, exactly, query by query and in the mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from goldrank import conventions, io
from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, JudgementsLike, MeasureLike, RunLike
from goldrank.comparison.intervals import UNKNOWN, Interval, mean_interval
from goldrank.comparison.resampling import SAMPLES, percentiles, resampled_means
from goldrank.comparison.tabular import attributes
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import numbered
from goldrank.data.showing import Form, Forms, Result
from goldrank.data.table import ChartPart, Part
from goldrank.evaluation import pipeline
from goldrank.evaluation.inputs import as_judgements, resolve_measures, whole_depth
from goldrank.measures import Measure

SORTED_IS_BEST = ("nDCG", "DCG", "AP", "P", "R", "RR", "Success", "RBP", "ERR")
"""Measures for which no order of a list's documents is better than the order by grade."""
LEVEL = 0.95
NOTHING = 1e-12
"""A difference of means below this is the rounding of the machine."""

Lists = Mapping[str, Sequence[str]]
"""For each query its documents, best first, each once."""


@dataclass(frozen=True)
class QueryStages:
    """One query: what its stages reach, and what became of its relevant documents."""

    query: str
    base: float
    """The measure of the candidates as they are ranked."""
    got: float
    """The measure of the last stage as it is ranked."""
    perfect: float
    """The measure of all judged documents, sorted by grade."""
    ceilings: tuple[float, ...]
    """For each stage, the measure of its documents sorted by grade."""
    promoted: tuple[str, ...]
    """Relevant documents in the first k of the last stage, which are candidates below k."""
    demoted: tuple[str, ...]
    """Relevant documents in the first k of the candidates, and not in the first k of the last stage."""
    thrown_out: tuple[str, ...]
    """Relevant candidates that the last stage does not have."""
    added: tuple[str, ...]
    """Relevant documents in the first k of the last stage, which are not candidates."""
    never_retrieved: tuple[str, ...]
    """Relevant documents that are not candidates."""
    unjudged: tuple[str, ...]
    """Candidates without a judgement: they count as grade 0, so the ceiling may be too low."""
    relevant: int = 0
    """How many documents are relevant."""
    hits: tuple[int, ...] = ()
    """For each stage, how many relevant documents are in its first k."""
    held: tuple[int, ...] = ()
    """For each stage, how many relevant documents it has at all."""

    @property
    def ceiling(self) -> float:
        """The best value that the candidates allow."""
        return self.ceilings[0]

    @property
    def kept(self) -> float:
        """The best value that the documents of the last stage allow."""
        return self.ceilings[-1]

    @property
    def missed_before(self) -> float:
        """What no later stage could make good: relevant documents that are not candidates."""
        return self.perfect - self.ceiling

    @property
    def thrown(self) -> tuple[float, ...]:
        """For each stage after the first, what it threw out; below 0 if it added documents."""
        return tuple(a - b for a, b in zip(self.ceilings, self.ceilings[1:], strict=False))

    @property
    def order(self) -> float:
        """What the order of the last stage costs."""
        return self.kept - self.got

    @property
    def gained(self) -> float:
        """The last stage minus the candidates."""
        return self.got - self.base

    @property
    def taken(self) -> float | None:
        """The share of the possible gain that was taken; None where nothing can be gained."""
        return share_taken(self.base, self.got, self.ceiling)

    def row(self) -> dict[str, Any]:
        """A flat record."""
        documents = {name: len(getattr(self, name)) for name in DOCUMENTS}
        return {
            **attributes(self, "query base got ceiling kept perfect missed_before"),
            "thrown": sum(self.thrown),
            **attributes(self, "order gained taken"),
            **documents,
        }


DOCUMENTS = ("promoted", "demoted", "thrown_out", "added", "never_retrieved", "unjudged")
"""What became of documents, by the names of the fields of `QueryStages`."""


@dataclass(frozen=True, repr=False, eq=False)
class Stages(Result):
    """What each stage of a pipeline loses and gains, in the mean and for each query. Made by `stages`."""

    own_forms: ClassVar[Forms] = {
        "html": Form("a page with charts", "goldrank.staging.stages_page:render", (".html",)),
    }

    measure: str
    stages: tuple[str, ...]
    """The names of the runs, candidates first."""
    per_query: tuple[QueryStages, ...]
    taken_interval: Interval
    """The bootstrap interval of `taken`, over queries."""
    level: float = LEVEL
    depth: int | None = None
    """How many candidates of a query count."""
    notes: tuple[Note, ...] = ()

    def mean(self, name: str) -> float:
        """The mean over queries of a value of `QueryStages`.

        Parameters
        ----------
        name : str
            The name of the value, such as "base".

        Returns
        -------
        float
        """
        return math.fsum(getattr(each, name) for each in self.per_query) / len(self.per_query)

    @property
    def base(self) -> float:
        """The candidates as they are ranked."""
        return self.mean("base")

    @property
    def got(self) -> float:
        """The last stage as it is ranked."""
        return self.mean("got")

    @property
    def ceiling(self) -> float:
        """The candidates in the best order."""
        return self.mean("ceiling")

    @property
    def kept(self) -> float:
        """The documents of the last stage in the best order."""
        return self.mean("kept")

    @property
    def perfect(self) -> float:
        """All judged documents in the best order."""
        return self.mean("perfect")

    @property
    def missed_before(self) -> float:
        """What the candidates lack."""
        return self.mean("missed_before")

    @property
    def thrown(self) -> tuple[float, ...]:
        """For each stage after the first, what it threw out; below 0 if it added documents."""
        columns = zip(*(each.thrown for each in self.per_query), strict=True)
        return tuple(math.fsum(column) / len(self.per_query) for column in columns)

    @property
    def order(self) -> float:
        """What the order of the last stage costs."""
        return self.mean("order")

    @property
    def gained(self) -> float:
        """The last stage minus the candidates."""
        return self.got - self.base

    @property
    def gained_interval(self) -> Interval:
        """The interval of the mean gain over queries."""
        gains = np.array([each.gained for each in self.per_query])
        return mean_interval(gains, level=self.level, low=-math.inf, high=math.inf)

    @property
    def taken(self) -> float | None:
        """The share of the possible gain that was taken: a ratio of means, never a mean of shares."""
        return share_taken(self.base, self.got, self.ceiling)

    def documents(self, kind: str) -> dict[str, tuple[str, ...]]:
        """By query, the documents of a kind: "promoted", "demoted", "thrown_out", "added", "never_retrieved",
        "unjudged".
        """
        by_query = {each.query: getattr(each, kind) for each in self.per_query}
        return {query: docs for query, docs in by_query.items() if docs}

    def count(self, kind: str) -> int:
        """How many documents there are of a kind."""
        return sum(map(len, self.documents(kind).values()))

    @property
    def words(self) -> str:
        """What was gained, and where the rest is."""
        last = ids.show(self.stages[-1])
        moved = f"{last} moves {self.measure} from {self.base:.4f} to {self.got:.4f}"
        lost = f"missed before {self.missed_before:.4f}, thrown out {sum(self.thrown):.4f}, order {self.order:.4f}"
        if self.taken is None:
            return f"{moved}; the candidates allow no more than they have. Lost: {lost}."
        return f"{moved}, {self.taken:.0%} of what the candidates allow. Lost: {lost}."

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.staging.stages_report import parts, waterfall

        return [*parts(self), ChartPart("Where the value is lost", partial(waterfall, self))]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record for each query."""
        return [each.row() for each in self.per_query]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""
        names = "base got ceiling kept perfect missed_before order gained taken"
        queries = [_with_documents(each) for each in self.per_query]

        return {
            "format": "goldrank-stages",
            "version": 1,
            **attributes(self, "measure depth words"),
            "stages": list(self.stages),
            "mean": {**attributes(self, names), "thrown": list(self.thrown)},
            "taken_interval": {"level": self.level, **attributes(self.taken_interval, "low high")},
            "queries": queries,
            "notes": [note.to_dict() for note in self.notes],
        }


def _with_documents(query: QueryStages) -> dict[str, Any]:
    """The flat record of a query, with its ceilings and its documents."""
    documents = {name: list(getattr(query, name)) for name in DOCUMENTS}
    return {**query.row(), "ceilings": list(query.ceilings), "documents": documents}


def share_taken(base: float, got: float, ceiling: float) -> float | None:
    """The gain as a share of the gain that the candidates allow; None where they allow none."""
    possible = ceiling - base
    if abs(possible) < NOTHING:
        return None
    return (got - base) / possible


@named_arguments
def stages(
    qrels: JudgementsLike,
    runs: Sequence[RunLike],
    measure: MeasureLike = "nDCG@10",
    *,
    depth: int | None = None,
    convention: ConventionLike = "trec_eval-10",
) -> Stages:
    """Say what each stage of a pipeline gains and loses: candidates, re-rankers, what is returned.

    The distance from a perfect ranking is the sum of what the candidates lack, what later stages throw out, and what
    the last order costs. Queries that a stage lacks have an empty list there; repeated documents count once. Notes say
    both.

    Parameters
    ----------
    qrels : judgements
        One grade per document; unjudged documents count as grade 0.
    runs : list of runs
        The candidates, then the output of each later stage.
    measure : measure
        One of nDCG, DCG, AP, P, R, RR, Success, RBP and ERR, for which the order by grade is the best.
    depth : int, optional
        How many candidates of a query the next stage saw; by default all.
    convention : str or Convention
        Whose rules hold.

    Returns
    -------
    Stages

    Raises
    ------
    MeasureError
        If the order by grade is not the best for the measure.
    InputError
        If there are fewer than two stages, or something cannot be read.

    Examples
    --------
    >>> found = stages({"q": {"a": 2, "b": 1, "c": 1}}, [{"q": ["x", "b", "y", "a"]}, {"q": ["b", "x", "a"]}], "nDCG@3")
    >>> round(found.missed_before, 4), round(found.order, 4), round(found.taken, 4)
    (0.1597, 0.2015, 0.6845)
    """
    rules = conventions.get(convention).with_policies(missing="zero", overlap="allow")
    if rules.duplicates == "error":
        rules = rules.with_policies(duplicates="first")

    only_measure, *others = resolve_measures(measure, rules)
    if others:
        raise MeasureError("stages are measured by one measure", hint="Name one.", code="several-measures")
    if only_measure.declaration.name not in SORTED_IS_BEST:
        hint = f"Measures for which it is: {', '.join(SORTED_IS_BEST)}."
        raise MeasureError(
            f"the order by grade need not be the best for {only_measure}", hint=hint, code="not-by-grade"
        )

    judged = as_judgements(qrels, rules)
    if not isinstance(judged, Qrels):
        raise InputError("stages are measured with one grade per document", hint="Give Qrels.", code="not-qrels")

    if not isinstance(runs, list | tuple):
        raise InputError("the stages are a list of runs", hint="Give [candidates, reranked].")
    opened = [io.as_run(run) for run in runs]
    if len(opened) < 2:
        raise InputError("stages are at least two", hint="Give the candidates, then what a later stage returned.")

    measured = _Measured(judged, only_measure, rules)
    placed = [pipeline.place(judged, run, rules) for run in opened]
    depths = [whole_depth(depth), *[None] * (len(opened) - 1)]
    lists = [_lists(placed_stage, cut) for placed_stage, cut in zip(placed, depths, strict=True)]
    names = tuple(numbered([run.name for run in opened]))
    per_query = measured.stages(lists)

    return Stages(
        measure=str(only_measure),
        stages=names,
        per_query=per_query,
        taken_interval=_taken_interval(per_query),
        depth=depths[0],
        notes=_notes(placed, names, per_query),
    )


def _lists(placed: pipeline.Placed, depth: int | None) -> Lists:
    """The documents of each judged query, each once, in the run's own order."""
    longest = int(placed.placements.retrieved.max(initial=0))
    rows = placed.top_documents(longest)
    distinct = [list(dict.fromkeys(row))[:depth] for row in rows]
    return dict(zip(placed.placements.queries, distinct, strict=True))


@dataclass(frozen=True)
class _Measured:
    """One measure of lists, by one set of rules."""

    qrels: Qrels
    measure: Measure
    rules: Convention

    def values(self, lists: Lists) -> dict[str, float]:
        """The measure of each query's list; a query with an empty list counts as a query without results."""
        rankings = {query: _falling_scores(docs) for query, docs in lists.items() if docs}
        placed = pipeline.place(self.qrels, Run(rankings), self.rules)
        scores = pipeline.score(placed, [self.measure])
        return dict(zip(scores.queries, scores.values_of(self.measure).tolist(), strict=True))

    def by_grade(self, lists: Lists) -> Lists:
        """Lists in the order of grades; equal grades stay as they are, negative ones are 0."""
        return {query: sorted(docs, key=lambda doc: -self.grade(query, doc)) for query, docs in lists.items()}

    def grade(self, query: str, doc: str) -> float:
        return max(0.0, float(self.qrels[query].get(doc, 0)))

    def stages(self, lists: Sequence[Lists]) -> tuple[QueryStages, ...]:
        """All queries that count, with their values and documents."""
        base, got = self.values(lists[0]), self.values(lists[-1])
        all_judged = {query: list(self.qrels[query]) for query in lists[0]}
        perfect = self.values(self.by_grade(all_judged))
        ceilings = [self.values(self.by_grade(stage)) for stage in lists]

        per_query = []
        for query in lists[0]:
            if math.isnan(perfect[query]):
                continue
            per_query.append(
                QueryStages(
                    query=query,
                    base=base[query],
                    got=got[query],
                    perfect=perfect[query],
                    ceilings=tuple(values[query] for values in ceilings),
                    **self._documents(query, lists[0][query], lists[-1][query]),
                    **self._counts(query, [stage[query] for stage in lists]),
                )
            )
        return tuple(per_query)

    def _relevant(self, query: str) -> list[str]:
        """The documents whose grade reaches the threshold of the measure."""
        threshold = self.measure.option("rel")
        least = 1
        if threshold is not None:
            least = threshold
        return [doc for doc, grade in self.qrels[query].items() if grade >= least]

    @property
    def _cutoff(self) -> int | None:
        if self.measure.k is None:
            return None
        return int(self.measure.k)

    def _counts(self, query: str, stages: Sequence[Sequence[str]]) -> dict[str, Any]:
        """How many relevant documents there are, are in the first k of each stage, and are in each stage."""
        relevant = set(self._relevant(query))
        hits = tuple(len(relevant.intersection(docs[: self._cutoff])) for docs in stages)
        held = tuple(len(relevant.intersection(docs)) for docs in stages)
        return {"relevant": len(relevant), "hits": hits, "held": held}

    def _documents(self, query: str, candidates: Sequence[str], output: Sequence[str]) -> dict[str, Any]:
        """What became of the relevant documents between the first and the last stage."""
        relevant = self._relevant(query)
        k = self._cutoff
        top_before, top_after = set(candidates[:k]), set(output[:k])
        all_before, all_after = set(candidates), set(output)

        def relevant_in(docs: set[str]) -> tuple[str, ...]:
            return tuple(doc for doc in relevant if doc in docs)

        never_retrieved = tuple(doc for doc in relevant if doc not in all_before)
        unjudged = tuple(doc for doc in candidates if doc not in self.qrels[query])
        return {
            "promoted": relevant_in((top_after - top_before) & all_before),
            "demoted": relevant_in(top_before - top_after),
            "thrown_out": relevant_in(all_before - all_after),
            "added": relevant_in(top_after - all_before),
            "never_retrieved": never_retrieved,
            "unjudged": unjudged,
        }


def _falling_scores(docs: Sequence[str]) -> dict[str, float]:
    """Scores that keep documents in the order of a list."""
    return {doc: -float(index) for index, doc in enumerate(docs)}


def _taken_interval(per_query: Sequence[QueryStages]) -> Interval:
    """The bootstrap interval of the share that was taken, over queries."""
    base = np.array([each.base for each in per_query])
    got = np.array([each.got for each in per_query])
    ceiling = np.array([each.ceiling for each in per_query])
    if len(per_query) < 2 or abs((ceiling - base).sum()) < NOTHING:
        return UNKNOWN

    gained, possible = resampled_means(np.array([got - base, ceiling - base]), SAMPLES).T
    shares = np.full(len(gained), np.nan)
    is_defined = np.abs(possible) > NOTHING
    shares[is_defined] = gained[is_defined] / possible[is_defined]
    return percentiles(shares, LEVEL)


def _notes(
    placed: Sequence[pipeline.Placed], names: Sequence[str], per_query: Sequence[QueryStages]
) -> tuple[Note, ...]:
    notes = []
    for placed_stage, name in zip(placed, names, strict=True):
        placements = placed_stage.placements
        pairs = zip(placements.queries, placements.answered, strict=True)
        absent = [query for query, is_answered in pairs if not is_answered]
        repeated = int(placed_stage.counts.repeated)
        if repeated:
            notes.append(Note.of("repeated-documents", count=repeated, about=name))
        if absent:
            notes.append(Note.of("stage-without-queries", count=len(absent), samples=absent, about=name))

    unjudged = sum(len(each.unjudged) for each in per_query)
    if unjudged:
        notes.append(Note.of("stage-unjudged", count=unjudged))

    return tuple(notes)
