"""Measures made from a model of a user who reads down the list and stops: BPM, INSQ, INST, NERR, SDCG.

Each says with what chance the user goes on from rank i to rank i + 1 (C). From that follows the share of
attention that each rank gets (W), and the measure is the gain under that share. Moffat, Bailey, Scholer and
Thomas 2017 call this the C/W/L framework. RBP is one of them too, and stands with the other gains.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.base.packages import special
from goldrank.data.placements import Placements
from goldrank.measures.declare import measure
from goldrank.measures.options import Number
from goldrank.measures.weights import discounted

CELLS = 2_000_000
"""The number of ranks that are in memory at a time."""
_GRADE = Number(low=-1e7, high=1e7)
_OPTIONS = {
    "T": Number(low=0.001, high=1_000_000),
    "p": Number(low=0, high=1),
    "min_rel": _GRADE,
    "max_rel": _GRADE,
    "depth": Number(low=1, high=1_000_000, whole=True),
}
_measure = partial(measure, options=_OPTIONS)
_nerr = partial(
    _measure,
    avoid="Comparison with ERR in the literature.",
    cite="Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L: Exploring the relationship between ERR and others",
)
Continuation = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From the gains at ranks and the ranks (1, 2, ...) to the chances to go on."""


def unit_gain(grade: np.ndarray, min_rel: float, max_rel: float) -> np.ndarray:
    """Grades as gains from 0 (at `min_rel` and below) to 1 (at `max_rel` and above)."""
    if min_rel >= max_rel:
        raise MeasureError(f"min_rel is {min_rel}, which is not below max_rel, {max_rel}")
    return np.asarray((np.clip(np.maximum(grade, 0), min_rel, max_rel) - min_rel) / (max_rel - min_rel))


