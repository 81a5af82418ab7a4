"""Measures over the aspects of a query: its subtopics, or the opinions of several judges."""

from __future__ import annotations

import numpy as np

from goldrank.data.aspects import Aspects
from goldrank.measures.cutoff import precision, ratio
from goldrank.measures.declare import Choice, measure
from goldrank.measures.rank import average_precision, r_precision_multiple

ASPECTS = Choice(("relevant", "all"))
"""Which aspects are averaged over: those with a relevant document, or all."""
_AGRAWAL = "Agrawal, Gollapudi, Halverson and Ieong 2009, Diversifying search results"


def _mean(a: Aspects, values: np.ndarray, rel: float, aspects: str) -> np.ndarray:
    """Per query, the mean of one value per aspect."""
    which = a.parts.relevant(rel) > 0 if aspects == "relevant" else np.ones(len(values), bool)
    return ratio(a.sum(np.where(which, values, 0.0)), a.count(which))


@measure(
    "P_IA",
    over="aspects",
    cutoff="needed",
    formula="P_IA@k = mean over aspects of P@k",
    use="A page of results should serve every reading of the query, or every judge.",
    avoid="Repeating what was already shown should not be rewarded; use alpha_nDCG.",
    cite=_AGRAWAL,
    aliases=(("P_avgjg", {"aspects": "all"}),),
    options={"aspects": ASPECTS},
)
def precision_by_aspect(a: Aspects, *, k: int, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Precision at k, averaged over the aspects of a query.

    `aspects="all"` also counts aspects without any relevant document, with 0.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"a": 1, "b": 1}}}), {"q": ["a", "b"]}, "P_IA@2")["P_IA@2"]
    0.75
    """
    return _mean(a, precision(a.parts, k=k, rel=rel), rel, aspects)


@measure(
    "AP_IA",
    over="aspects",
    cutoff="none",
    formula="AP_IA = mean over aspects of AP",
    use="The whole ranking should serve every reading of the query, or every judge.",
    avoid="Repeating what was already shown should not be rewarded; use alpha_nDCG.",
    cite=_AGRAWAL,
    aliases=("MAP_IA", ("map_avgjg", {"aspects": "all"})),
    options={"aspects": ASPECTS},
)
def average_precision_by_aspect(a: Aspects, *, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Average precision, averaged over the aspects of a query.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "AP_IA")["AP_IA"]
    0.75
    """
    return _mean(a, average_precision(a.parts, k=None, rel=rel), rel, aspects)


@measure(
    "RprecMult_IA",
    over="aspects",
    cutoff="multiple",
    formula="RprecMult_IA@m = mean over aspects of RprecMult@m",
    use="Comparison with trec_eval on judgements by several judges.",
    avoid="Otherwise: AP_IA.",
    cite="trec_eval 10 (National Institute of Standards and Technology)",
    aliases=(("Rprec_mult_avgjg", {"aspects": "all"}),),
    options={"aspects": ASPECTS},
)
def r_precision_by_aspect(a: Aspects, *, k: float, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """Precision at a multiple of the number of relevant documents, averaged over the aspects of a query.

    >>> from goldrank.data.aspects import AspectQrels
    >>> qrels = AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}})
    >>> evaluate(qrels, {"q": ["a", "b"]}, "RprecMult_IA@1.0")["RprecMult_IA@1.0"]
    0.5
    """
    return _mean(a, r_precision_multiple(a.parts, k=k, rel=rel), rel, aspects)


@measure(
    "StRecall",
    over="aspects",
    cutoff="needed",
    formula="StRecall@k = (aspects with a relevant document in the first k) / (aspects with a relevant document)",
    use="Every aspect must be covered once; also: how many references an answer can be built from.",
    avoid="Order within the first k matters.",
    cite="Zhai, Cohen and Lafferty 2003, Beyond independent relevance: Evaluation metrics for subtopic retrieval",
    aliases=("SubtopicRecall", "strec"),
    options={"aspects": ASPECTS},
)
def subtopic_recall(a: Aspects, *, k: int, rel: float = 1, aspects: str = "relevant") -> np.ndarray:
    """The share of a query's aspects that the first k documents cover.

    >>> from goldrank.data.aspects import AspectQrels
    >>> evaluate(AspectQrels({"q": {"x": {"a": 1}, "y": {"b": 1}}}), {"q": ["a", "b"]}, "StRecall@1")["StRecall@1"]
    0.5
    """
    parts = a.parts
    covered = parts.count((parts.grade >= rel) & (parts.rank <= k)) > 0
    return _mean(a, covered.astype(np.float64), rel, aspects)
