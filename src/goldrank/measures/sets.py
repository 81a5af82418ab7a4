"""Measures of everything a run returned, without order: SetP, SetR, SetF, SetAP, and the counts."""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.placements import Placements
from goldrank.measures.cutoff import harmonic, hits, ratio
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice, Number

_unordered = partial(measure, ties="unordered")
_TREC_EVAL = "trec_eval 10 (National Institute of Standards and Technology)"
_CRANFIELD = "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"


def _set_precision_of_texts(p: Placements, *, rel: float, relative: bool) -> np.ndarray:
    """If it is relative, a text with several references takes as many ranks."""
    if relative:
        return set_precision(p.places, rel=rel, relative=True)
    return set_precision(p.per_rank, rel=rel)


def _set_precision_of_pairs(p: Placements, *, rel: float, relative: bool) -> np.ndarray:
    """Pairs as a share of all possible pairs; `relative` changes nothing, because this is relative already."""
    return ratio(hits(p, None, rel), p.retrieved * p.relevant(rel))


@_unordered(
    "SetP",
    formula="SetP = (relevant documents returned) / (documents returned)",
    use="The system returns a set whose size it chooses itself.",
    avoid="Runs return a fixed number of documents; use P@k.",
    cite=_CRANFIELD,
    aliases=(
        "set_P",
        *(("set_relative_P", {"relative": True}), ("SetRelP", {"relative": True})),
    ),
    texts=_set_precision_of_texts,
    pairs=_set_precision_of_pairs,
)
def set_precision(p: Placements, *, rel: float = 1, relative: bool = False) -> np.ndarray:
    """The share of relevant documents among all that were returned.

    `relative=True` divides by the number of relevant documents where that is smaller.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetP")["SetP"]
    0.5
    """
    total = p.retrieved
    if relative:
        total = np.minimum(p.retrieved, p.relevant(rel))
    return ratio(hits(p, None, rel), total)


@_unordered(
    "IdPrecision",
    formula="IdPrecision = (relevant documents returned) / (documents returned), each document once",
    use="Comparison with Ragas, whose name for it is id_based_context_precision.",
    avoid="A list has an order: use P@k.",
    cite="Ragas 0.4.3 (Es, James, Espinosa-Anke and Schockaert 2024)",
    aliases=("id_based_context_precision",),
    texts="meaningless",
    for_texts="DistinctPrecision",
)
def id_precision(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The share of relevant documents among all that were returned; of texts and their ids it is DistinctPrecision.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "IdPrecision")["IdPrecision"]
    0.5
    """
    return set_precision(p, rel=rel)


@_unordered(
    "SetR",
    formula="SetR = (relevant documents returned) / (all relevant documents)",
    use="The system returns a set whose size it chooses itself, and misses are costly.",
    avoid="Runs are long lists; use R@k.",
    cite=_CRANFIELD,
    aliases=("set_recall", "id_based_context_recall"),
    monotone=True,
    texts="references",
)
def set_recall(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The share of all relevant documents that was returned.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetR")["SetR"]
    0.5
    """
    return ratio(hits(p, None, rel), p.relevant(rel))


def _set_f_of_texts(p: Placements, *, rel: float, beta: float, weight: float | None) -> np.ndarray:
    """Precision counts texts, recall references."""
    if weight is None:
        weight = beta**2
    return harmonic(set_precision(p.per_rank, rel=rel), set_recall(p.per_label, rel=rel), weight)


@_unordered(
    "SetF",
    formula="SetF = (1 + beta^2) * SetP * SetR / (beta^2 * SetP + SetR)",
    use="One number for a returned set; beta > 1 leans to recall.",
    avoid="Runs return a fixed number of documents.",
    cite="van Rijsbergen 1979, Information Retrieval, chapter 7",
    aliases=("set_F",),
    options={"beta": Number(low=0, high=1_000), "weight": Number(low=0, high=1_000_000, optional=True)},
    texts=_set_f_of_texts,
)
def set_f(p: Placements, *, rel: float = 1, beta: float = 1, weight: float | None = None) -> np.ndarray:
    """The weighted harmonic mean of SetP and SetR.

    `beta` is van Rijsbergen's. `weight` is beta squared, as trec_eval takes it: set_F.0.25 is beta=0.5. ir_measures
    hands its beta to trec_eval as it is, so that its SetF(beta=2) is SetF(weight=2) here.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetF")["SetF"]
    0.5
    """
    if weight is None:
        weight = beta**2
    return harmonic(set_precision(p, rel=rel), set_recall(p, rel=rel), weight)


@_unordered(
    "SetAP",
    formula="SetAP = SetP * SetR",
    use="Comparison with trec_eval's set_map.",
    avoid="Otherwise: SetF is better known.",
    cite=_TREC_EVAL,
    aliases=("set_map",),
    texts="places",
)
def set_ap(p: Placements, *, rel: float = 1) -> np.ndarray:
    """Precision times recall of the returned set.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetAP")["SetAP"]
    0.25
    """
    hit_count = hits(p, None, rel).astype(np.float64)
    return ratio(hit_count * hit_count, p.retrieved.astype(np.float64) * p.relevant(rel))


count = partial(measure, average="sum", high=np.inf, needs_relevant=False, cite=_TREC_EVAL)
"""Declares a number of things, which are added up over queries."""


