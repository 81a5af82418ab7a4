"""Measures of graded relevance: DCG, nDCG, RBP, ERR."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from goldrank.data.placements import Placements, log2
from goldrank.errors import MeasureError
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import Choice, Flag, Number, measure

GAIN = Choice(("linear", "exp2", "binary"), mapping=True)
DISCOUNT = Choice(("log2", "log2_from_2"))
_JK = "Jarvelin and Kekalainen 2002, Cumulated gain-based evaluation of IR techniques"


def gains(grade: np.ndarray, gain: str | Mapping[int, float], rel: float, negative: str = "none") -> np.ndarray:
    """What each grade is worth. Negative grades are worth nothing unless they are to be kept."""
    if isinstance(gain, Mapping):
        worth = np.where(grade > 0, grade, 0).astype(np.float64)
        for level, value in gain.items():
            worth[grade == level] = value
        return worth
    positive = grade if negative == "keep" else np.maximum(grade, 0)
    if gain == "exp2":
        powers: np.ndarray = np.exp2(positive) - 1.0
        return powers
    if gain == "binary":
        return (grade >= rel).astype(np.float64)
    return positive.astype(np.float64)


def discounted(gain: np.ndarray, rank: np.ndarray, discount: str) -> np.ndarray:
    """Gain divided by log2(rank + 1), or by log2(max(rank, 2)) for the form that spares the first two ranks."""
    value: np.ndarray = gain / log2(rank + 1 if discount == "log2" else np.maximum(rank, 2))
    return value


@measure(
    "DCG",
    high=np.inf,
    formula="DCG@k = sum over ranks r <= k of gain(r) / log2(r + 1)",
    use="Follow one system over time on the same queries; see what an nDCG is made of.",
    avoid="Comparing queries with each other: the scale depends on how much there is to find.",
    cite=_JK,
    options={"gain": GAIN, "discount": DISCOUNT, "negative": Choice(("none", "keep"))},
)
def dcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: str | Mapping[int, float] = "linear",
    discount: str = "log2",
    negative: str = "none",
) -> np.ndarray:
    """Discounted cumulative gain: grades summed, each divided by log2(rank + 1).

    `gain` is "linear" (the grade), "exp2" (2^grade - 1), "binary" (1 from `rel` up) or a mapping from
    grade to gain. `discount="log2_from_2"` is the original form with ranks 1 and 2 undiscounted. Negative
    grades gain nothing; `negative="keep"` takes them as they are, as losses.

    >>> evaluate({"q": {"a": 3}}, {"q": ["a"]}, "DCG")["DCG"]
    3.0
    """
    value = discounted(gains(p.grade, gain, rel, negative), p.rank, discount)
    return p.sum(value if k is None else np.where(p.rank <= k, value, 0.0))


def ideal_dcg(
    p: Placements, k: int | None, rel: float, gain: str | Mapping[int, float], discount: str, negative: str, ideal: str
) -> np.ndarray:
    """The DCG of the best order of the judged documents, or of those that were retrieved."""
    if ideal == "judged" and not isinstance(gain, Mapping):  # grades are in order, and gains rise with them
        query, worth, rank = p.judged_query, gains(p.judged, gain, rel, negative), p.judged_rank
    else:
        query, grade = (p.judged_query, p.judged) if ideal == "judged" else (p.query, p.grade)
        worth = gains(grade, gain, rel, negative)
        order = np.lexsort((-worth, query))
        query, worth = query[order], worth[order]
        rank = np.arange(1, len(query) + 1) - np.searchsorted(query, np.arange(len(p)))[query]
    value = discounted(worth, rank, discount)
    return np.bincount(query, weights=value if k is None else np.where(rank <= k, value, 0.0), minlength=len(p))


@measure(
    "nDCG",
    formula="nDCG@k = DCG@k / (DCG@k of the ideal order of all judged documents)",
    use="The first choice for graded judgements: order matters, and better documents matter more.",
    avoid="Judgements are binary and only the first hit counts (use RR), or most documents are unjudged.",
    cite=_JK,
    aliases=("ndcg_cut", ("ndcg_burges", {"gain": "exp2"})),
    options={
        "gain": GAIN,
        "discount": DISCOUNT,
        "ideal": Choice(("judged", "retrieved")),
        "cut_ideal": Flag(),
        "negative": Choice(("none", "keep")),
    },
)
def ndcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: str | Mapping[int, float] = "linear",
    discount: str = "log2",
    ideal: str = "judged",
    cut_ideal: bool = True,
    negative: str = "none",
) -> np.ndarray:
    """DCG as a share of the best possible, which makes queries comparable.

    `gain`, `discount` and `negative` are those of DCG. `ideal="retrieved"` takes the best order of what was
    retrieved, so that missing documents cost nothing; `cut_ideal=False` does not cut the ideal at k. Where even
    the ideal gains nothing, or less than nothing with `negative="keep"`, the value is 0.

    >>> evaluate({"q": {"a": 1, "b": 3}}, {"q": ["b", "a"]}, "nDCG@10")["nDCG@10"]
    1.0
    """
    best = ideal_dcg(p, k if cut_ideal else None, rel, gain, discount, negative, ideal)
    return ratio(dcg(p, k=k, rel=rel, gain=gain, discount=discount, negative=negative), np.maximum(best, 0.0))


def powers(base: float, exponent: np.ndarray) -> np.ndarray:
    """Powers by the C library: numpy's own may differ in the last bit on some machines."""
    distinct, which = np.unique(exponent, return_inverse=True)
    found: np.ndarray = np.array([float(base) ** n for n in distinct.tolist()], np.float64)[which]
    return found


