"""Values from model judgements, corrected by human ones: prediction-powered inference with a tuned weight.

n units (queries, or clusters of them) drawn at random were judged by people to the measure's depth, and have a human
value Y and a model value F; u others have F alone. The estimate is mean(Y) + L (mean of F of the others - mean of F of
the judged). L is tuned (PPI++, Angelopoulos, Duchi and Zrnic 2023); its variance takes each judged unit out once and
tunes L again, and the interval is Student's with n - 1 degrees: plain formulas are too narrow for few units. Where the
interval is wider than 1.05 times the interval of the human values alone, the human values are reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.packages import stats
from goldrank.comparison.intervals import wilson
from goldrank.comparison.paired import is_constant

GUARD = 1.05
LEAST_UNITS = 20
"""Below it coverage was not tested, and human values alone are better."""
LEAST_RHO = 0.3
"""Below it the model saves less than a tenth of the people's work."""
LEAST_BINARY = 100
"""Judged units that two-valued measures need."""
LEAST_DISAGREEMENTS = 5
"""Units where model and people differ that two-valued measures need."""


@dataclass(frozen=True)
class CorrectedMean:
    """A mean with its interval and its method."""

    method: str
    """'corrected', 'human' (Student's on the human values alone) or 'wilson' (0/1 measures, human values alone)."""
    why: str
    """Why the human values alone were taken; empty if they were not."""
    estimate: float
    low: float
    high: float
    human: float
    human_low: float
    human_high: float
    model: float
    """The mean of the model's values over all units, without a correction."""
    weight: float
    """L: 0 if the model does not count, 1 if its values count fully."""
    rho: float
    """The correlation of human and model values over the judged units; NaN if either is constant."""
    judged: int
    others: int
    effective: float
    """The human units that would give as narrow an interval."""

    def holds(self, value: float) -> bool:
        """Whether a value is in the interval."""
        return self.low <= value <= self.high

    def negated(self) -> CorrectedMean:
        """The mean with the opposite sign: the difference of two runs in the other order."""
        return replace(
            self,
            estimate=-self.estimate,
            low=-self.high,
            high=-self.low,
            human=-self.human,
            human_low=-self.human_high,
            human_high=-self.human_low,
            model=-self.model,
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Reasons not to rely on the model here."""
        doubts = []
        if self.judged < LEAST_UNITS:
            doubts.append(f"people judged {self.judged}, and coverage was tested from {LEAST_UNITS} on")
        if math.isnan(self.rho) or self.rho < LEAST_RHO:
            doubts.append(f"human and model values correlate by {self.rho:.2f}: below {LEAST_RHO} a model saves little")
        return tuple(doubts)


def tuned_weight(human: np.ndarray, model: np.ndarray, elsewhere: np.ndarray) -> float:
    """L = cov(Y, F) / ((1 + n/u) var(F)), within 0 and 1; 0 where F is constant."""
    together = np.concatenate((model, elsewhere))
    spread = 0.0
    if len(together) > 1:
        spread = float(np.var(together, ddof=1))
    if spread <= 0 or len(human) < 2 or not len(elsewhere):
        return 0.0
    shared = float(np.cov(human, model, ddof=1)[0, 1])
    return min(1.0, max(0.0, shared / ((1 + len(human) / len(elsewhere)) * spread)))


def corrected_mean(
    human: np.ndarray,
    model: np.ndarray,
    elsewhere: np.ndarray,
    *,
    level: float = 0.95,
    two_valued: bool | None = None,
    is_difference: bool = False,
) -> CorrectedMean:
    """The mean of human values over all units, from people on some of them and a model on all.

    `human` and `model` are the values of the same judged units, `elsewhere` the model's values of the others. With
    `two_valued` (by default where all values are 0 or 1) human values alone are reported below 100 judged units, and
    from there on where fewer than 5 units differ: by Wilson's interval, or Student's for differences.
    """
    y, f, f_elsewhere = (np.asarray(values, np.float64) for values in (human, model, elsewhere))
    if len(y) != len(f):
        raise InputError(f"there are {len(y):,} human values and {len(f):,} of the model for them")
    if len(y) < 2:
        raise InputError(f"{len(y)} units judged by people are too few", hint="Two are needed, and 20 to correct.")
    if not (np.isfinite(y).all() and np.isfinite(f).all() and np.isfinite(f_elsewhere).all()):
        raise InputError("a value is NaN or infinite", hint="Leave out queries for which a measure has no value.")

    n, u = len(y), len(f_elsewhere)
    weight = tuned_weight(y, f, f_elsewhere)
    mean = float(y.mean())
    center = mean
    if u:
        center = mean + weight * (float(f_elsewhere.mean()) - float(f.mean()))
    t = student(level, n - 1)
    human_half = t * float(np.std(y, ddof=1)) / math.sqrt(n)
    if is_constant(y) and u:
        human_half = half_of_equal(n, level)
    half = t * math.sqrt(_variance(y, f, f_elsewhere, weight))

    if two_valued is None:
        two_valued = _is_two_valued(y, f, f_elsewhere)
    method, why = chosen(y, f, u, weight, two_valued, half > GUARD * human_half)
    human_ends = (mean - human_half, mean + human_half)
    if method == "wilson" and _is_two_valued(y) and not is_difference:
        human_ends = wilson(float(y.sum()), n, level)
    elif method == "wilson":
        method = "human"  # differences of two-valued values are not shares

    rho = correlation(y, f)
    estimate, ends, used_weight, effective = mean, human_ends, 0.0, float(n)
    if method == "corrected":
        estimate, ends, used_weight = center, (center - half, center + half), weight
        if rho > 0:
            effective = effective_units(n, u, rho)

    return CorrectedMean(
        method=method,
        why=why,
        estimate=estimate,
        low=ends[0],
        high=ends[1],
        human=mean,
        human_low=human_ends[0],
        human_high=human_ends[1],
        model=float(np.concatenate((f, f_elsewhere)).mean()),
        weight=used_weight,
        rho=rho,
        judged=n,
        others=u,
        effective=effective,
    )


def half_of_equal(n: int, level: float) -> float:
    """Half of the interval of n equal units, which is not 0: two units at a distance of 1 are added for it.

    >>> round(half_of_equal(50, 0.95), 4)
    0.0551
    """
    return student(level, n + 1) * math.sqrt(2 / (n + 1) / (n + 2))


def chosen(
    y: np.ndarray, f: np.ndarray, unjudged: int, weight: float, two_valued: bool, wider: bool
) -> tuple[str, str]:
    """The method of an estimate, and why the human values alone are taken; the reason is empty if they are not."""
    if not unjudged:
        return "human", "people judged all of them"
    if two_valued and len(y) < LEAST_BINARY:
        return "wilson", f"a two-valued measure with fewer than {LEAST_BINARY} judged units"
    if two_valued and int((y != f).sum()) < LEAST_DISAGREEMENTS:
        return "wilson", f"a two-valued measure with fewer than {LEAST_DISAGREEMENTS} disagreements"
    if not weight:
        return "human", "the model tells nothing about the human values"
    if wider:
        return "human", "the model would make the interval wider"
    return "corrected", ""


def correlation(human: np.ndarray, model: np.ndarray) -> float:
    """The correlation of human and model values; NaN if either is constant."""
    if np.std(human) > 0 and np.std(model) > 0:
        return float(np.corrcoef(human, model)[0, 1])
    return math.nan


def effective_units(n: int, u: int, rho: float) -> float:
    """n / (1 - rho^2 u / (n + u)): the human units that would give as narrow an interval.

    >>> round(effective_units(50, 950, 0.5), 2)
    65.57
    """
    return n / (1 - rho**2 * u / (n + u))


def cluster_values(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """A value for each cluster, in the order of their names; the mean of these values is the mean of the queries.

    A cluster of twice the usual size is twice as far from the mean as its queries are. All distances are a little
    longer still, because a mean of clusters of different sizes varies more than a mean of equal ones.

    >>> float(cluster_values(np.array([1.0, 1.0, 1.0, 0.0]), np.array(["a", "a", "a", "b"])).mean())
    0.75
    """
    _, code = np.unique(cluster, return_inverse=True)
    size = np.bincount(code)
    count, mean = len(size), values.mean()
    share = size / size.sum()
    off = np.bincount(code, values - mean) * count / size.sum()
    uneven = 1.0
    if count > 1:
        uneven = (1 - 1 / count) / (1 - float((share**2).sum()))
    return np.asarray(mean + off * math.sqrt(uneven))


def _variance(y: np.ndarray, f: np.ndarray, f_elsewhere: np.ndarray, weight: float) -> float:
    """(n-1)/n sum (t_i - mean t)^2 + L^2 var(F of the others)/u; t_i is the estimate without unit i, L tuned again."""
    n, u = len(y), len(f_elsewhere)
    if u < 2:
        return float(np.var(y, ddof=1)) / n
    left = leave_one_out(y, f, f_elsewhere)
    return float((n - 1) / n * ((left - left.mean()) ** 2).sum() + weight**2 * np.var(f_elsewhere, ddof=1) / u)


def leave_one_out(y: np.ndarray, f: np.ndarray, f_elsewhere: np.ndarray) -> np.ndarray:
    """The estimate without each judged unit, L tuned again each time; from sums, so that the work is linear.

    The variance of F is over all units each time: the model's value of a unit is known, judged by people or not.
    """
    n, u = len(y), len(f_elsewhere)
    m = n - 1
    y, f_all = y - y.mean(), np.concatenate((f, f_elsewhere))
    shift, spread = f_all.mean(), float(np.var(f_all, ddof=1))
    f, f_elsewhere = f - shift, f_elsewhere - shift

    y_mean, f_mean = (y.sum() - y) / m, (f.sum() - f) / m
    weight = np.zeros(n)
    if m >= 2 and spread > 0:
        shared = ((y * f).sum() - y * f - m * y_mean * f_mean) / (m - 1)
        weight = (shared / ((1 + m / u) * spread)).clip(0.0, 1.0)
    return np.asarray(y_mean + weight * (f_elsewhere.mean() - f_mean))


def student(level: float, degrees: float) -> float:
    """The number of standard errors on either side of an interval."""
    return float(stats.t.ppf((1 + level) / 2, degrees))


def _is_two_valued(*values: np.ndarray) -> bool:
    return all(bool(np.isin(array, (0.0, 1.0)).all()) for array in values)
