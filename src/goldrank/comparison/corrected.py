"""Values of systems from a model's judgements, corrected by people's on some queries: one mean and interval each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from goldrank import conventions, ids, io
from goldrank.comparison.metadata import Attribute, is_missing, lookup
from goldrank.comparison.ppi import CorrectedMean, cluster_means, corrected_mean
from goldrank.comparison.strata import allocated, spreads, strata_of, stratified_mean
from goldrank.comparison.tabular import Tabular, attributes
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.data.scores import Scores
from goldrank.errors import InputError, MeasureError, OptionError, did_you_mean, whole_number
from goldrank.evaluation.documents import evaluate
from goldrank.evaluation.inputs import resolve, resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.measures import Measure
from goldrank.misuse import checked
from goldrank.notes import Note
from goldrank.types import ConventionLike, JudgementsLike, MeasuresLike, Policies, QrelsLike, RunLike, RunsLike

LEAST_JUDGED = 2
DRAWN = {
    "random": "every query had the same chance to be judged by people",
    "strata": "every query of a stratum had the same chance",
}


@dataclass(frozen=True)
class CorrectedValue:
    """The mean of a measure of one system, or the mean difference of two."""

    measure: str
    system: str
    against: str
    """The other system, whose values are subtracted; empty for a system alone."""
    estimate: CorrectedMean
    verdict: str = ""
    """Of a pair: 'better', 'worse' or 'unclear', with all pairs of the measure taken together (Bonferroni)."""

    @property
    def words(self) -> str:
        """What it says, in one sentence."""
        e = self.estimate
        if not self.against:
            return f"{self.measure} of {ids.show(self.system)} is {e.estimate:.4f} ({e.low:.4f} to {e.high:.4f})"
        size = f"{e.estimate:+.4f} {self.measure} (interval {e.low:+.4f} to {e.high:+.4f})"
        system, other = ids.show(self.system), ids.show(self.against)
        if self.verdict == "unclear":
            return f"No clear difference between {system} and {other}: {size}"
        return f"{system} is {self.verdict} than {other}: {size}"


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
    queries: tuple[str, ...] = field(default=(), repr=False)
    """All queries."""
    draw: Units | None = field(default=None, repr=False, compare=False)
    """What the next queries are drawn by."""

    def __getitem__(self, which: tuple[str, ...]) -> CorrectedMean:
        """By (measure, system), or (measure, system, against)."""
        return self.value(*which).estimate

    def value(self, measure: str, system: str, against: str = "") -> CorrectedValue:
        """The mean of a system, or its difference to another one."""
        for value in self.values:
            if (value.measure, value.system, value.against) == (measure, system, against):
                return value
        raise InputError(f"there is nothing of {(measure, system, against)!r:.80}")

    def next_queries(self, count: int = 10, seed: int = 0, strata: Attribute = None) -> list[str]:
        """Queries that people should judge next, so that what they judge can be added to what was judged.

        They are drawn at random; with `strata`, here or of what was judged, at random within each: four of each, then
        as many of each as narrow the interval of the first value most. From then on the values need these strata too.
        The same seed draws the same queries from the same data.
        """
        whole_number(count, "count", 1)
        rng = np.random.default_rng(whole_number(seed, "seed"))
        draw = self.draw
        if draw is not None and strata is not None:
            if draw.strata:
                raise OptionError(
                    "the queries were drawn by strata already", hint="Go on with these: leave strata out."
                )
            stratum, names = strata_of(_named(strata, "stratum", self.queries))
            draw = replace(draw, stratum=stratum, strata=tuple(names))
        if draw is None or not draw.strata:
            return [self.others[i] for i in rng.permutation(len(self.others))[:count].tolist()]
        return [self.queries[i] for i in draw.more(count, rng)]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each mean and difference."""
        names = "estimate low high method why human human_low human_high model weight rho judged others effective"
        return [
            {**attributes(value, "measure system against verdict"), **attributes(value.estimate, names)}
            for value in self.values
        ]

    def to_dict(self) -> dict[str, Any]:
        notes = [note.to_dict() for note in self.notes]
        return {"level": self.level, "values": self.rows(), "notes": notes, "judged": list(self.judged)}


