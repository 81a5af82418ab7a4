"""Measures of and for incomplete judgements (Judged, Bpref, infAP), and of documents that must not be shown."""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.placements import Placements
from goldrank.data.top_documents import TopDocuments
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import measure
from goldrank.measures.options import CHANCE
from goldrank.measures.rank import GEOMETRIC_FLOOR
from goldrank.measures.weights import running_powers

_EPSILON = 0.00001
_measure = partial(measure, texts="meaningless")
_doubt = partial(_measure, needs_relevant=False, higher_is_better=False, diagnostic=True)
"""Declares how much is not known."""


@_measure(
    "Judged",
    needs_relevant=False,
    diagnostic=True,
    formula="Judged@k = (judged documents in the first k) / min(k, documents returned)",
    use="See how far the other numbers can be trusted: unjudged documents count as not relevant.",
    avoid="Comparing quality.",
    cite="MacAvaney et al. 2022, Streamlining evaluation with ir-measures",
)
def judged(p: Placements, *, k: int | None) -> np.ndarray:
    """The share of the first k documents that somebody judged.

    A negative grade (pooled, but not judged) does not count as judged.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x"]}, "Judged@10")["Judged@10"]
    0.5
    """
    known = p.grade >= 0
    total = p.retrieved
    if k is not None:
        known &= p.rank <= k
        total = np.minimum(p.retrieved, k)
    return ratio(p.count(known), total)


@_measure(
    "Bpref",
    formula="Bpref = 1/R * sum over relevant documents of 1 - min(judged nonrelevant above it, R) / min(N, R)",
    use="Judgements are incomplete: only judged documents are looked at.",
    avoid="Judgements are complete; AP says more then.",
    cite="Buckley and Voorhees 2004, Retrieval evaluation with incomplete information",
)
def bpref(p: Placements, *, rel: float = 1) -> np.ndarray:
    """How often relevant documents are preferred to judged nonrelevant ones.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, "Bpref")["Bpref"]
    1.0
    """
    relevant, nonrelevant = p.relevant(rel), p.nonrelevant(rel)
    above = p.cumulate((p.grade >= 0) & (p.grade < rel))
    most = np.minimum(nonrelevant, relevant)[p.query]
    share = ratio(np.minimum(above, relevant[p.query]).astype(np.float64), most)
    value = np.where(above > 0, 1.0 - share, 1.0)
    return ratio(p.sum(np.where(p.grade >= rel, value, 0.0)), relevant)


