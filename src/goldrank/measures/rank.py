"""Measures of where relevant documents stand: RR, AP, GMAP, Rprec, IPrec."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.placements import Placements, log2
from goldrank.measures.cutoff import ratio, tie_groups
from goldrank.measures.declare import measure, monotone
from goldrank.measures.options import Choice, Numbers
from goldrank.measures.trec_names import ELEVEN

GEOMETRIC_FLOOR = 0.00001
_by_places = partial(monotone, texts="places")


def _expected_reciprocal_rank(p: Placements, *, k: int | None, rel: float) -> np.ndarray:
    values = np.zeros(len(p))
    done = np.zeros(len(p), bool)
    for query, first, size, relevant, _ in tie_groups(p, rel):
        if done[query]:
            continue
        done[query] = True
        others = size - relevant
        # The chance that the first document of the group is relevant; then of each next one, if none before it was.
        chance = relevant / size
        for offset in range(others + 1):
            if k is not None and first + offset > k:
                break
            values[query] += chance / (first + offset)
            if offset < others:
                chance *= (others - offset) / (size - 1 - offset)

    return values


@monotone(
    "RR",
    formula="RR@k = 1 / (rank of the first relevant document), 0 if it is beyond k",
    use="Users want one good answer and stop at it.",
    avoid="Several documents matter, or differences below the first hit do.",
    cite="Voorhees 1999, The TREC-8 question answering track report",
    aliases=("MRR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    ties=_expected_reciprocal_rank,
    holes="first",
)
def reciprocal_rank(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """One over the rank of the first relevant document; its mean is MRR.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "RR")["RR"]
    0.5
    """
    is_hit = p.grade >= rel
    if k is not None:
        is_hit &= p.rank <= k
    return ratio(np.ones(len(p)), p.first(is_hit))


def _mean_precision(
    total: np.ndarray, is_hit: np.ndarray, p: Placements, k: int | None, rel: float, divisor: str
) -> np.ndarray:
    """A sum of precisions divided as `divisor` says: by the number of hits, of all relevant documents, or by k."""
    if divisor == "hits":
        return ratio(total, p.count(is_hit))
    if divisor == "k" and k is not None:
        return total / k
    if divisor == "k":
        return ratio(total, p.retrieved)
    relevant = p.relevant(rel)
    if divisor == "min" and k is not None:
        relevant = np.minimum(relevant, k)
    return ratio(total, relevant)


def grouped_average_precision(p: Placements, *, k: int | None, rel: float, divisor: str) -> np.ndarray:
    """Equal scores are one step: each relevant document counts the precision at the last rank of its group."""
    if k is not None:
        raise MeasureError("AP over groups of equal scores has no cut-off", hint="A cut-off would part such a group.")
    total = np.zeros(len(p))
    for query, first, size, relevant, before in tie_groups(p, rel):
        total[query] += relevant * (before + relevant) / (first + size - 1)
    return _mean_precision(total, p.grade >= rel, p, k, rel, divisor)


def _expected_average_precision(p: Placements, *, k: int | None, rel: float, divisor: str) -> np.ndarray:
    if divisor == "hits" and k is not None:
        raise MeasureError('AP(divisor="hits") with a cut-off has no closed form over ties', code="no-closed-form")

    total = np.zeros(len(p))
    for query, first, size, relevant, before in tie_groups(p, rel):
        end = first + size
        if k is not None:
            end = min(end, k + 1)
        rank = np.arange(first, end)
        relevant_share = 0.0
        if size > 1:
            relevant_share = (relevant - 1) / (size - 1)
        above = (rank - first) * relevant_share
        total[query] += float(((relevant / size) * (before + 1 + above) / rank).sum())
    return _mean_precision(total, p.grade >= rel, p, k, rel, divisor)


@_by_places(
    "AP",
    formula="AP@k = (sum of P@r over the ranks r <= k of relevant documents) / (all relevant documents)",
    use="Every relevant document counts, those further up more; binary judgements; comparison with the literature.",
    avoid="Grades matter, or there is about one relevant document per query (then it is RR).",
    cite="Buckley and Voorhees 2000, Evaluating evaluation measure stability",
    aliases=("MAP", "average_precision", "mean_average_precision"),
    caveat="divided-by-relevant",
    options={"divisor": Choice(("relevant", "hits", "min", "k"))},
    ties=_expected_average_precision,
)
def average_precision(p: Placements, *, k: int | None, rel: float = 1, divisor: str = "relevant") -> np.ndarray:
    """The mean of precision at each relevant document; its mean over queries is MAP.

    `divisor="hits"` divides by the relevant documents found, so that missing ones cost nothing;
    `divisor="min"` divides by the smaller of k and the number of relevant documents, `divisor="k"` by k, or by
    what was returned where there is no k. In a ranking that repeats documents, precision counts each of them once.

    >>> evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]}, "AP")["AP"]
    0.5555555555555555
    """
    is_hit = p.grade >= rel
    if k is not None:
        is_hit = is_hit & (p.rank <= k)
    if p.shared:
        first = is_hit & p.novel
    else:
        first = is_hit
    total = p.sum(p.cumulate(first) / p.rank * is_hit)
    return _mean_precision(total, is_hit, p, k, rel, divisor)


@_by_places(
    "GMAP",
    average="geometric",
    low=GEOMETRIC_FLOOR,
    formula="GMAP = exp(mean of ln(max(AP, 0.00001)))",
    use="Improving the worst queries counts more than polishing the best.",
    avoid="Few queries: one near-zero query rules the value.",
    cite="Robertson 2006, On GMAP: and other transformations",
    aliases=("gm_map",),
)
def geometric_map(p: Placements, *, rel: float = 1) -> np.ndarray:
    """AP with a floor of 0.00001, averaged geometrically.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "GMAP")["GMAP"]
    0.5
    """
    return average_precision(p, k=None, rel=rel).clip(GEOMETRIC_FLOOR)


@_by_places(
    "Rprec",
    formula="Rprec = P@R, where R is the number of relevant documents",
    use="A cut-off that fits each query; precision equals recall there.",
    avoid="R is not known, or is 1 for most queries.",
    cite="Buckley and Voorhees 2000, Evaluating evaluation measure stability",
    aliases=("R-precision", "r_precision"),
)
def r_precision(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Precision at the rank that equals the number of relevant documents.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "Rprec")["Rprec"]
    0.5
    """
    relevant = p.relevant(rel)
    return ratio(p.count((p.grade >= rel) & (p.rank <= relevant[p.query])), relevant)


