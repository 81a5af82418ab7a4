"""Intervals: one method for the difference of two systems, and one for the mean of one system.

Both are closed forms, without random numbers, chosen by how often they hold the truth on skewed, tied and rare
differences (docs/statistics.md has the tables). Where few queries differ, from 0 or from each other, **pseudo-queries**
are added: one as far up and one as far down as the measure, or the largest difference, reaches. They say what the data
cannot: that a query outside the sample may differ. Clusters and weights change the variance and its freedom, and
nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from goldrank.base.packages import special
from goldrank.comparison.flips import CHUNK, unit_sums, without_rounding

FEW = 20
"""With fewer units that differ, pseudo-queries of the largest difference are added."""
FEWEST_CLUSTERS = 6
"""With fewer clusters there is no verdict."""
FEW_CLUSTERS = 10
BOUNDED_SAMPLES = 10_000
ROUNDING = 1e-12
"""Values that are closer are the same."""


class Interval(NamedTuple):
    """Where a value lies with a stated confidence; NaN where that is not known.

    >>> interval = Interval(-0.2, 0.3)
    >>> interval.low, interval.high
    (-0.2, 0.3)
    >>> interval.cut(0, 1)
    Interval(low=0, high=0.3)
    """

    low: float
    high: float

    def __contains__(self, value: float) -> bool:  # type: ignore[override]
        return self.low <= value <= self.high

    def cut(self, low: float, high: float) -> Interval:
        """The part of it that lies between two bounds.

        Parameters
        ----------
        low, high : float
            The bounds.

        Returns
        -------
        Interval
        """
        return Interval(min(max(self.low, low), high), min(max(self.high, low), high))

    def with_0(self) -> Interval:
        """The interval, widened until it holds 0."""
        return self.with_value(0.0)

    def with_value(self, value: float) -> Interval:
        """The interval, widened until it holds a value."""
        return Interval(min(self.low, value), max(self.high, value))


UNKNOWN = Interval(math.nan, math.nan)


class Estimate(NamedTuple):
    """A mean, its variance as an estimate, and the degrees of freedom of that variance."""

    mean: float
    variance: float
    freedom: float

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    @property
    def t(self) -> float:
        """Student's t; infinite where nothing varies."""
        if self.error > 0:
            return self.mean / self.error
        if self.mean:
            return math.copysign(math.inf, self.mean)
        return 0.0

    @property
    def p(self) -> float:
        """The two-sided p-value of the mean by Student's t."""
        return float(2 * special.stdtr(self.freedom, -abs(self.t)))

    def interval(self, quantile: float) -> Interval:
        """The mean and `quantile` standard errors on either side."""
        if math.isnan(self.variance):
            return UNKNOWN
        half = 0.0
        if self.variance > 0:
            half = quantile * self.error
        return Interval(self.mean - half, self.mean + half)


def estimate(
    values: np.ndarray,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    added: tuple[float, ...] = (),
) -> Estimate:
    """The weighted mean over units (see `flips.unit_sums`), with pseudo-queries of the values `added`.

    Each pseudo-query is a separate unit. It weighs the sum of the squared weights of units, which is the weight of one
    unit if all weigh the same.
    """
    if units is None and weights is None:
        return _plain_estimate(values, added)

    if weights is None:
        weights = np.ones(len(values))
    shares = np.asarray(weights, np.float64)
    shares = shares / shares.sum()
    of_units = unit_sums(shares[None], units)[0]

    if units is None:
        units = np.arange(len(values))
    if added:
        added_share = float(np.dot(of_units, of_units))
        values = np.concatenate((values, added))
        shares = np.concatenate((shares, np.full(len(added), added_share)))
        of_units = np.concatenate((of_units, np.full(len(added), added_share)))
        units = np.concatenate((units, int(units.max()) + 1 + np.arange(len(added))))
        of_units, shares = of_units / shares.sum(), shares / shares.sum()

    mean = float(np.dot(shares, values))
    away = unit_sums((shares * (values - mean))[None], units)[0]
    squares = float(np.dot(of_units, of_units))
    if squares >= 1:
        return Estimate(mean, math.nan, 0.0)
    return Estimate(mean, float(np.dot(away, away)) / (1 - squares), 1 / squares - 1)


