"""Values of systems from a model's judgements, corrected by people's on some queries: one mean and interval each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from goldrank import conventions, io
from goldrank.comparison.metadata import Attribute, lookup
from goldrank.comparison.ppi import Estimate, cluster_means, corrected_mean
from goldrank.comparison.tabular import Tabular, attributes
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.scores import Scores
from goldrank.errors import InputError, MeasureError, OptionError, whole_number
from goldrank.evaluation.documents import evaluate
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure
from goldrank.notes import Note
from goldrank.types import MeasuresLike, Policies, QrelsLike, RunLike, RunsLike

LEAST_JUDGED = 2


@dataclass(frozen=True)
class CorrectedValue:
    """The mean of a measure of one system, or the mean difference of two."""

    measure: str
    system: str
    against: str
    """The other system, whose values are subtracted; empty for a system alone."""
    estimate: Estimate


@dataclass(frozen=True)
class CorrectedValues(Tabular):
    """Means and differences by people, by the model, and corrected."""

    drawn_by = "corrected"

    level: float
    values: tuple[CorrectedValue, ...]
    notes: tuple[Note, ...] = ()
    judged: tuple[str, ...] = ()
    """The queries that people judged to the depth of every measure."""
    others: tuple[str, ...] = field(default=(), repr=False)

    def __getitem__(self, which: tuple[str, ...]) -> Estimate:
        """By (measure, system), or (measure, system, against)."""
        for one in self.values:
            if (one.measure, one.system, one.against) == (*which, *("",) * (3 - len(which))):
                return one.estimate
        raise InputError(f"there is nothing of {which!r:.80}")

    def next_queries(self, count: int = 10, seed: int = 0) -> list[str]:
        """Queries that people should judge next: drawn at random, as the correction needs it.

        The same seed draws the same queries from the same data; what was drawn can be added to what was judged.
        """
        whole_number(count, "count", 1)
        rng = np.random.default_rng(whole_number(seed, "seed"))
        return [self.others[i] for i in rng.permutation(len(self.others))[:count].tolist()]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each mean and difference."""
        names = "estimate low high method why human human_low human_high model weight rho judged others effective"
        return [{**attributes(one, "measure system against"), **attributes(one.estimate, names)} for one in self.values]

    def to_dict(self) -> dict[str, Any]:
        notes = [note.to_dict() for note in self.notes]
        return {"level": self.level, "values": self.rows(), "notes": notes, "judged": list(self.judged)}


def corrected_values(
    human: QrelsLike,
    model: QrelsLike,
    runs: RunLike | RunsLike,
    measures: MeasuresLike = None,
    *,
    drawn: str = "random",
    depth: int = 10,
    clusters: Attribute = None,
    level: float = 0.95,
    convention: str | Convention = conventions.DEFAULT,
    **policies: Unpack[Policies],
) -> CorrectedValues:
    """Means of measures over all queries, from a model's judgements of all and people's of some of them.

    `human` has the queries that people judged, which must have been drawn at random from all; `model` has the model's
    judgements of all queries, those of people included. A query counts as judged by people if they judged the documents
    of all runs to the measure's cut-off, or to `depth` if it has none. Values are corrected by what people and model
    say of the same queries (docs/judges.md); where that is no better than people alone, these are reported.
    With several runs there is a row for each pair too. `clusters` are queries that belong together.

    >>> runs = {"q%d" % i: ["a", "b"] for i in range(40)}
    >>> model = {q: {"a": i % 2, "b": 1} for i, q in enumerate(runs)}
    >>> human = {q: {"a": (i + i // 8) % 2, "b": 1} for i, q in enumerate(runs) if i < 20}
    >>> found = corrected_values(human, model, runs, "nDCG@2")["nDCG@2", "run"]
    >>> found.judged, found.others, found.method
    (20, 20, 'corrected')
    """
    if drawn != "random":
        what = f"queries drawn as {drawn!r:.40} cannot be corrected: every query must have had the same chance"
        raise OptionError(
            what, hint="Judge queries that were drawn at random: CorrectedValues.next_queries draws them."
        )
    whole_number(depth, "depth", 1)
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"level is {level!r:.40}; it must be between 0 and 1")
    rules = conventions.get(convention).having(**policies)
    wanted = resolve_measures(measures, rules)
    people, machine = io.as_qrels(human), io.as_qrels(model)
    _check_queries(people, machine)
    opened = io.as_runs(runs) or [io.as_run(runs)]
    by_model = [evaluate(machine, run, wanted, convention=rules) for run in opened]
    deepest = max(int(measure.k) if measure.k else depth for measure in wanted)
    complete, notes = _complete(people, machine, by_model, deepest)
    kept = Qrels({query: people[query] for query in complete}, name=people.name, real_grades=True)
    # A run without any of these queries scores 0 in them; that it shares some with the model's was seen above.
    by_people = [evaluate(kept, run, wanted, convention=rules.having(overlap="allow")) for run in opened]
    cluster = lookup(clusters, "cluster") if clusters is not None else None
    values = []
    for measure in wanted:
        table = [_values(one, two, measure) for one, two in zip(by_people, by_model, strict=True)]
        rows: list[tuple[str, str, tuple[np.ndarray, np.ndarray]]] = [
            (run.name, "", both) for run, both in zip(opened, table, strict=True)
        ]
        rows += [
            (opened[j].name, opened[i].name, (table[j][0] - table[i][0], table[j][1] - table[i][1]))
            for i, j in combinations(range(len(opened)), 2)
        ]
        for name, against, (y, f) in rows:
            estimate = _corrected(y, f, by_people[0].queries, by_model[0].queries, cluster, level)
            values.append(CorrectedValue(str(measure), name, against, estimate))
    others = tuple(query for query in by_model[0].queries if query not in set(complete))
    cautions = dict.fromkeys(words for one in values for words in one.estimate.cautions)
    notes += [Note.of("weak-correction", why=words) for words in list(cautions)[:3]]
    return CorrectedValues(level, tuple(values), tuple(notes), tuple(complete), others)