@_by_places(
    "IPrec",
    cutoff="recall",
    formula="IPrec@r = highest precision at any rank from which recall is at least r",
    use="Draw a precision-recall curve; compare with the classic literature.",
    avoid="Queries with few relevant documents: most recall levels then fall between them.",
    cite="Buckley and Voorhees 2005, Retrieval system evaluation (in TREC: Experiment and evaluation)",
    aliases=("iprec_at_recall",),
    options={"rounding": Choice(("nearest", "up"))},
)
def interpolated_precision(p: Placements, *, k: float, rel: float = 1, rounding: str = "nearest") -> np.ndarray:
    """Interpolated precision at a recall level.

    The level is turned into a number of relevant documents, rounded to the nearest (trec_eval 10) or by
    `rounding="up"`, trec_eval 9's rule: the whole part of level * relevant + 0.9.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "IPrec@0.5")["IPrec@0.5"]
    1.0
    """
    relevant = p.relevant(rel)
    if rounding == "nearest":
        needed = np.floor(k * relevant + 0.5).astype(np.int64)
        # floor(x + 0.5) errs where the sum rounds up to a whole number: 0.49999999999999994.
        needed -= needed - k * relevant > 0.5
    else:
        needed = np.floor(k * relevant + 0.9).astype(np.int64)

    rows = np.flatnonzero(p.grade >= rel)
    query = p.query[rows]
    hits = np.bincount(query, minlength=len(p))
    end = np.cumsum(hits)
    start = end - hits
    nth = np.arange(len(rows)) - start[query] + 1
    values = np.append(nth / p.rank[rows], 0.0)

    reached = np.flatnonzero((needed <= hits) & (hits > 0))
    begin = start[reached] + np.maximum(needed[reached] - 1, 0)
    best = np.zeros(len(p))
    if len(reached):
        bounds = np.stack((begin, end[reached]), axis=1).ravel()
        best[reached] = np.maximum.reduceat(values, bounds)[::2]
    return best


@_by_places(
    "RprecMult",
    cutoff="multiple",
    formula="RprecMult@m = P at the rank m * R rounded up, where R is the number of relevant documents",
    use="See whether a method leans to precision or to recall, at the same milestones for every query.",
    avoid="One number is enough; use Rprec.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
    aliases=("Rprec_mult",),
)
def r_precision_multiple(p: Placements, *, k: float, rel: float = 1) -> np.ndarray:
    """Precision at a multiple of the number of relevant documents.

    The rank is the whole part of m * R + 0.9, which is trec_eval's way to round up.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "RprecMult@0.5")["RprecMult@0.5"]
    1.0
    """
    depth = np.floor(k * p.relevant(rel) + 0.9).astype(np.int64)
    return ratio(p.count((p.grade >= rel) & (p.rank <= depth[p.query])), depth)


@_by_places(
    "IPrecAvg",
    formula="IPrecAvg = mean of IPrec@r over the recall levels r = 0, 0.1, ..., 1",
    use="Comparison with the literature before AP.",
    avoid="Otherwise: AP is the same area measured better.",
    cite="Salton and McGill 1983, Introduction to modern information retrieval",
    aliases=("11pt_avg", "eleven_point"),
    options={"points": Numbers(0, 1), "rounding": Choice(("nearest", "up"))},
)
def interpolated_average(
    p: Placements, *, rel: float = 1, points: tuple[float, ...] = ELEVEN, rounding: str = "nearest"
) -> np.ndarray:
    """Interpolated precision averaged over recall levels, eleven of them by default.

    `points` are the levels, summed from the highest down; `rounding` is as in IPrec.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "IPrecAvg")["IPrecAvg"]
    1.0
    """
    total = np.zeros(len(p))
    for point in reversed(points):
        total = total + interpolated_precision(p, k=point, rel=rel, rounding=rounding)
    return total / len(points)


