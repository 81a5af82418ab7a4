"""Values of systems from a model's judgements, corrected by people's on some queries: one mean and interval each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from goldrank import conventions, io
from goldrank.base import ids
from goldrank.base.errors import InputError, MeasureError, NotMeasuredError, OptionError, of_type, one_of, whole_number
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.types import ConventionLike, MeasuresLike, QueriesLike, RunsLike
from goldrank.comparison.intervals import Interval
from goldrank.comparison.settings import Statistics
from goldrank.comparison.tabular import attributes
from goldrank.conventions import Convention
from goldrank.data.qrels import Qrels
from goldrank.data.queries import Queries
from goldrank.data.runs import Runs
from goldrank.data.scores import Scores
from goldrank.data.showing import Result
from goldrank.data.table import Part
from goldrank.evaluation.inputs import resolve_measures
from goldrank.evaluation.pipeline import Placed
from goldrank.evaluation.rankings import evaluate
from goldrank.io.by_id.query_files import read_queries
from goldrank.judging.ppi import CorrectedMean, cluster_values, corrected_mean
from goldrank.judging.strata import COUNT, allocated, spreads, strata_of, stratified_mean
from goldrank.measures import Measure
from goldrank.measures.spelling import parse as parse_measure

Drawn: TypeAlias = Literal["random", "strata"]
Decided: TypeAlias = Literal["better", "worse", "unclear"]

LEAST_JUDGED = 2
DEEPEST = 10**9
"""More ranks than any run has."""


@dataclass(frozen=True, repr=False, eq=False)
class CorrectedValue(Result):
    """The mean of a measure of one run, or the mean difference of two."""

    measure: str
    run: str
    against: str | None
    """The other run, whose values are subtracted; None for a run alone."""
    estimate: CorrectedMean
    """The method behind the value, and the correlation of people's and the model's values."""
    verdict: Decided | None = None
    """Of a pair, by its interval; None for a run alone."""

    def __repr__(self) -> str:
        return f"CorrectedValue({self.measure!r}, {self.run!r}, {self.against!r}, {self.value:.4f})"

    @property
    def value(self) -> float:
        """The corrected mean, or difference; people's alone where the model does not help."""
        return self.estimate.estimate

    @property
    def interval(self) -> Interval:
        """The interval of the value. Intervals of pairs hold together, over all pairs and measures (Bonferroni)."""
        return Interval(self.estimate.low, self.estimate.high)

    @property
    def by_people(self) -> float:
        """The mean over the queries that people judged."""
        return self.estimate.human

    @property
    def by_model(self) -> float:
        """The mean of the model's values over all queries, without a correction."""
        return self.estimate.model

    @property
    def words(self) -> str:
        """The value and its interval, in one sentence."""
        low, high = self.interval
        run = ids.show(self.run)
        if self.against is None:
            return f"{self.measure} of {run} is {self.value:.4f} ({low:.4f} to {high:.4f})"

        size = f"{self.value:+.4f} {self.measure} (interval {low:+.4f} to {high:+.4f})"
        against = ids.show(self.against)
        if self.verdict == "unclear":
            return f"No clear difference between {run} and {against}: {size}"
        return f"{run} is {self.verdict} than {against}: {size}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Reasons not to rely on the model here."""
        return tuple(Note.of("weak-correction", why=words) for words in self.estimate.cautions)

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.judging.corrected_report import value_parts

        return value_parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """One row."""
        return [self.to_dict()]

    def turned(self) -> CorrectedValue:
        """The difference with the two runs exchanged."""
        if self.against is None:
            return self
        opposite: dict[str | None, Decided] = {"better": "worse", "worse": "better"}
        verdict = opposite.get(self.verdict, self.verdict)
        return CorrectedValue(self.measure, self.against, self.run, self.estimate.negated(), verdict)

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval
        value = {"value": self.value, "low": low, "high": high}
        people = {
            "by_people": self.by_people,
            "people_low": self.estimate.human_low,
            "people_high": self.estimate.human_high,
        }
        return {
            **attributes(self, "measure run against verdict"),
            **value,
            **people,
            "by_model": self.by_model,
            **attributes(self.estimate, "method why weight rho judged others effective"),
        }


