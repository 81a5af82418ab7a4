"""Values of systems on the same queries -> every system's mean and every pair's difference, tested and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from goldrank.base.notes import Note
from goldrank.base.packages import special
from goldrank.comparison import intervals, paired, power
from goldrank.comparison.correction import adjust, randomized_tukey
from goldrank.comparison.design import Design, DesignPart
from goldrank.comparison.flips import Flipped, flip, max_t, raw_p, t_of_u, t_of_u_weighted, u_of_t, without_rounding
from goldrank.comparison.intervals import Interval
from goldrank.comparison.pair import Pair
from goldrank.comparison.settings import Statistics
from goldrank.data.scores import SLACK, Column
from goldrank.measures import known

BELOW_SHOWN = 0.001
"""How far the probability of a difference that is not shown stays below the probability of one that is."""


@dataclass(frozen=True)
class MeasureFacts:
    """What a comparison must know about a measure."""

    name: str
    higher_is_better: bool = True
    low: float = -math.inf
    high: float = math.inf
    """The bounds of the values; infinite where there are none."""
    diagnostic: bool = False

    @property
    def reach(self) -> float:
        """The largest possible difference."""
        if self.is_bounded:
            return self.high - self.low
        return math.inf

    @property
    def is_bounded(self) -> bool:
        """Whether the measure has two bounds."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def facts_of(column: Column, values: np.ndarray) -> MeasureFacts:
    """What a column's measure declares. A measure that is not declared, or that exceeds its bounds, has no bounds."""
    measure = known(column.measure)
    if measure is None:
        return MeasureFacts(column.measure, column.higher_is_better)
    declared = measure.declaration
    low, high = declared.low, declared.high
    if column.average == "geometric":
        low, high = _log(low), _log(high)

    counted = values[~np.isnan(values)]
    if len(counted) and (counted.min() < low - SLACK or counted.max() > high + SLACK):
        low, high = -math.inf, math.inf
    return MeasureFacts(column.measure, column.higher_is_better, low, high, declared.diagnostic)


def _log(value: float) -> float:
    if value <= 0:
        return -math.inf
    return math.log(value)


def on_scale(values: np.ndarray, average: str) -> np.ndarray:
    """Values as they are averaged and compared: a geometric mean is a mean of logarithms."""
    with np.errstate(divide="ignore"):
        if average == "geometric":
            return np.asarray(np.log(values))
        return values