def _check_queries(people: Qrels, machine: Qrels) -> None:
    missing = [query for query in people if query not in machine.text]
    if missing:
        what = f"{len(missing):,} queries that people judged have no judgement of the model, such as '{missing[0]}'"
        hint = "Ask the model for everything to the depth: goldrank judge --all."
        raise InputError(what, where=machine.name, hint=hint)


def _complete(people: Qrels, machine: Qrels, scored: Sequence[Scores], depth: int) -> tuple[list[str], list[Note]]:
    """The queries whose first documents people judged in all runs; what is known of the others."""
    whole = set(people)
    holes = 0
    for scores in scored:
        placed: Placed = scores.placed
        for query, docs in zip(placed.placements.queries, placed.top_documents(depth), strict=True):
            if query in whole and any(doc not in people.text[query] for doc in docs):
                whole.discard(query)
            holes += sum(doc not in machine.text[query] for doc in docs)
    notes = [Note.of("random-draw", judged=len(whole), queries=len(machine))]
    if len(whole) < len(people):
        partly = [query for query in people if query not in whole]
        notes.append(Note.of("partly-judged-queries", count=len(partly), depth=depth, samples=partly))
    if holes:
        notes.append(Note.of("model-holes", count=holes, depth=depth))
    if len(whole) < LEAST_JUDGED:
        what = f"people judged {len(whole)} queries to rank {depth}; {LEAST_JUDGED} are needed, and 20 are useful"
        raise InputError(what, where=people.name, hint="Judge whole queries: every document of every run to that rank.")
    return [query for query in people if query in whole], notes


def _values(human: Scores, model: Scores, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    columns = human.columns[str(measure)], model.columns[str(measure)]
    if columns[0].average != "mean":
        raise MeasureError(f"{measure} is no mean over queries ({columns[0].average}), and cannot be corrected")
    return columns[0].values, columns[1].values


def _corrected(
    y: np.ndarray,
    f: np.ndarray,
    judged: Sequence[str],
    queries: Sequence[str],
    cluster: Any,  # a function of the query id, or None
    level: float,
) -> Estimate:
    """The estimate of one row: `y` of the judged queries, `f` of all."""
    place = {query: i for i, query in enumerate(queries)}
    at = np.array([place[query] for query in judged], np.int64)
    elsewhere = np.ones(len(queries), bool)
    elsewhere[at] = False
    sound = ~np.isnan(y) & ~np.isnan(f[at])
    y, at, elsewhere = y[sound], at[sound], elsewhere & ~np.isnan(f)
    two_valued = bool(np.isin(y, (-1.0, 0.0, 1.0)).all() and np.isin(f[~np.isnan(f)], (-1.0, 0.0, 1.0)).all())
    if cluster is None:
        return corrected_mean(y, f[at], f[elsewhere], level=level, two_valued=two_valued)
    named = [cluster(query) for query in queries]
    if any(name is None or (isinstance(name, float) and math.isnan(name)) for name in named):
        raise InputError("a query has no cluster", hint="Give each query one; a query alone is a cluster of its own.")
    names = np.array([str(name) for name in named])
    elsewhere &= ~np.isin(names, names[at])  # what is left of a cluster is no draw of its own
    return corrected_mean(
        cluster_means(y, names[at])[0], cluster_means(f[at], names[at])[0],
        cluster_means(f[elsewhere], names[elsewhere])[0], level=level, two_valued=False,
    )  # fmt: skip
