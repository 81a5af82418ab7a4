"""Metrics as HuggingFace's `evaluate` has them: `load("nDCG@10").compute(predictions=..., references=...)`.

No package of HuggingFace is needed. Predictions are scores and references grades, both in arrays, or both rankings: ids
of retrieved documents, and ids of relevant ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldrank import conventions
from goldrank.base.errors import InputError, as_list
from goldrank.base.types import ConventionLike, MeasuresLike
from goldrank.data.scores import Scores
from goldrank.evaluation.arrays import evaluate_arrays
from goldrank.evaluation.rankings import evaluate


class Metric:
    """A metric of one measure or several, with `compute`, `add` and `add_batch`.

    `scores` are the full results of the last `compute`.

    Parameters
    ----------
    measures : measures, optional
        What to measure; by default the usual ones.
    convention : str or Convention
        Whose rules hold.

    Examples
    --------
    >>> load("RR").compute(predictions=[["x", "a"]], references=[["a"]])
    {'RR': 0.5}
    """

    def __init__(
        self,
        measures: MeasuresLike = None,
        *,
        convention: ConventionLike = "trec_eval-10",
    ) -> None:
        self.measures = measures
        self.convention = conventions.get(convention)
        self.scores: Scores | None = None
        self._predictions: list[Any] = []
        self._references: list[Any] = []

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Take in one query: its scores and grades, or its ranking and the relevant ids."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        """Take in some queries."""
        _check_alike(predictions, references)
        self._predictions += list(predictions)
        self._references += list(references)

    def compute(self, *, predictions: Any = None, references: Any = None, **arrays: Any) -> dict[str, float]:
        """The value of each measure, over the arguments or over all queries that were added before."""
        if (predictions is None) != (references is None):
            raise InputError("predictions go with references", hint="Give both, or add them before.")

        if predictions is None:
            predictions, references = self._predictions, self._references
            self._predictions, self._references = [], []
            if not predictions:
                raise InputError("there is nothing to compute", hint="Give predictions and references, or add them.")

        if _are_rankings(predictions):
            rankings, relevant = as_list(predictions, "predictions"), as_list(references, "references")
            _check_alike(rankings, relevant)
            judged = {str(i): row for i, row in enumerate(relevant)}
            run = {str(i): list(row) for i, row in enumerate(rankings)}
            self.scores = evaluate(judged, run, self.measures, convention=self.convention)
        else:
            self.scores = evaluate_arrays(references, predictions, self.measures, convention=self.convention, **arrays)

        return dict(self.scores)


def _check_alike(predictions: Sequence[Any], references: Sequence[Any]) -> None:
    if len(predictions) != len(references):
        sizes = f"{len(predictions):,} predictions and {len(references):,} references"
        raise InputError(sizes, hint="They go together, one by one.")


def _are_rankings(predictions: Any) -> bool:
    """Whether predictions are lists of ids, not of scores."""
    first = next((row[0] for row in predictions if isinstance(row, list | tuple) and len(row)), None)
    return isinstance(first, str)


load = Metric
"""A metric of one measure or several, by the name that `evaluate` has for it."""
