"""How many queries does it take? For a difference that must be found, and for a gate that must hold.

Everything is after the correction for the family, from a pilot: a comparison of two or more systems on some queries,
whose differences vary as those of the real one will. The family's critical value comes from the pilot's flips of signs;
without a pilot from Bonferroni's bound. Power is taken from the t test, which the flips follow closely. A pilot knows
only roughly how much differences vary: chances are means over what their deviation may be in truth (assurance).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError, OptionError, as_list, is_number, of_type, whole_number
from goldrank.base.escaping import shown
from goldrank.base.keywords import named_arguments
from goldrank.base.notes import Note
from goldrank.base.packages import special
from goldrank.comparison.flips import flip, max_t, t_of_u, u_of_t
from goldrank.comparison.intervals import estimate
from goldrank.comparison.power import (
    added_size,
    detectable_effect,
    family_alpha,
    freedom_of_deviation,
    queries_needed,
    true_deviations,
)
from goldrank.comparison.result import Comparison
from goldrank.comparison.settings import Statistics
from goldrank.comparison.statistics import facts_of
from goldrank.comparison.tabular import attributes
from goldrank.data.showing import Result
from goldrank.data.table import Part, count

DIFFERENCES = (0.01, 0.02, 0.05)
"""The differences of a plan if the caller names none."""
DROPS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True drops for which a gate's outcomes are planned, in tolerances."""


@dataclass(frozen=True)
class QueriesNeeded:
    """How many queries find a difference with the chance of the plan."""

    difference: float
    queries: int | None
    """None if not even ten million would."""


@dataclass(frozen=True)
class DetectableDifference:
    """What a number of queries finds."""

    queries: int
    detectable: float
    """The smallest difference that is found with the chance of the plan."""


@dataclass(frozen=True)
class PlannedRow:
    """One measure of one pair."""

    measure: str
    a: str
    b: str
    deviation: float
    """The standard deviation of the queries' differences in the pilot."""
    critical: float
    """The family's critical value of u."""
    needed: tuple[QueriesNeeded, ...]
    found: tuple[DetectableDifference, ...]


@dataclass(frozen=True)
class GateOutcome:
    """What a rule says if the truth is a drop of this size: chances that add up to 1."""

    measure: str
    queries: int
    drop: float
    """In the unit of the tolerance: a share of the baseline's mean, or absolute."""
    fails: float
    shown: float
    """Passes, and shows that the drop is within the tolerance."""

    @property
    def unclear(self) -> float:
        """Neither is shown."""
        return max(0.0, 1 - self.fails - self.shown)


