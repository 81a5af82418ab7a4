"""Queries in strata: which of them people should judge next, and the corrected mean of a stratified sample.

Strata are groups of queries that are known for all queries, for example by how much two answers of the judge differ.
Within a stratum every query must have had the same chance to be judged. The estimate is the sum over strata of their
share times (L mean of F of all their queries + mean of Y - L F of the judged ones), with Y people's and F the model's
value of a query. Its variance is var(Y)/N, because the queries are a sample themselves, and a stratified jackknife that
tunes L again without each judged query; the interval is Student's with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import InputError
from goldrank.comparison.paired import is_constant
from goldrank.judging.ppi import (
    GUARD,
    CorrectedMean,
    chosen,
    correlation,
    effective_units,
    half_of_equal,
    student,
)

COUNT = 5
"""Strata that numbers are cut into."""
LEAST_EACH = 4
"""Judged queries that every stratum needs."""
COMMON = 8
"""The weight, in queries, of the common deviation that the deviation of each stratum is drawn towards. Without it a
stratum whose first few queries are alike would get no more, and its interval would be too narrow
(benchmarks/judges.py strata)."""


def strata_of(values: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """The stratum of each query, numbered from 0, and the names of strata. Many different numbers are cut into five.

    >>> strata_of(["easy", "hard", "easy"])
    (array([0, 1, 0]), ['easy', 'hard'])
    >>> strata_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])[0].tolist()
    [0, 0, 1, 2, 3, 4]
    """
    are_numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    if not are_numbers or len(set(values)) <= COUNT:
        names = sorted(set(map(str, values)))
        stratum_of = {name: i for i, name in enumerate(names)}
        return np.array([stratum_of[str(value)] for value in values], np.int64), names

    # Equal numbers stay together, in the stratum of the first of them.
    numbers = np.array(values, np.float64)
    ordered = np.sort(numbers)
    code = np.searchsorted(ordered, numbers) * COUNT // len(numbers)
    used = np.unique(code)
    names = [f"{numbers[code == number].min():g} to {numbers[code == number].max():g}" for number in used.tolist()]
    return np.searchsorted(used, code), names


def stratified_mean(
    human: np.ndarray, model: np.ndarray, positions: np.ndarray, stratum: np.ndarray, *, level: float, two_valued: bool
) -> CorrectedMean:
    """The mean of human values over all queries.

    `model` and `stratum` are of all queries, `human` of those at `positions`.
    """
    size = np.bincount(stratum)
    groups = [np.flatnonzero(stratum[positions] == number) for number in range(len(size))]
    too_small = [len(group) for number, group in enumerate(groups) if len(group) < min(LEAST_EACH, size[number])]
    if too_small:
        message = f"in a stratum people judged {min(too_small)} queries; each needs {LEAST_EACH}"
        hint = "Draw them by next_queries of corrected_values(..., drawn='random'), which draws within the strata."
        raise InputError(message, hint=hint, code="few-in-stratum")

    y, f, n, total = human, model[positions], len(positions), len(model)
    sample = _Sample(
        parts=[(y[group], f[group]) for group in groups],
        size=size,
        judged=np.array(list(map(len, groups)), np.float64),
        means=np.bincount(stratum, model) / size,
    )
    weight = sample.tuned_weight()
    alone, together = sample.estimate(0.0), sample.estimate(weight)
    half = student(level, together.freedom) * math.sqrt(together.variance)
    human_half = student(level, alone.freedom) * math.sqrt(alone.variance)
    if is_constant(y) and n < total:
        human_half = half_of_equal(n, level)

    method, why = chosen(y, f, total - n, weight, two_valued, half > GUARD * human_half)
    if method == "wilson":  # a sum of shares of strata has no Wilson interval
        method = "human"

    rho = correlation(y, f)
    value, width, used_weight, effective = alone.center, human_half, 0.0, float(n)
    if method == "corrected":
        value, width, used_weight = together.center, half, weight
        if rho > 0:
            effective = effective_units(n, total - n, rho)

    return CorrectedMean(
        method=method,
        why=why,
        estimate=value,
        low=value - width,
        high=value + width,
        human=alone.center,
        human_low=alone.center - human_half,
        human_high=alone.center + human_half,
        model=float(model.mean()),
        weight=used_weight,
        rho=rho,
        judged=n,
        others=total - n,
        effective=effective,
    )


class _Estimate(NamedTuple):
    center: float
    variance: float
    freedom: float
    """Degrees of freedom."""


@dataclass
class _Sample:
    """A stratified sample: per stratum, the judged queries and the sizes."""

    parts: list[tuple[np.ndarray, np.ndarray]]
    """People's and the model's values of the judged queries."""
    size: np.ndarray
    judged: np.ndarray
    means: np.ndarray
    """The model's mean over all queries."""

    def __post_init__(self) -> None:
        self.share = self.size / self.size.sum()
        self.open_share = 1 - self.judged / self.size
        self.tuning = np.where(self.judged > 1, self.share**2 * self.open_share / self.judged, 0.0)
        self.covariance = np.array([_covariance(y, f) for y, f in self.parts])
        self.model_variance = np.array([_variance(f) for _, f in self.parts])

    def tuned_weight(self) -> float:
        """L, from 0 to 1, that makes the sum over strata of tuning var(Y - L F) least."""
        below = float(self.tuning @ self.model_variance)
        if below <= 0:
            return 0.0
        return min(1.0, max(0.0, float(self.tuning @ self.covariance) / below))

    def estimate(self, weight: float) -> _Estimate:
        """The estimate with a weight L of the model."""
        n, strata = int(self.judged.sum()), len(self.parts)
        center = first = second = 0.0
        for share, mean, (y, f) in zip(self.share, self.means, self.parts, strict=True):
            center += share * (weight * mean + (y - weight * f).mean())
            first += share * y.mean()
            second += share * (y**2).mean()
        spread = max(0.0, float(second) - float(first) ** 2) * n / max(1, n - 1)

        terms = self.open_share * np.array([self._jackknifed(i, tuned=weight > 0) for i in range(strata)])
        freedom = float(n - strata)
        below = float((terms**2 / np.maximum(self.judged - 1, 1)).sum())
        if below > 0:
            freedom = float(terms.sum()) ** 2 / below

        variance = spread / int(self.size.sum()) + float(terms.sum())
        return _Estimate(float(center), variance, max(1.0, min(freedom, n - strata)))

    def _jackknifed(self, number: int, tuned: bool) -> float:
        """(n-1)/n sum (t_i - mean t)^2 over the judged queries of a stratum; t_i is the estimate without query i.

        L is tuned again each time if it is `tuned`; otherwise it is 0.
        """
        y, f = self.parts[number]
        n = len(y)
        if n < 2:
            return 0.0

        m = n - 1
        y_mean, f_mean = (y.sum() - y) / m, (f.sum() - f) / m
        other_strata = [i for i in range(len(self.parts)) if i != number]
        weight = np.zeros(n)
        if tuned:
            covariance, variance = _moments_without_each(y, f)
            tuning = self.tuning
            above = tuning[other_strata] @ self.covariance[other_strata] + tuning[number] * covariance
            below = tuning[other_strata] @ self.model_variance[other_strata] + tuning[number] * variance
            weight = np.divide(above, below, out=np.zeros(n), where=below > 0).clip(0.0, 1.0)

        fixed = np.array([self.parts[i][0].mean() for i in other_strata]) @ self.share[other_strata]
        moved = np.array([self.means[i] - self.parts[i][1].mean() for i in other_strata]) @ self.share[other_strata]
        own = self.share[number] * (y_mean + weight * (self.means[number] - f_mean))
        left = fixed + weight * moved + own
        return float(m / n * ((left - left.mean()) ** 2).sum())


