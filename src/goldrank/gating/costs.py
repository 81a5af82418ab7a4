"""What queries took: the attributes `latency`, `tokens` and `cost` of queries, or what scores know of them."""

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


def costs_of(scores: Scores, queries: Queries | None, rule: Rule) -> np.ndarray:
    """The latencies, tokens or costs of all queries that have one: of `queries`, else what the scores know."""
    if queries is not None and queries.has(rule.kind):
        return checked(queries.column(rule.kind), queries.name, rule.kind)

    costs: np.ndarray | None = getattr(scores.query_facts, rule.kind)
    if costs is None:
        raise InputError(
            f"the rule '{rule}' needs the {PLURALS[rule.kind]} of queries",
            hint=f"Give queries with an attribute '{rule.kind}': queries= (--queries FILE at the prompt), or records "
            "that have it.",
            code="needs-latencies",
        )
    defined: np.ndarray = costs[~np.isnan(costs)]
    return defined


PLURALS = {"latency": "latencies", "tokens": "tokens", "cost": "costs"}


def checked(costs: Mapping[str, Any], name: str, kind: str = "latency") -> np.ndarray:
    """Numbers by query, or the error for what is not one."""
    for query, value in costs.items():
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            message = f"{value!r:.60} is not a {kind} (query '{ids.show(query)}')"
            hint = f"{PLURALS[kind].capitalize()} are numbers from 0 on."
            raise InputError(message, where=name, hint=hint, code="bad-latency")
    return np.array(list(costs.values()), np.float64)