@dataclass(frozen=True, repr=False, eq=False)
class Plan(Result):
    """How many queries differences need, and how sure a gate is."""

    alpha: float
    power: float
    tests: int
    """Rows that are corrected together."""
    pilot: int | None
    """Queries of the pilot; None without one."""
    planned: tuple[PlannedRow, ...]
    gate: tuple[GateOutcome, ...] = ()
    tolerance: float | None = None
    is_relative: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def times(self) -> tuple[float, float] | None:
        """How many times as many queries may be needed in truth: least and most, 95% of normal pilots of this size.

        The number goes with the variance, and a pilot's follows chi-square's distribution. None without a pilot.
        """
        if self.pilot is None or self.pilot < 2:
            return None
        freedom = self.pilot - 1
        return float(freedom / special.chdtri(freedom, 0.025)), float(freedom / special.chdtri(freedom, 0.975))

    @property
    def needed(self) -> dict[float, int | None]:
        """For each difference how many queries find it in every row; None if not even ten million would."""
        needed: dict[float, int | None] = {}
        for row in self.planned:
            for part in row.needed:
                before = needed.get(part.difference, 0)
                if before is None or part.queries is None:
                    needed[part.difference] = None
                else:
                    needed[part.difference] = max(before, part.queries)
        return needed

    @property
    def detectable(self) -> dict[int, float]:
        """For each number of queries the smallest difference that they find in every row."""
        detectable: dict[int, float] = {}
        for row in self.planned:
            for part in row.found:
                detectable[part.queries] = max(detectable.get(part.queries, 0.0), part.detectable)
        return detectable

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        sentences = []
        for difference, queries in self.needed.items():
            need = "cannot be found"
            if queries is not None:
                need = f"needs {count(queries, 'query')}"
            sentences.append(f"{difference:g} {need}")
        return f"{'; '.join(sentences)} (power {self.power:.0%}, alpha {self.alpha:g})"

    def __repr__(self) -> str:
        return f"Plan({self.words!r})"

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.plan import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row per measure, pair and difference, or number of queries."""
        records = []
        for row in self.planned:
            for part in row.needed:
                records.append(self._record(row, part.difference, part.queries, "difference"))
            for size in row.found:
                records.append(self._record(row, size.detectable, size.queries, "queries"))
        return records

    def _record(self, row: PlannedRow, difference: float, queries: int | None, known_number: str) -> dict[str, Any]:
        """One flat record; `known_number` names the number that the caller gave, from which the other follows."""
        return {
            **attributes(row, "measure a b deviation"),
            "difference": difference,
            "queries": queries,
            "power": self.power,
            "given": known_number,
        }

    def to_dict(self) -> dict[str, Any]:
        gate = [{**attributes(outcome, "measure queries drop fails shown unclear")} for outcome in self.gate]
        about = attributes(self, "alpha power tests pilot tolerance is_relative")
        return {**about, "rows": self.rows(), "gate": gate}


@named_arguments
def plan(
    pilot: Comparison | None = None,
    *,
    difference: float | Sequence[float] = DIFFERENCES,
    n_queries: int | Sequence[int] = (),
    tolerance: str | float | None = None,
    deviation: float | None = None,
    tests: int = 1,
    statistics: Statistics | None = None,
) -> Plan:
    """Say how many queries a difference needs, what a number of queries finds, and how certain a gate is.

    Parameters
    ----------
    pilot : Comparison, optional
        What `compare` returned for some queries. Its family of tests, and its alpha, are those of the plan.
    difference : float or sequence of float
        Differences that shall be found.
    n_queries : int or sequence of int
        Numbers of queries, to know what they find; by default as many as the pilot has.
    tolerance : str or float, optional
        "5%" of the baseline's mean, or an absolute number: the plan then has what a gate says of the second system for
        true drops of several sizes.
    deviation : float, optional
        Without a pilot: the standard deviation of the queries' differences.
    tests : int
        Without a pilot: how many tests will be corrected together.
    statistics : Statistics, optional
        `power` is the chance with which a difference shall be found, `alpha` the chance of any false finding. By
        default those of the pilot, else the usual ones.

    Returns
    -------
    Plan
        `.needed` has the queries by difference, `.detectable` the difference by number of queries.

    Raises
    ------
    InputError
        If there is neither a pilot nor a deviation, or both.
    OptionError
        If a number is out of its range, or alpha is not the pilot's.

    Examples
    --------
    >>> plan(deviation=0.25, difference=0.05).needed
    {0.05: 199}
    """
    differences = _numbers(difference, "difference")
    if isinstance(n_queries, int):
        n_queries = [n_queries]
    sizes = [whole_number(n, "n_queries", 2) for n in as_list(n_queries, "n_queries")]
    tolerated, is_relative = None, False
    if tolerance is not None:
        tolerated, is_relative = read_tolerance(tolerance)
    if statistics is not None:
        of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(power=0.9).")
    if pilot is None:
        if tolerated is not None:
            raise InputError("a gate is planned from a pilot", hint=_GATE_HINT, code="no-pilot")
        whole_number(tests, "tests", 1)
        return _without_pilot(deviation, tests, statistics or Statistics(), differences, sizes)

    of_type(pilot, Comparison, "the pilot", "a comparison", "plan(compare(qrels, runs)).")
    if deviation is not None:
        raise InputError("a pilot has its own deviations", hint="Leave deviation out.", code="options-conflict")
    alpha = pilot.statistics.alpha
    power = (statistics or pilot.statistics).power
    if statistics is not None and statistics.alpha != alpha:
        message = f"alpha is {statistics.alpha:g}, and the pilot was compared with {alpha:g}"
        hint = f"Compare with compare(..., statistics=Statistics(alpha={statistics.alpha:g}))."
        raise OptionError(message, hint=hint, code="options-conflict")
    chosen = [pair for pair in pilot.pairs if pair.role != "diagnostic"]
    if not chosen:
        raise InputError("the pilot has diagnostics only", hint="Compare by a measure such as nDCG@10.")

    rows = []
    for pair in chosen:
        values = dict(zip(pilot.runs, pilot.values[pair.measure], strict=True))
        variation = _varying(pilot, values[pair.b] - values[pair.a])
        critical = _critical(pair.critical, variation, alpha, len(chosen))
        row_names = pair.measure, pair.a, pair.b
        rows.append(_planned(row_names, variation, critical, power, differences, sizes or [variation.n]))

    outcomes: list[GateOutcome] = []
    if tolerated is not None:
        outcomes = _outcomes(pilot, tolerated, is_relative, sizes or [len(pilot.queries)])
    return Plan(alpha, power, len(chosen), len(pilot.queries), tuple(rows), tuple(outcomes), tolerated, is_relative)


_GATE_HINT = "plan(compare(...), tolerance='5%')."


def _without_pilot(
    deviation: float | None, tests: int, statistics: Statistics, differences: Sequence[float], sizes: Sequence[int]
) -> Plan:
    """A plan from a deviation that the caller knows or supposes."""
    if deviation is None or not is_number(deviation) or not deviation > 0:
        raise InputError(
            "there is no pilot, and no standard deviation of differences",
            hint="Either plan(compare(...)), or plan(deviation=0.25, tests=6).",
            code="no-pilot",
        )
    critical = _bonferroni(statistics.alpha, tests)
    variation = _Varying(0, deviation, math.inf, is_plain=True, sureness=math.inf)
    row = _planned(("", "", ""), variation, critical, statistics.power, differences, sizes)
    return Plan(statistics.alpha, statistics.power, tests, None, (row,))


def read_tolerance(tolerance: str | float) -> tuple[float, bool]:
    """A tolerated drop as a number, and whether it is a share of the baseline's mean: '5%', '0.02' or 0.02."""
    if isinstance(tolerance, str):
        text = tolerance.strip()
    else:
        text = shown(tolerance)
    is_share = text.endswith("%")
    try:
        value = abs(float(text.removesuffix("%")))
    except ValueError:
        value = math.nan

    if not math.isfinite(value):
        raise OptionError(f"tolerance is {shown(tolerance)}; it must be like '5%' or 0.02", code="bad-tolerance")
    if is_share:
        return (value / 100, True)
    return (value, False)


