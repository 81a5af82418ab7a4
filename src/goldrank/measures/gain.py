"""Measures of graded relevance: DCG, nDCG and its relatives, RBP, ERR."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from goldrank.base.errors import MeasureError
from goldrank.data.placements import Placements, accumulate
from goldrank.measures.cutoff import cut_off, ratio
from goldrank.measures.declare import Kernel, measure, monotone
from goldrank.measures.options import CHANCE, Choice, Level, Number, Option
from goldrank.measures.weights import GAIN, Gain, discounted, gains, running_powers

_OPTIONS: dict[str, Option] = {
    "gain": GAIN,
    "discount": Choice(("log2", "log2_from_2", "ln")),
    "ideal": Choice(("judged", "retrieved", "full")),
    "negative": Choice(("none", "keep")),
    "beta": Number(low=0, high=1000),
}
_measure = partial(monotone, options=_OPTIONS, texts="places")
_trec_eval = partial(
    measure,
    options=_OPTIONS,
    texts="places",
    avoid="Comparison with the literature: it is seldom reported.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
)
_JK = "Jarvelin and Kekalainen 2002, Cumulated gain-based evaluation of IR techniques"


def _expected_dcg(p: Placements, *, k: int | None, rel: float, gain: Gain, discount: str, negative: str) -> np.ndarray:
    rank = np.arange(1, int(p.tie_last.max(initial=1)) + 1)
    weight = discounted(1.0, rank, discount)
    if k is not None:
        weight[rank > k] = 0.0
    total = np.concatenate(([0.0], np.cumsum(weight)))
    mean = (total[p.tie_last] - total[p.tie_first - 1]) / (p.tie_last - p.tie_first + 1)
    worth = gains(p.grade, gain, rel, negative)

    # A document without ties keeps its value to the last bit.
    untied_value = discounted(worth, p.rank, discount) * cut_off(np.ones(len(p.rank)), p.rank, k)
    return p.sum(np.where(p.tie_first == p.tie_last, untied_value, worth * mean))


@_measure(
    "DCG",
    high=np.inf,
    formula="DCG@k = sum over ranks r <= k of gain(r) / log2(r + 1)",
    use="Follow one system over time on the same queries; see what an nDCG is made of.",
    avoid="Comparing queries with each other: the scale depends on how much there is to find.",
    cite=_JK,
    aliases=(("dcg_burges", {"gain": "exp2"}),),
    ties=_expected_dcg,
    holes="linear",
    holes_unless={"negative": "keep"},
)
def dcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: Gain = "linear",
    discount: str = "log2",
    negative: str = "none",
) -> np.ndarray:
    """Discounted cumulative gain: grades summed, each divided by log2(rank + 1).

    `gain` is "linear" (the grade), "exp2" (2^grade - 1), "binary" (1 from `rel` up) or a mapping from
    grade to gain. `discount="log2_from_2"` is the original form with ranks 1 and 2 undiscounted, "ln" takes the
    logarithm as a quotient, which may differ in the last bit. Negative
    grades gain nothing; `negative="keep"` takes them as they are, as losses.

    >>> evaluate({"q": {"a": 3}}, {"q": ["a"]}, "DCG")["DCG"]
    3.0
    """
    query, grade, rank = _within(k, p.rank, p.query, p.grade)
    return np.bincount(query, weights=discounted(gains(grade, gain, rel, negative), rank, discount), minlength=len(p))


def _within(
    k: int | None, rank: np.ndarray, query: np.ndarray, grade: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, grade and rank of the first k ranks: what is below adds nothing, and is most of a deep ranking."""
    if k is None:
        return query, grade, rank
    rows = (rank <= k).nonzero()[0]
    if len(rows) == len(rank):
        return (query, grade, rank)
    return (query[rows], grade[rows], rank[rows])


def ideal_dcg(
    p: Placements, k: int | None, rel: float, gain: Gain, discount: str, negative: str, ideal: str
) -> np.ndarray:
    """The DCG of the best order of the judged documents, of the retrieved ones, or of k documents with the best gain.

    Callers must not write to it.
    """
    if ideal == "full":
        return _full_dcg(p, k, gains(p.judged, gain, rel, negative), discount)

    def of_judged() -> np.ndarray:  # grades are in order, and gains rise with them
        query, grade, rank = _within(k, p.judged_rank, p.judged_query, p.judged)
        worth = discounted(gains(grade, gain, rel, negative), rank, discount)
        return np.bincount(query, weights=worth, minlength=len(p))

    if ideal == "judged" and isinstance(gain, str):
        return p.of_judgements(("DCG", k, rel, gain, discount, negative), of_judged)

    if ideal == "judged":
        query, grade = p.judged_query, p.judged
    else:
        query, grade = p.query, p.grade
    worth = gains(grade, gain, rel, negative)
    order = np.lexsort((-worth, query))
    query, worth = query[order], worth[order]
    rank = np.arange(1, len(query) + 1) - np.searchsorted(query, np.arange(len(p)))[query]
    query, worth, rank = _within(k, rank, query, worth)
    return np.bincount(query, weights=discounted(worth, rank, discount), minlength=len(p))