@dataclass(frozen=True, repr=False, eq=False)
class CorrectedValues(Result):
    """Means and differences by people, by the model, and corrected."""

    level: float
    values: tuple[CorrectedValue, ...]
    notes: tuple[Note, ...] = ()
    judged: tuple[str, ...] = ()
    """The queries that people judged to the depth of every measure."""
    others: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    """All queries."""
    draw: Units | None = field(default=None, compare=False)
    """The units that `next_queries` draws from."""

    def __repr__(self) -> str:
        judged = f"{len(self.judged):,} of {len(self.queries):,} queries judged by people"
        return f"CorrectedValues({len(self.values):,} values, {judged})"

    def __getitem__(self, key: tuple[str, str] | tuple[str, str, str]) -> CorrectedValue:
        """`values["AP", "a"]` is the mean of a run, `values["AP", "b", "a"]` the difference b minus a."""
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            hint = 'values["AP", "a"] is a mean, values["AP", "b", "a"] the difference b minus a.'
            raise OptionError(f"corrected values have no key {key!r:.80}", hint=hint)

        measure, run = key[:2]
        against = None
        if len(key) == 3:
            against = key[2]
        name = str(parse_measure(measure))
        for value in self.values:
            if (value.measure, value.run, value.against) == (name, run, against):
                return value
            if (value.measure, value.against, value.run) == (name, run, against):
                return value.turned()
        raise self._not_there(key)

    def _not_there(self, key: tuple[str, ...]) -> NotMeasuredError:
        measures = dict.fromkeys(value.measure for value in self.values)
        runs = dict.fromkeys(value.run for value in self.values)
        hint = f"Measures are {', '.join(measures)}; runs are {', '.join(map(ids.show, runs))}."
        return NotMeasuredError(f"there is no corrected value of {key!r:.80}", hint=hint)

    @property
    def words(self) -> str:
        """The first value and all differences, in sentences."""
        differences = [value for value in self.values if value.against is not None]
        return "; ".join(value.words for value in (*self.values[:1], *differences))

    def next_queries(self, count: int = 10, *, seed: int = 0) -> list[str]:
        """Queries that people should judge next; their judgements can be added to the others.

        They are drawn at random. Where queries have strata, at random within each: four of each, then the numbers that
        narrow the interval of the first value most. From then on the values need `drawn="strata"`.

        Parameters
        ----------
        count : int
            How many.
        seed : int
            Equal seeds draw equal queries from equal data.

        Returns
        -------
        list of str
        """
        whole_number(count, "count", 1)
        rng = np.random.default_rng(whole_number(seed, "seed"))
        if self.draw is None or not self.draw.strata:
            return [self.others[i] for i in rng.permutation(len(self.others))[:count].tolist()]
        return [self.queries[i] for i in self.draw.more(count, rng)]

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.judging.corrected_report import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each mean and difference."""
        return [value.to_dict() for value in self.values]

    def to_dict(self) -> dict[str, Any]:
        notes = [note.to_dict() for note in self.notes]
        return {"level": self.level, "values": self.rows(), "notes": notes, "judged": list(self.judged)}


@named_arguments
def corrected_values(
    qrels: Qrels,
    runs: RunsLike,
    measures: MeasuresLike = None,
    *,
    queries: QueriesLike | None = None,
    drawn: Drawn | None = None,
    depth: int = 10,
    convention: ConventionLike = "trec_eval-10",
    statistics: Statistics = Statistics(),
) -> CorrectedValues:
    """Means of measures over all queries, from a model's judgements of all and people's of some of them.

    A query counts as judged by people if they judged the documents of all runs to the measure's cut-off, or to `depth`
    if it has none. Values are corrected by the queries that both judged (docs/judges.md); where that is not better than
    people's values alone, these are reported. With several runs there is a value for each pair too.

    Parameters
    ----------
    qrels : Qrels
        `people.with_model(model)`: people's judgements of queries that were drawn at random from all, and the model's
        of all queries, those of people included.
    runs : runs
        The systems.
    measures : measures, optional
        Means over queries; by default the usual ones.
    queries : queries, optional
        Columns of queries. The role `cluster` says which belong together, `stratum` the groups within which queries to
        judge are drawn; more than five different numbers are cut into five strata.
    drawn : {"random", "strata"}, optional
        How the queries that people judged were drawn: from all, or within strata. By default within strata if queries
        have any. With "random", strata say how `next_queries` draws.
    depth : int
        To which rank people must have judged where a measure has no cut-off.
    convention : str or Convention
        How values are computed.
    statistics : Statistics
        The level of intervals and verdicts.

    Returns
    -------
    CorrectedValues
        `values["AP", "a"]` is the mean of a run, `values["AP", "b", "a"]` the difference b minus a.

    Raises
    ------
    InputError
        If the judgements of people or of the model are missing, or people judged too few queries completely.
    OptionError
        If options do not go together.
    MeasureError
        If a measure is not a mean over queries.

    Examples
    --------
    >>> run = {f"q{i}": ["a", "b"] for i in range(40)}
    >>> model = {query: {"a": i % 2, "b": 1} for i, query in enumerate(run)}
    >>> people = Qrels({query: {"a": (i + i // 8) % 2, "b": 1} for i, query in enumerate(run) if i < 20})
    >>> values = corrected_values(people.with_model(model), {"mine": run}, "nDCG@2")
    >>> mine = values["nDCG@2", "mine"]
    >>> round(mine.value, 4), mine.estimate.method
    (0.8155, 'corrected')
    """
    of_type(statistics, Statistics, "statistics", "Statistics", hint="For example statistics=Statistics(alpha=0.1).")
    whole_number(depth, "depth", 1, DEEPEST)
    known = Queries({})
    if queries is not None:
        known = read_queries(queries)
    drawing = _drawn(drawn, known)

    people, machine = both_judges(qrels)
    opened = io.as_runs(runs)
    rules = conventions.get(convention)
    parsed = resolve_measures(measures, rules)

    scored = ScoredTwice.of(people, machine, opened, parsed, rules, depth)
    return _corrected(scored, parsed, known, drawing, statistics)


@named_arguments
def corrected_scores(
    people: Scores,
    model: Scores,
    *,
    queries: QueriesLike | None = None,
    drawn: Drawn | None = None,
    statistics: Statistics = Statistics(),
) -> CorrectedValues:
    """Means of measures over all questions, from scores by a model of all and scores by people of some of them.

    Retrieved texts are scored so: people label the pairs of some questions, drawn at random, and a matcher or a judge
    decides all.

    Parameters
    ----------
    people : Scores
        By people's labels, of questions that were drawn at random from all.
    model : Scores
        The same system, by the model, of all questions, those of people included.
    queries, drawn, statistics
        As in `corrected_values`.

    Returns
    -------
    CorrectedValues

    Raises
    ------
    InputError
        If people's questions are not among the model's, or are too few.
    NotMeasuredError
        If both have no measure in common.
    MeasureError
        If a measure is not a mean over questions.

    Examples
    --------
    >>> from goldrank import evaluate_texts
    >>> right = [["a red fact"], ["a blue fact"]]
    >>> items = [{"id": str(i), "retrieved": ["a red fact"], "references": right[i % 2]} for i in range(60)]
    >>> model = evaluate_texts(items, "Cover@5", matching="token-recall:0.5")
    >>> people = evaluate_texts(items[:20], "Cover@5", matching="exact")
    >>> value = corrected_scores(people, model)["Cover@5", "items"]
    >>> value.by_people, value.by_model
    (0.5, 1.0)
    """
    of_type(statistics, Statistics, "statistics", "Statistics", hint="For example statistics=Statistics(alpha=0.1).")
    hint = "For example corrected_scores(evaluate_texts(labelled, ...), evaluate_texts(all, ...))."
    for side, name in ((people, "people"), (model, "model")):
        of_type(side, Scores, name, "the scores of one system", hint=hint)

    unknown = [query for query in people.queries if query not in set(model.queries)]
    if unknown:
        message = f"the model has no score of a question that people scored: {ids.samples(unknown)}"
        raise InputError(
            message, hint="It must score all questions, those of people included.", code="no-shared-queries"
        )
    if len(people.queries) < LEAST_JUDGED:
        message = f"people scored {len(people.queries)} question; {LEAST_JUDGED} are the fewest"
        raise InputError(message, hint="Twenty are a good beginning.")

    shared = [name for name in model.columns if name in people.columns]
    if not shared:
        both = f"{', '.join(people.columns)} and {', '.join(model.columns)}"
        raise NotMeasuredError("people's and the model's scores have no measure in common", hint=f"They have {both}.")

    known = Queries({})
    if queries is not None:
        known = read_queries(queries)
    scored = ScoredTwice({model.run: people}, {model.run: model}, ())
    measures = [parse_measure(name) for name in shared]
    return _corrected(scored, measures, known, _drawn(drawn, known), statistics)


def _corrected(
    scored: ScoredTwice, measures: Sequence[Measure], known: Queries, drawing: Drawn, statistics: Statistics
) -> CorrectedValues:
    """Every mean and difference of what was scored twice."""
    units = scored.units(known, drawing)
    values: list[CorrectedValue] = []
    for measure in measures:
        values += _values_of(measure, scored, units, statistics, len(measures))

    cautions = dict.fromkeys(words for value in values for words in value.estimate.cautions)
    notes = [*scored.notes, *(Note.of("weak-correction", why=words) for words in list(cautions)[:3])]
    judged = set(scored.judged)

    y, f = scored.values(scored.names[0], measures[0])
    residuals = y - values[0].estimate.weight * f[units.positions]
    return CorrectedValues(
        level=statistics.level,
        values=tuple(values),
        notes=tuple(notes),
        judged=scored.judged,
        others=tuple(query for query in scored.queries if query not in judged),
        queries=scored.queries,
        draw=replace(scored.units_to_draw(units, known), residuals=residuals),
    )


def _drawn(choice: Drawn | None, queries: Queries) -> Drawn:
    """How the queries that people judged were drawn."""
    has_strata = queries.has("stratum")
    drawn: Drawn = "random"
    if choice is not None:
        drawn = cast(Drawn, one_of(choice, get_args(Drawn), "drawn"))
    elif has_strata:
        drawn = "strata"

    if drawn == "strata" and not has_strata:
        hint = 'Give queries with a stratum each: {"q1": {"stratum": "short"}}.'
        raise OptionError("the queries have no strata that they could have been drawn by", hint=hint, code="no-strata")

    if drawn == "strata" and queries.has("cluster"):
        hint = "Leave the clusters out, or say drawn='random'."
        raise OptionError("strata and clusters cannot be combined", hint=hint, code="options-conflict")

    return drawn


def _values_of(
    measure: Measure, scored: ScoredTwice, units: Units, statistics: Statistics, measures: int
) -> list[CorrectedValue]:
    """The mean of each run, and the difference of each pair, whose interval holds with those of all measures."""
    name, level = str(measure), statistics.level
    by_run = {run: scored.values(run, measure) for run in scored.names}
    values = [CorrectedValue(name, run, None, units.estimate(y, f, level)) for run, (y, f) in by_run.items()]

    pairs = list(combinations(scored.names, 2))
    for against, run in pairs:
        run_y, run_f = by_run[run]
        against_y, against_f = by_run[against]
        level_of_all = 1 - statistics.alpha / (len(pairs) * measures)
        estimate = units.estimate(run_y - against_y, run_f - against_f, level_of_all, is_difference=True)
        verdict: Decided = "unclear"
        if not estimate.holds(0.0):
            if (estimate.estimate > 0) == scored.higher_is_better(measure):
                verdict = "better"
            else:
                verdict = "worse"
        values.append(CorrectedValue(name, run, against, estimate, verdict))
    return values


def both_judges(qrels: object) -> tuple[Qrels, Qrels]:
    """People's judgements and the model's, where both are in one."""
    if not isinstance(qrels, Qrels):
        hint = "For example read_qrels('people.txt').with_model('model.txt')."
        of_type(qrels, Qrels, "qrels", "Qrels with judgements of people and of a model", hint=hint)
    assert isinstance(qrels, Qrels)
    if "model" not in qrels.judges:
        message = "there are no judgements of a model beside those of people"
        hint = "people.with_model(model) puts them together; what judge(...) and `goldrank judge ask` give has both."
        raise InputError(message, where=qrels.name, hint=hint, code="no-judge")
    return qrels.by("human"), qrels.by("model")


@dataclass(frozen=True)
class Units:
    """The units of the means: queries, clusters of them, or queries in strata."""

    positions: np.ndarray
    """The positions of the judged queries among all."""
    count: int
    cluster: np.ndarray | None = None
    stratum: np.ndarray | None = None
    """The number of each query's stratum."""
    strata: tuple[str, ...] = ()
    """The names of the strata; empty if queries were drawn at random from all."""
    residuals: np.ndarray | None = None
    """Y - L F of the first value for the judged queries. NaN where there is no value."""

    def estimate(self, y: np.ndarray, f: np.ndarray, level: float, is_difference: bool = False) -> CorrectedMean:
        """The estimate of one row: `y` of the judged queries, `f` of all; of a run, or the difference of two."""
        positions, elsewhere = self.positions, np.ones(self.count, bool)
        elsewhere[positions] = False
        has_values = ~np.isnan(y) & ~np.isnan(f[positions])
        counts = np.isin(np.arange(self.count), positions[has_values]) | (elsewhere & ~np.isnan(f))
        y, positions, elsewhere = y[has_values], positions[has_values], elsewhere & ~np.isnan(f)
        two_valued = all(np.isin(values[~np.isnan(values)], (-1.0, 0.0, 1.0)).all() for values in (y, f))
        if self.stratum is not None:
            new_position = np.cumsum(counts) - 1
            used = np.unique(self.stratum[counts], return_inverse=True)[1]
            return stratified_mean(y, f[counts], new_position[positions], used, level=level, two_valued=two_valued)

        if self.cluster is None:
            return corrected_mean(
                y, f[positions], f[elsewhere], level=level, two_valued=two_valued, is_difference=is_difference
            )

        model_elsewhere = f[elsewhere]
        if elsewhere.any():
            model_elsewhere = cluster_values(f[elsewhere], self.cluster[elsewhere])
        human = cluster_values(y, self.cluster[positions])
        model = cluster_values(f[positions], self.cluster[positions])
        return corrected_mean(human, model, model_elsewhere, level=level, two_valued=False)

    def more(self, count: int, rng: np.random.Generator) -> list[int]:
        """The positions of `count` queries that people did not judge."""
        assert self.stratum is not None
        assert self.residuals is not None
        unjudged = np.ones(self.count, bool)
        unjudged[self.positions] = False

        strata = len(self.strata)
        judged_stratum = self.stratum[self.positions]
        size = np.bincount(self.stratum, minlength=strata)
        judged = np.bincount(judged_stratum, minlength=strata)
        counts = allocated(size, spreads(self.residuals, judged_stratum, strata), judged, count).tolist()

        positions: list[int] = []
        for number in range(strata):
            candidates = np.flatnonzero((self.stratum == number) & unjudged)
            positions += rng.permutation(candidates)[: counts[number]].tolist()
        return positions


@dataclass(frozen=True)
class ScoredTwice:
    """Runs scored by the model's judgements of all queries, and by people's of those that they judged completely."""

    by_people: Mapping[str, Scores]
    by_model: Mapping[str, Scores]
    notes: Sequence[Note]

    @classmethod
    def of(
        cls, people: Qrels, machine: Qrels, runs: Runs, measures: Sequence[Measure], rules: Convention, depth: int
    ) -> ScoredTwice:
        """Each run is read and placed once for each kind of judge."""
        _check_queries(people, machine)
        by_model = dict(evaluate(machine, runs, measures, convention=rules))
        deepest = max(int(measure.k or depth) for measure in measures)
        complete, notes = _complete(people, machine, list(by_model.values()), deepest)

        # A run without any of these queries scores 0 in them; that it shares some with the model's was seen above.
        lenient = rules.with_policies(overlap="allow")
        by_people = dict(evaluate(people.only(complete), runs, measures, convention=lenient))
        for scored in (by_people, by_model):
            if len({scores.queries for scores in scored.values()}) > 1:
                message = "the runs do not answer the same queries, and missing ones are left out"
                raise OptionError(message, hint="Corrected values need all queries: Convention(missing='zero').")
        return cls(by_people, by_model, notes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.by_model)

    @property
    def queries(self) -> tuple[str, ...]:
        """All queries."""
        return self.by_model[self.names[0]].queries

    @property
    def judged(self) -> tuple[str, ...]:
        """The queries that people judged completely."""
        return self.by_people[self.names[0]].queries

    def higher_is_better(self, measure: Measure) -> bool:
        """Whether more of a measure is better."""
        return self.by_model[self.names[0]].columns[str(measure)].higher_is_better

    def values(self, run: str, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
        """The values of a run by people, of the judged queries, and by the model, of all."""
        people, model = self.by_people[run].columns[str(measure)], self.by_model[run].columns[str(measure)]
        if people.average != "mean":
            raise MeasureError(f"{measure} is not a mean over queries ({people.average}), and cannot be corrected")
        return people.values, model.values

    def units(self, queries: Queries, drawn: Drawn) -> Units:
        """The units that means are over."""
        number = {query: i for i, query in enumerate(self.queries)}
        positions = np.array([number[query] for query in self.judged], np.int64)
        plain = Units(positions, len(number))
        if drawn == "strata":
            return self._in_strata(plain, queries)
        if queries.has("cluster"):
            return replace(plain, cluster=np.array(_column(queries, "cluster", self.queries)))
        return plain

    def units_to_draw(self, units: Units, queries: Queries) -> Units:
        """The units for drawing more queries: within strata, if there are any."""
        if units.strata or not queries.has("stratum"):
            return units
        return self._in_strata(units, queries)

    def _in_strata(self, units: Units, queries: Queries) -> Units:
        stratum, names = strata_of(_numbers(_column(queries, "stratum", self.queries)))
        return replace(units, stratum=stratum, strata=tuple(names))


def _column(queries: Queries, role: str, query_ids: Sequence[str]) -> list[str]:
    """The cluster, or the stratum, of each query."""
    by_query = queries.column(role)
    lacking = [query for query in query_ids if query not in by_query]
    if lacking:
        message = f"a query has no {role}: {ids.samples(lacking)}"
        raise InputError(message, where=queries.name, hint="Give each query one.", code="no-stratum")
    return [by_query[query] for query in query_ids]


def _numbers(strata: list[str]) -> Sequence[str | float]:
    """Strata as numbers where more than five differ, so that they can be cut into five."""
    if len(set(strata)) <= COUNT:
        return strata
    try:
        return [float(stratum) for stratum in strata]
    except ValueError:
        return strata


def _check_queries(people: Qrels, machine: Qrels) -> None:
    missing = [query for query in people if query not in machine.text]
    if missing:
        message = f"{len(missing):,} queries that people judged have no judgement of the model: {ids.samples(missing)}"
        hint = "Ask the model for everything to the depth: goldrank judge ask --pool which=all."
        raise InputError(message, where=machine.name, hint=hint)


def _complete(people: Qrels, machine: Qrels, scored: Sequence[Scores], depth: int) -> tuple[list[str], list[Note]]:
    """The queries whose first documents people judged in all runs; and notes about the others."""
    complete = set(people)
    unjudged = 0
    for scores in scored:
        placed: Placed = scores.placed
        for query, docs in zip(placed.placements.queries, placed.top_documents(depth), strict=True):
            if query in complete and any(doc not in people.text[query] for doc in docs):
                complete.discard(query)
            unjudged += sum(doc not in machine.text[query] for doc in docs)

    notes = [Note.of("random-draw", judged=len(complete), queries=len(machine))]
    if len(complete) < len(people):
        partly = [query for query in people if query not in complete]
        notes.append(Note.of("partly-judged-queries", count=len(partly), depth=depth, samples=partly))

    if unjudged:
        notes.append(Note.of("model-holes", count=unjudged, depth=depth))

    if len(complete) < LEAST_JUDGED:
        message = f"people judged {len(complete)} queries to rank {depth}; {LEAST_JUDGED} are needed, and 20 are useful"
        raise InputError(
            message, where=people.name, hint="Judge whole queries: every document of every run to that rank."
        )

    return [query for query in people if query in complete], notes
