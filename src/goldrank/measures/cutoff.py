"""Measures of the first k documents as a set: P, R, F, Success, RecallAll."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from goldrank.core import core
from goldrank.data.placements import Placements
from goldrank.measures.declare import Kernel, measure, monotone
from goldrank.measures.options import Choice, Number

_at_k = partial(monotone, cutoff="needed")


def hits(p: Placements, k: int | None, rel: float) -> np.ndarray:
    """Per query, the number of relevant documents in the first k."""
    is_hit = p.grade >= rel
    if k is not None:
        is_hit &= p.rank <= k
    return p.count(is_hit)


def last_rank(k: int | None) -> float:
    """The last rank that counts: k, or infinity without a cut-off."""
    if k is None:
        return math.inf
    return k


def cut_off(values: np.ndarray, rank: np.ndarray, k: int | None) -> np.ndarray:
    """Values of the first k ranks, and 0 below; without a cut-off all of them."""
    if k is None:
        return values
    return np.where(rank <= k, values, 0.0)


def ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """part / total, and 0 where the total is 0."""
    share = np.zeros(len(part))
    if not core.divide(part, total, share):  # other numbers
        np.divide(part, total, out=share, where=total != 0)
    return share


def expected_hits(p: Placements, k: int | None, rel: float) -> np.ndarray:
    """Per query, the mean of `hits` over all orders of ties: a document counts by its chance to be in the first k."""
    size = p.tie_last - p.tie_first + 1
    if k is None:
        inside = size
    else:
        inside = np.clip(np.minimum(p.tie_last, k) - p.tie_first + 1, 0, None)
    return p.sum(np.where(p.grade >= rel, inside / size, 0.0))


class TieGroup(NamedTuple):
    """Documents with the same score, some of them relevant."""

    query: int
    first: int
    """The first of its ranks."""
    size: int
    relevant: int
    before: int
    """Relevant documents above the group."""


def tie_groups(p: Placements, rel: float) -> list[TieGroup]:
    """Every group of ties with a relevant document; a document without ties is a group by itself."""
    rows = np.flatnonzero(p.grade >= rel)
    _, start, relevant = np.unique(p.tie_group[rows], return_index=True, return_counts=True)
    rows = rows[start]
    before = p.cumulate(p.grade >= rel)[rows] - 1
    size = (p.tie_last - p.tie_first + 1)[rows]
    columns = [column.tolist() for column in (p.query[rows], p.tie_first[rows], size, relevant, before)]
    return [TieGroup(*group) for group in zip(*columns, strict=True)]


def _precision(count: Kernel, p: Placements, *, k: int, rel: float, divisor: str) -> np.ndarray:
    """What `hits` or `expected_hits` count as a share of k, or of the documents returned where these are fewer."""
    hit_count = count(p, k, rel)
    if divisor == "retrieved":
        return ratio(hit_count, np.minimum(p.retrieved, k))
    return hit_count / k


def _precision_of_pairs(p: Placements, *, k: int, rel: float, divisor: str) -> np.ndarray:
    """Pairs of the first k texts as a share of all possible pairs."""
    return ratio(_precision(hits, p, k=k, rel=rel, divisor=divisor), p.relevant(rel))


@_at_k(
    "P",
    formula="P@k = (relevant documents in the first k) / k",
    use="Users look at a page of k results and every wrong one costs them.",
    avoid="Queries have fewer than k relevant documents: even a perfect ranking stays below 1.",
    cite="Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems",
    aliases=("precision",),
    options={"divisor": Choice(("k", "retrieved"))},
    ties=partial(_precision, expected_hits),
    holes="linear",
    pairs=_precision_of_pairs,
)
def precision(p: Placements, *, k: int, rel: float = 1, divisor: str = "k") -> np.ndarray:
    """The share of relevant documents among the first k.

    `divisor="retrieved"` divides by the number of documents returned where that is less than k.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "P@2")["P@2"]
    0.5
    """
    return _precision(hits, p, k=k, rel=rel, divisor=divisor)


def _recall(count: Kernel, p: Placements, *, k: int | None, rel: float, divisor: str) -> np.ndarray:
    """What `hits` or `expected_hits` count as a share of all relevant documents, or of those returned at any rank."""
    if divisor == "relevant":
        total = p.relevant(rel)
    else:
        total = hits(p, None, rel)
    return ratio(count(p, k, rel), total)


@monotone(
    "R",
    formula="R@k = (relevant documents in the first k) / (all relevant documents)",
    use="A later stage (a re-ranker, a reader, a language model) needs the documents to be there at all.",
    avoid="Not all relevant documents are known, or k is smaller than their number, so that 1 cannot be reached.",
    cite="Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems",
    aliases=("recall",),
    options={"divisor": Choice(("relevant", "returned"))},
    ties=partial(_recall, expected_hits),
    texts="references",
    holes="linear",
    holes_unless={"divisor": "returned"},
    limited_by_k=True,
)
def recall(p: Placements, *, k: int | None, rel: float = 1, divisor: str = "relevant") -> np.ndarray:
    """The share of all relevant documents that is among the first k.

    `divisor="returned"` divides by the relevant documents that were returned, not by all of them.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "R@2")["R@2"]
    0.5
    """
    return _recall(hits, p, k=k, rel=rel, divisor=divisor)


def harmonic(precision: np.ndarray, recall: np.ndarray, weight: float) -> np.ndarray:
    """(weight + 1) * P * R / (R + weight * P), in trec_eval's order of operations; 0 where P or R is 0."""
    return ratio((weight + 1.0) * precision * recall, recall + weight * precision)