def _full_dcg(p: Placements, k: int | None, worth: np.ndarray, discount: str) -> np.ndarray:
    """The DCG of k documents, or of as many as were returned, that have the best gain of their query each."""
    best = np.zeros(len(p))
    np.maximum.at(best, p.judged_query, worth)
    if k is not None:
        return np.asarray(best * discounted(1.0, np.arange(1, k + 1), discount).sum())
    longest = int(p.retrieved.max(initial=0))
    running = np.cumsum(discounted(1.0, np.arange(1, longest + 1), discount))
    return np.asarray(best * np.append(running, 0.0)[p.retrieved - 1])


@_measure(
    "IdealDCG",
    high=np.inf,
    formula="IdealDCG@k = DCG@k of the ideal order of all judged documents",
    use="See how much there was to gain; nDCG is DCG divided by this.",
    avoid="Comparing runs: it is the same for all of them.",
    cite=_JK,
    aliases=("ideal_dcg",),
    needs_relevant=False,
    ties="unordered",
    texts="texts",
)
def best_dcg(
    p: Placements, *, k: int | None, rel: float = 1, gain: Gain = "linear", discount: str = "log2"
) -> np.ndarray:
    """The DCG of the best order there can be.

    `gain` and `discount` are as in DCG.

    >>> evaluate({"q": {"a": 3}}, {"q": ["x", "a"]}, "IdealDCG")["IdealDCG"]
    3.0
    """
    return ideal_dcg(p, k, rel, gain, discount, "none", "judged").copy()


def _normalised(
    gained: Kernel, p: Placements, *, k: int | None, ideal: str, cut_ideal: bool, **options: Any
) -> np.ndarray:
    """What a kernel of DCG gives as a share of the ideal, by DCG's options; 0 where even the ideal gains nothing."""
    ideal_k = None
    if cut_ideal or ideal == "full":
        ideal_k = k
    best = ideal_dcg(p, ideal_k, ideal=ideal, **options)
    reached = gained(p, k=k, **options)
    if options["negative"] == "keep":  # a share of a gain is never negative
        reached = np.maximum(reached, 0.0)
    return ratio(reached, np.maximum(best, 0.0))


def _expected_ndcg(p: Placements, *, negative: str, **options: Any) -> np.ndarray:
    """The expected value over orders of ties; losses have none in closed form, because each order stops at 0."""
    has_ties = bool((p.tie_first != p.tie_last).any())
    if negative == "keep" and has_ties and bool((p.grade < 0).any()):
        message = 'nDCG(negative="keep") has no expected value over ties where grades are below 0'
        raise MeasureError(message, hint="Leave out negative= or ties='expected'.", code="no-closed-form")
    return _normalised(_expected_dcg, p, negative=negative, **options)


@_measure(
    "nDCG",
    formula="nDCG@k = DCG@k / (DCG@k of the ideal order of all judged documents)",
    use="The first choice for graded judgements: order matters, and better documents matter more.",
    avoid="Judgements are binary and only the first hit counts (use RR), or most documents are unjudged.",
    cite=_JK,
    aliases=(("ndcg_burges", {"gain": "exp2"}),),
    ties=_expected_ndcg,
    holes="linear",
    holes_unless={"ideal": "retrieved", "negative": "keep"},
)
def ndcg(
    p: Placements,
    *,
    k: int | None,
    rel: float = 1,
    gain: Gain = "linear",
    discount: str = "log2",
    ideal: str = "judged",
    cut_ideal: bool = True,
    negative: str = "none",
) -> np.ndarray:
    """DCG as a share of the best possible, which makes queries comparable.

    `gain`, `discount` and `negative` are as in DCG. `ideal="retrieved"` takes the best order of what was
    retrieved, so that missing documents cost nothing; `ideal="full"` takes k documents with the best gain of the
    query, however many there are, as some recommender libraries do; `cut_ideal=False` does not cut the ideal at k.
    With `negative="keep"` losses count, and the value stops at 0. Where even the ideal gains nothing, or less, it
    is 0.

    >>> evaluate({"q": {"a": 1, "b": 3}}, {"q": ["b", "a"]}, "nDCG@10")["nDCG@10"]
    1.0
    """
    return _normalised(
        dcg, p, k=k, rel=rel, gain=gain, discount=discount, ideal=ideal, cut_ideal=cut_ideal, negative=negative
    )