@_by_places(
    "YAAP",
    low=-np.inf,
    high=np.inf,
    formula="YAAP = ln((1 + s) / (1 + R - s)), where s is AP * R",
    use="Average over queries without the ends of AP's scale being squeezed.",
    avoid="A number from 0 to 1 is expected.",
    cite="Robertson 2012, On smoothing average precision",
)
def smoothed_ap(p: Placements, *, rel: float = 1) -> np.ndarray:
    """AP as smoothed log odds; "yet another average precision".

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "YAAP")["YAAP"]
    0.0
    """
    is_relevant = p.grade >= rel
    total = p.sum(np.where(is_relevant, p.cumulate(is_relevant) / p.rank, 0.0))
    odds = (1.0 + total) / (1.0 + p.relevant(rel) - total)
    return np.array([math.log(value) for value in odds.tolist()])


@_by_places(
    "BinG",
    formula="BinG = 1/R * sum over relevant documents of 1 / log2(2 + documents above it that are not relevant)",
    use="A document's worth falls with the wrong documents above it, not with its rank.",
    avoid="Comparison with the literature: it is seldom reported.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
)
def binary_g(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Like AP, with each relevant document discounted by the nonrelevant ones above it.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "y", "a"]}, "BinG")["BinG"]
    0.5
    """
    is_relevant = p.grade >= rel
    value = 1.0 / log2(np.where(is_relevant, 2 + p.rank - p.cumulate(is_relevant), 2))
    return ratio(p.sum(np.where(is_relevant, value, 0.0)), p.relevant(rel))


def _in_order(p: Placements, is_hit: np.ndarray, others_above: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The share of pairs of a hit and another document in which the hit is higher."""
    pairs = p.count(is_hit) * others
    return ratio(pairs - p.sum(np.where(is_hit, others_above, 0)), pairs)


def _expected_auroc(p: Placements, *, k: int | None, rel: float) -> np.ndarray:
    """A relevant and another document of equal scores are in the right order half of the time."""
    if k is None:
        within = np.ones(len(p.query), bool)
    else:
        within = p.rank <= k

    if k is not None and ((p.tie_first <= k) & (p.tie_last > k)).any():
        raise MeasureError(
            f"AUROC@{k} has no closed form where the cut-off parts documents of equal scores",
            hint="Leave the cut-off out.",
            code="undefined-order",
        )

    is_hit, wrong = (p.grade >= rel) & within, (p.grade >= 0) & (p.grade < rel) & within
    above, group = p.cumulate(wrong), p.tie_group
    inside = np.bincount(group[wrong], minlength=len(group))[group]
    last = np.searchsorted(group, group, "right") - 1
    return _in_order(p, is_hit, above[last] - inside / 2, p.count(wrong))


@measure(
    "AUROC",
    formula="AUROC@k = share of (relevant, judged nonrelevant) pairs of the first k with the relevant one higher",
    use="The judged documents are a sample with both kinds in it, and order among them is all that matters.",
    avoid="Only the top of the ranking matters.",
    cite="Fawcett 2006, An introduction to ROC analysis",
    aliases=("AUC", "roc_auc"),
    texts="meaningless",
    for_texts="AbstainAUROC",
    ties=_expected_auroc,
)
def auroc(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The chance that a relevant document stands above a judged nonrelevant one; 0 if either kind is missing.

    >>> evaluate({"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["b", "a", "c"]}, "AUROC")["AUROC"]
    0.5
    """
    if k is None:
        within = np.ones(len(p.query), bool)
    else:
        within = p.rank <= k
    wrong = (p.grade >= 0) & (p.grade < rel) & within
    return _in_order(p, (p.grade >= rel) & within, p.cumulate(wrong), p.count(wrong))


@measure(
    "Accuracy",
    formula="Accuracy@k = share of (relevant, other) pairs of the first k with the relevant document higher",
    use="A list of candidates is re-ordered and every pair in it counts.",
    avoid="Documents that are not in the list matter.",
    cite="MacAvaney et al. 2022, Streamlining evaluation with ir-measures",
    texts="meaningless",
    caveat="accuracy-of-pairs",
)
def accuracy(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The chance that a relevant document stands above another one, over the documents returned.

    It is the Accuracy of ir_measures; BEIR's Accuracy@k is Success@k. Unjudged documents count as not relevant. It
    is 0 if all of them are relevant or none.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, "Accuracy")["Accuracy"]
    0.5
    """
    if k is None:
        depth = p.retrieved
    else:
        depth = np.minimum(p.retrieved, k)
    is_hit = (p.grade >= rel) & (p.rank <= depth[p.query])
    return _in_order(p, is_hit, p.rank - p.cumulate(is_hit), depth - p.count(is_hit))
