"""How far judges agree: one function for each coefficient, on arrays.

Grades come with the full scale. A grade that no judge used changes weighted kappa, because its weights depend on the
steps of the scale; so the scale is never guessed from the grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from goldrank.base.errors import InputError, OptionError, one_of
from goldrank.data.qrels import Grade

WEIGHTS = ("none", "linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval")


def confusion(first: Sequence[Grade], second: Sequence[Grade], scale: Sequence[Grade]) -> np.ndarray:
    """How often the first judge gave a grade (row) and the second one (column), in the order of the scale.

    >>> confusion([0, 1, 1], [0, 1, 0], [0, 1]).tolist()
    [[1, 0], [1, 1]]
    """
    if len(first) != len(second):
        raise InputError(f"the first judge has {len(first):,} grades and the second {len(second):,}")
    steps = _steps(scale)
    table = np.zeros((len(scale), len(scale)), np.int64)
    np.add.at(table, (_steps_of(steps, first), _steps_of(steps, second)), 1)
    return table


def kappa(table: np.ndarray, weights: str = "none") -> float:
    """Cohen's kappa of a table of counts, weighted by steps of the scale; NaN where both gave one grade only.

    >>> kappa(np.array([[2, 0], [1, 1]]))
    0.5
    """
    counts = np.asarray(table, np.float64)
    total = counts.sum()
    if not total:
        return math.nan
    distance = 1 - _agreement_weights(len(counts), weights)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0)[None, :] / total
    by_chance = float((distance * expected).sum())
    if by_chance > 0:
        return 1 - float((distance * counts).sum()) / by_chance
    return math.nan


def likely_tables(table: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Tables of shares that may be behind a table of counts, `samples` of them: a Dirichlet posterior.

    One pair is added in total, in equal parts to all cells: judges that never differed in 20 pairs may differ in the
    21st. More than that (a half in each cell) pulls kappa of a scale of 4 grades far down.
    """
    counts = np.asarray(table, np.float64)
    drawn = rng.dirichlet((counts + 1 / counts.size).ravel(), samples)
    return np.asarray(drawn.reshape(samples, *counts.shape))


def gwet(table: np.ndarray, weights: str = "none") -> float:
    """Gwet's AC1, or with weights AC2, of a table of counts: it does not fall where nearly all grades are equal.

    >>> gwet(np.array([[9, 1], [0, 0]])) > kappa(np.array([[9, 1], [0, 0]]))
    True
    """
    counts = np.asarray(table, np.float64)
    total, size = counts.sum(), len(counts)
    if not total or size < 2:
        return math.nan
    near = _agreement_weights(size, weights)
    share = (counts.sum(axis=1) + counts.sum(axis=0)) / (2 * total)
    by_chance = near.sum() / (size * (size - 1)) * float((share * (1 - share)).sum())
    observed = float((near * counts).sum()) / total
    if by_chance < 1:
        return float((observed - by_chance) / (1 - by_chance))
    return math.nan


def alpha(grades: np.ndarray, level: str = "ordinal") -> float:
    """Krippendorff's alpha of judges (rows) and items (columns); NaN in a cell: not judged.

    Items with one grade drop out. NaN where there is no pair of grades, or all grades are equal.
    """
    one_of(level, LEVELS, "level")
    table = np.asarray(grades, np.float64)
    if table.ndim != 2:
        raise InputError(f"grades have {table.ndim} dimensions; they are judges by items")

    judged = ~np.isnan(table)
    paired = judged.sum(axis=0) >= 2
    table, judged = table[:, paired], judged[:, paired]
    if not judged.any():
        return math.nan

    values, code = np.unique(table[judged], return_inverse=True)
    item = np.broadcast_to(np.arange(table.shape[1]), table.shape)[judged]
    counts = np.zeros((table.shape[1], len(values)))
    np.add.at(counts, (item, code), 1)

    pairs = counts.sum(axis=1) - 1
    together = (counts / pairs[:, None]).T @ counts - np.diag((counts / pairs[:, None]).sum(axis=0))
    return _alpha(together, values, level)


def alpha_of_table(table: np.ndarray, scale: Sequence[Grade], level: str = "ordinal") -> float:
    """Krippendorff's alpha of two judges, from their table of counts in the order of the scale.

    >>> alpha_of_table(np.array([[2, 0], [0, 2]]), [0, 1])
    1.0
    """
    one_of(level, LEVELS, "level")
    counts = np.asarray(table, np.float64)
    return _alpha(counts + counts.T, np.array(scale, np.float64), level)


def _alpha(together: np.ndarray, values: np.ndarray, level: str) -> float:
    """Alpha of the coincidences of values."""
    size = together.sum(axis=1)
    if size.sum() <= 1:
        return math.nan
    distance = _distance(values, size, level)
    by_chance = float((size[:, None] * size[None, :] * distance).sum() / (size.sum() - 1))
    if by_chance > 0:
        return 1 - float((together * distance).sum()) / by_chance
    return math.nan


def _distance(values: np.ndarray, size: np.ndarray, level: str) -> np.ndarray:
    if level == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2)
    if level == "nominal":
        return 1 - np.eye(len(values))
    middle = np.cumsum(size) - size / 2  # the grades between two, and half of those at both ends
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def _agreement_weights(size: int, weights: str) -> np.ndarray:
    """1 for equal grades, falling with their distance on the scale."""
    one_of(weights, WEIGHTS, "weights")
    if weights == "none" or size < 2:
        return np.eye(size)
    apart = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]) / (size - 1)
    if weights == "quadratic":
        apart = apart**2
    return np.asarray(1 - apart)


def _steps(scale: Sequence[Grade]) -> dict[Grade, int]:
    steps = {grade: i for i, grade in enumerate(scale)}
    if len(steps) != len(scale) or not steps or sorted(steps) != list(scale):
        message = f"the scale {list(scale)!r:.80} must be all grades, from the lowest to the highest, each once"
        raise OptionError(message)
    return steps


def _steps_of(steps: dict[Grade, int], grades: Sequence[Grade]) -> np.ndarray:
    try:
        return np.array([steps[grade] for grade in grades], np.int64)
    except (KeyError, TypeError):
        wrong = next(grade for grade in grades if isinstance(grade, list | dict | set) or grade not in steps)
        hint = "Give the full scale: scale=[0, 1, 2, 3]."
        raise InputError(f"grade {wrong!r:.40} is not on the scale {list(steps)!r:.80}", hint=hint) from None