@checked
def corrected_values(
    human: QrelsLike,
    model: QrelsLike,
    runs: RunLike | RunsLike,
    measures: MeasuresLike = None,
    *,
    drawn: str | None = None,
    strata: Attribute = None,
    depth: int = 10,
    clusters: Attribute = None,
    baseline: str | None = None,
    level: float = 0.95,
    convention: ConventionLike = "trec_eval-10",
    **policies: Unpack[Policies],
) -> CorrectedValues:
    """Means of measures over all queries, from a model's judgements of all and people's of some of them.

    `human` has the queries that people judged, which must have been drawn at random from all; `model` has the model's
    judgements of all queries, those of people included. A query counts as judged by people if they judged the documents
    of all runs to the measure's cut-off, or to `depth` if it has none. Values are corrected by what people and model
    say of the same queries (docs/judges.md); where that is no better than people alone, these are reported.
    With several runs there is a row for each pair too, or for each with the `baseline`. `clusters` are queries that
    belong together. `strata` are groups of queries within which those to judge were drawn at random: by query id, as
    a function of it, a JSONL file or a data frame with a column 'stratum'; more than five numbers are cut into five.

    >>> runs = {"q%d" % i: ["a", "b"] for i in range(40)}
    >>> model = {q: {"a": i % 2, "b": 1} for i, q in enumerate(runs)}
    >>> human = {q: {"a": (i + i // 8) % 2, "b": 1} for i, q in enumerate(runs) if i < 20}
    >>> found = corrected_values(human, model, runs, "nDCG@2")["nDCG@2", "run"]
    >>> found.judged, found.others, found.method
    (20, 20, 'corrected')
    """
    drawn = drawn or ("random" if strata is None else "strata")
    if drawn not in DRAWN or (drawn == "strata") != (strata is not None):
        what = f"queries drawn as {drawn!r:.40} cannot be corrected: the chance of each to be judged must be known"
        hint = "Judge queries that CorrectedValues.next_queries draws: at random, or at random within strata (strata=)."
        raise OptionError(what, hint=hint)
    if strata is not None and clusters is not None:
        raise OptionError("strata and clusters cannot be combined", hint="Leave one of them out.")
    whole_number(depth, "depth", 1)
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"level is {level!r:.40}; it must be between 0 and 1")
    rules = conventions.get(convention).with_policies(**policies)
    wanted = resolve_measures(measures, rules)
    people, machine = io.as_qrels(human), io.as_qrels(model)
    opened = io.as_runs(runs) or [io.as_run(runs)]
    names = [run.name for run in opened]
    pairs = list(combinations(range(len(opened)), 2))
    if baseline is not None and baseline in names:
        at = names.index(baseline)
        pairs = [(at, j) for j in range(len(opened)) if j != at]
    elif baseline is not None:
        raise InputError(f"no system is named '{ids.show(baseline)}'", hint=did_you_mean(baseline, names))
    both = ScoredTwice.of(people, machine, opened, wanted, rules, depth)
    units = both.units(clusters, strata)
    values = []
    for measure in wanted:
        table = [both.values(i, measure) for i in range(len(opened))]
        values += [
            CorrectedValue(str(measure), name, "", units.estimate(*y_f, level))
            for name, y_f in zip(names, table, strict=True)
        ]
        for i, j in pairs:
            y, f = (table[j][side] - table[i][side] for side in (0, 1))
            estimate = units.estimate(y, f, level)
            surely = units.estimate(y, f, 1 - (1 - level) / len(pairs))
            better = (estimate.estimate > 0) == both.higher_is_better(measure)
            verdict = "unclear" if surely.holds(0.0) else "better" if better else "worse"
            values.append(CorrectedValue(str(measure), names[j], names[i], estimate, verdict))
    cautions = dict.fromkeys(words for value in values for words in value.estimate.cautions)
    notes = [*both.notes, *(Note.of("weak-correction", why=words) for words in list(cautions)[:3])]
    others = tuple(query for query in both.queries if query not in set(both.judged))
    y, f = both.values(0, wanted[0])
    draw = replace(units, rest=y - values[0].estimate.weight * f[units.at])
    return CorrectedValues(level, tuple(values), tuple(notes), both.judged, others, both.queries, draw)


