"""Nuggets: the facts that an answer should have, vital or okay, and how far each is supported.

Support is full (1), partial (0.5) or none (0). It is what people, a judge or nuggetizer's assignments say; of nuggets
without any, the matcher says whether a retrieved text holds them. Where support is known text by text, a nugget's
support within the first k is the best over these texts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from goldrank.data.passages import Passages
from goldrank.measures.cutoff import last_rank, ratio
from goldrank.measures.declare import measure
from goldrank.measures.options import Choice, Number

VITAL, OKAY = 2, 1
"""The grades of nuggets: of what an answer must have, and of what is good to have."""
_PRADEEP = "Pradeep et al. 2025, The great nugget recall: Automating fact extraction and RAG evaluation with LLMs"
_measure = partial(
    measure,
    over="texts",
    wanted="nuggets",
    cite=_PRADEEP,
    options={"by": Choice(("auto", "matcher", "judge")), "least": Number(low=0, high=1_000)},
)


def _support(t: Passages, k: int | None, grade: int | None, strict: bool) -> np.ndarray:
    """Per query, the sum of the support of its nuggets of a grade; of all nuggets if the grade is None."""
    pairs = t.pairs
    assert pairs.label is not None
    if t.support is None:
        degree = np.ones(len(pairs.label))
    else:
        degree = t.support
    if strict:
        degree = np.where(degree >= 1, 1.0, 0.0)

    near = pairs.rank <= last_rank(k)
    if grade is not None:
        near &= pairs.grade == grade

    best = np.zeros(len(pairs.judged))
    np.maximum.at(best, pairs.label[near], degree[near])
    return np.bincount(pairs.judged_query, weights=best, minlength=len(t))


def _count(t: Passages, grade: int) -> np.ndarray:
    """Per query, how many nuggets have a grade."""
    return np.bincount(t.pairs.judged_query[t.pairs.judged == grade], minlength=len(t))


@_measure(
    "Nugget",
    formula="Nugget@k = (sum of the support of all nuggets) / (nuggets); strict: partial support is none",
    use="Answers, or contexts, against the facts that they should have: the all score of TREC RAG.",
    avoid="Some facts are a must; use NuggetVital or NuggetWeighted.",
    aliases=("all_score", ("strict_all_score", {"strict": True})),
)
def nugget(t: Passages, *, k: int | None, strict: bool = False, by: str = "auto") -> np.ndarray:
    """The mean support of a question's nuggets; 0 if it has none.

    `strict` takes partial support for none. `by` says who decides on nuggets without an assignment: the "judge" if
    there is one ("auto"), or the "matcher".

    >>> nuggets = [{"text": "built in 1889", "importance": "vital", "assignment": "support"},
    ...            {"text": "330 metres", "importance": "okay", "assignment": "partial_support"}]
    >>> evaluate_texts([{"nuggets": nuggets}], ["Nugget", "Nugget(strict=True)"]).mean
    {'Nugget': 0.75, 'Nugget(strict=True)': 0.5}
    """
    return ratio(_support(t, k, None, strict), np.diff(t.pairs.judged_start))


@_measure(
    "NuggetVital",
    formula="NuggetVital@k = (sum of the support of vital nuggets) / (vital nuggets); strict: partial support is none",
    use="Whether answers have what they must have: TREC RAG's main score is the strict one.",
    avoid="Questions without vital nuggets: they have 0, as in nuggetizer.",
    aliases=("vital_score", ("strict_vital_score", {"strict": True})),
)
def nugget_vital(t: Passages, *, k: int | None, strict: bool = False, by: str = "auto") -> np.ndarray:
    """The mean support of a question's vital nuggets; 0 if it has none.

    `strict` takes partial support for none; `by` is as in Nugget.

    >>> nuggets = [{"text": "built in 1889", "importance": "vital", "assignment": "support"},
    ...            {"text": "330 metres", "importance": "okay", "assignment": "not_support"}]
    >>> evaluate_texts([{"nuggets": nuggets}], "NuggetVital")["NuggetVital"]
    1.0
    """
    return ratio(_support(t, k, VITAL, strict), _count(t, VITAL))


@_measure(
    "NuggetWeighted",
    formula="NuggetWeighted@k = (support of vital nuggets + 0.5 * support of okay ones) / (V + 0.5 * O); V, O: how "
    "many there are",
    use="One number in which a vital nugget counts twice an okay one.",
    avoid="Comparison with TREC RAG, which has no weighted score.",
    cite="Vectara 2025, open-rag-eval (there with V and O of at least 1: least=1)",
    aliases=("nugget_weighted",),
)
def nugget_weighted(
    t: Passages, *, k: int | None, strict: bool = False, least: float = 0, by: str = "auto"
) -> np.ndarray:
    """The support of a question's nuggets, vital ones counting twice; no value if it has none.

    `least` is the number that V and O are at least taken for: 1 is what open-rag-eval does, where an answer with two
    vital nuggets, both supported, has 0.8. `strict` takes partial support for none; `by` is as in Nugget.

    >>> nuggets = [{"text": "built in 1889", "importance": "vital", "assignment": "support"},
    ...            {"text": "330 metres", "importance": "okay", "assignment": "not_support"}]
    >>> round(evaluate_texts([{"nuggets": nuggets}], "NuggetWeighted")["NuggetWeighted"], 3)
    0.667
    """
    vital, okay = (np.maximum(_count(t, grade), least) for grade in (VITAL, OKAY))
    supported = _support(t, k, VITAL, strict) + 0.5 * _support(t, k, OKAY, strict)
    total = vital + 0.5 * okay
    return np.where(total > 0, ratio(supported, total), np.nan)
