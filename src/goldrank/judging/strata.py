"""Queries in strata: which of them people should judge next, and the corrected mean of a sample that was drawn so.

Strata are groups of queries that are known for all of them, for example by how much two askings of the judge differ.
Within a stratum every query must have had the same chance to be judged. The estimate is the sum over strata of their
share times (L mean of F of all their queries + mean of Y - L F of the judged ones), with Y people's and F the model's
value of a query. Its variance is var(Y)/N for the queries being a sample themselves, and a stratified jackknife that
tunes L anew without each judged query; the interval is Student's with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

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
"""Queries of the common deviation that each stratum's is drawn towards. A pilot of few queries that happen to be alike
would else get no more of them, and its interval would be too narrow (benchmarks/judges.py strata)."""


def strata_of(values: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """The stratum of each query, numbered from 0, and what they are called. Many different numbers are cut into five.

    >>> strata_of(["easy", "hard", "easy"])
    (array([0, 1, 0]), ['easy', 'hard'])
    >>> strata_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])[0].tolist()
    [0, 0, 1, 2, 3, 4]
    """
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    if not numbers or len(set(values)) <= COUNT:
        names = sorted(set(map(str, values)))
        place = {name: i for i, name in enumerate(names)}
        return np.array([place[str(value)] for value in values], np.int64), names
    # Equal numbers stay together: their stratum is that of the first of them.
    given = np.array(values, np.float64)
    ordered = np.sort(given)
    code = np.searchsorted(ordered, given) * COUNT // len(given)
    used = np.unique(code)
    names = [f"{given[code == number].min():g} to {given[code == number].max():g}" for number in used.tolist()]
    return np.searchsorted(used, code), names


def stratified_mean(
    human: np.ndarray, model: np.ndarray, at: np.ndarray, stratum: np.ndarray, *, level: float, two_valued: bool
) -> CorrectedMean:
    """The mean of human values over all queries. `model` and `stratum` are of all of them, `human` of those `at`."""
    size = np.bincount(stratum)
    groups = [np.flatnonzero(stratum[at] == number) for number in range(len(size))]
    few = [len(group) for number, group in enumerate(groups) if len(group) < min(LEAST_EACH, size[number])]
    if few:
        what = f"in a stratum people judged {min(few)} queries; each needs {LEAST_EACH}"
        hint = "Draw them by next_queries of corrected_values(..., drawn='random'), which draws within the strata."
        raise InputError(what, hint=hint, code="few-in-stratum")
    y, f, n, total = human, model[at], len(at), len(model)
    share, judged = size / total, np.array([len(group) for group in groups], np.float64)
    open_share = 1 - judged / size
    parts = [(y[group], f[group]) for group in groups]
    tuning = np.where(judged > 1, share**2 * open_share / judged, 0.0)
    shared = np.array([float(np.cov(a, b, ddof=1)[0, 1]) if len(a) > 1 else 0.0 for a, b in parts])
    of_model = np.array([_variance(b) for _, b in parts])
    # L that makes the sum over strata of tuning var(Y - L F) least.
    if (below := float(tuning @ of_model)) > 0:
        weight = min(1.0, max(0.0, float(tuning @ shared) / below))
    else:
        weight = 0.0
    means = np.bincount(stratum, model) / size

    def estimated(weight: float) -> tuple[float, float, float]:
        """Estimate, variance and degrees of freedom."""
        center = float(sum(
            part * (weight * mean + (a - weight * b).mean())
            for part, mean, (a, b) in zip(share, means, parts, strict=True)
        ))  # fmt: skip
        terms = np.array([
            open_share[i] * _jackknifed(i, parts, share, means, (tuning, shared, of_model) if weight > 0 else None)
            for i in range(len(parts))
        ])  # fmt: skip
        second = float(sum(part * (a**2).mean() for part, (a, _) in zip(share, parts, strict=True)))
        first = float(sum(part * a.mean() for part, (a, _) in zip(share, parts, strict=True)))
        spread = max(0.0, second - first**2) * n / max(1, n - 1)
        own = float((terms**2 / np.maximum(judged - 1, 1)).sum())
        if own > 0:
            freedom = float(terms.sum()) ** 2 / own
        else:
            freedom = n - len(parts)

        return center, spread / total + float(terms.sum()), max(1.0, min(freedom, n - len(parts)))

    alone, center = estimated(0.0), estimated(weight)
    half, human_half = (student(level, freedom) * math.sqrt(variance) for _, variance, freedom in (center, alone))
    if is_constant(y) and n < total:
        human_half = half_of_equal(n, level)
    method, why = chosen(y, f, total - n, weight, two_valued, half > GUARD * human_half)
    if method == "wilson":  # shares of strata have no such interval
        method = "human"
    else:
        method = method
    corrected = method == "corrected"
    value, width = (center[0], half) if corrected else (alone[0], human_half)
    rho = correlation(y, f)
    return CorrectedMean(
        method, why, value, value - width, value + width, alone[0], alone[0] - human_half, alone[0] + human_half,
        float(model.mean()), weight if corrected else 0.0, rho, n, total - n,
        effective_units(n, total - n, rho) if corrected and rho > 0 else float(n),
    )  # fmt: skip


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
        have[int(np.argmax(short)) if short.max() > 0 else int(np.argmax(gain))] += 1
    return np.asarray((have - judged).astype(np.int64))


def spreads(rest: np.ndarray, stratum: np.ndarray, count: int) -> np.ndarray:
    """The deviation in each stratum of what the model does not tell, drawn towards that of all.

    >>> spreads(np.array([1.0, -1.0, 1.0, -1.0, 0.0]), np.array([0, 0, 0, 0, 1]), 2).round(4).tolist()
    [1.0445, 1.0]
    """
    stratum, rest = stratum[~np.isnan(rest)], rest[~np.isnan(rest)]
    if len(rest) > 1:
        usual = float(np.var(rest, ddof=1))
    else:
        usual = 1.0
    groups = [rest[stratum == number] for number in range(count)]
    known = np.array([max(len(group) - 1, 0) for group in groups])
    own = np.array([_variance(group) for group in groups])
    return np.asarray(np.sqrt((known * own + COMMON * usual) / (known + COMMON)))


def _variance(values: np.ndarray) -> float:
    if len(values) > 1:
        return float(np.var(values, ddof=1))
    return 0.0


def _jackknifed(
    number: int,
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    share: np.ndarray,
    means: np.ndarray,
    moments: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
) -> float:
    """(n-1)/n sum (t_i - mean t)^2 over the judged queries of a stratum; t_i is the estimate without query i.

    L is tuned anew from what it was tuned by, `moments`; without them it is 0.
    """
    a, b = parts[number]
    n = len(a)
    if n < 2:
        return 0.0
    m = n - 1
    a_mean, b_mean = (a.sum() - a) / m, (b.sum() - b) / m
    weight = np.zeros(n)
    others = [i for i in range(len(parts)) if i != number]
    if moments is not None:
        tuning, shared, of_model = moments
        x, z = a - a.mean(), b - b.mean()
        own_shared = own_spread = np.zeros(n)
        if m > 1:
            x_mean, z_mean = -x / m, -z / m
            own_shared = ((x * z).sum() - x * z - m * x_mean * z_mean) / (m - 1)
            own_spread = ((z * z).sum() - z * z - m * z_mean**2) / (m - 1)
        above = tuning[others] @ shared[others] + tuning[number] * own_shared
        below = tuning[others] @ of_model[others] + tuning[number] * own_spread
        weight = np.divide(above, below, out=np.zeros(n), where=below > 0).clip(0.0, 1.0)
    fixed = np.array([parts[i][0].mean() for i in others]) @ share[others]
    moved = np.array([means[i] - parts[i][1].mean() for i in others]) @ share[others]
    left = fixed + weight * moved + share[number] * (a_mean + weight * (means[number] - b_mean))
    return float(m / n * ((left - left.mean()) ** 2).sum())