@monotone(
    "RBP",
    formula="RBP@k = (1 - p) * sum over ranks r <= k of gain(r) * p^(r - 1)",
    use="A user goes on to the next document with probability p; RBPresidual says what judging more could change.",
    avoid="Comparing with values made with another p.",
    cite="Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness",
    options={"p": CHANCE, "rel": Level(low=-1e9, high=1e9, optional=True), "gain": GAIN},
    holes="linear",
)
def rank_biased(
    placements: Placements, *, k: int | None, rel: float | None = None, p: float = 0.9, gain: Gain = "linear"
) -> np.ndarray:
    """Expected gain per document seen by a user who goes on with probability p.

    Without `rel`, gains are brought into 0 to 1 if they go beyond: by default a document gains its grade
    divided by the query's highest grade (trec_eval 10's intention). With `rel`, it gains 1 from that grade up.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "RBP(p=0.5)")["RBP(p=0.5)"]
    0.625
    """
    if rel is None:
        worth = _unit_gains(placements, gain)
    else:
        worth = (placements.grade >= rel).astype(np.float64)
    value = worth * running_powers(p, int(placements.rank.max(initial=1)))[placements.rank - 1]
    return (1.0 - p) * placements.sum(cut_off(value, placements.rank, k))


@monotone(
    "RBG",
    high=np.inf,
    formula="RBG@k = (1 - p) * sum over ranks r <= k of gain(r) * p^(r - 1), gains as they are",
    use="RBP as ranx has it, for comparison with its numbers.",
    avoid="Reading it as a share: with grades above 1 it is not within 0 and 1. RBP is.",
    cite="Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness",
    options={"p": CHANCE, "gain": GAIN},
    holes="linear",
)
def rank_biased_gain(
    placements: Placements, *, k: int | None, rel: float = 1, p: float = 0.9, gain: Gain = "linear"
) -> np.ndarray:
    """RBP whose gains are not brought into 0 to 1: a document gains its grade, those below `rel` nothing.

    >>> evaluate({"q": {"a": 3, "b": 1}}, {"q": ["a", "b"]}, "RBG(p=0.5)")["RBG(p=0.5)"]
    1.75
    """
    worth = np.where(placements.grade >= rel, gains(placements.grade, gain, rel), 0.0)
    value = worth * running_powers(p, int(placements.rank.max(initial=1)))[placements.rank - 1]
    return (1.0 - p) * placements.sum(cut_off(value, placements.rank, k))


def _unit_gains(p: Placements, gain: Gain) -> np.ndarray:
    """Gains of placements within 0 and 1: scaled by the least and greatest gain of each query's scale if beyond."""
    worth = gains(p.grade, gain, 1)
    top = np.zeros(len(p))
    has_judged = np.diff(p.judged_start) > 0
    top[has_judged] = np.maximum(p.judged[p.judged_start[:-1][has_judged]], 0)
    if isinstance(gain, Mapping):
        levels = {0: 0.0, **gain}
        least = np.full(len(p), min(levels.values()))
        # Grades of the scale that the mapping leaves out are worth themselves.
        plain = top.copy()
        is_listed = np.isin(plain, list(gain))
        while is_listed.any():
            plain = np.where(is_listed, plain - 1, plain)
            is_listed = np.isin(plain, list(gain))
        most = np.maximum(plain, max(levels.values()))
    else:
        least, most = np.zeros(len(p)), gains(top, gain, 1)

    beyond = (least < 0) | (most > 1)
    low = np.where(beyond, least, 0.0)[p.query]
    span = np.where(beyond, most - least, 1.0)[p.query]
    return np.where(p.grade >= 0, (worth - low) / span, 0.0)


