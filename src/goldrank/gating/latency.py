"""How long queries took, from whatever holds it: numbers by query, JSON, or JSONL with a field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from goldrank import ids
from goldrank.comparison.slices import read_objects
from goldrank.errors import InputError, did_you_mean

LatencyLike: TypeAlias = "Mapping[Any, float] | Iterable[float] | str | Path"
"""Times by query, times alone, or a JSON or JSONL file. Queries may be of any type: only the times are read."""


def read_latencies(given: LatencyLike, field_name: str) -> np.ndarray:
    """Latencies from a mapping, a JSON object of numbers by query, or JSONL with a field."""
    where = ids.show(str(given), 200) if isinstance(given, str | Path) else "latency"
    if isinstance(given, str | Path):
        rows = read_objects(given)
        if len(rows) == 1 and field_name not in rows[0]:
            given = rows[0]
        else:
            for number, row in enumerate(rows, 1):
                if field_name not in row:
                    hint = did_you_mean(field_name, row) or f"Fields are: {', '.join(map(ids.show, list(row)[:8]))}."
                    raise InputError(f"object {number:,} has no field {ids.show(field_name)!r}", where=where, hint=hint)
            given = [row[field_name] for row in rows]
    listed = list(given.values()) if isinstance(given, Mapping) else list(given)
    if not listed:
        raise InputError("no latencies", where=where)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise InputError(f"{value!r:.60} is no latency", where=where, hint="Latencies are numbers from 0 on.")
    return np.array(listed, np.float64)
