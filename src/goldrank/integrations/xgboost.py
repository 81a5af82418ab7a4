"""Metrics for XGBoost: `xgboost.train(..., custom_metric=custom_metric("nDCG@10"))`.

XGBoost's rules are the default: as LightGBM's, the gain is 2^grade - 1, equal scores keep the order of the rows, and a
query without anything relevant is 1 (`Convention("xgboost", empty="zero")` is what XGBoost writes as `ndcg@10-`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.types import ConventionLike, MeasureLike
from goldrank.evaluation.arrays import evaluate_arrays
from goldrank.measures import parse


def custom_metric(
    measure: MeasureLike = "nDCG@10",
    *,
    convention: ConventionLike = "xgboost",
) -> Callable[[Any, Any], tuple[str, float]]:
    """A function of predictions and a `xgboost.DMatrix` with groups, for `custom_metric=`.

    Parameters
    ----------
    measure : measure
        What to measure.
    convention : str or Convention
        Whose rules hold; XGBoost's by default.

    Returns
    -------
    function
    """
    parsed = parse(measure)

    def of_matrix(predictions: Any, data: Any) -> tuple[str, float]:
        borders = np.asarray(data.get_uint_info("group_ptr"), np.int64)
        if len(borders) < 2:
            message = "the matrix has no groups"
            raise InputError(message, hint="xgboost.DMatrix(X, y, qid=ids) or data.set_group(sizes)", code="no-groups")

        ids = np.repeat(np.arange(len(borders) - 1), borders[1:] - borders[:-1])
        scores = evaluate_arrays(data.get_label(), predictions, parsed, indexes=ids, convention=convention)
        return next(iter(scores.items()))

    return of_matrix