@dataclass(frozen=True)
class Compared:
    """What is compared: the values of systems, by which measures, which pairs of systems, and how."""

    names: Sequence[str]
    values: Mapping[str, np.ndarray]
    """Per measure one row per system and one column per query; NaN, in all rows, where a query does not count."""
    replicates: Mapping[str, Sequence[np.ndarray]]
    """Per measure and system its runs as rows, where systems were run several times; else empty."""
    facts: Sequence[MeasureFacts]
    pairs: Sequence[tuple[str, str]]
    statistics: Statistics
    design: Design
    primary: str | None = None
    """The measure that decides; None if all decide together."""

    def counted(self, measure: str) -> np.ndarray:
        """Which queries count."""
        return np.asarray(~np.isnan(self.values[measure][0]))

    def flipped(self, centred: bool = False) -> Flipped:
        """All pairs by each measure under one set of flips; `centred` with each row's mean subtracted."""
        position_of = {name: i for i, name in enumerate(self.names)}
        columns, numbers = [], []
        for measure_number, measure_facts in enumerate(self.facts):
            matrix, counted = self.values[measure_facts.name], self.counted(measure_facts.name)
            # Differences to the first system: those of pairs stay as they are, and rounding is small as in differences.
            differences = np.where(counted, matrix - matrix[0], 0.0)
            if centred:
                means = np.array([self.design.mean(row[counted], counted) for row in differences])
                differences = np.where(counted, differences - means[:, None], 0.0)
            columns.append(self.design.unit_columns(differences))
            numbers += [
                (measure_number * len(matrix) + position_of[a], measure_number * len(matrix) + position_of[b])
                for a, b in self.pairs
            ]

        samples, seed = self.statistics.draws() - 1, self.statistics.seed
        return flip(np.concatenate(columns), np.array(numbers), samples=samples, seed=seed)

    def tested(self) -> list[Pair]:
        """Every pair's difference by each measure, tested by one set of flips and corrected in families."""
        position_of = {name: i for i, name in enumerate(self.names)}
        flipped, statistics = self.flipped(), self.statistics
        combinations = (
            (measure_facts, position_of[a], position_of[b]) for measure_facts in self.facts for a, b in self.pairs
        )
        rows = [_Row(self, flipped, i, *combination) for i, combination in enumerate(combinations)]
        for role in ("", "primary", "secondary"):  # diagnostics are in no family
            family = [row for row in rows if row.role == role]
            if family:
                self._correct(family, flipped)
            if family and statistics.margin is not None:
                self._show_equivalence(family, statistics.margin)

        pairs = [row.pair() for row in rows]
        if statistics.interval == "bounded":
            pairs = self._with_bounded(pairs, rows)

        if self.primary:
            return with_secondaries(pairs)
        return pairs

    def _correct(self, family: Sequence[_Row], flipped: Flipped) -> None:
        """Corrected p-values and critical values of a family."""
        statistics, tests = self.statistics, len(family)
        tested = np.array([row.tested for row in family])
        method, at_most = statistics.used_correction, np.zeros(tests, bool)
        if any(row.method == "replicates" for row in family) and method in ("max-t", "tukey"):
            method = "holm"

        if method == "max-t" and tests > 1:
            numbers = [row.number for row in family]
            demanded = [row.demanded_u for row in family]
            corrected = max_t(flipped, numbers, alpha=statistics.alpha, raw=tested.tolist(), demanded=demanded)
            adjusted, at_most = corrected.adjusted, corrected.at_most
            for row, stage, p in zip(family, corrected.stages.tolist(), corrected.demanded.tolist(), strict=True):
                row.critical_u, row.stage_u, row.demanded_corrected = corrected.critical, stage, p
        elif method == "tukey":
            adjusted, tests = self._tukey(family), math.comb(len(self.names), 2)
        elif method == "max-t":
            adjusted = adjust(tested, "none")
        else:
            adjusted = adjust(tested, method)

        alpha = statistics.alpha
        if method not in ("max-t", "none"):
            alpha = statistics.alpha / tests

        for row, p, bound in zip(family, adjusted.tolist(), at_most.tolist(), strict=True):
            row.adjusted, row.at_most, row.alpha = p, bound, alpha
            row.decide()

    def _tukey(self, family: Sequence[_Row]) -> np.ndarray:
        """Corrected p-values measure by measure, by permutation of all systems."""
        by_measure = {}
        for m, measure in enumerate(dict.fromkeys(row.facts.name for row in family)):
            matrix = self.values[measure][:, self.counted(measure)]
            rng = np.random.default_rng([self.statistics.seed, m, 2])
            by_measure[measure] = randomized_tukey(matrix[None], self.statistics.draws(), rng)[0]
        return np.array([by_measure[row.facts.name][row.a, row.b] for row in family])

    def _show_equivalence(self, family: Sequence[_Row], margin: float) -> None:
        """Corrected p-values of equivalence: two one-sided tests, compared with the family's one-sided maximum."""
        statistics = self.statistics
        t_and_freedom = [row.within(margin) for row in family]
        raw = np.array([float(special.stdtr(freedom, -t)) for t, freedom in t_and_freedom])
        correction = statistics.used_correction
        if len(family) > 1 and all(row.critical_u is not None for row in family):
            numbers = [row.number for row in family]
            maxima = max_t(self.flipped(centred=True), numbers, tail="greater", alpha=statistics.alpha).maxima[1:]
            if self.design.is_plain:
                reached = [u_of_t(t, row.units) for row, (t, _) in zip(family, t_and_freedom, strict=True)]
            else:
                reached = special.ndtri(1 - raw).tolist()
            raw = np.array([(1 + int(np.count_nonzero(maxima >= u))) / (len(maxima) + 1) for u in reached])
        elif correction == "tukey":
            raw = adjust(raw, "holm")
        elif correction not in ("max-t", "none"):
            raw = adjust(raw, correction)

        for row, p in zip(family, raw.tolist(), strict=True):
            row.equivalence = p

    def _with_bounded(self, pairs: Sequence[Pair], rows: Sequence[_Row]) -> list[Pair]:
        """The pairs with intervals that hold whatever the queries lack."""
        changed = list(pairs)
        for measure_facts in self.facts:
            of_measure = [row for row in rows if row.facts is measure_facts]
            differences = np.array([row.differences for row in of_measure])
            alphas = [2 * float(special.stdtr(row.estimate.freedom, -pairs[row.number].critical)) for row in of_measure]
            reach = np.full(len(of_measure), measure_facts.reach)
            bounded = intervals.bounded_intervals(differences, reach, np.array(alphas), seed=self.statistics.seed)
            for row, interval in zip(of_measure, bounded, strict=True):
                changed[row.number] = _with_interval(pairs[row.number], interval)
        return changed


