"""Measures of everything a run returned, without order: SetP, SetR, SetF, SetAP, and the counts."""

from __future__ import annotations

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import harmonic, hits, ratio
from goldrank.measures.declare import Flag, Number, measure

_TREC_EVAL = "trec_eval 10 (National Institute of Standards and Technology)"
_CRANFIELD = "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"


@measure(
    "SetP",
    cutoff="none",
    monotone=False,
    formula="SetP = (relevant documents returned) / (documents returned)",
    use="The system returns a set whose size it chooses itself.",
    avoid="Runs return a fixed number of documents; use P@k.",
    cite=_CRANFIELD,
    aliases=("set_P", ("set_relative_P", {"relative": True})),
    options={"relative": Flag()},
)
def set_precision(p: Placements, *, rel: float = 1, relative: bool = False) -> np.ndarray:
    """The share of relevant documents among all that were returned.

    `relative=True` divides by the number of relevant documents where that is smaller.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetP")["SetP"]
    0.5
    """
    whole = np.minimum(p.retrieved, p.relevant(rel)) if relative else p.retrieved
    return ratio(hits(p, None, rel), whole)


@measure(
    "SetR",
    cutoff="none",
    formula="SetR = (relevant documents returned) / (all relevant documents)",
    use="The system returns a set whose size it chooses itself, and misses are costly.",
    avoid="Runs are long lists; use R@k.",
    cite=_CRANFIELD,
    aliases=("set_recall",),
)
def set_recall(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The share of all relevant documents that was returned.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetR")["SetR"]
    0.5
    """
    return ratio(hits(p, None, rel), p.relevant(rel))


@measure(
    "SetF",
    cutoff="none",
    monotone=False,
    formula="SetF = (1 + beta^2) * SetP * SetR / (beta^2 * SetP + SetR)",
    use="One number for a returned set; beta > 1 leans to recall.",
    avoid="Runs return a fixed number of documents.",
    cite="van Rijsbergen 1979, Information Retrieval, chapter 7",
    aliases=("set_F",),
    options={"beta": Number(low=0, high=1_000)},
)
def set_f(p: Placements, *, rel: float = 1, beta: float = 1) -> np.ndarray:
    """The weighted harmonic mean of SetP and SetR.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetF")["SetF"]
    0.5
    """
    return harmonic(set_precision(p, rel=rel), set_recall(p, rel=rel), beta**2)


@measure(
    "SetAP",
    cutoff="none",
    monotone=False,
    formula="SetAP = SetP * SetR",
    use="Comparison with trec_eval's set_map.",
    avoid="Otherwise: SetF is better known.",
    cite=_TREC_EVAL,
    aliases=("set_map",),
)
def set_ap(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Precision times recall of the returned set.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetAP")["SetAP"]
    0.25
    """
    found = hits(p, None, rel).astype(np.float64)
    return ratio(found * found, p.retrieved.astype(np.float64) * p.relevant(rel))


@measure(
    "NumQ",
    cutoff="none",
    average="sum",
    high=np.inf,
    needs_relevant=False,
    formula="NumQ = number of queries",
    use="Say over how many queries a mean was taken.",
    avoid="Comparing quality.",
    cite=_TREC_EVAL,
    aliases=("num_q",),
)
def num_q(p: Placements) -> np.ndarray:
    """The number of queries.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "NumQ")["NumQ"]
    1.0
    """
    return np.ones(len(p))


@measure(
    "NumRet",
    cutoff="none",
    average="sum",
    high=np.inf,
    monotone=False,
    needs_relevant=False,
    formula="NumRet = number of documents returned",
    use="See whether runs are equally long.",
    avoid="Comparing quality.",
    cite=_TREC_EVAL,
    aliases=("num_ret",),
)
def num_ret(p: Placements) -> np.ndarray:
    """The number of documents returned, summed over queries.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "NumRet")["NumRet"]
    2.0
    """
    return p.retrieved


@measure(
    "NumRel",
    cutoff="none",
    average="sum",
    high=np.inf,
    needs_relevant=False,
    formula="NumRel = number of documents judged relevant",
    use="See how much there was to find.",
    avoid="Comparing quality.",
    cite=_TREC_EVAL,
    aliases=("num_rel",),
)
def num_rel(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The number of relevant documents, returned or not, summed over queries.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "NumRel")["NumRel"]
    2.0
    """
    return p.relevant(rel)


@measure(
    "NumRelRet",
    cutoff="optional",
    average="sum",
    high=np.inf,
    needs_relevant=False,
    formula="NumRelRet = number of relevant documents returned (in the first k)",
    use="See how much was found.",
    avoid="Comparing runs of different length.",
    cite=_TREC_EVAL,
    aliases=("num_rel_ret",),
)
def num_rel_ret(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The number of relevant documents returned, summed over queries.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "NumRelRet")["NumRelRet"]
    1.0
    """
    return hits(p, k, rel)