def corrected_of(
    qrels: JudgementsLike,
    runs: RunLike | RunsLike,
    measures: MeasuresLike,
    rules: Convention,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    refused: Mapping[str, object] | None = None,
    **how: Any,
) -> CorrectedValues:
    """`corrected_values` of judgements that hold people's and a model's: what `judged_by="corrected"` asks for."""
    for name, value in (refused or {}).items():
        if value is not None:
            raise OptionError(f"{name} has no meaning for corrected values", hint="See goldrank.corrected_values.")
    inputs = resolve(qrels, runs, rules, format=format, columns=columns, relevant_from=relevant_from)
    human, model = both_judges(inputs.judgements)
    if inputs.tagged is not None:
        raise OptionError("runs that are told apart by tags are not corrected", hint="Give each run of its own.")
    named = {run.name: run for run in inputs.runs} if inputs.several else inputs.runs[0]
    return corrected_values(human, model, named, measures, convention=rules, **how)


_OF_COMPARE = ("baseline", "clusters", "format", "columns", "relevant_from")
_OF_REPORTS = ("convention", "judged_by", "alpha", "curves", "seed", "queries", "documents", "align")
"""Options of `compare` that are handed on, and those that change nothing here."""


def corrected_comparison(
    qrels: Any,
    runs: RunsLike,
    measures: MeasuresLike,
    rules: Convention,
    given: Mapping[str, Any],
    usual: Mapping[str, Any],
) -> CorrectedValues:
    """What `compare` answers with judged_by="corrected"; of its options, those that have no meaning are refused."""
    refused = {
        name: given[name]
        for name, value in usual.items()
        if name not in (*_OF_COMPARE, *_OF_REPORTS)
        and not (given[name] is value or (value is not None and given[name] == value))
    }
    how = {name: given[name] for name in _OF_COMPARE}
    return corrected_of(qrels, runs, measures, rules, refused=refused, level=1 - given["alpha"], **how)


def both_judges(judgements: object) -> tuple[Qrels, Qrels]:
    """People's judgements and the model's, where both are in one."""
    if not isinstance(judgements, Qrels):
        raise OptionError("judged_by= takes judgements with one grade per document")
    if not judgements.judges:
        what = "there are no judgements of a model beside those of people"
        hint = "Qrels.joined(human, model) puts them together (--model-qrels FILE); goldrank judge --all makes them."
        raise InputError(what, where=judgements.name, hint=hint, code="no-judge")
    return judgements.judged_by("human"), judgements.judged_by("model")


@dataclass(frozen=True)
class Units:
    """What the means are over: queries, clusters of them, or queries in strata."""

    at: np.ndarray
    """Which of all queries are the judged ones."""
    count: int
    cluster: np.ndarray | None = None
    stratum: np.ndarray | None = None
    """Of each query."""
    strata: tuple[str, ...] = ()
    """What strata are called; none if queries were drawn at random from all."""
    rest: np.ndarray | None = None
    """Of the judged ones, Y - L F of the first value: what the model does not tell. NaN where there is no value."""

    def estimate(self, y: np.ndarray, f: np.ndarray, level: float, two_valued: bool = False) -> CorrectedMean:
        """The estimate of one row: `y` of the judged queries, `f` of all. `two_valued` if these are made of 0 and 1."""
        at, elsewhere = self.at, np.ones(self.count, bool)
        elsewhere[at] = False
        sound = ~np.isnan(y) & ~np.isnan(f[at])
        counts = np.isin(np.arange(self.count), at[sound]) | (elsewhere & ~np.isnan(f))
        y, at, elsewhere = y[sound], at[sound], elsewhere & ~np.isnan(f)
        two_valued = two_valued or all(np.isin(each[~np.isnan(each)], (-1.0, 0.0, 1.0)).all() for each in (y, f))
        if self.stratum is not None:
            place = np.cumsum(counts) - 1
            used = np.unique(self.stratum[counts], return_inverse=True)[1]
            return stratified_mean(y, f[counts], place[at], used, level=level, two_valued=two_valued)
        if self.cluster is None:
            return corrected_mean(y, f[at], f[elsewhere], level=level, two_valued=two_valued)
        names = self.cluster
        elsewhere &= ~np.isin(names, names[at])  # what is left of a cluster is no draw of its own
        return corrected_mean(
            cluster_means(y, names[at])[0], cluster_means(f[at], names[at])[0],
            cluster_means(f[elsewhere], names[elsewhere])[0], level=level, two_valued=False,
        )  # fmt: skip

    def more(self, count: int, rng: np.random.Generator) -> list[int]:
        """So many queries that people did not judge, by their places."""
        assert self.stratum is not None
        assert self.rest is not None
        left = np.ones(self.count, bool)
        left[self.at] = False
        kinds = range(len(self.strata))
        size, judged = (np.bincount(codes, minlength=len(kinds)) for codes in (self.stratum, self.stratum[self.at]))
        wanted = allocated(size, spreads(self.rest, self.stratum[self.at], len(kinds)), judged, count).tolist()
        drawn = [rng.permutation(np.flatnonzero((self.stratum == kind) & left))[: wanted[kind]] for kind in kinds]
        return [place for places in drawn for place in places.tolist()]


