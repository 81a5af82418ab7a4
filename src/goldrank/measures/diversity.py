"""Measures over the aspects of a query: its subtopics, or the opinions of several judges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from goldrank.data.aspects import Aspects
from goldrank.measures.cutoff import precision, ratio, success
from goldrank.measures.declare import measure
from goldrank.measures.options import CHANCE, MAX_CUTOFF, Choice, Number
from goldrank.measures.rank import average_precision, r_precision_multiple
from goldrank.measures.weights import discounted, running_powers

Discount = Callable[[np.ndarray], np.ndarray]
_SHARE = Number(low=0, high=1)
_ASPECTS = Choice(("relevant", "all"))
"""Which aspects are averaged over: those with a relevant document, or all."""
_measure = partial(measure, over="aspects", options={"aspects": _ASPECTS, "alpha": _SHARE, "beta": CHANCE})
_at_k = partial(_measure, cutoff="needed")
_AGRAWAL = "Agrawal, Gollapudi, Halverson and Ieong 2009, Diversifying search results"


def _mean(a: Aspects, values: np.ndarray, rel: float, aspects: str) -> np.ndarray:
    """Per query, the mean of one value per aspect."""
    if aspects == "relevant":
        is_counted = a.parts.relevant(rel) > 0
    else:
        is_counted = np.ones(len(values), bool)
    return ratio(a.sum(np.where(is_counted, values, 0.0)), a.count(is_counted))


@_at_k(
    "P_IA",
    formula="P_IA@k = mean over aspects of P@k",
    use="A page of results should serve every reading of the query, or every judge.",
    avoid="Repeating what was already shown should not be rewarded; use alpha_nDCG.",
    cite=_AGRAWAL,
    aliases=(("P_avgjg", {"aspects": "all"}),),
)
def precision_by_aspect(a: Aspects, *, k: int, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Precision at k, averaged over the aspects of a query.

    `aspects="all"` also counts aspects without any relevant document, with 0.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"a": 1, "b": 1}}}), {"q": ["a", "b"]}, "P_IA@2")["P_IA@2"]
    0.75
    """
    return _mean(a, precision(a.parts, k=k, rel=rel), rel, aspects)


@_measure(
    "AP_IA",
    formula="AP_IA = mean over aspects of AP",
    use="The whole ranking should serve every reading of the query, or every judge.",
    avoid="Repeating what was already shown should not be rewarded; use alpha_nDCG.",
    cite=_AGRAWAL,
    aliases=("MAP_IA", ("map_avgjg", {"aspects": "all"})),
)
def average_precision_by_aspect(a: Aspects, *, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Average precision, averaged over the aspects of a query.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "AP_IA")["AP_IA"]
    0.75
    """
    return _mean(a, average_precision(a.parts, k=None, rel=rel), rel, aspects)


@_measure(
    "RprecMult_IA",
    cutoff="multiple",
    formula="RprecMult_IA@m = mean over aspects of RprecMult@m",
    use="Comparison with trec_eval on judgements by several judges.",
    avoid="Otherwise: AP_IA.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
    aliases=(("Rprec_mult_avgjg", {"aspects": "all"}),),
)
def r_precision_by_aspect(a: Aspects, *, k: float, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Precision at a multiple of the number of relevant documents, averaged over the aspects of a query.

    >>> from goldrank.data.aspects import AspectQrels
    >>> qrels = AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}})
    >>> evaluate(qrels, {"q": ["a", "b"]}, "RprecMult_IA@1.0")["RprecMult_IA@1.0"]
    0.5
    """
    return _mean(a, r_precision_multiple(a.parts, k=k, rel=rel), rel, aspects)


