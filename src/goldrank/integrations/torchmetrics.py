"""A metric that is fed batch by batch, as in torchmetrics: `update`, `compute`, `reset`.

torchmetrics' rules are the default: only documents in the batch exist, and AP divides by the relevant ones among the
first k. Equal scores keep the order of the rows, where torchmetrics does not say (nDCG there is a mean over orders:
`convention="sklearn"`). It needs neither torch nor torchmetrics; tensors are read where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from goldrank import conventions
from goldrank.base.errors import InputError, one_of
from goldrank.base.types import ConventionLike, Empty, MeasuresLike
from goldrank.data.scores import Scores
from goldrank.evaluation.arrays import evaluate_arrays
from goldrank.io.objects.array_values import as_array

EMPTY: dict[str, Empty] = {"neg": "zero", "pos": "one", "skip": "skip", "error": "error"}
"""torchmetrics' `empty_target_action`, and what goldrank calls it."""


class StreamedMeasures:
    """Measures of predictions that come in batches; a query may be spread over several of them.

    Parameters
    ----------
    measures : measures, optional
        What to measure; by default the usual ones.
    empty_target_action : {"neg", "pos", "skip", "error"}, optional
        torchmetrics' word for the value of a query without anything relevant; by default the convention decides.
    ignore_index : int, optional
        The grade of entries that do not count.
    convention : str or Convention
        Whose rules hold; torchmetrics' by default.

    Raises
    ------
    OptionError
        If `empty_target_action` is another word.

    Examples
    --------
    >>> metric = StreamedMeasures("RR")
    >>> metric.update([0.2, 0.7], [1, 0], indexes=[0, 0])
    >>> metric.update([0.9], [1], indexes=[1])
    >>> metric.compute()["RR"]
    0.75
    """

    def __init__(
        self,
        measures: MeasuresLike = None,
        *,
        empty_target_action: str | None = None,
        ignore_index: int | None = None,
        convention: ConventionLike = "torchmetrics",
    ) -> None:
        rules = conventions.get(convention)
        if empty_target_action is not None:
            rules = rules.with_policies(empty=EMPTY[one_of(empty_target_action, EMPTY, "empty_target_action")])

        self.measures = measures
        self.ignore_index = ignore_index
        self.convention = rules
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._batches: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Take in a batch: scores, grades, and the query of each."""
        arrays = [as_array(preds, "preds"), as_array(target, "target"), as_array(indexes, "indexes")]
        if len({array.shape for array in arrays}) > 1:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise InputError(f"preds, target and indexes are of different shapes: {shapes}", hint="Make them alike.")

        scores, grades, ids = (array.ravel() for array in arrays)
        if self.ignore_index is not None:
            counting = grades != self.ignore_index
            scores, grades, ids = scores[counting], grades[counting], ids[counting]

        # Copies: the caller may write the next batch into this memory.
        self._batches.append((scores.copy(), grades.copy(), ids.copy()))

    def __call__(self, preds: Any, target: Any, indexes: Any) -> Scores:
        """Take in a batch, and score it alone."""
        self.update(preds, target, indexes)
        return self._scored(self._batches[-1:])

    def compute(self) -> Scores:
        """The scores of all batches together."""
        if not self._batches:
            raise InputError("there is nothing to compute yet", hint="Call update first.")
        return self._scored(self._batches)

    def merge_state(self, others: StreamedMeasures | Iterable[StreamedMeasures]) -> None:
        """Take in all batches of metrics that other processes were fed; they can be pickled."""
        if isinstance(others, StreamedMeasures):
            others = [others]
        for metric in others:
            self._batches += metric._batches

    def _scored(self, batches: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Scores:
        scores, grades, ids = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        return evaluate_arrays(grades, scores, self.measures, indexes=ids, convention=self.convention)