def _f_of_texts(p: Placements, *, k: int, rel: float, beta: float) -> np.ndarray:
    """Precision counts texts, recall references."""
    return harmonic(precision(p.per_rank, k=k, rel=rel), recall(p.per_label, k=k, rel=rel), beta**2)


@_at_k(
    "F",
    formula="F@k = (1 + beta^2) * P@k * R@k / (beta^2 * P@k + R@k)",
    use="One number for both precision and recall of the first k; beta > 1 leans to recall.",
    avoid="The order within the first k matters.",
    cite="van Rijsbergen 1979, Information Retrieval, chapter 7",
    aliases=("F1", "f1_score"),
    options={"beta": Number(low=0, high=1_000)},
    texts=_f_of_texts,
)
def f_measure(p: Placements, *, k: int, rel: float = 1, beta: float = 1) -> np.ndarray:
    """The weighted harmonic mean of P@k and R@k.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "F@2")["F@2"]
    0.5
    """
    return harmonic(precision(p, k=k, rel=rel), recall(p, k=k, rel=rel), beta**2)


def _expected_success(p: Placements, *, k: int | None, rel: float) -> np.ndarray:
    if k is None:  # no order of ties leaves anything out
        return success(p, k=k, rel=rel)
    chance = np.zeros(len(p))
    for group in tie_groups(p, rel):
        if chance[group.query] < 1.0 and group.first <= k:
            # The chance that the first k, as far as they reach into the group, miss all of its relevant documents.
            reached = min(group.size, k - group.first + 1)
            missed = math.comb(group.size - group.relevant, reached) / math.comb(group.size, reached)
            chance[group.query] = max(chance[group.query], 1.0 - missed)
    return chance


@monotone(
    "Success",
    formula="Success@k = 1 if any of the first k documents is relevant, else 0",
    use="One good document is enough: question answering, known-item search, suggestions.",
    avoid="Users need several documents.",
    cite="Voorhees and Harman 2005, TREC: Experiment and evaluation in information retrieval",
    aliases=("HitRate", "Hit", "hit_rate", "HR", "HitRatio", "hit_ratio"),
    ties=_expected_success,
    holes="first",
)
def success(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """Whether any relevant document is among the first k, or without a cut-off among all that were returned.

    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "Success@2")["Success@2"]
    1.0
    """
    return (hits(p, k, rel) > 0).astype(np.float64)


@monotone(
    "RecallAll",
    formula="RecallAll@k = 1 if all relevant documents are among the first k, else 0",
    use="The answer must be put together from all of the evidence (multi-hop questions).",
    avoid="Queries have many relevant documents: it is then almost always 0.",
    cite="Wu et al. 2025, LongMemEval: Benchmarking chat assistants on long-term interactive memory (recall_all)",
    aliases=("recall_all", "AllRel"),
    texts="references",
    limited_by_k=True,
)
def recall_all(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """Whether every relevant document is among the first k; 0 if there is none.

    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "RecallAll@3")["RecallAll@3"]
    1.0
    """
    relevant = p.relevant(rel)
    return np.where((hits(p, k, rel) == relevant) & (relevant > 0), 1.0, 0.0)


@_at_k(
    "R_cap",
    formula="R_cap@k = (relevant documents in the first k) / min(k, all relevant documents)",
    use="Some queries have more than k relevant documents and some fewer: a perfect ranking always scores 1.",
    avoid="How many relevant documents are missed beyond k matters.",
    cite="Thakur et al. 2021, BEIR: A heterogeneous benchmark for zero-shot evaluation (R_cap)",
    aliases=("relative_P", "RelP", "capped_recall"),
    texts="places",
    holes="linear",
)
def capped_recall(p: Placements, *, k: int, rel: float = 1) -> np.ndarray:
    """Recall of the first k, or precision where there are more relevant documents than k.

    >>> evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]}, "R_cap@2")["R_cap@2"]
    0.5
    """
    return ratio(hits(p, k, rel), np.minimum(p.relevant(rel), k))


@measure(
    "FallOut",
    counts_nonrelevant=True,
    formula="FallOut@k = (judged nonrelevant documents in the first k) / (all judged nonrelevant documents)",
    use="Every wrong document returned costs: filtering, alerts. Lower is better.",
    avoid="Only relevant documents were judged: there is then nothing to divide by.",
    cite="van Rijsbergen 1979, Information Retrieval, chapter 7",
    aliases=("fall_out",),
    needs_relevant=False,
    higher_is_better=False,
    texts="meaningless",
)
def fall_out(p: Placements, *, k: int | None, rel: float = 1) -> np.ndarray:
    """The share of the judged nonrelevant documents that is among the first k; 0 if there is none.

    >>> evaluate({"q": {"a": 1, "b": 0, "c": 0}}, {"q": ["a", "b"]}, "FallOut@2")["FallOut@2"]
    0.5
    """
    wrong = (p.grade >= 0) & (p.grade < rel)
    if k is not None:
        wrong &= p.rank <= k
    return ratio(p.count(wrong), p.nonrelevant(rel))