@_at_k(
    "StRecall",
    formula="StRecall@k = (aspects with a relevant document in the first k) / (aspects with a relevant document)",
    use="Every aspect must be covered once; also: how many references an answer can be built from.",
    avoid="Order within the first k matters.",
    cite="Zhai, Cohen and Lafferty 2003, Beyond independent relevance: Evaluation metrics for subtopic retrieval",
    aliases=("SubtopicRecall", "strec"),
)
def subtopic_recall(a: Aspects, *, k: int, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """The share of a query's aspects that the first k documents cover.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "StRecall@1")["StRecall@1"]
    0.5
    """
    return _mean(a, success(a.parts, k=k, rel=rel), rel, aspects)


_CLARKE = "Clarke et al. 2008, Novelty and diversity in information retrieval evaluation"


def _novelty(a: Aspects, rel: float, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, rank and gain of each relevant placement; each earlier one in its aspect takes away a share of alpha."""
    parts = a.parts
    is_relevant = parts.grade >= rel
    rows = np.flatnonzero(is_relevant)
    gain = running_powers(1.0 - alpha, len(parts.query) + 1)[parts.cumulate(is_relevant)[rows] - 1]
    return a.owner[parts.query[rows]], parts.rank[rows], gain


def _ideal(a: Aspects, rel: float, alpha: float, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, rank and gain of the ranking that takes the best next document each time, up to `depth`.

    Of equally good documents it takes the one whose id comes last, as ndeval does.
    """
    parts = a.parts
    rows = np.flatnonzero(parts.judged >= rel)
    owner = a.owner[parts.judged_query[rows]]
    bounds = np.searchsorted(owner, np.arange(len(a) + 1))
    queries, ranks, gains = [], [], []
    for query in range(len(a)):
        own_rows = rows[bounds[query] : bounds[query + 1]]
        if not len(own_rows):
            continue
        docs, doc_index = np.unique(a.judged_doc[own_rows], return_inverse=True)
        aspects, aspect_index = np.unique(parts.judged_query[own_rows], return_inverse=True)
        covers = np.zeros((len(docs), len(aspects)))
        covers[doc_index, aspect_index] = 1.0

        worth = np.ones(len(aspects))
        left = np.ones(len(docs), bool)
        for rank in range(1, min(depth, len(docs)) + 1):
            score = np.where(left, covers @ worth, -1.0)
            best = len(docs) - 1 - int(np.argmax(score[::-1]))
            queries.append(query)
            ranks.append(rank)
            gains.append(score[best])
            left[best] = False
            worth[covers[best] > 0] *= 1.0 - alpha

    return np.array(queries, np.int64), np.array(ranks, np.int64), np.array(gains, np.float64)


def _discounted(a: Aspects, rows: tuple[np.ndarray, np.ndarray, np.ndarray], k: int, discount: Discount) -> np.ndarray:
    """Per query, the sum of gains of the first k ranks, discounted."""
    query, rank, gain = (column[rows[1] <= k] for column in rows)
    return np.bincount(query, weights=gain * discount(rank), minlength=len(a))


def _of_perfect(a: Aspects, k: int, rel: float, alpha: float, discount: Discount) -> np.ndarray:
    """The discounted gain as a share of the gain of k documents that are relevant to every aspect."""
    perfect = float((running_powers(1.0 - alpha, k) * discount(np.arange(1, k + 1))).sum())
    return ratio(_discounted(a, _novelty(a, rel, alpha), k, discount), a.relevant(rel) * perfect)


def _of_ideal(a: Aspects, k: int, rel: float, alpha: float, discount: Discount) -> np.ndarray:
    """The discounted gain as a share of the gain of the (greedy) ideal ranking."""
    ideal = _discounted(a, _ideal(a, rel, alpha, k), k, discount)
    return ratio(_discounted(a, _novelty(a, rel, alpha), k, discount), ideal)


_by_log: Discount = partial(discounted, 1.0)
_by_rank: Discount = partial(np.divide, 1.0)


def _by_power(beta: float) -> Discount:
    return lambda rank: running_powers(beta, int(rank.max(initial=1)))[rank - 1]


@_at_k(
    "alpha_DCG",
    formula="alpha_DCG@k = sum over ranks r <= k of gain(r) / log2(r + 1), where each aspect a document covers adds "
    "(1 - alpha)^(times it was covered before); divided by the value of k documents that cover every aspect",
    use="Follow one system over time: new aspects are worth more than what was shown already.",
    avoid="Comparing queries with each other; use alpha_nDCG.",
    cite=_CLARKE,
    aliases=("\u03b1_DCG",),
)
def alpha_dcg(a: Aspects, *, k: int, rel: float = 1, alpha: float = 0.5) -> np.ndarray:
    """DCG over aspects, in which repeating what was shown already is worth less by a share of `alpha`.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "alpha_DCG@1")["alpha_DCG@1"]
    0.5
    """
    return _of_perfect(a, k, rel, alpha, _by_log)


@_at_k(
    "alpha_nDCG",
    high=np.inf,
    formula="alpha_nDCG@k = alpha_DCG@k / (alpha_DCG@k of the ranking that takes the best next document each time)",
    use="The first choice for subtopics: covers many aspects early and does not repeat itself.",
    avoid="Aspects are not judged.",
    cite=_CLARKE,
    aliases=("\u03b1_nDCG",),
)
def alpha_ndcg(a: Aspects, *, k: int, rel: float = 1, alpha: float = 0.5) -> np.ndarray:
    """DCG over aspects with less worth for repetition, as a share of the (greedy) ideal.

    `alpha` is how much less a repetition is worth. The best of all rankings is hard to find, so that a
    better one than the greedy ideal can score above 1.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "alpha_nDCG@2")["alpha_nDCG@2"]
    1.0
    """
    return _of_ideal(a, k, rel, alpha, _by_log)


@_at_k(
    "ERR_IA",
    formula="ERR_IA@k = sum over ranks r <= k of gain(r) / r, with the gains of alpha_DCG; divided by the value of k "
    "documents that cover every aspect",
    use="Users come for one of the aspects and stop once satisfied.",
    avoid="Comparing queries with each other; use nERR_IA.",
    cite="Chapelle, Ji, Liao, Velipasaoglu, Lai and Wu 2011, Intent-based diversification of web search results",
)
def err_ia(a: Aspects, *, k: int, rel: float = 1, alpha: float = 0.5) -> np.ndarray:
    """Expected reciprocal rank averaged over aspects, where a relevant document satisfies with chance `alpha`.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "ERR_IA@1")["ERR_IA@1"]
    0.5
    """
    return _of_perfect(a, k, rel, alpha, _by_rank)


@_at_k(
    "nERR_IA",
    high=np.inf,
    formula="nERR_IA@k = ERR_IA@k / (ERR_IA@k of the ranking that takes the best next document each time)",
    use="Users come for one of the aspects and stop once satisfied.",
    avoid="Aspects are not judged.",
    cite="Chapelle, Ji, Liao, Velipasaoglu, Lai and Wu 2011, Intent-based diversification of web search results",
)
def nerr_ia(a: Aspects, *, k: int, rel: float = 1, alpha: float = 0.5) -> np.ndarray:
    """Expected reciprocal rank averaged over aspects, as a share of the (greedy) ideal.

    A relevant document satisfies with chance `alpha`.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "nERR_IA@2")["nERR_IA@2"]
    1.0
    """
    return _of_ideal(a, k, rel, alpha, _by_rank)


@_measure(
    "NRBP",
    formula="NRBP = (1 - (1 - alpha) * beta) / (aspects) * sum over ranks r of gain(r) * beta^(r - 1), with the gains "
    "of alpha_DCG",
    use="RBP over aspects: users come for one of them and go on with probability beta.",
    avoid="Comparing with values made with another alpha or beta.",
    cite="Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and underspecified queries",
)
def nrbp(a: Aspects, *, rel: float = 1, alpha: float = 0.5, beta: float = 0.5) -> np.ndarray:
    """Rank-biased precision over aspects, in which repeating what was shown already is worth less.

    `alpha` is how much less; the user goes on with probability `beta`.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "NRBP")["NRBP"]
    0.5625
    """
    total = _discounted(a, _novelty(a, rel, alpha), MAX_CUTOFF, _by_power(beta))
    return ratio(total * (1.0 - (1.0 - alpha) * beta), a.relevant(rel))


@_measure(
    "nNRBP",
    high=np.inf,
    formula="nNRBP = NRBP / (NRBP of the ranking that takes the best next document each time)",
    use="RBP over aspects, with queries made comparable.",
    avoid="Comparing with values made with another alpha or beta.",
    cite="Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and underspecified queries",
)
def nnrbp(a: Aspects, *, rel: float = 1, alpha: float = 0.5, beta: float = 0.5) -> np.ndarray:
    """Rank-biased precision over aspects, as a share of the (greedy) ideal.

    A repetition is worth less by a share of `alpha`; the user goes on with probability `beta`.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "nNRBP")["nNRBP"]
    1.0
    """
    return _of_ideal(a, MAX_CUTOFF, rel, alpha, _by_power(beta))
