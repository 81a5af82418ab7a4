"""How scores of different runs are made comparable: one function each, of a query's scores in one run.

A normalisation gets `RankedLists` and gives the value of each entry. To add one: a function here with `@normalisation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError, one_of
from goldrank.fusion.lists import RankedLists, check_finite

Values = tuple[np.ndarray, np.ndarray | None]
"""The value of each entry, and for each list what a document gets that is not in it (None for nothing)."""


@dataclass(frozen=True)
class Normalisation:
    """One way to make scores comparable, with all that is declared of it."""

    name: str
    about: str
    citation: str
    compute: Callable[[RankedLists, float], Values]
    lowest_first: bool = False
    """Whether the lowest score is the best, as with distances."""
    needs_finite: bool = True
    fills: bool = False
    """Whether every list gets every candidate; those that it lacks get what an absent document gets."""

    @property
    def summary(self) -> str:
        """What it does and who proposed it."""
        if self.citation:
            return f"{self.about} ({self.citation})"
        return self.about


NORMALISATIONS: dict[str, Normalisation] = {}
ALIASES = {
    "min_max": "min-max", "min-max-inverted": "inverted", "min_max_inverted": "inverted", "zscore": "z-score",
}  # fmt: skip
"""Other names for normalisations, from tools."""

_LEE = "Lee 1997"
_MONTAGUE = "Montague and Aslam 2001"


def get(name: str) -> Normalisation:
    """A normalisation by its name or another tool's."""
    method_name = name
    if isinstance(name, str):
        method_name = ALIASES.get(name, name)
    return NORMALISATIONS[one_of(method_name, NORMALISATIONS, "normalization")]


def normalised(lists: RankedLists, method: Normalisation, equal: float = 1.0) -> RankedLists:
    """The lists with normalised scores. `equal` is what min-max gives where all scores of a list are equal."""
    if method.needs_finite:
        check_finite(lists)
    values, absent = method.compute(lists, equal)
    if method.fills and absent is not None:
        return _filled(lists, values, absent)
    return replace(lists, score=values, absent=absent)


def normalisation(
    name: str, about: str, citation: str = "", *, lowest_first: bool = False, finite: bool = True, fills: bool = False
) -> Callable[[Callable[[RankedLists, float], Values]], Callable[[RankedLists, float], Values]]:
    """Register a normalisation."""

    def register(compute: Callable[[RankedLists, float], Values]) -> Callable[[RankedLists, float], Values]:
        NORMALISATIONS[name] = Normalisation(name, about, citation, compute, lowest_first, finite, fills)
        return compute

    return register


@normalisation("min-max", "the lowest score of the query 0, the highest 1; equal scores 1", _LEE)
def min_max(lists: RankedLists, equal: float) -> Values:
    low, high = _extremes(lists)
    return _ratio(lists, lists.score - low[lists.list], high - low, equal), None


@normalisation("inverted", "the highest score of the query 0, the lowest 1, for distances; equal scores 1",
               lowest_first=True)  # fmt: skip
def inverted(lists: RankedLists, equal: float) -> Values:
    low, high = _extremes(lists)
    return _ratio(lists, high[lists.list] - lists.score, high - low, equal), None


@normalisation("max", "divided by the highest score of the query, which must be above 0", _LEE)
def max_norm(lists: RankedLists, equal: float) -> Values:
    _, high = _extremes(lists)
    wrong = np.flatnonzero((high[lists.list] <= 0) & (lists.score != 0))
    if len(wrong):
        query, run = divmod(int(lists.list[wrong[0]]), len(lists.runs))
        raise InputError(
            f"no score of query '{ids.show(lists.queries[query])}' is above 0, so that none can be the divisor",
            where=lists.runs[run],
            hint="Use 'min-max', which takes scores of any sign.",
            code="no-positive-score",
        )
    return _ratio(lists, lists.score, high, 0.0), None