@dataclass(frozen=True)
class ScoredTwice:
    """Runs scored by the model's judgements of all queries, and by people's of those that they judged whole."""

    by_people: Sequence[Scores]
    by_model: Sequence[Scores]
    notes: Sequence[Note]

    @classmethod
    def of(
        cls,
        people: Qrels,
        machine: Qrels,
        runs: Sequence[Run],
        measures: Sequence[Measure],
        rules: Convention,
        depth: int,
    ) -> ScoredTwice:
        """Each run is read and placed once for each kind of judge."""
        _check_queries(people, machine)
        by_model = [evaluate(machine, run, measures, convention=rules) for run in runs]
        deepest = max(int(measure.k) if measure.k else depth for measure in measures)
        complete, notes = _complete(people, machine, by_model, deepest)
        kept = Qrels({query: people[query] for query in complete}, name=people.name, real_grades=True)
        # A run without any of these queries scores 0 in them; that it shares some with the model's was seen above.
        by_people = [evaluate(kept, run, measures, convention=rules.with_policies(overlap="allow")) for run in runs]
        for scored in (by_people, by_model):
            if any(scores.queries != scored[0].queries for scores in scored):
                what = "the runs do not answer the same queries, and missing ones are left out"
                raise OptionError(what, hint="Corrected values need all queries: missing='zero'.")
        return cls(by_people, by_model, notes)

    @property
    def queries(self) -> tuple[str, ...]:
        """All of them."""
        return self.by_model[0].queries

    @property
    def judged(self) -> tuple[str, ...]:
        """Those that people judged whole."""
        return self.by_people[0].queries

    def higher_is_better(self, measure: Measure) -> bool:
        """Whether more of a measure is better."""
        return self.by_model[0].columns[str(measure)].higher_is_better

    def values(self, run: int, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
        """The values of a run by people, of the judged queries, and by the model, of all."""
        columns = self.by_people[run].columns[str(measure)], self.by_model[run].columns[str(measure)]
        if columns[0].average != "mean":
            raise MeasureError(f"{measure} is no mean over queries ({columns[0].average}), and cannot be corrected")
        return columns[0].values, columns[1].values

    def units(self, clusters: Attribute = None, strata: Attribute = None) -> Units:
        """What means are over."""
        place = {query: i for i, query in enumerate(self.queries)}
        at = np.array([place[query] for query in self.judged], np.int64)
        if clusters is not None:
            return Units(at, len(place), cluster=np.array(list(map(str, _named(clusters, "cluster", self.queries)))))
        if strata is not None:
            stratum, names = strata_of(_named(strata, "stratum", self.queries))
            return Units(at, len(place), stratum=stratum, strata=tuple(names))
        return Units(at, len(place))


def _named(given: Attribute, kind: str, queries: Sequence[str]) -> list[Any]:
    """The cluster, or the stratum, of each query."""
    named = list(map(lookup(given, kind), queries))
    lacking = [query for query, name in zip(queries, named, strict=True) if is_missing(name)]
    if lacking:
        what = f"a query has no {kind}: {ids.samples(lacking)}"
        raise InputError(what, hint="Give each query one.", code="no-stratum")
    return named


def _check_queries(people: Qrels, machine: Qrels) -> None:
    missing = [query for query in people if query not in machine.text]
    if missing:
        what = f"{len(missing):,} queries that people judged have no judgement of the model: {ids.samples(missing)}"
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
