"""Whether a judge agrees with itself: the same question, asked several times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from goldrank.comparison.ppi import wilson
from goldrank.data.qrels import Grade
from goldrank.judgements.agreement import alpha


@dataclass(frozen=True)
class Consistency:
    """How steady a judge is over repeated questions."""

    pairs: int
    """Pairs with two or more answers."""
    alpha: float
    """Krippendorff's, ordinal; NaN if all grades are the same."""
    unanimous: float
    """The share of pairs that always had the same grade, with Wilson's interval."""
    low: float
    high: float


def doubts(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> dict[str, float]:
    """For each query that was asked about several times, the mean distance of the grades of its documents.

    >>> doubts({("q", "a"): [0, 2], ("q", "b"): [1, 1], ("r", "a"): [1]})
    {'q': 1.0}
    """
    apart: dict[str, list[float]] = {}
    for (query, _), grades in repeated.items():
        if len(grades) > 1:
            apart.setdefault(query, []).append(float(max(grades) - min(grades)))
    return {query: float(np.mean(each)) for query, each in apart.items()}


def consistency(repeated: Mapping[tuple[str, str], Sequence[Grade]]) -> Consistency | None:
    """The consistency of all grades of each pair; None if no pair has several.

    >>> consistency({("q", "a"): [0, 0, 1], ("q", "b"): [2, 2, 2], ("q", "c"): [1]}).unanimous
    0.5
    """
    several = [grades for grades in repeated.values() if len(grades) > 1]
    if not several:
        return None
    table = np.full((max(map(len, several)), len(several)), math.nan)
    for at, grades in enumerate(several):
        table[: len(grades), at] = grades
    same = sum(len(set(grades)) == 1 for grades in several)
    return Consistency(len(several), alpha(table), same / len(several), *wilson(same, len(several)))
