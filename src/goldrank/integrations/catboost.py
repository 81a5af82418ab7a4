"""CatBoost's rankers: `evaluate_pool(model, pool, "nDCG@10")`, and the same after each of its trees.

CatBoost does not tell metrics of one's own which group an entry is in, so that there is none for `eval_metric=`; a
`Pool` knows its groups. CatBoost's rules are the default: the gain is the grade, equal scores stand in the worst order
(the least relevant first), and a query without anything relevant is 1. That is so of its NDCG and Recall; its MAP, MRR
and Precision give 0 there: `empty="zero"`. `ties="docid"` and `empty="zero"` are goldrank's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np

from goldrank.conventions import Convention
from goldrank.data.scores import Scores
from goldrank.errors import InputError
from goldrank.evaluation.arrays import evaluate_arrays
from goldrank.types import MeasuresLike, Policies

RULES = Convention(ties="input", empty="one")


def evaluate_pool(model: Any, pool: Any, measures: MeasuresLike = "nDCG@10", **policies: Unpack[Policies]) -> Scores:
    """The scores of a model on a `catboost.Pool` with groups; queries are numbered in the order of the pool."""
    return _scores(model.predict(pool), *_judged(pool), measures, policies)


def staged_evaluate_pool(
    model: Any, pool: Any, measures: MeasuresLike = "nDCG@10", *, period: int = 1, **policies: Unpack[Policies]
) -> Iterator[Scores]:
    """The same after every `period` trees, to find where more of them no longer help."""
    judged = _judged(pool)
    return (_scores(stage, *judged, measures, policies) for stage in model.staged_predict(pool, eval_period=period))


def _judged(pool: Any) -> tuple[np.ndarray, np.ndarray]:
    """Grades, and the number of the group of each entry."""
    hashes = np.asarray(pool.get_group_id_hash())
    grades = np.asarray(pool.get_label(), np.float64)
    if not len(hashes) or len(hashes) != len(grades):
        what = "the pool has no groups, or no labels"
        raise InputError(what, hint="catboost.Pool(X, y, group_id=ids)", code="no-groups")
    changes = np.flatnonzero(hashes[1:] != hashes[:-1]) + 1  # CatBoost takes groups that stand together only
    return grades, np.repeat(np.arange(len(changes) + 1), np.diff([0, *changes, len(hashes)]))


def _scores(predictions: Any, grades: np.ndarray, group: np.ndarray, measures: MeasuresLike, policies: Any) -> Scores:
    order = np.arange(len(grades))
    if not policies.get("ties"):  # where scores are equal, the order of the input is kept
        order = np.lexsort((grades, group))
    return evaluate_arrays(
        grades[order], np.asarray(predictions)[order], measures, indexes=group[order], convention=RULES, **policies
    )