@measure(
    "RBP",
    formula="RBP@k = (1 - p) * sum over ranks r <= k of gain(r) * p^(r - 1)",
    use="A user goes on to the next document with probability p; the rest shows what judging more could change.",
    avoid="Comparing with values made with another p.",
    cite="Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness",
    options={"p": Number(low=0, high=1), "rel": Number(low=-1e9, high=1e9, optional=True)},
)
def rank_biased(placements: Placements, *, k: int | None, rel: float | None = None, p: float = 0.9) -> np.ndarray:
    """Expected gain per document seen by a user who goes on with probability p.

    Without `rel`, a document gains its grade divided by the query's highest grade (trec_eval 10's
    intention); with `rel`, it gains 1 if its grade is at least that.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "RBP(p=0.5)")["RBP(p=0.5)"]
    0.625
    """
    if rel is not None:
        worth = (placements.grade >= rel).astype(np.float64)
    else:
        highest = np.zeros(len(placements))
        some = np.diff(placements.judged_start) > 0
        highest[some] = placements.judged[placements.judged_start[:-1][some]]
        worth = np.maximum(placements.grade, 0) / np.maximum(highest, 1)[placements.query]
    value = worth * powers(p, placements.rank - 1) * (1.0 - p)
    return placements.sum(value if k is None else np.where(placements.rank <= k, value, 0.0))


@measure(
    "ERR",
    formula="ERR@k = sum over ranks r <= k of R(r)/r * product over s < r of (1 - R(s)), "
    "where R = (2^grade - 1) / 2^max_grade",
    use="Users stop once satisfied, so that a good document makes those below it matter less.",
    avoid="Users want many documents; grades are binary.",
    cite="Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance",
    options={"max_grade": Number(low=1, high=1000, whole=True)},
)
def expected_reciprocal_rank(p: Placements, *, k: int | None, max_grade: int = 4) -> np.ndarray:
    """The expected reciprocal rank at which a user is satisfied.

    `max_grade` is the top of the grading scale; a higher grade in the qrels is an error.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a"]}, "ERR(max_grade=1)")["ERR(max_grade=1)"]
    0.5
    """
    highest = p.judged.max(initial=0)
    if highest > max_grade:
        raise MeasureError(
            f"ERR: the qrels have grade {highest}, above max_grade={max_grade}",
            hint=f"Spell it ERR(max_grade={highest}) if that is the top of your scale.",
        )
    satisfied = (np.exp2(np.maximum(p.grade, 0)) - 1.0) / 2.0**max_grade
    # The chance to arrive at a document is a running product within its query, made rank by rank.
    arrive = np.ones(len(satisfied))
    position = p.cumulate(np.ones(len(satisfied), bool))
    for at in range(2, int(position.max(initial=1)) + 1):
        rows = np.flatnonzero(position == at)
        arrive[rows] = arrive[rows - 1] * (1.0 - satisfied[rows - 1])
    value = arrive * satisfied / p.rank
    return p.sum(value if k is None else np.where(p.rank <= k, value, 0.0))
