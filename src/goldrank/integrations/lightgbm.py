"""Evaluation functions for LightGBM: `lightgbm.train(..., feval=feval("nDCG@10"))`.

LightGBM's rules are the default: the gain is 2^grade - 1, equal scores keep the order of the rows, AP is divided by the
lesser of k and the relevant documents, and a query without anything relevant is 1. `convention="trec_eval-10"` has
goldrank's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from goldrank.base.errors import InputError
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.evaluation.arrays import evaluate_arrays

Evaluated = list[tuple[str, float, bool]]
"""Name, value, and whether higher is better: LightGBM's own shape."""


def _evaluated(
    grades: Any, predictions: Any, measures: MeasuresLike, sizes: Any, convention: ConventionLike
) -> Evaluated:
    # evaluate_arrays would read sizes such as 1, 1, 1 as ids; ids are clear.
    ids = np.repeat(np.arange(len(sizes)), sizes)
    scores = evaluate_arrays(grades, predictions, measures, indexes=ids, convention=convention)
    return [(name, column.summary, column.higher_is_better) for name, column in scores.columns.items()]


def feval(
    measures: MeasuresLike = "nDCG@10", *, convention: ConventionLike = "lightgbm"
) -> Callable[[Any, Any], Evaluated]:
    """A function of predictions and a `lightgbm.Dataset`, for `feval=`.

    Parameters
    ----------
    measures : measures
        What to measure.
    convention : str or Convention
        Whose rules hold; LightGBM's by default.

    Returns
    -------
    function
    """

    def of_dataset(predictions: Any, data: Any) -> Evaluated:
        sizes = data.get_group()
        if sizes is None:
            raise InputError("the dataset has no groups", hint="lightgbm.Dataset(X, y, group=sizes)", code="no-groups")
        return _evaluated(data.get_label(), predictions, measures, sizes, convention)

    return of_dataset


def eval_metric(
    measures: MeasuresLike = "nDCG@10", *, convention: ConventionLike = "lightgbm"
) -> Callable[..., Evaluated]:
    """A function of grades, predictions, weights and groups, for `LGBMRanker.fit(eval_metric=...)`.

    Parameters
    ----------
    measures : measures
        What to measure.
    convention : str or Convention
        Whose rules hold; LightGBM's by default.

    Returns
    -------
    function
    """

    def of_arrays(grades: Any, predictions: Any, weight: Any = None, group: Any = None) -> Evaluated:
        if group is None:
            message = "there are no groups"
            raise InputError(message, hint="Use LGBMRanker, and give fit(eval_group=...).", code="no-groups")
        return _evaluated(grades, predictions, measures, group, convention)

    return of_arrays