def _numbers(value: Any, name: str) -> list[float]:
    if isinstance(value, Real):
        value = [value]
    numbers: list[Any] = as_list(value, name)
    for number in numbers:
        if not is_number(number) or not number > 0:
            raise OptionError(f"{name} is {shown(number)}; it must be a number greater than 0", code="bad-number")
    return [float(number) for number in numbers]


def _bonferroni(alpha: float, tests: int) -> float:
    return float(special.ndtri(1 - alpha / (2 * tests)))


class _Varying(NamedTuple):
    """How a row of numbers, one per query, varies."""

    n: int
    spread: float
    """The standard deviation of a query; with clusters and weights, of queries that vary the mean as much."""
    freedom: float
    """Of the test."""
    is_plain: bool
    sureness: float
    """How well the deviation is known, in degrees of freedom; infinite if it is given."""


class _GateRow(NamedTuple):
    """What a gate's chances for one measure go by."""

    varying: _Varying
    unit: float
    """What a drop of 1 is in the measure."""
    added: float
    """The size of the two pseudo-queries."""


def _varying(pilot: Comparison, row: np.ndarray) -> _Varying:
    counted = ~np.isnan(row)
    n = int(counted.sum())
    if pilot.design is None:
        estimated = estimate(row[counted])
        sureness = freedom_of_deviation(row[counted])
    else:
        estimated = estimate(row[counted], *pilot.design.part(counted))
        sureness = estimated.freedom

    spread = math.sqrt(estimated.variance * n)
    return _Varying(n, spread, estimated.freedom, pilot.design is None, sureness)