def _with_interval(pair: Pair, interval: Interval) -> Pair:
    """The row with another interval, which must leave out 0 where the row is decided, and only there."""
    if math.isnan(interval.low):
        return replace(pair, interval=interval)
    if not pair.is_decided and pair.role != "diagnostic":
        return replace(pair, interval=interval.with_0())
    if not pair.is_decided or 0 not in interval:
        return replace(pair, interval=interval)
    return held_back(replace(pair, interval=interval), Note.of("interval-reaches-zero"))


def held_back(pair: Pair, note: Note, p_adjusted: float = math.nan) -> Pair:
    """The row, decided no more, for the reason that the note gives: its p-value, interval and probability say so too.

    `p_adjusted` is the p-value of what holds it back; NaN where that is no test.
    """
    likeliest = 1 - pair.statistics.alpha / 2 - BELOW_SHOWN
    return replace(
        pair,
        withheld=True,
        p_adjusted=p_adjusted,
        at_most=False,
        interval=pair.interval.with_0(),
        probability=float(np.clip(pair.probability, 1 - likeliest, likeliest)),
        caveats=(*pair.caveats, note),
    )


class _Row:
    """One measure of one pair, and what is worked out for it step by step."""

    adjusted = math.nan
    at_most = False
    critical_u: float | None = None
    """The family's critical value, where it is corrected by the joint maximum."""
    stage_u: float | None = None
    """The critical value that a row had to pass, after those that were found before it."""
    demanded_corrected: float | None = None
    """The corrected p-value of what is demanded beside the test; None where p-values are corrected."""
    stage = math.nan
    """Student's quantile of the test that found the row."""
    is_found = False
    """Whether the test and the interval say that there is a difference."""
    is_skewed = False
    """Whether the test alone says so."""
    equivalence: float | None = None

    def __init__(self, compared: Compared, flipped: Flipped, number: int, facts: MeasureFacts, a: int, b: int) -> None:
        self.compared = compared
        self.number = number
        self.facts = facts
        self.a, self.b = a, b
        statistics, differences, part = compared.statistics, self.differences, self.part
        self.alpha = statistics.alpha
        """The alpha of a single test that corrects as much, where p-values are corrected."""
        self.estimate = intervals.estimate(differences, *part)
        self.units = len(differences)
        """The units of the row."""
        if part.units is not None:
            self.units = int(part.units.max()) + 1
        self.changed = flipped.differing(number)
        """The units that differ."""

        p, self.method = raw_p(flipped, number)
        self.tested = p
        """The p-value that the verdict goes by, before correction."""
        self.p = {"randomization": p, **self._other_tests(flipped)}
        runs = self._runs
        if runs is not None:
            self.estimate, self.method = intervals.replicated(*runs), "replicates"
            self.tested = self.estimate.p
            # The other tests know nothing of how runs vary.
            self.p = {**dict.fromkeys(self.p, math.nan), "t": self.tested}
        elif statistics.test != "randomization" and not math.isnan(self.p[statistics.test]):
            # Where all differences are the same, t has no answer, and flips have one.
            self.tested, self.method = self.p[statistics.test], "formula"

    def _other_tests(self, flipped: Flipped) -> dict[str, float]:
        """The p-values of the tests that need no flips."""
        if self.compared.design.is_plain:
            unit_values = self.differences
            t_p = paired.t_test(self.differences)
        else:
            unit_values = flipped.row(self.number)
            t_p = math.nan
            if self.estimate.variance > 0:
                t_p = self.estimate.p

        wilcoxon_p, sign_p = paired.wilcoxon_test(unit_values), paired.sign_test(unit_values)
        return {"t": t_p, "wilcoxon": wilcoxon_p, "sign": sign_p}

    @property
    def role(self) -> str:
        """One of `ROLES`."""
        primary = self.compared.primary
        if self.facts.diagnostic:
            return "diagnostic"
        if primary is None:
            return ""
        if self.facts.name == primary:
            return "primary"
        return "secondary"

    @property
    def counted(self) -> np.ndarray:
        """Which queries count."""
        return self.compared.counted(self.facts.name)

    @property
    def part(self) -> DesignPart:
        """Clusters and weights of these."""
        return self.compared.design.part(self.counted)

    @property
    def differences(self) -> np.ndarray:
        """b - a on the queries that count."""
        matrix = self.compared.values[self.facts.name]
        return without_rounding((matrix[self.b] - matrix[self.a])[self.counted])

    @property
    def _runs(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The runs of a and b, if both have several, of more than one query."""
        systems = self.compared.replicates.get(self.facts.name)
        if systems is None or min(len(systems[self.a]), len(systems[self.b])) < 2:
            return None
        counted = self.counted
        if np.count_nonzero(counted) < 2:
            return None
        return systems[self.a][:, counted], systems[self.b][:, counted]

    # The decision: word, p-value and interval follow from it.

    @cached_property
    def demanded_t(self) -> float:
        """Student's quantile at which the interval of the row alone reaches 0, without pseudo-queries.

        It is Hall's interval, which knows skewness, for queries that are drawn one by one and weigh the same.
        """
        if self.method == "replicates" or not self.compared.design.is_plain:
            return abs(self.estimate.t)
        return intervals.hall_t(self.differences)

    @property
    def demanded_u(self) -> float:
        """The quantile as a value of u."""
        t = max(0.0, self.demanded_t)
        if self.compared.design.is_plain or math.isinf(t):
            return u_of_t(t, self.units)
        return float(special.ndtri(special.stdtr(self.estimate.freedom, t)))

    @property
    def demanded_p(self) -> float:
        """The p-value of the quantile, uncorrected."""
        t = self.demanded_t
        if math.isinf(t) or math.isnan(t):
            return 0.0
        return min(1.0, float(2 * special.stdtr(self.estimate.freedom, -t)))

    def decide(self) -> None:
        """Decide by the corrected p-value and by the interval; where the interval reaches 0, its p-value counts.

        Flips are exact for symmetric differences. Skewed ones, such as many small wins and a few large losses, need an
        interval that knows skewness.
        """
        alpha = self.compared.statistics.alpha
        if not self.adjusted <= alpha or self.estimate.mean == 0:
            return
        if self._is_withheld:
            self.at_most = False
            self.adjusted = max(self.adjusted, self.p["randomization"])  # no flip can be rarer
            if self.adjusted <= alpha:
                self.adjusted = math.nan
            return

        corrected, freedom = self.demanded_corrected, self.estimate.freedom
        if corrected is None:
            factor = 1.0
            if self.tested > 0:
                factor = self.adjusted / self.tested
            corrected = min(1.0, factor * self.demanded_p)
            self.stage = intervals.t_quantile(1 - alpha / factor / 2, freedom)
        elif self.stage_u is not None and self.compared.design.is_plain:
            self.stage = t_of_u(self.stage_u, self.units)
        elif self.stage_u is not None:
            self.stage = t_of_u_weighted(self.stage_u, freedom)

        self.is_found = corrected <= alpha and 0 not in self._narrowest()
        if not self.is_found:
            self.is_skewed, self.at_most, self.method = True, False, "hall"
            self.tested = max(self.tested, self.demanded_p)
            self.adjusted = max(corrected, self.tested, math.nextafter(alpha, 1.0))

    def _narrowest(self) -> Interval:
        """The interval that must leave out 0 where the row is found: the test's interval, without pseudo-queries."""
        if self.method == "replicates" or not self.compared.design.is_plain:
            return self.estimate.interval(self.stage)
        return intervals.hall_interval(self.differences, self.stage)

    def _agreeing(self, interval: Interval) -> Interval:
        """The interval, made to leave out 0 if and only if the row is found."""
        if math.isnan(interval.low) or self.role == "diagnostic":
            return interval
        if not self.is_found:
            return interval.with_0()
        if 0 not in interval:
            return interval

        # Pseudo-queries, or rows that were found before it, made it reach 0: its near end comes from its own test.
        narrowest, student = self._narrowest(), self.estimate.interval(self.stage)
        if self.estimate.mean > 0:
            near = min(narrowest.low, student.low)
            if not near > 0:
                near = narrowest.low
            return Interval(near, interval.high)

        near = max(narrowest.high, student.high)
        if not near < 0:
            near = narrowest.high
        return Interval(interval.low, near)

    def _probability(self) -> float:
        """The probability that b is better; as far from 0.5 as the decision says, and no further."""
        estimated, part = self.estimate, self.part
        if self.method != "replicates" and len(self.differences):
            estimated = intervals.estimate(self.differences, *part, intervals.pseudo_queries(self.differences, *part))

        if self.role == "diagnostic" or not self.changed or self.estimate.mean == 0:
            return math.nan

        likelier = power.probability_above_0(estimated, self.facts.reach)
        if not self.estimate.mean > 0:
            likelier = 1 - likelier

        if self.is_found:
            likelier = max(likelier, 1 - self.adjusted / 2)
        else:
            likelier = min(likelier, 1 - self.compared.statistics.alpha / 2 - BELOW_SHOWN)

        is_better = (self.estimate.mean > 0) == self.facts.higher_is_better
        if is_better:
            return likelier
        return 1 - likelier

    def within(self, margin: float) -> tuple[float, float]:
        """Student's t of the difference being within the margin, and its degrees of freedom."""
        if self.method == "replicates":
            return power.t_within(self.estimate, margin), self.estimate.freedom
        return power.equivalence_t(self.differences, margin, self.facts.reach, *self.part)

    def pair(self) -> Pair:
        """The numbers with their interval, and what there is to say of them."""
        compared, facts, estimate, differences = self.compared, self.facts, self.estimate, self.differences
        statistics, counted, critical = compared.statistics, self.counted, self._critical
        interval = self._agreeing(self._interval(critical))
        caveats = self._caveats(interval)
        if self.is_skewed:
            caveats.append(Note.of("interval-reaches-zero"))

        first, second = (compared.values[facts.name][system][counted] for system in (self.a, self.b))
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        if not facts.higher_is_better:
            wins, losses = losses, wins
        difference = estimate.mean
        if not abs(difference) > 1e-15:
            difference = 0.0

        return Pair(
            measure=facts.name,
            a=compared.names[self.a],
            b=compared.names[self.b],
            n=len(differences),
            mean_a=compared.design.mean(first, counted),
            mean_b=compared.design.mean(second, counted),
            difference=difference,
            interval=interval,
            **self._power(critical),
            wins=wins,
            ties=len(differences) - wins - losses,
            losses=losses,
            p=self.tested,
            p_by_test=self.p,
            how=self.method,
            p_adjusted=self.adjusted,
            at_most=self.at_most,
            critical=critical,
            equivalence=self.equivalence,
            role=self.role,
            withheld=self._is_withheld,
            caveats=tuple(caveats),
            higher_is_better=facts.higher_is_better,
            statistics=statistics,
            probability=self._probability(),
        )

    @property
    def _critical(self) -> float:
        """Student's quantile of the interval: the family's, or the usual one."""
        if self.critical_u is None:
            return intervals.t_quantile(1 - self.alpha / 2, self.estimate.freedom)
        if self.compared.design.is_plain:
            return t_of_u(self.critical_u, self.units)
        return t_of_u_weighted(self.critical_u, self.estimate.freedom)

    def _interval(self, critical: float) -> Interval:
        reach = self.facts.reach
        if self.method == "replicates" and self.estimate.variance > 0:
            return self.estimate.interval(critical).cut(-reach, reach)

        options: dict[str, Any] = {"level": 1 - self.alpha}
        if self.critical_u is not None:
            options = {"level": self.compared.statistics.level, "critical": critical}
        return intervals.difference_interval(self.differences, reach=reach, **options, **self.part._asdict())

    def _power(self, critical: float) -> dict[str, Any]:
        """The effect, the smallest difference that would be found, and the queries that this one needs."""
        estimate, statistics, differences = self.estimate, self.compared.statistics, self.differences
        size = estimate.freedom + 1
        # With clusters, weights or replicates the effect is in units of the spread that `size` single queries have.
        spread = 0.0
        if estimate.variance > 0:
            spread = estimate.error * math.sqrt(size)
        if len(differences) < 2 or paired.is_constant(differences) or spread <= 0:
            return {"effect": math.nan, "detectable": math.nan, "queries_needed": None}

        standardized, alpha = estimate.mean / spread, self.alpha
        effect = math.nan
        if self._deviation > 0:
            effect = estimate.mean / self._deviation

        if self.critical_u is not None:
            alpha = 0.0
            if math.isfinite(critical):
                alpha = float(2 * special.stdtr(estimate.freedom, -critical))

        if statistics.test in ("sign", "wilcoxon"):  # they ask for directions and ranks, whatever the mean difference
            return {"effect": effect, "detectable": math.nan, "queries_needed": None}

        detectable = power.detectable_effect(size, statistics.power, alpha) * spread
        # The rarest flip of n units has a chance of 2^(1 - n): with fewer units, no difference is large enough.
        fewest = 2
        if self.method not in ("formula", "replicates") and alpha > 0:
            fewest = 1 + math.ceil(-math.log2(alpha))
        if self.units < fewest or detectable > self.facts.reach:
            detectable = math.nan

        critical_u = None
        if self.compared.design.is_plain:
            critical_u = self.critical_u
        queries = power.queries_needed(standardized, statistics.power, alpha, critical_u)
        if self.method == "replicates":
            queries = None  # more queries do not make runs vary less
        elif queries is not None:
            queries = math.ceil(max(queries, fewest) * len(differences) / size - 1e-9)

        return {"effect": effect, "detectable": detectable, "queries_needed": queries}

    @property
    def _deviation(self) -> float:
        """The standard deviation of the differences over queries, by which d is defined; weighted if queries are."""
        differences, weights = self.differences, self.part.weights
        if weights is None:
            return float(differences.std(ddof=1))
        shares = weights / weights.sum()
        away = differences - float(np.dot(shares, differences))
        return math.sqrt(float(np.dot(shares, away * away)) / (1 - float(np.dot(shares, shares))))

    @property
    def _codes(self) -> Sequence[str]:
        """The codes of what there is to say of the number of units, and of those that differ."""
        clustered = self.compared.design.clusters is not None
        return intervals.caveats(self.changed, self.units, self.compared.statistics.alpha, clustered=clustered)

    @property
    def _is_withheld(self) -> bool:
        """Whether too few queries or clusters differ for any test to decide."""
        return any(code in ("too-few-differ", "too-few-clusters") for code in self._codes)

    def _caveats(self, interval: Interval) -> list[Note]:
        clustered = self.compared.design.clusters is not None
        unit = "queries"
        if clustered:
            unit = "clusters"

        notes = []
        for code in self._codes:
            if code == "none-differs" and math.isnan(interval.high):
                code = "none-differs-unbounded"
            notes.append(Note.of(code, units=self.units, unit=unit, differing=self.changed, end=interval.high))
        return notes


def with_secondaries(pairs: Sequence[Pair]) -> list[Pair]:
    """The rows, with secondary ones decided only if the primary row of their pair is, in the same direction."""
    primary = {(pair.a, pair.b): pair for pair in pairs if pair.role == "primary"}

    changed = []
    for pair in pairs:
        decisive = primary.get((pair.a, pair.b))
        if pair.role == "secondary" and decisive and pair.is_decided and pair.verdict != decisive.verdict:
            p_adjusted = max(pair.p_adjusted, decisive.p_adjusted)
            if decisive.is_decided or math.isnan(decisive.p_adjusted):
                p_adjusted = math.nan  # the primary row goes the other way, or waits for judgements
            pair = held_back(pair, Note.of("primary-undecided", primary=decisive.measure), p_adjusted)
        changed.append(pair)
    return changed
