"""An assertion of promptfoo in Python. Its file has one line: `from goldrank.integrations.promptfoo import get_assert`.

    assert:
      - type: python
        value: file://goldrank_assert.py
        config: {measures: [nDCG@10, R@5], threshold: 0.5}

The output of the provider has the ids that were retrieved, best first: a list, {"retrieved_ids": [...]}, or its JSON.
The variable `expected_ids` has the ids that were expected, as JSON: promptfoo makes several tests of a plain list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import GoldrankError
from goldrank.integrations.one_question import checked_measures, finite, question_values


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """The result of the assertion: the value of the first measure, which passes from the threshold on (0.5).

    All values are `namedScores`. What cannot be scored fails, with the reason.
    """
    config = context.get("config") or {}
    try:
        names = checked_measures(config.get("measures") or ())
        threshold = float(config.get("threshold", 0.5))
        expected = (context.get("vars") or {}).get("expected_ids")
        values = finite(question_values(output, expected, names))
    except (GoldrankError, TypeError, ValueError) as error:
        return {"pass": False, "score": 0.0, "reason": f"goldrank: {error}"}

    first = values.get(names[0], 0.0)
    listed = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
    return {
        "pass": first >= threshold,
        "score": first,
        "reason": f"{listed}; {names[0]} must be {threshold:g} or more",
        "namedScores": values,
    }
