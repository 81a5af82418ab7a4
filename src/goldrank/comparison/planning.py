"""How many queries does it take? For a difference that must be found, and for a gate that must hold.

Everything is after the correction for the family, from a pilot: a comparison of two or more systems on some queries,
whose differences vary as those of the real one will. The family's critical value comes from the pilot's flips of signs;
without a pilot from Bonferroni's bound. Power is that of the t test, which the flips follow closely. A pilot knows only
roughly how much differences vary: chances are means over what their deviation may be in truth (assurance).
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
"""Which are planned for if none is named."""
DROPS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True drops for which a gate's outcomes are told, in tolerances."""


@dataclass(frozen=True)
class QueriesNeeded:
    """How many queries find a difference with the wanted chance."""

    difference: float
    queries: int | None
    """None if not even ten million would."""


@dataclass(frozen=True)
class DetectableDifference:
    """What so many queries find."""

    queries: int
    detectable: float
    """The smallest difference that is found with the wanted chance."""


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


@dataclass(frozen=True, repr=False)
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
        found = []
        for difference, queries in self.needed.items():
            needs = "cannot be found" if queries is None else f"needs {count(queries, 'query')}"
            found.append(f"{difference:g} {needs}")
        return f"{'; '.join(found)} (power {self.power:.0%}, alpha {self.alpha:g})"

    def __repr__(self) -> str:
        return f"Plan({self.words!r})"

    def parts(self) -> list[Part]:
        """What people read."""
        from goldrank.report.plan import parts

        return parts(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row per measure, pair and difference, or number of queries."""
        return [
            {
                **attributes(row, "measure a b deviation"),
                "difference": difference,
                "queries": queries,
                "power": self.power,
                "given": given,
            }
            for row in self.planned
            for difference, queries, given in [
                *((part.difference, part.queries, "difference") for part in row.needed),
                *((part.detectable, part.queries, "queries") for part in row.found),
            ]
        ]

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
    """Say how many queries a difference needs, what so many queries find, and how sure a gate is.

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
        `power` is the chance with which a difference shall be found, `alpha` that of any false finding. By default
        those of the pilot, else the usual ones.

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
    listed = [n_queries] if isinstance(n_queries, int) else as_list(n_queries, "n_queries")
    sizes = [whole_number(n, "n_queries", 2) for n in listed]
    limit, is_relative = (None, False) if tolerance is None else read_tolerance(tolerance)
    if statistics is not None:
        of_type(statistics, Statistics, "statistics", "a Statistics", "For example statistics=Statistics(power=0.9).")
    if pilot is None:
        if limit is not None:
            raise InputError("a gate is planned from a pilot", hint=_GATE_HINT, code="no-pilot")
        whole_number(tests, "tests", 1)
        return _without_pilot(deviation, tests, statistics or Statistics(), differences, sizes)

    of_type(pilot, Comparison, "the pilot", "a comparison", "plan(compare(qrels, runs)).")
    if deviation is not None:
        raise InputError("a pilot has its own deviations", hint="Leave deviation out.", code="options-conflict")
    alpha = pilot.statistics.alpha
    power = pilot.statistics.power if statistics is None else statistics.power
    if statistics is not None and statistics.alpha != alpha:
        what = f"alpha is {statistics.alpha:g}, and the pilot was compared with {alpha:g}"
        hint = f"Compare with compare(..., statistics=Statistics(alpha={statistics.alpha:g}))."
        raise OptionError(what, hint=hint, code="options-conflict")
    chosen = [pair for pair in pilot.pairs if pair.role != "diagnostic"]
    if not chosen:
        raise InputError("the pilot has diagnostics only", hint="Compare by a measure such as nDCG@10.")

    rows = []
    for pair in chosen:
        values = dict(zip(pilot.runs, pilot.values[pair.measure], strict=True))
        varying = _varying(pilot, values[pair.b] - values[pair.a])
        critical = _critical(pair.critical, varying, alpha, len(chosen))
        about = pair.measure, pair.a, pair.b
        rows.append(_planned(about, varying, critical, power, differences, sizes or [varying.n]))
    outcomes = () if limit is None else tuple(_outcomes(pilot, limit, is_relative, sizes or [len(pilot.queries)]))
    return Plan(alpha, power, len(chosen), len(pilot.queries), tuple(rows), outcomes, limit, is_relative)


_GATE_HINT = "plan(compare(...), tolerance='5%')."


def _without_pilot(
    deviation: float | None, tests: int, statistics: Statistics, differences: Sequence[float], sizes: Sequence[int]
) -> Plan:
    """A plan from a deviation that somebody knows or supposes."""
    if deviation is None or not is_number(deviation) or not deviation > 0:
        raise InputError(
            "there is no pilot, and no standard deviation of differences",
            hint="Either plan(compare(...)), or plan(deviation=0.25, tests=6).",
            code="no-pilot",
        )
    critical = _bonferroni(statistics.alpha, tests)
    known = _Varying(0, deviation, math.inf, is_plain=True, sureness=math.inf)
    row = _planned(("", "", ""), known, critical, statistics.power, differences, sizes)
    return Plan(statistics.alpha, statistics.power, tests, None, (row,))


def read_tolerance(given: str | float) -> tuple[float, bool]:
    """A tolerated drop as a number, and whether it is a share of the baseline's mean: '5%', '0.02' or 0.02."""
    text = given.strip() if isinstance(given, str) else shown(given)
    share = text.endswith("%")
    try:
        value = abs(float(text.removesuffix("%")))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OptionError(f"tolerance is {shown(given)}; it must be like '5%' or 0.02", code="bad-tolerance")
    if share:
        return (value / 100, True)
    return (value, False)


def _numbers(given: Any, what: str) -> list[float]:
    numbers: list[Any] = [given] if isinstance(given, Real) else as_list(given, what)
    for number in numbers:
        if not is_number(number) or not number > 0:
            raise OptionError(f"{what} is {shown(number)}; it must be a number greater than 0", code="bad-number")
    return [float(number) for number in numbers]


def _bonferroni(alpha: float, tests: int) -> float:
    return float(special.ndtri(1 - alpha / (2 * tests)))


class _Varying(NamedTuple):
    """How a row of numbers, one per query, varies."""

    n: int
    spread: float
    """The standard deviation of a query; with clusters and weights, that of queries that vary the mean as much."""
    freedom: float
    """Of the test."""
    is_plain: bool
    sureness: float
    """How well the deviation is known, in degrees of freedom; infinite if somebody knows it."""


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
    part = (None, None) if pilot.design is None else pilot.design.part(counted)
    estimated = estimate(row[counted], *part)
    freedom, is_plain = estimated.freedom, pilot.design is None
    sureness = freedom_of_deviation(row[counted]) if is_plain else freedom
    return _Varying(n, math.sqrt(estimated.variance * n), freedom, is_plain, sureness)


def _critical(t: float, varying: _Varying, alpha: float, tests: int) -> float:
    """The family's critical value of u, from the quantile that its intervals have."""
    if not math.isfinite(t):
        return _bonferroni(alpha, tests)
    if varying.is_plain:
        return u_of_t(t, varying.n)
    return float(special.ndtri(special.stdtr(varying.freedom, t)))


def _planned(
    about: tuple[str, str, str], varying: _Varying, critical: float, wanted: float, differences: Sequence[float],
    sizes: Sequence[int],
) -> PlannedRow:  # fmt: skip
    """The row of a measure and two systems. Those that differ on no query of the pilot say nothing of how they will."""
    spread, freedom = varying.spread, varying.sureness
    needed: list[QueriesNeeded] = []
    detectable: list[DetectableDifference] = []
    for difference in differences:
        queries = None
        if spread > 0:
            queries = queries_needed(difference / spread, wanted, critical=critical, freedom=freedom)
        needed.append(QueriesNeeded(difference, queries))

    for n in sizes:
        least = math.nan
        if spread > 0:
            least = detectable_effect(n, wanted, family_alpha(critical, n), freedom) * spread
        detectable.append(DetectableDifference(n, least))
    return PlannedRow(*about, spread, critical, tuple(needed), tuple(detectable))


def _outcomes(pilot: Comparison, limit: float, is_relative: bool, sizes: Sequence[int]) -> list[GateOutcome]:
    """For each measure of the second system against the first (the baseline): chances by true drop and queries."""
    base = pilot.baseline or pilot.runs[0]
    other = next(run for run in pilot.runs if run != base)
    measures = [pair.measure for pair in pilot.pairs if {pair.a, pair.b} == {base, other} and pair.role != "diagnostic"]
    left: dict[str, _GateRow] = {}
    columns = []
    for measure in measures:
        rows = dict(zip(pilot.runs, pilot.values[measure], strict=True))
        column = next(scores for scores in pilot.systems if scores.run == base).columns[measure]
        facts = facts_of(column, pilot.values[measure])
        sign = 1 if facts.higher_is_better else -1
        e = sign * (rows[other] - rows[base]) + limit * (rows[base] if is_relative else 1.0)
        counted = ~np.isnan(e)
        unit = float(rows[base][counted].mean()) if is_relative else 1.0
        most = added_size((rows[other] - rows[base])[counted], facts.reach)
        left[measure] = _GateRow(_varying(pilot, e), unit, most)
        columns.append(np.where(counted, e - e[counted].mean(), 0.0))

    every = np.array(columns)
    if pilot.design is not None:
        every = pilot.design.unit_columns(every)

    alpha = pilot.statistics.alpha
    critical = max_t(flip(every, seed=pilot.statistics.seed), tail="less", alpha=alpha).critical
    drops = [limit * share for share in DROPS] if limit else [0.0, 0.01, 0.02, 0.05]
    return [
        GateOutcome(measure, n, drop, *_chances((limit - drop) * row.unit, row, n, critical, alpha))
        for measure, row in left.items()
        for n in sizes
        for drop in drops
    ]


def _chances(mean: float, row: _GateRow, n: int, critical: float, alpha: float) -> tuple[float, float]:
    """The chances that a mean of e of this size fails, and that it is shown to be above 0."""
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
    shown = 1 - special.nctdtr(n + 1, added / error, float(special.stdtrit(n + 1, 1 - alpha)))
    return fails, float(shown.mean())
