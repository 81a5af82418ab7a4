"""How long queries took: the attribute `latency` of queries, or the latencies that scores have themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.queries import Queries
from goldrank.data.scores import Scores
from goldrank.gating.rules import Rule

ATTRIBUTE = "latency"


def latencies_of(scores: Scores, queries: Queries | None, rule: Rule) -> np.ndarray:
    """The latencies of all queries that have one: the attribute of `queries`, else what the scores know."""
    if queries is not None and queries.has(ATTRIBUTE):
        return checked(queries.column(ATTRIBUTE), queries.name)

    latencies = scores.query_facts.latency
    if latencies is None:
        raise InputError(
            f"the rule '{rule}' needs the latencies of queries",
            hint="Give queries with an attribute 'latency': queries= (--queries FILE at the prompt).",
            code="needs-latencies",
        )
    defined: np.ndarray = latencies[~np.isnan(latencies)]
    return defined


def checked(latencies: Mapping[str, Any], name: str) -> np.ndarray:
    """Latencies by query as numbers, or the error for what is not a latency."""
    for query, value in latencies.items():
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            message = f"{value!r:.60} is not a latency (query '{ids.show(query)}')"
            raise InputError(message, where=name, hint="Latencies are numbers from 0 on.", code="bad-latency")
    return np.array(list(latencies.values()), np.float64)