@_measure(
    "infAP",
    formula="infAP = AP with precision above each relevant document estimated from a sample of judgements",
    use="Only a random sample of the pool was judged; pooled unjudged documents have a negative grade.",
    avoid="The pool was judged completely; AP is exact then.",
    cite="Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect judgments",
)
def inferred_ap(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Average precision inferred from a sample of judgements.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a"]}, "infAP")["infAP"]
    1.0
    """
    is_relevant = p.grade >= rel
    relevant = p.cumulate(is_relevant) - is_relevant
    nonrelevant = p.cumulate((p.grade >= 0) & (p.grade < rel))
    unjudged = p.cumulate(p.grade < 0)
    above = p.rank - 1.0
    seen = (relevant + nonrelevant + unjudged).astype(np.float64)
    rate = (relevant + _EPSILON) / (relevant + nonrelevant + 2 * _EPSILON)
    inferred = 1.0 / (above + 1.0) + (above / (above + 1.0)) * ratio(seen, above) * rate
    value = np.where(above == 0, 1.0, inferred)
    return ratio(p.sum(np.where(is_relevant, value, 0.0)), p.relevant(rel))


@_measure(
    "GMBpref",
    average="geometric",
    low=GEOMETRIC_FLOOR,
    formula="GMBpref = exp(mean of ln(max(Bpref, 0.00001)))",
    use="Improving the worst queries counts more than polishing the best, and judgements are incomplete.",
    avoid="Few queries: one near-zero query rules the value.",
    cite="Robertson 2006, On GMAP: and other transformations",
    aliases=("gm_bpref",),
)
def geometric_bpref(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Bpref with a floor of 0.00001, averaged geometrically.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, "GMBpref")["GMBpref"]
    1.0
    """
    return bpref(p, rel=rel).clip(GEOMETRIC_FLOOR)


@_doubt(
    "Unjudged",
    cutoff="needed",
    formula="Unjudged@k = (unjudged documents in the first k) / k",
    use="A warning: high values mean that the judgements say little about this run.",
    avoid="Comparing quality; results shorter than k, for which Judged@k says more.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
    aliases=("unj",),
)
def unjudged(p: Placements, *, k: int) -> np.ndarray:
    """The share of the first k ranks that hold an unjudged document (or one that was only pooled).

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "Unjudged@10")["Unjudged@10"]
    0.1
    """
    known = p.count((p.grade >= 0) & (p.rank <= k))
    return np.asarray((np.minimum(p.retrieved, k) - known) / k)


@_doubt(
    "RBPresidual",
    formula="RBPresidual = p^n + (1 - p) * (sum of p^(r - 1) over unjudged ranks r), n documents returned; "
    "0 if all are judged",
    use="How much RBP could rise if every unjudged document were perfect.",
    avoid="Comparing quality.",
    cite="Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness",
    aliases=("rbp_resid",),
    options={"p": CHANCE},
)
def rbp_residual(placements: Placements, *, p: float = 0.9) -> np.ndarray:
    """The uncertainty of RBP that comes from unjudged documents.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "RBPresidual(p=0.5)")["RBPresidual(p=0.5)"]
    0.5
    """
    weight = running_powers(p, int(placements.retrieved.max(initial=0)) + 1)
    judged_rows = placements.grade >= 0
    known = placements.count(judged_rows)
    total = np.zeros(len(placements))

    # Every rank of some queries at a time, so that long runs need little memory.
    step = max(1, 2_000_000 // max(1, len(weight)))
    for low in range(0, len(placements), step):
        part = slice(low, low + step)
        size = placements.retrieved[part]
        start = np.cumsum(size) - size
        rows = np.flatnonzero(judged_rows & (placements.query >= low) & (placements.query < low + step))
        value = weight[np.arange(int(size.sum())) - np.repeat(start, size)]
        value[start[placements.query[rows] - low] + placements.rank[rows] - 1] = 0.0
        total[part] = np.bincount(np.repeat(np.arange(len(size)), size), weights=value, minlength=len(size))
    residual = weight[placements.retrieved] + (1 - p) * total
    return np.where(known < placements.retrieved, residual, 0.0)


_forbidden = partial(
    _measure,
    needs_relevant=False,
    higher_is_better=False,
    cutoff="needed",
    avoid="Negative grades mean 'pooled but not judged', as in samples for infAP.",
    cite="goldrank 1.0",
)
"""Declares a measure of documents with a grade below 0."""


@_forbidden(
    "Forbidden",
    formula="Forbidden@k = 1 if a document with a grade below 0 is in the first k, else 0",
    use="Some documents must never be shown: spam, withdrawn, without permission. Judge them -1; the mean is the share "
    "of queries that show one.",
)
def forbidden(p: Placements, *, k: int) -> np.ndarray:
    """Whether a forbidden document, one with a grade below 0, is among the first k.

    >>> evaluate({"q": {"a": 1, "spam": -1}}, {"q": ["a", "spam"]}, "Forbidden@10")["Forbidden@10"]
    1.0
    """
    return (forbidden_count(p, k=k) > 0).astype(np.float64)


@_forbidden(
    "ForbiddenCount",
    high=np.inf,
    formula="ForbiddenCount@k = number of documents with a grade below 0 in the first k",
    use="How many forbidden documents a query shows; for whether it shows any, use Forbidden@k.",
)
def forbidden_count(p: Placements, *, k: int) -> np.ndarray:
    """The number of forbidden documents, those with a grade below 0, among the first k.

    >>> evaluate({"q": {"a": 1, "spam": -1}}, {"q": ["a", "spam"]}, "ForbiddenCount@10")["ForbiddenCount@10"]
    1.0
    """
    return p.count((p.grade < 0) & (p.rank <= k)).astype(np.float64)


def grade_strings(p: Placements, length: int) -> list[str]:
    """Per query, one sign for each of the first `length` documents: trec_eval's relstring.

    A digit is a grade, > a grade above 9, . a document that was pooled but not judged, - one not judged.
    """
    signs = [["-"] * int(min(length, size)) for size in p.retrieved.tolist()]
    near = p.rank <= length
    for query, rank, grade in zip(p.query[near].tolist(), p.rank[near].tolist(), p.grade[near].tolist(), strict=True):
        signs[query][rank - 1] = _sign(grade)
    return ["".join(row) for row in signs]


def _sign(grade: float) -> str:
    if grade < 0:
        return "."
    if grade > 9:
        return ">"
    return str(int(grade))


@measure(
    "Hole",
    over="heads",
    needs_relevant=False,
    higher_is_better=False,
    diagnostic=True,
    cutoff="needed",
    formula="Hole@k = (documents in the first k that were judged for no query at all) / k",
    use="Comparison with BEIR; how many documents have no judgement for any query.",
    avoid="A document judged for another query says nothing about this one: use Unjudged@k.",
    cite="Thakur et al. 2021, BEIR: A heterogeneous benchmark for zero-shot evaluation (Hole@k)",
)
def hole(top: TopDocuments, *, k: int) -> np.ndarray:
    """The share of the first k documents that have no judgement for any query.

    >>> evaluate({"q": {"a": 1}, "r": {"b": 0}}, {"q": ["a", "b", "x"], "r": ["b"]}, "Hole@3").per_query["Hole@3"]["q"]
    0.3333333333333333
    """
    unjudged_rows = ~top.anywhere & (top.rank <= k)
    return np.asarray(np.bincount(top.query[unjudged_rows], minlength=len(top)) / k)