def _critical(t: float, variation: _Varying, alpha: float, tests: int) -> float:
    """The family's critical value of u, from the quantile that its intervals have."""
    if not math.isfinite(t):
        return _bonferroni(alpha, tests)
    if variation.is_plain:
        return u_of_t(t, variation.n)
    return float(special.ndtri(special.stdtr(variation.freedom, t)))


def _planned(
    row_names: tuple[str, str, str], varying: _Varying, critical: float, power: float, differences: Sequence[float],
    sizes: Sequence[int],
) -> PlannedRow:  # fmt: skip
    """The row of a measure and two systems. If they differ on no query of the pilot, nothing is planned for them."""
    spread, freedom = varying.spread, varying.sureness
    needed: list[QueriesNeeded] = []
    detectable: list[DetectableDifference] = []
    for difference in differences:
        queries = None
        if spread > 0:
            queries = queries_needed(difference / spread, power, critical=critical, freedom=freedom)
        needed.append(QueriesNeeded(difference, queries))

    for n in sizes:
        smallest = math.nan
        if spread > 0:
            smallest = detectable_effect(n, power, family_alpha(critical, n), freedom) * spread
        detectable.append(DetectableDifference(n, smallest))
    return PlannedRow(*row_names, spread, critical, tuple(needed), tuple(detectable))


def _outcomes(pilot: Comparison, limit: float, is_relative: bool, sizes: Sequence[int]) -> list[GateOutcome]:
    """For each measure of the second system against the first (the baseline): chances by true drop and queries."""
    base = pilot.baseline or pilot.runs[0]
    candidate = next(run for run in pilot.runs if run != base)
    measures = [
        pair.measure for pair in pilot.pairs if {pair.a, pair.b} == {base, candidate} and pair.role != "diagnostic"
    ]
    gate_rows: dict[str, _GateRow] = {}
    columns = []
    for measure in measures:
        rows = dict(zip(pilot.runs, pilot.values[measure], strict=True))
        column = next(scores for scores in pilot.systems if scores.run == base).columns[measure]
        facts = facts_of(column, pilot.values[measure])
        differences = rows[candidate] - rows[base]
        gains = differences
        if not facts.higher_is_better:
            gains = -differences
        if is_relative:
            above_limit = gains + limit * rows[base]
        else:
            above_limit = gains + limit

        counted = ~np.isnan(above_limit)
        unit = 1.0
        if is_relative:
            unit = float(rows[base][counted].mean())
        added = added_size(differences[counted], facts.reach)
        gate_rows[measure] = _GateRow(_varying(pilot, above_limit), unit, added)
        columns.append(np.where(counted, above_limit - above_limit[counted].mean(), 0.0))

    unit_rows = np.array(columns)
    if pilot.design is not None:
        unit_rows = pilot.design.unit_columns(unit_rows)

    alpha = pilot.statistics.alpha
    critical = max_t(flip(unit_rows, seed=pilot.statistics.seed), tail="less", alpha=alpha).critical
    drops = [0.0, 0.01, 0.02, 0.05]
    if limit:
        drops = [limit * share for share in DROPS]
    return [
        GateOutcome(measure, n, drop, *_chances((limit - drop) * row.unit, row, n, critical, alpha))
        for measure, row in gate_rows.items()
        for n in sizes
        for drop in drops
    ]


def _chances(mean: float, row: _GateRow, n: int, critical: float, alpha: float) -> tuple[float, float]:
    """The chances that a mean of this size above the limit fails, and that it is shown to be above 0."""
    if not row.varying.spread > 0:
        return math.nan, math.nan
    spread = row.varying.spread * true_deviations(row.varying.sureness)
    limit = t_of_u(critical, n)
    fails = 0.0
    if math.isfinite(limit):
        fails = float(special.nctdtr(n - 1, mean / spread * math.sqrt(n), -limit).mean())

    # Two pseudo-queries are added, as far up and down as the largest difference.
    added = mean * n / (n + 2)
    squares = (n - 1) * spread**2 + n * (mean - added) ** 2 + 2 * row.added**2 + 2 * added**2
    error = np.sqrt(squares / (n + 1) / (n + 2))
    passes = 1 - special.nctdtr(n + 1, added / error, float(special.stdtrit(n + 1, 1 - alpha)))
    return fails, float(passes.mean())
