"""A scorer for `weave.Evaluation`: the values of each question."""

from __future__ import annotations

from typing import Any

from goldrank.integrations import need
from goldrank.integrations.one_question import checked_measures, finite, question_values


def scorer(*measures: str) -> Any:  # an op of weave, whose types are not ours
    """An op for the scorers of `weave.Evaluation`, which gives a value for each measure.

    Rows of the data set have `expected_ids`; the model returns ids, best first, or an object with `retrieved_ids`.
    """
    names = checked_measures(measures)
    weave = need("weave")

    @weave.op(name="goldrank")  # type: ignore[untyped-decorator]
    def goldrank(output: Any, expected_ids: Any) -> dict[str, float]:
        return finite(question_values(output, expected_ids, names))

    return goldrank
