"""Questions without an answer: whether a system returns nothing for them, and how well its scores tell.

A system abstains if it returns nothing, or if the score of its first text is below `abstain_below`. The areas are
numbers of a whole set of questions: the value of a question is what it adds, and their mean is the area. Where
questions have evidence by place, Cover is EvidenceRecall.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.passages import Passages
from goldrank.measures.cover import cover
from goldrank.measures.declare import measure
from goldrank.measures.options import Number

_measure = partial(
    measure,
    over="texts",
    by_place=True,
    needs_relevant=False,
    options={"abstain_below": Number(optional=True)},
)


@_measure(
    "AbstainRight",
    formula="AbstainRight = (unanswerable questions on which the system abstains) / (unanswerable questions)",
    use="Whether a retriever knows when there is nothing to find: recall of abstaining.",
    avoid="Alone: a system that never answers has 1. Look at AbstainWrong and SelectiveCover too.",
    cite="Rajpurkar, Jia and Liang 2018, Know what you don't know: unanswerable questions for SQuAD",
    aliases=("abstain_right", "true_abstention_rate"),
)
def abstain_right(t: Passages, *, abstain_below: float | None = None) -> np.ndarray:
    """Whether the system abstains, for each question without an answer.

    `abstain_below` is the score of the first text below which a system counts as abstaining.

    >>> items = [{"retrieved": [], "answerable": False}, {"retrieved": ["x"], "answerable": False}]
    >>> evaluate_texts(items, "AbstainRight")["AbstainRight"]
    0.5
    """
    return np.where(t.unanswerable, t.abstained(abstain_below), np.nan)


@_measure(
    "AbstainWrong",
    higher_is_better=False,
    formula="AbstainWrong = (answerable questions on which the system abstains) / (answerable questions)",
    use="What a threshold costs: answers that are there and are not given.",
    avoid="Alone: a system that always answers has 0.",
    cite="Rajpurkar, Jia and Liang 2018, Know what you don't know: unanswerable questions for SQuAD",
    aliases=("abstain_wrong", "false_abstention_rate"),
)
def abstain_wrong(t: Passages, *, abstain_below: float | None = None) -> np.ndarray:
    """Whether the system abstains, for each question that has an answer.

    `abstain_below` is the score of the first text below which a system counts as abstaining.

    >>> items = [{"retrieved": [], "references": ["a"]}, {"retrieved": ["x"], "references": ["a"]}]
    >>> evaluate_texts(items, "AbstainWrong")["AbstainWrong"]
    0.5
    """
    return np.where(t.known & ~t.unanswerable, t.abstained(abstain_below), np.nan)


@_measure(
    "SelectiveCover",
    caveat="selective-ends",
    formula="SelectiveCover@k = mean of Cover@k (0 if abstained) and, if unanswerable, 1 for abstaining, else 0",
    use="One number for a system that may abstain; the notes have what always answering and always abstaining give.",
    avoid="The share of unanswerable questions differs from real use: it decides the number.",
    cite="goldrank 0.3, after Rajpurkar, Jia and Liang 2018 (SQuAD 2.0 scores no answer in this way)",
    aliases=("selective_cover",),
)
def selective_cover(t: Passages, *, k: int | None, rel: float = 1, abstain_below: float | None = None) -> np.ndarray:
    """Cover@k of what is answered, and 1 for each unanswerable question on which the system abstains.

    `abstain_below` is the score of the first text below which a system counts as abstaining.

    >>> items = [{"retrieved": ["a"], "references": ["a", "b"]}, {"retrieved": [], "answerable": False}]
    >>> evaluate_texts(items, "SelectiveCover", matching="contains")["SelectiveCover"]
    0.75
    """
    abstained = t.abstained(abstain_below)
    answered = np.where(abstained, 0.0, cover(t, k=k, rel=rel))
    return np.where(_measured(t, rel), np.where(t.unanswerable, abstained, answered), np.nan)


def _measured(t: Passages, rel: float = 1) -> np.ndarray:
    """Which questions are unanswerable, or have references to be measured by."""
    return t.unanswerable | (t.pairs.relevant(rel) > 0)


_area = partial(measure, over="texts", by_place=True, needs_relevant=False, diagnostic=True, of_all_queries=True)


@_area(
    "AbstainAUROC",
    formula="AbstainAUROC = share of pairs of an answerable and an unanswerable question, the first with the higher "
    "score; ties are 1/2",
    use="Whether scores tell answerable from unanswerable questions at all, before a threshold is chosen.",
    avoid="How much is covered matters; use AURC or SelectiveCover.",
    cite="Hanley and McNeil 1982, The meaning and use of the area under a receiver operating characteristic curve",
    aliases=("abstain_auroc",),
)
def abstain_auroc(t: Passages) -> np.ndarray:
    """For each answerable question, the share of unanswerable ones that have a lower score; ties are halves.

    >>> items = [{"retrieved": [("a", 0.9)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> evaluate_texts(items, "AbstainAUROC", matching="contains")["AbstainAUROC"]
    1.0
    """
    score = t.confident(t.known)
    others = np.sort(score[t.unanswerable])
    if not len(others):
        return np.full(len(t), np.nan)
    below = np.searchsorted(others, score, "left") + np.searchsorted(others, score, "right")
    return np.where(t.known & ~t.unanswerable, below / (2 * len(others)), np.nan)


def _spread(order: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights by rank, descending in `order`; entries that are equal in it share their weights evenly."""
    ranked = np.argsort(-order, kind="stable")
    _, group = np.unique(-order[ranked], return_inverse=True)
    mean = np.bincount(group, weights=weight) / np.bincount(group)
    spread = np.empty(len(order))
    spread[ranked] = mean[group]
    return spread


def _area_of(t: Passages, k: int | None, weights: str, excess: bool = False) -> np.ndarray:
    """What each question adds to an area: its loss, weighted by the lists of most confident questions that hold it."""
    values = np.full(len(t), np.nan)
    measured = _measured(t)
    rows = np.flatnonzero(measured)
    n = len(rows)
    if not n:
        return values

    loss = np.where(t.unanswerable, 1.0, 1.0 - cover(t, k=k))[rows]
    score = t.confident(measured)[rows]
    rank = np.arange(1, n + 1)
    # The list of the i most confident is averaged over i questions, or over all.
    if weights == "selected":
        weight = np.cumsum((1 / rank)[::-1])[::-1]
    else:
        weight = (n + 1 - rank) / n

    worth = _spread(score, weight)
    if excess:
        worth = worth - _spread(-loss, weight)

    values[rows] = loss * worth
    return values


@_area(
    "AURC",
    higher_is_better=False,
    high=np.inf,
    formula="AURC@k = mean over i of the mean loss of the i most confident questions; loss = 1 - Cover@k, 1 if "
    "unanswerable",
    use="How well scores put the questions first that are answered well, over all thresholds.",
    avoid="Systems differ in Cover: EAURC takes out what the best order would have.",
    cite="Geifman and El-Yaniv 2017, Selective classification for deep neural networks",
    aliases=("area_under_risk_coverage",),
)
def aurc(t: Passages, *, k: int | None) -> np.ndarray:
    """The area under the risk against the share of questions answered, the most confident first.

    >>> items = [{"retrieved": [("a", 0.9)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> evaluate_texts(items, "AURC", matching="contains")["AURC"]
    0.25
    """
    return _area_of(t, k, "selected")


@_area(
    "EAURC",
    higher_is_better=False,
    low=-np.inf,
    high=np.inf,
    formula="EAURC@k = AURC@k - AURC@k of the questions in order of their losses",
    use="Scores of systems that cover differently well: only the order of questions counts. 0 is the best.",
    avoid="What matters is how much is answered well; use AURC.",
    cite="Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural classifiers",
    aliases=("E_AURC",),
)
def eaurc(t: Passages, *, k: int | None) -> np.ndarray:
    """How far AURC is from what the best order of the same questions would have.

    >>> items = [{"retrieved": [("a", 0.1)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> evaluate_texts(items, "EAURC", matching="contains")["EAURC"]
    0.5
    """
    return _area_of(t, k, "selected", excess=True)


@_area(
    "AUGRC",
    higher_is_better=False,
    formula="AUGRC@k = mean over i of (sum of the losses of the i most confident questions) / n",
    use="As AURC, without the weight that it gives to the few most confident questions.",
    avoid="Comparison with papers that print AURC.",
    cite="Traub et al. 2024, Overcoming common flaws in the evaluation of selective classification systems",
    aliases=("area_under_generalized_risk_coverage",),
)
def augrc(t: Passages, *, k: int | None) -> np.ndarray:
    """The area under the generalised risk: of losses among all questions, not among those answered.

    >>> items = [{"retrieved": [("a", 0.9)], "references": ["a"]}, {"retrieved": [("x", 0.2)], "no_answer": True}]
    >>> evaluate_texts(items, "AUGRC", matching="contains")["AUGRC"]
    0.25
    """
    return _area_of(t, k, "all")
