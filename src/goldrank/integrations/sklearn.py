"""Scorers for scikit-learn: `cross_val_score(model, X, y, scoring=scorer("nDCG@10", groups="query"))`.

scikit-learn's own rules are the default: equal scores count as the mean over their orders, gains are the grades, and a
query without anything relevant is 0. Unlike `ndcg_score`, negative grades are allowed and never gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldrank import conventions
from goldrank.base.errors import OptionError
from goldrank.base.types import ConventionLike, MeasureLike
from goldrank.evaluation.arrays import evaluate_arrays
from goldrank.measures import parse


class Scorer:
    """A scorer as scikit-learn calls it: with an estimator, its input, and grades.

    `groups` gives the query of each row of the input: the name of a column, or a function of the input. Without it,
    grades are a table with a query in each row. A measure that is better when it is lower is negated. `response` are
    names of methods that give scores; the first one that the estimator has is called.
    """

    def __init__(
        self,
        measure: MeasureLike = "nDCG@10",
        *,
        groups: str | Callable[[Any], Any] | None = None,
        convention: ConventionLike = "sklearn",
        response: tuple[str, ...] = ("decision_function", "predict"),
    ) -> None:
        self.measure = parse(measure)
        self.groups = groups
        self.convention = conventions.get(convention)
        self.response = response

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:  # noqa: N803 - scikit-learn's names
        """The measure of what the estimator predicts."""
        method = next((name for name in self.response if hasattr(estimator, name)), None)
        if method is None:
            raise OptionError(f"{type(estimator).__name__} has none of: {', '.join(self.response)}")

        indexes = None
        if self.groups is not None:
            if callable(self.groups):
                indexes = self.groups(X)
            else:
                indexes = X[self.groups]

        scores = getattr(estimator, method)(X)
        measured = evaluate_arrays(y, scores, self.measure, indexes=indexes, convention=self.convention)
        value = next(iter(measured.values()))
        if self.measure.declaration.higher_is_better:
            return value
        return -value

    def __repr__(self) -> str:
        return f"<scorer {self.measure}, {self.convention.label}>"


scorer = Scorer
"""A scorer for `cross_val_score`, `GridSearchCV` and everything else that takes `scoring=`."""