def expected_gain(p: Placements, goes_on: Continuation, depth: int, min_rel: float, max_rel: float) -> np.ndarray:
    """Per query, the gain of a document drawn with the attention that each of the first `depth` ranks gets."""
    gain = unit_gain(p.grade, min_rel, max_rel)
    values = np.zeros(len(p))
    step = max(1, CELLS // depth)
    rank = np.arange(1, depth + 1)
    for low in range(0, len(p), step):
        high = min(low + step, len(p))
        gains = np.zeros((high - low, depth))
        rows = np.arange(p.start[low], p.start[high])
        rows = rows[p.rank[rows] <= depth]
        gains[p.query[rows] - low, p.rank[rows] - 1] = gain[rows]
        weight = np.ones_like(gains)
        np.cumprod(goes_on(gains, rank)[:, :-1], axis=1, out=weight[:, 1:])
        values[low:high] = (weight * gains).sum(axis=1) / weight.sum(axis=1)

    return values


def _patience(position: np.ndarray) -> np.ndarray:
    """The chance to go on of a user who becomes more patient the further down."""
    return np.asarray(((position - 1.0) / position) ** 2.0)


@_measure(
    "BPM",
    cutoff="needed",
    formula="BPM@k = mean gain of the documents up to the one at which the gain reaches T, or up to rank k",
    use="Users stop when they have enough, or when they have no patience left.",
    avoid="How much is enough is not known.",
    cite="Zhang, Liu, Li, Zhang, Xu and Ma 2017, Evaluating web search with a bejeweled player model",
)
def bejeweled(p: Placements, *, k: int, T: float = 1.0, min_rel: float = 0, max_rel: float = 1) -> np.ndarray:
    """The gain per document of a user who wants a total of `T` and gives up after k documents.

    Gains go from 0 at `min_rel` to 1 at `max_rel`; unjudged documents gain 0.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "BPM@10")["BPM@10"]
    0.5
    """
    return expected_gain(
        p, lambda gain, rank: ((np.cumsum(gain, axis=1) < T) & (rank < k)).astype(np.float64), k, min_rel, max_rel
    )


@_measure(
    "INSQ",
    formula="INSQ: the chance to go on from rank i is ((i + 2T - 1) / (i + 2T))^2",
    use="Users who want T relevant documents, and become more patient the further they have come.",
    avoid="The gain found on the way should matter; use INST.",
    cite="Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process",
    monotone=True,
)
def insq(p: Placements, *, T: float = 1.0, min_rel: float = 0, max_rel: float = 1, depth: int = 1000) -> np.ndarray:
    """The gain per document of a user whose patience depends on rank and on the `T` documents wanted.

    Gains go from 0 at `min_rel` to 1 at `max_rel`; the user reads no further than `depth`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["a"]}, "INSQ(depth=2)")["INSQ(depth=2)"], 4)
    0.6923
    """
    return expected_gain(
        p, lambda gain, rank: np.broadcast_to(_patience(rank + 2.0 * T), gain.shape), depth, min_rel, max_rel
    )


@partial(measure, options=_OPTIONS | {"T": Number(low=0.5, high=1_000_000)})(
    "INST",
    formula="INST: the chance to go on from rank i is ((i + T + t - 1) / (i + T + t))^2, where t = T - gain so far",
    use="Users who want a gain of T, and adapt to what they have found.",
    avoid="How much is wanted is not known.",
    cite="Moffat, Bailey, Scholer and Thomas 2015, INST: An adaptive metric for information retrieval evaluation",
)
def inst(p: Placements, *, T: float = 1.0, min_rel: float = 0, max_rel: float = 1, depth: int = 1000) -> np.ndarray:
    """The gain per document of a user whose patience depends on how much of `T` is still missing.

    Gains go from 0 at `min_rel` to 1 at `max_rel`; the user reads no further than `depth`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["a"]}, "INST(depth=2)")["INST(depth=2)"], 4)
    0.8
    """
    return expected_gain(
        p, lambda gain, rank: _patience(rank + T + (T - np.cumsum(gain, axis=1))), depth, min_rel, max_rel
    )


@_nerr(
    "NERR8",
    cutoff="needed",
    formula="NERR8@k: the chance to go on from rank i < k is 1 - gain(i)",
    use="Like ERR, users stop once satisfied; as a C/W/L measure, up to rank k.",
)
def nerr8(p: Placements, *, k: int, min_rel: float = 0, max_rel: float = 1) -> np.ndarray:
    """The gain per document of a user who stops once satisfied or at rank k.

    Gains go from 0 at `min_rel` to 1 at `max_rel`.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "NERR8@10")["NERR8@10"]
    0.5
    """
    return expected_gain(p, lambda gain, rank: np.where(rank < k, 1.0 - gain, 0.0), k, min_rel, max_rel)


@_nerr(
    "NERR9",
    cutoff="needed",
    formula="NERR9@k: the chance to go on from rank i < k is i / (i + 1) * (1 - gain(i))",
    use="Like ERR, users stop once satisfied and lose patience as 1/rank does; up to rank k.",
)
def nerr9(p: Placements, *, k: int, min_rel: float = 0, max_rel: float = 1) -> np.ndarray:
    """The gain per document of a user who stops once satisfied, with attention falling as 1/rank.

    Gains go from 0 at `min_rel` to 1 at `max_rel`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "NERR9@2")["NERR9@2"], 4)
    0.3333
    """
    return expected_gain(
        p, lambda gain, rank: np.where(rank < k, rank / (rank + 1.0) * (1.0 - gain), 0.0), k, min_rel, max_rel
    )


@_nerr(
    "NERR10",
    formula="NERR10: the chance to go on from rank i is p * (1 - gain(i))",
    use="Like ERR, users stop once satisfied; otherwise they go on with probability p, as in RBP.",
)
def nerr10(
    placements: Placements, *, p: float = 0.9, min_rel: float = 0, max_rel: float = 1, depth: int = 1000
) -> np.ndarray:
    """The gain per document of a user who stops once satisfied and else goes on with probability `p`.

    Gains go from 0 at `min_rel` to 1 at `max_rel`; the user reads no further than `depth`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "NERR10(p=0.5)")["NERR10(p=0.5)"], 4)
    0.3333
    """
    return expected_gain(placements, lambda gain, rank: p * (1.0 - gain), depth, min_rel, max_rel)


@_nerr(
    "NERR11",
    formula="NERR11: the chance to go on from rank i is ((i + 2T - 1) / (i + 2T))^2 * (1 - gain(i))",
    use="Like ERR, users stop once satisfied; otherwise they are as patient as in INSQ.",
)
def nerr11(p: Placements, *, T: float = 1.0, min_rel: float = 0, max_rel: float = 1, depth: int = 1000) -> np.ndarray:
    """The gain per document of a user who stops once satisfied and else is patient as one who wants `T`.

    Gains go from 0 at `min_rel` to 1 at `max_rel`; the user reads no further than `depth`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "NERR11")["NERR11"], 4)
    0.3077
    """
    return expected_gain(p, lambda gain, rank: _patience(rank + 2.0 * T) * (1.0 - gain), depth, min_rel, max_rel)


@_measure(
    "SDCG",
    cutoff="needed",
    formula="SDCG@k = sum over ranks r <= k of gain(r) / log2(r + 1), divided by the sum of 1 / log2(r + 1)",
    use="nDCG where more relevant documents surely exist than were judged: the ideal has k perfect ones.",
    avoid="Queries have few relevant documents: even a perfect ranking stays far below 1.",
    cite="Moffat, Bailey, Scholer and Thomas 2017, Incorporating user expectations and behavior into measurement",
    monotone=True,
)
def scaled_dcg(p: Placements, *, k: int, min_rel: float = 0, max_rel: float = 1) -> np.ndarray:
    """DCG as a share of the DCG of k perfect documents.

    Gains go from 0 at `min_rel` to 1 at `max_rel`.

    >>> round(evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "SDCG@2")["SDCG@2"], 4)
    0.6131
    """
    value = discounted(unit_gain(p.grade, min_rel, max_rel), p.rank)

    # Ranks beyond a million add next to nothing and are summed as an integral would.
    near = min(k, 1_000_000)
    ideal = float(np.cumsum(discounted(1.0, np.arange(1, near + 1)))[-1])
    if k > near:
        ideal += float(_li(k + 1.5) - _li(near + 1.5))
    return p.sum(np.where(p.rank <= k, value, 0.0)) / ideal


def _li(x: float) -> float:
    """The integral of 1 / log2, up to a constant."""
    return float(np.log(2.0) * special.expi(np.log(x)))