def _plain_estimate(values: np.ndarray, added: tuple[float, ...]) -> Estimate:
    """The mean of queries that are drawn one by one and weigh the same."""
    if added:
        values = np.concatenate((values, added))
    n = len(values)
    if not n:
        return Estimate(math.nan, math.nan, -1.0)

    variance = math.nan
    if n > 1:
        variance = float(values.var(ddof=1)) / n
    return Estimate(float(values.mean()), variance, n - 1.0)


def difference_interval(
    differences: np.ndarray,
    *,
    level: float = 0.95,
    reach: float = 1.0,
    critical: float | None = None,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Interval:
    """The interval of a mean difference; `differences` of the queries that count, without NaN.

    `reach` is the measure's range, infinite without bounds; `critical` replaces Student's quantile for simultaneous
    intervals of a family. Ends are those of Student's or of Hall's interval (Hall 1992), which knows skewness,
    whichever lies further out.
    """
    differences = without_rounding(np.asarray(differences, np.float64))
    if not len(differences):
        return UNKNOWN

    changed = differing(differences, units, weights)
    undecided = too_few_to_decide(changed, 1 - level)
    if undecided and math.isfinite(reach):
        added: tuple[float, ...] = (reach, -reach)
    else:
        added = pseudo_queries(differences, units, weights)
    if not math.isfinite(reach) and not changed:
        return UNKNOWN

    estimated = estimate(differences, units, weights, added)
    own_quantile = t_quantile((1 + level) / 2, estimated.freedom)
    quantile = own_quantile
    if critical is not None:
        quantile = critical
    if undecided:  # flips of hardly any units make a quantile near 0, and pseudo-queries are not flipped
        quantile = max(quantile, own_quantile)
    if math.isinf(quantile):
        if math.isfinite(reach):
            return Interval(-reach, reach)
        return UNKNOWN

    student = estimated.interval(quantile).with_value(estimate(differences, units, weights).mean)
    if undecided:  # where no test can decide, 0 is not excluded; without bounds pseudo-queries do not always reach it
        return student.with_0().cut(-reach, reach)
    if units is not None or weights is not None:
        return student.cut(-reach, reach)

    if critical is None:
        quantile = t_quantile((1 + level) / 2, len(differences) - 1)
    hall = hall_interval(differences, quantile)
    return Interval(min(student.low, hall.low), max(student.high, hall.high)).cut(-reach, reach)


def pseudo_queries(
    differences: np.ndarray, units: np.ndarray | None = None, weights: np.ndarray | None = None
) -> tuple[float, ...]:
    """The largest difference and its opposite, where fewer than `FEW` units differ from 0 or from each other."""
    if differing(differences, units, weights) >= FEW and varying(differences, units, weights) >= FEW:
        return ()
    largest = float(np.abs(differences).max(initial=0.0))
    return (largest, -largest)


def hall_interval(values: np.ndarray, quantile: float) -> Interval:
    """Hall's interval of a mean: Student's with its ends moved by the skewness of the values."""
    mean = float(values.mean())
    a, error = _skew_and_error(values)
    if not error > 0:
        return Interval(mean, mean)

    def moved(y: float) -> float:
        if abs(a) < 1e-10:
            return y
        return (float(np.cbrt(1 + 3 * a * (y - a / 2))) - 1) / a

    return Interval(mean - moved(quantile) * error, mean - moved(-quantile) * error)


def hall_t(values: np.ndarray) -> float:
    """Student's quantile at which Hall's interval of a mean just reaches 0; infinite where nothing varies.

    Without skewness it is Student's t, without its sign. It is below that where rare large values lie on the other side
    of 0, of which the next queries may have more.
    """
    mean = float(values.mean())
    skew, error = _skew_and_error(values)
    if not error > 0:
        return math.inf
    t = mean / error
    if abs(skew) < 1e-10:
        return abs(t)
    turned = ((1 + skew * t) ** 3 - 1) / (3 * skew) + skew / 2
    return math.copysign(1.0, t) * turned


def _skew_and_error(values: np.ndarray) -> tuple[float, float]:
    """How far skewness bends Hall's interval, and the standard error; 0 and 0 where nothing varies."""
    n = len(values)
    mean = float(values.mean())
    away = values - mean
    squares = away * away
    of_squares = float(squares.sum())
    spread = math.sqrt(of_squares / max(1, n - 1))
    if n < 3 or spread <= 1e-12 * max(1.0, abs(mean)):
        return 0.0, 0.0
    skewness = float(np.dot(squares, away)) / n / (of_squares / n) ** 1.5 * math.sqrt(n * (n - 1)) / (n - 2)
    return skewness / (3 * math.sqrt(n)), spread / math.sqrt(n)


def mean_interval(
    values: np.ndarray,
    *,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Interval:
    """The interval of one system's mean: Student's with a pseudo-query at each bound of the measure.

    Without bounds (one is infinite) it is plain Student's; NaN for a single value then. Where all values are the same,
    pseudo-queries are 0 and twice the value; NaN if all are 0.
    """
    values = np.asarray(values, np.float64)
    if not len(values):
        return UNKNOWN

    added: tuple[float, ...] = ()
    if math.isfinite(low) and math.isfinite(high):
        added = (low, high)
    elif len(values) > 1 and not varying(values, units, weights):
        added = (0.0, 2 * float(values[0]))
        if not values[0]:
            return UNKNOWN
    estimated = estimate(values, units, weights, added)
    if math.isnan(estimated.variance):
        return UNKNOWN
    interval = estimated.interval(t_quantile((1 + level) / 2, estimated.freedom))
    return interval.cut(low, high)


def bounded_intervals(
    rows: np.ndarray, reach: np.ndarray, alphas: np.ndarray, *, samples: int = BOUNDED_SAMPLES, seed: int = 0
) -> list[Interval]:
    """Intervals that hold whatever the sample lacks, for several rows of differences over the same queries.

    Random weights (Dirichlet) on the values and, for the upper end, on the measure's `reach`, for the lower end on its
    opposite (Gaffke 2005; proved for few cases, simulated for many). `alphas` are 1 - the confidence of each row.
    Queries that a row is not about are NaN.
    """
    rows = np.asarray(rows, np.float64)
    n = rows.shape[1]
    counted = ~np.isnan(rows)
    values, members = without_rounding(np.where(counted, rows, 0.0)), counted.astype(np.float64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 2])))
    sums, masses, bound = np.empty((len(rows), samples)), np.empty((len(rows), samples)), np.empty(samples)

    at_once = max(1, CHUNK // (n + 1))
    for first in range(0, samples, at_once):
        part = slice(first, min(samples, first + at_once))
        drawn = rng.standard_exponential((part.stop - first, n + 1))
        sums[:, part] = values @ drawn[:, 1:].T
        masses[:, part] = members @ drawn[:, 1:].T
        bound[part] = drawn[:, 0]

    intervals = []
    for total, mass, most, alpha in zip(sums, masses, reach, alphas, strict=True):
        if not math.isfinite(most) or not mass.any():
            intervals.append(UNKNOWN)
            continue
        low = np.quantile((total - most * bound) / (mass + bound), alpha / 2)
        high = np.quantile((total + most * bound) / (mass + bound), 1 - alpha / 2)
        intervals.append(Interval(float(low), float(high)))
    return intervals


# Caveats.


def differing(differences: np.ndarray, units: np.ndarray | None = None, weights: np.ndarray | None = None) -> int:
    """How many units differ by more than rounding, with weights scaled to a mean of 1."""
    if weights is not None:
        weights = np.asarray(weights) / np.mean(weights)
    sums = unit_sums(without_rounding(np.asarray(differences, np.float64))[None], units, weights)[0]
    return int(np.count_nonzero(without_rounding(sums)))


def varying(values: np.ndarray, units: np.ndarray | None = None, weights: np.ndarray | None = None) -> int:
    """How many units have another mean than the middle one, by more than rounding."""
    means = np.asarray(values, np.float64)
    if units is not None:
        means = unit_sums(means[None], units, weights)[0] / unit_sums(np.ones((1, len(means))), units, weights)[0]
    away = means - float(np.median(means))
    return int(np.count_nonzero(np.abs(away) > ROUNDING * max(1.0, float(np.abs(means).max()))))


def too_few_to_decide(changed: int, alpha: float = 0.05) -> bool:
    """Whether too few units differ for a flip of signs to be rare enough, whatever their differences."""
    return 2.0 ** (1 - changed) > alpha


def caveats(changed: int, units: int, alpha: float = 0.05, *, clustered: bool = False) -> tuple[str, ...]:
    """Codes of notes on how far a difference can be trusted that `changed` of these units have."""
    codes: list[str] = []
    if clustered and units < FEWEST_CLUSTERS:
        codes.append("too-few-clusters")
    elif clustered and units < FEW_CLUSTERS:
        codes.append("few-clusters")
    if changed == 0:
        codes.append("none-differs")
    elif too_few_to_decide(changed, alpha):
        codes.append("too-few-differ")
    elif changed < FEW:
        codes.append("few-differ")
    return tuple(codes)


# Replicates: several runs of each system.


def replicated(a: np.ndarray, b: np.ndarray) -> Estimate:
    """The difference b - a of systems with two or more runs each: a row per run, a column per query."""
    (runs_a, n), runs_b = a.shape, len(b)
    differences = without_rounding(b.mean(axis=0) - a.mean(axis=0))
    of_a, of_b = (float(runs.mean(axis=1).var(ddof=1)) / len(runs) for runs in (a, b))
    of_queries = float(differences.var(ddof=1)) / n
    interaction = _residual(a) / (n * runs_a) + _residual(b) / (n * runs_b)
    of_runs = of_a + of_b
    variance = max(of_runs + of_queries - interaction, of_runs, of_queries)
    if variance <= (1e-12 * max(1.0, float(np.abs(differences).max()))) ** 2:
        variance = 0.0  # the rounding of equal runs' means

    parts = of_a**2 / (runs_a - 1) + of_b**2 / (runs_b - 1) + of_queries**2 / (n - 1)
    freedom = float(n - 1)
    if parts > 0:
        freedom = max(1.0, variance**2 / parts)

    return Estimate(float(differences.mean()), variance, freedom)


def _residual(runs: np.ndarray) -> float:
    """The mean square of what neither the run nor the query explains."""
    residuals = runs - runs.mean(axis=0) - runs.mean(axis=1, keepdims=True) + runs.mean()
    runs_less_one, queries_less_one = (size - 1 for size in runs.shape)
    return float((residuals**2).sum() / (runs_less_one * queries_less_one))


def percent(share: float) -> str:
    """The confidence of an interval for people: 95%, and 99.9% rather than 100%.

    >>> percent(0.95), percent(0.999), percent(0.975)
    ('95%', '99.9%', '97.5%')
    """
    return f"{100 * share:.10g}%"


def t_quantile(share: float, freedom: float) -> float:
    """Student's quantile; with many degrees of freedom by its series, right to nine digits, which needs no scipy."""
    if freedom <= 0:
        if share > 0.5:
            return math.inf
        return -math.inf
    if freedom < 200 or not 0.001 < share < 0.999:
        return float(special.stdtrit(freedom, share))

    from statistics import NormalDist

    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / freedom ** (i + 1) for i, term in enumerate(terms)))


def wilson(successes: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's interval of a share.

    >>> [round(end, 4) for end in wilson(0, 20)]
    [0.0, 0.1611]
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))

    low = max(0.0, middle - half)
    high = min(1.0, middle + half)
    if successes == 0:
        low = 0.0
    if successes == n:
        high = 1.0
    return Interval(low, high)