@normalisation("sum", "the lowest score of the query 0, and the sum of all 1; equal scores share it", _MONTAGUE)
def sum_norm(lists: RankedLists, equal: float) -> Values:
    low, _ = _extremes(lists)
    above = lists.score - low[lists.list]
    shared = np.divide(equal, lists.length, out=np.zeros(len(above)), where=lists.length > 0)
    return _ratio(lists, above, _sums(lists, above), shared), None


@normalisation("zmuv", "mean 0, standard deviation 1; a document that is not returned gets nothing, which is the mean",
               _MONTAGUE)  # fmt: skip
def zmuv(lists: RankedLists, equal: float) -> Values:
    length = np.maximum(np.diff(lists.start), 1)
    centred = lists.score - (_sums(lists, lists.score) / length)[lists.list]
    low, high = _extremes(lists)
    # Equal scores are recognised by their range: the mean of equal numbers may differ from them by a rounding.
    deviation = np.where(high > low, np.sqrt(_sums(lists, centred**2) / length), 0.0)
    return _ratio(lists, centred, deviation, 0.0), None


@normalisation("z-score", "as zmuv, and a document that is not returned gets what the last one gets")
def z_score(lists: RankedLists, equal: float) -> Values:
    values, _ = zmuv(lists, equal)
    low, _ = _extremes(replace(lists, score=values))
    return values, low


@normalisation("rank", "the first 1, the last 1 / length", _LEE, finite=False)
def rank(lists: RankedLists, equal: float) -> Values:
    return 1 - (lists.rank - 1) / lists.length, None


@normalisation("borda", "the first 1, then down by 1 / candidates; the candidates that a run did not return share "
               "what is left", "Aslam and Montague 2001", finite=False, fills=True)  # fmt: skip
def borda(lists: RankedLists, equal: float) -> Values:
    candidates = np.maximum(lists.candidates, 1)
    absent = 0.5 - (np.diff(lists.start) - 1) / (2 * candidates)
    return 1 - (lists.rank - 1) / candidates[lists.list], absent


@normalisation("none", "scores as they are", finite=False)
def none(lists: RankedLists, equal: float) -> Values:
    return lists.score, None


def _extremes(lists: RankedLists) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest score of each list; 0 for an empty one."""
    full = np.flatnonzero(np.diff(lists.start))
    low, high = np.zeros(len(lists.start) - 1), np.zeros(len(lists.start) - 1)
    if len(full):
        low[full] = np.minimum.reduceat(lists.score, lists.start[full])
        high[full] = np.maximum.reduceat(lists.score, lists.start[full])
    return low, high


def _sums(lists: RankedLists, values: np.ndarray) -> np.ndarray:
    return np.bincount(lists.list, weights=values, minlength=len(lists.start) - 1)


def _ratio(lists: RankedLists, above: np.ndarray, below: np.ndarray, otherwise: float | np.ndarray) -> np.ndarray:
    """Each entry's value divided by its list's, or `otherwise` where that is not above 0."""
    divisor = below[lists.list]
    ratios = np.broadcast_to(np.asarray(otherwise, np.float64), divisor.shape).copy()
    np.divide(above, divisor, out=ratios, where=divisor > 0)
    return ratios


def _filled(lists: RankedLists, values: np.ndarray, absent: np.ndarray) -> RankedLists:
    """The lists with an entry for every candidate. Documents that were not returned share the rank after the last."""
    runs = len(lists.runs)
    size = np.diff(lists.first)
    start = np.concatenate(([0], np.cumsum(np.repeat(size, runs))))
    of_list = np.repeat(np.arange(len(start) - 1), np.diff(start))
    position = np.arange(start[-1]) - start[of_list]

    candidate = lists.first[of_list // runs] + position
    score, rank = absent[of_list], np.diff(lists.start)[of_list] + 1
    returned = start[lists.list] + lists.candidate - lists.first[lists.list // runs]
    score[returned], rank[returned] = values, lists.rank
    return replace(lists, start=start, candidate=candidate, score=score, ranked=lambda: rank, absent=None)