@count(
    "NumQ",
    formula="NumQ = number of queries",
    use="Say over how many queries a mean was taken.",
    avoid="Comparing quality.",
    diagnostic=True,
    aliases=("num_q",),
    monotone=True,
    ties="unordered",
)
def num_q(p: Placements) -> np.ndarray:
    """The number of queries.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "NumQ")["NumQ"]
    1.0
    """
    return np.ones(len(p))


@count(
    "NumRet",
    formula="NumRet = number of documents returned",
    use="See whether runs are equally long.",
    avoid="Comparing quality.",
    diagnostic=True,
    aliases=("num_ret",),
    ties="unordered",
)
def num_ret(p: Placements) -> np.ndarray:
    """The number of documents returned, summed over queries.

    >>> evaluate({"q": {"a": 1}}, {"q": ["a", "x"]}, "NumRet")["NumRet"]
    2.0
    """
    return p.retrieved


@count(
    "NumRel",
    formula="NumRel = number of documents judged relevant",
    use="See how much there was to find.",
    avoid="Comparing quality.",
    diagnostic=True,
    aliases=("num_rel",),
    monotone=True,
    ties="unordered",
)
def num_rel(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The number of relevant documents, returned or not, summed over queries.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "NumRel")["NumRel"]
    2.0
    """
    return p.relevant(rel)


@count(
    "NumRelRet",
    formula="NumRelRet = number of relevant documents returned (in the first k)",
    use="See how much was found.",
    avoid="Comparing runs of different length.",
    aliases=("num_rel_ret",),
    monotone=True,
    texts="references",
    holes="linear",
)
def num_rel_ret(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The number of relevant documents returned, summed over queries.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "NumRelRet")["NumRelRet"]
    1.0
    """
    return hits(p, k, rel)


@count(
    "NumNonrelRet",
    higher_is_better=False,
    formula="NumNonrelRet = number of documents returned that were judged not relevant",
    use="See how much of what was returned is known to be wrong.",
    avoid="Comparing runs of different length.",
    aliases=("num_nonrel_judged_ret",),
    ties="unordered",
    texts="meaningless",
)
def num_nonrel_ret(p: Placements, *, rel: float = 1) -> np.ndarray:
    """The number of judged nonrelevant documents returned, summed over queries.

    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "b", "x"]}, "NumNonrelRet")["NumNonrelRet"]
    1.0
    """
    return p.count((p.grade >= 0) & (p.grade < rel))


_WEIGHT = Number(low=-1e9, high=1e9)


def _utility_of_texts(p: Placements, *, rel: float, a: float, b: float, c: float, d: float, docs: int) -> np.ndarray:
    """Texts are returned, references are missed."""
    hit_count, covered, relevant = hits(p.per_rank, None, rel), hits(p.per_label, None, rel), p.relevant(rel)
    known_part = a * hit_count + b * (p.retrieved - hit_count) + c * (relevant - covered)
    return np.asarray(known_part + d * (docs + hit_count - p.retrieved - relevant))


@_unordered(
    "Utility",
    low=-np.inf,
    high=np.inf,
    needs_relevant=False,
    formula="Utility = a * (relevant returned) + b * (others returned) + c * (relevant missed) + d * (others not "
    "returned)",
    use="What a right and a wrong document are worth is known: filtering, alerts.",
    avoid="Comparing queries: the scale depends on how much there is to find.",
    cite="Lewis 1995, Evaluating and optimizing autonomous text classification systems",
    options={"a": _WEIGHT, "b": _WEIGHT, "c": _WEIGHT, "d": _WEIGHT, "docs": Number(low=0, high=1e15, whole=True)},
    texts=_utility_of_texts,
)
def utility(
    p: Placements, *, rel: float = 1, a: float = 1, b: float = -1, c: float = 0, d: float = 0, docs: int = 0
) -> np.ndarray:
    """A weighted sum over the four cells of returned or not, relevant or not.

    `docs` is the number of documents in the collection, which only `d` needs.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "Utility")["Utility"]
    -1.0
    """
    hit_count, relevant = hits(p, None, rel), p.relevant(rel)
    known_part = a * hit_count + b * (p.retrieved - hit_count) + c * (relevant - hit_count)
    return np.asarray(known_part + d * (docs + hit_count - p.retrieved - relevant))


@measure(
    "NothingFound",
    needs_relevant=False,
    formula="NothingFound = 1 if the run returned no document, else 0; over the queries without relevant documents",
    use="Some queries have no answer in the collection and the right result is an empty one.",
    avoid="The system always fills its result list.",
    cite="Rajpurkar, Jia and Liang 2018, Know what you don't know: Unanswerable questions for SQuAD",
    options={"queries": Choice(("unanswerable", "answerable", "all"))},
)
def nothing_found(p: Placements, *, rel: float = 1, queries: str = "unanswerable") -> np.ndarray:
    """The rate of queries that got no result at all; by default of those that have no relevant document.

    A judged query with no relevant document is an unanswerable one: 1 is right for it. With
    `queries="answerable"` lower is better. Other queries count as NaN and are left out of the mean.

    >>> evaluate({"q1": {"a": 0}, "q2": {"b": 1}}, {"q1": [], "q2": ["b"]}, "NothingFound")["NothingFound"]
    1.0
    """
    empty = (p.retrieved == 0).astype(np.float64)
    answerable = p.relevant(rel) > 0
    is_counted = {"unanswerable": ~answerable, "answerable": answerable, "all": np.ones(len(p), bool)}[queries]
    return np.where(is_counted, empty, np.nan)
