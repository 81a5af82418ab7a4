"""Measures of and for incomplete judgements: Judged, Bpref, infAP."""

from __future__ import annotations

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import ratio
from goldrank.measures.declare import measure

_EPSILON = 0.00001


@measure(
    "Judged",
    cutoff="optional",
    needs_relevant=False,
    monotone=False,
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
    whole = p.retrieved if k is None else np.minimum(p.retrieved, k)
    return ratio(p.count(known if k is None else known & (p.rank <= k)), whole)


@measure(
    "Bpref",
    cutoff="none",
    formula="Bpref = 1/R * sum over relevant documents of 1 - min(judged nonrelevant above it, R) / min(N, R)",
    use="Judgements are incomplete: only judged documents are looked at.",
    avoid="Judgements are complete; AP says more then.",
    cite="Buckley and Voorhees 2004, Retrieval evaluation with incomplete information",
    monotone=False,
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


@measure(
    "infAP",
    cutoff="none",
    monotone=False,
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
    found = p.grade >= rel
    relevant = p.cumulate(found) - found
    nonrelevant = p.cumulate((p.grade >= 0) & (p.grade < rel))
    unjudged = p.cumulate(p.grade < 0)
    above = p.rank - 1.0
    seen = (relevant + nonrelevant + unjudged).astype(np.float64)
    rate = (relevant + _EPSILON) / (relevant + nonrelevant + 2 * _EPSILON)
    inferred = 1.0 / (above + 1.0) + (above / (above + 1.0)) * ratio(seen, above) * rate
    value = np.where(above == 0, 1.0, inferred)
    return ratio(p.sum(np.where(found, value, 0.0)), p.relevant(rel))