@monotone(
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
    left = p.running(1.0 - satisfied, np.multiply)
    first = p.start[p.query] == np.arange(len(left))
    arrive = np.where(first, 1.0, np.concatenate(([1.0], left))[: len(left)])
    value = arrive * satisfied / p.rank
    return p.sum(cut_off(value, p.rank, k))


class Ideal(NamedTuple):
    """Per query the positive gains of its judged documents, greatest first."""

    query: np.ndarray
    start: np.ndarray
    worth: np.ndarray
    rank: np.ndarray
    dcg: np.ndarray
    """The DCG up to and including each of them."""

    @property
    def size(self) -> np.ndarray:
        return np.diff(self.start)

    @property
    def total(self) -> np.ndarray:
        """The DCG of all entries of each query."""
        return self.running_at(self.dcg, np.arange(len(self.size)), self.size)

    def running_at(self, values: np.ndarray, query: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """A running value at some ranks: the value of the last entry at or before it, 0 where there is none."""
        row = self.start[query] + np.minimum(rank, self.size[query]) - 1
        return np.where(row >= self.start[query], np.append(values, 0.0)[row], 0.0)


def ideal_list(p: Placements, gain: Gain) -> Ideal:
    """The ideal ranking's positive gains."""
    worth = gains(p.judged, gain, 1)
    worth[p.judged < 0] = 0.0
    keep = worth > 0
    query, worth = p.judged_query[keep], worth[keep]
    order = np.lexsort((-worth, query))
    query, worth = query[order], worth[order]
    start = np.searchsorted(query, np.arange(len(p) + 1))
    rank = np.arange(1, len(query) + 1) - start[query]
    return Ideal(query, start, worth, rank, accumulate(discounted(worth, rank, "log2"), start))


@_trec_eval(
    "nDCGrel",
    formula="nDCGrel = mean over the documents with a gain of nDCG at their rank (at the end if not returned)",
    use="nDCG without a cut-off: each query is measured where its relevant documents are.",
    aliases=("ndcg_rel",),
)
def ndcg_at_relevant(p: Placements, *, gain: Gain = "linear") -> np.ndarray:
    """nDCG averaged at the ranks of relevant documents, as AP averages precision.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "nDCGrel")["nDCGrel"]
    1.0
    """
    ideal = ideal_list(p, gain)
    worth = np.where(p.grade >= 0, gains(p.grade, gain, 1), 0.0)
    value = discounted(worth, p.rank, "log2")
    is_relevant = worth > 0
    ndcg_at_rank = ratio(p.running(value), ideal.running_at(ideal.dcg, p.query, p.rank))
    missing = (ideal.size - p.count(is_relevant)).astype(np.float64)
    total = p.sum(np.where(is_relevant, ndcg_at_rank, 0.0)) + ratio(missing * p.sum(value), ideal.total)
    return np.where(total > 0, ratio(total, ideal.size), 0.0)


@_trec_eval(
    "Rndcg",
    formula="Rndcg = mean of nDCG at the ranks where the ideal gain changes, and at the end of longer results",
    use="nDCG where the ideal ranking has its steps, which differ from query to query.",
)
def ndcg_at_levels(p: Placements, *, rel: float = 1, gain: Gain = "linear") -> np.ndarray:
    """nDCG averaged at the numbers of documents with each gain or a higher one.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "Rndcg")["Rndcg"]
    1.0
    """
    ideal = ideal_list(p, gain)
    worth = np.where(p.grade >= 0, gains(p.grade, gain, 1), 0.0)
    value = discounted(worth, p.rank, "log2")
    last = np.ones(len(ideal.worth), bool)
    last[:-1] = (ideal.worth[1:] != ideal.worth[:-1]) | (ideal.query[1:] != ideal.query[:-1])
    query, rank = ideal.query[last], ideal.rank[last]

    # The placements up to that rank are all of the queries before, and some of this query.
    width = int(max(p.rank.max(initial=0), rank.max(initial=0))) + 1
    row = np.searchsorted(p.query * width + p.rank, query * width + rank, "right") - 1
    reached = np.where(row >= p.start[query], np.append(p.running(value), 0.0)[row], 0.0)
    total = np.bincount(query, weights=reached / ideal.dcg[last], minlength=len(p))
    count = np.bincount(query, minlength=len(p))
    is_longer = (p.retrieved > ideal.size + 1) & (ideal.size > 0)
    total = np.where(is_longer, total + ratio(p.sum(value), ideal.total), total)
    return np.where(p.relevant(rel) > 0, ratio(total, count + is_longer), 0.0)


@_trec_eval(
    "G",
    formula="G = (sum over documents of gain / log2(2 + ideal gain so far - gain so far)) / (sum of all gains)",
    use="A document's worth falls with what an ideal ranking would have gained more by then.",
)
def normalised_gain(p: Placements, *, gain: Gain = "linear") -> np.ndarray:
    """Gain discounted by how far the ranking has fallen behind the ideal one.

    Each rank of the ideal ranking costs at least 1, so that it falls behind after its last document too.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "y", "a"]}, "G")["G"]
    0.5
    """
    ideal = ideal_list(p, gain)
    worth = np.where(p.grade >= 0, gains(p.grade, gain, 1), 0.0)
    cost = ideal.running_at(accumulate(np.maximum(ideal.worth, 1.0), ideal.start), p.query, p.rank)
    cost += np.maximum(p.rank - ideal.size[p.query], 0)

    rows = np.flatnonzero(worth != 0)
    behind = (2.0 + cost - p.running(worth))[rows]
    value = np.zeros(len(worth))
    value[rows] = worth[rows] / np.array([math.log2(x) for x in behind.tolist()])
    total = np.bincount(ideal.query, weights=ideal.worth, minlength=len(p))
    return ratio(p.sum(value), total)


@_measure(
    "NCG",
    formula="NCG@k = (sum of the gains in the first k) / (sum of the k highest gains judged)",
    use="A first stage feeds a re-ranker: what it lets through matters, in which order does not.",
    avoid="Order within the first k matters.",
    cite="Craswell, Mitra, Yilmaz, Campos and Voorhees 2020, Overview of the TREC 2019 deep learning track",
)
def ncg(p: Placements, *, k: int | None, rel: float = 1, gain: Gain = "linear") -> np.ndarray:
    """Cumulated gain without a discount, as a share of the best possible.

    `gain` is as in DCG.

    >>> evaluate({"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, "NCG@1")["NCG@1"]
    0.3333333333333333
    """
    worth = gains(p.grade, gain, rel)
    ideal = gains(p.judged, gain, rel)
    if k is not None:
        order = np.lexsort((-ideal, p.judged_query))
        ideal = cut_off(ideal[order], p.judged_rank, k)
    total = np.bincount(p.judged_query, weights=ideal, minlength=len(p))
    return ratio(p.sum(cut_off(worth, p.rank, k)), total)


@_measure(
    "Q",
    formula="Q@k = (sum over relevant documents at ranks r <= k of (hits + beta * gain so far) / "
    "(r + beta * ideal gain so far)) / min(k, relevant)",
    use="AP with grades: a blend of precision and cumulated gain.",
    avoid="Comparison with the literature outside NTCIR; nDCG is better known.",
    cite="Sakai 2007, On the reliability of information retrieval metrics based on graded relevance",
    aliases=("Q_measure",),
)
def q_measure(p: Placements, *, k: int | None, rel: float = 1, beta: float = 1, gain: Gain = "linear") -> np.ndarray:
    """The mean over relevant documents of a ratio that is precision blended with cumulated gain.

    `gain` is as in DCG; `beta=0` gives AP.

    >>> evaluate({"q": {"a": 1, "b": 3}}, {"q": ["b", "a"]}, "Q")["Q"]
    1.0
    """
    ideal = ideal_list(p, gain)
    is_hit = p.grade >= rel
    if k is not None:
        is_hit = is_hit & (p.rank <= k)
    gained = p.running(np.where(p.grade >= rel, gains(p.grade, gain, rel), 0.0))
    best = ideal.running_at(accumulate(ideal.worth, ideal.start), p.query, p.rank)
    value = (p.cumulate(p.grade >= rel) + beta * gained) / (p.rank + beta * best)

    relevant = p.relevant(rel)
    if k is not None:
        relevant = np.minimum(relevant, k)
    return ratio(p.sum(np.where(is_hit, value, 0.0)), relevant)


@_measure(
    "GAP",
    formula="GAP = (sum over ranks r of 1/r * sum over s <= r of min(gain(r), gain(s))) / (sum of all gains judged)",
    use="AP with grades, for users who draw the line between relevant and not at different grades.",
    avoid="Comparison with the literature; nDCG is better known.",
    cite="Robertson, Kanoulas and Yilmaz 2010, Extending average precision to graded relevance judgments",
)
def graded_ap(p: Placements, *, rel: float = 1, gain: Gain = "linear") -> np.ndarray:
    """Average precision, averaged over the grades at which users draw their line.

    `gain` says how many users have drawn it at a grade or below: linear gains, as many at each grade.

    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, "GAP")["GAP"]
    0.8333333333333334
    """
    worth = gains(p.grade, gain, rel)
    judged = np.maximum(gains(p.judged, gain, rel), 0.0)
    total = np.zeros(len(p))
    below = np.zeros(len(p))
    for level in np.unique(judged[judged > 0]).tolist():
        # Levels of other queries are passed over, so that a query's value is the same double in any company.
        has_level = np.bincount(p.judged_query[judged == level], minlength=len(p)) > 0
        reached = worth >= level
        share = (level - below) * p.sum(np.where(reached, p.cumulate(reached) / p.rank, 0.0))
        total += np.where(has_level, share, 0.0)
        below[has_level] = level
    return ratio(total, np.bincount(p.judged_query, weights=judged, minlength=len(p)))