def _moments_without_each(y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The covariance of Y and F, and the variance of F, without each of the queries."""
    m = len(y) - 1
    if m < 2:
        return np.zeros(len(y)), np.zeros(len(y))
    x, z = y - y.mean(), f - f.mean()
    x_mean, z_mean = -x / m, -z / m
    covariance = ((x * z).sum() - x * z - m * x_mean * z_mean) / (m - 1)
    variance = ((z * z).sum() - z * z - m * z_mean**2) / (m - 1)
    return covariance, variance


def allocated(size: np.ndarray, spread: np.ndarray, judged: np.ndarray, count: int) -> np.ndarray:
    """How many more queries of each stratum to judge, `count` in all: four of each, then where most is gained.

    What one more judged query takes off the variance goes by (size x spread)^2 / (n (n + 1)), which comes to Neyman's
    allocation.

    >>> allocated(np.array([100, 100]), np.array([1.0, 3.0]), np.array([4, 4]), 12).tolist()
    [1, 11]
    """
    have = judged.astype(np.float64).copy()
    for _ in range(min(count, int((size - judged).sum()))):
        short = np.where(have < size, LEAST_EACH - have, -np.inf)
        gain = np.where(have < size, (size * np.maximum(spread, 1e-12)) ** 2 / (np.maximum(have, 1) * (have + 1)), -1.0)
        most_useful = int(np.argmax(gain))
        if short.max() > 0:
            most_useful = int(np.argmax(short))
        have[most_useful] += 1
    return np.asarray((have - judged).astype(np.int64))


def spreads(residuals: np.ndarray, stratum: np.ndarray, count: int) -> np.ndarray:
    """The deviation of the residuals in each stratum, drawn towards the deviation of all.

    >>> spreads(np.array([1.0, -1.0, 1.0, -1.0, 0.0]), np.array([0, 0, 0, 0, 1]), 2).round(4).tolist()
    [1.0445, 1.0]
    """
    stratum, residuals = stratum[~np.isnan(residuals)], residuals[~np.isnan(residuals)]
    usual = 1.0
    if len(residuals) > 1:
        usual = float(np.var(residuals, ddof=1))

    groups = [residuals[stratum == number] for number in range(count)]
    known = np.array([max(len(group) - 1, 0) for group in groups])
    own = np.array([_variance(group) for group in groups])
    return np.asarray(np.sqrt((known * own + COMMON * usual) / (known + COMMON)))


def _variance(values: np.ndarray) -> float:
    if len(values) > 1:
        return float(np.var(values, ddof=1))
    return 0.0


def _covariance(first: np.ndarray, second: np.ndarray) -> float:
    if len(first) > 1:
        return float(np.cov(first, second, ddof=1)[0, 1])
    return 0.0
