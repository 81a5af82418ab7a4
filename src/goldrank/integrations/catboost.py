"""CatBoost's rankers: `evaluate_pool(model, pool, "nDCG@10")`, or `staged_evaluate_pool` for values after each tree.

CatBoost does not pass the groups to custom metrics, so `eval_metric=` cannot use goldrank; a `Pool` knows its groups.
CatBoost's rules are the default: the gain is the grade, equal scores are put in the worst order (the least relevant
first), and a query without anything relevant is 1. This holds for its NDCG and Recall; its MAP, MRR and Precision give
0 there: `convention=CATBOOST.with_policies(empty="zero")`. Any other convention sees the rows as they are:
`convention="trec_eval-10"` has goldrank's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from goldrank import conventions
from goldrank.base.errors import InputError
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.conventions import convention_of
from goldrank.conventions.tool import Tool
from goldrank.data.scores import Scores
from goldrank.evaluation.arrays import evaluate_arrays

CATBOOST = convention_of(Tool("catboost", policies={"ties": "input", "empty": "one"}))
"""CatBoost's rules; before they apply, `_scores` puts rows of equal scores in the worst order."""


def evaluate_pool(
    model: Any, pool: Any, measures: MeasuresLike = "nDCG@10", *, convention: ConventionLike = CATBOOST
) -> Scores:
    """Score a model on a `catboost.Pool` with groups; queries are numbered in the order of the pool.

    Parameters
    ----------
    model : CatBoost model
        What predicts.
    pool : catboost.Pool
        Documents with grades and groups.
    measures : measures
        What to measure.
    convention : str or Convention
        Whose rules hold; CatBoost's own by default.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If the pool has no groups or no labels.
    """
    return _scores(model.predict(pool), *_judged(pool), measures, convention)


def staged_evaluate_pool(
    model: Any,
    pool: Any,
    measures: MeasuresLike = "nDCG@10",
    *,
    period: int = 1,
    convention: ConventionLike = CATBOOST,
) -> Iterator[Scores]:
    """Score a model after every `period` trees, to find where more of them no longer help.

    Parameters
    ----------
    model : CatBoost model
        What predicts.
    pool : catboost.Pool
        Documents with grades and groups.
    measures : measures
        What to measure.
    period : int
        After how many trees each.
    convention : str or Convention
        Whose rules hold; CatBoost's own by default.

    Yields
    ------
    Scores

    Raises
    ------
    InputError
        If the pool has no groups or no labels.
    """
    judged = _judged(pool)
    return (_scores(stage, *judged, measures, convention) for stage in model.staged_predict(pool, eval_period=period))


def _judged(pool: Any) -> tuple[np.ndarray, np.ndarray]:
    """Grades, and the number of the group of each entry."""
    hashes = np.asarray(pool.get_group_id_hash())
    grades = np.asarray(pool.get_label(), np.float64)
    if not len(hashes) or len(hashes) != len(grades):
        message = "the pool has no groups, or no labels"
        raise InputError(message, hint="catboost.Pool(X, y, group_id=ids)", code="no-groups")

    changes = np.flatnonzero(hashes[1:] != hashes[:-1]) + 1  # in a pool the entries of a group are adjacent
    return grades, np.repeat(np.arange(len(changes) + 1), np.diff([0, *changes, len(hashes)]))


def _scores(
    predictions: Any, grades: np.ndarray, group: np.ndarray, measures: MeasuresLike, convention: ConventionLike
) -> Scores:
    rules = conventions.get(convention)
    order = np.arange(len(grades))
    if rules.name == CATBOOST.name and rules.ties == "input":
        order = np.lexsort((grades, group))  # where scores are equal, this order is kept
    predicted = np.asarray(predictions)[order]
    return evaluate_arrays(grades[order], predicted, measures, indexes=group[order], convention=rules)
