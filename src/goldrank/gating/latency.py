"""How long queries took: the attribute `latency` of queries, or what scores know themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from goldrank import ids
from goldrank.data.queries import Queries
from goldrank.data.scores import Scores
from goldrank.errors import InputError, cannot_open, file_name
from goldrank.gating.rules import Rule
from goldrank.io.queries import ID_FIELDS, read_queries
from goldrank.types import Path

ATTRIBUTE = "latency"


def latencies_of(scores: Scores, queries: Queries | None, rule: Rule) -> np.ndarray:
    """The latencies of all queries that have one: the attribute of `queries`, else what the scores know."""
    if queries is not None and queries.has(ATTRIBUTE):
        return checked(queries.column(ATTRIBUTE), queries.name)

    own = scores.query_facts.latency
    if own is None:
        raise InputError(
            f"the rule '{rule}' needs the latencies of queries",
            hint="Give queries with an attribute 'latency': queries= (--latency FILE at the prompt).",
            code="needs-latencies",
        )
    known: np.ndarray = own[~np.isnan(own)]
    return known


def read_latencies(path: Path) -> Mapping[str, Any]:
    """Latencies by query from a file: one JSON object of numbers by query, or records with an id and a latency."""
    name = file_name(path, "latencies")
    try:
        data = json.loads(FilePath(name).read_bytes())
    except OSError as error:
        raise cannot_open(error, name) from None
    except (ValueError, RecursionError):  # it is no JSON, or several documents of it
        data = None
    if isinstance(data, dict) and not any(field in data for field in ID_FIELDS):
        by_query: dict[str, Any] = data
    else:
        queries = read_queries(name)
        by_query = dict(queries.column(ATTRIBUTE)) if queries.has(ATTRIBUTE) else {}
    if not by_query:
        raise InputError("no latencies", where=name, hint="Records have a field 'latency'.", code="no-latencies")
    checked(by_query, name)
    return by_query


def checked(latencies: Mapping[str, Any], where: str) -> np.ndarray:
    """Latencies by query as numbers, or the error for what is none."""
    for query, value in latencies.items():
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            what = f"{value!r:.60} is no latency (query '{ids.show(query)}')"
            raise InputError(what, where=where, hint="Latencies are numbers from 0 on.", code="bad-latency")
    return np.array(list(latencies.values()), np.float64)
