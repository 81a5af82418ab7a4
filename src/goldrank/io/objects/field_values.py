"""Objects with fields of any kind, and the values at paths in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError

HINT = "Expected one object per line, or a list of objects, with retrieved texts and references."

Path = tuple[str, ...]
MISSING = object()


def as_mapping(record: Any, where: str) -> Mapping[str, Any]:
    """A record as a mapping: a dict, a named tuple, or an object with fields."""
    if type(record) is dict or isinstance(record, Mapping):
        return record
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        return dict(record._asdict())
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    if hasattr(record, "__dict__") and not isinstance(record, type) and not callable(record):
        return {key: value for key, value in vars(record).items() if not key.startswith("_")}
    raise InputError(f"is {ids.show(repr(record), 60)}, not an object with fields", where=where, hint=HINT)


def absent(value: Any) -> bool:
    """Whether a value is missing: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and math.isnan(value)


def value_at(record: Any, path: str) -> Any:
    """The value at a dotted path, or of the path as a key; None if there is no value."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    value = at_path(record, tuple(path.split(".")))
    if value is MISSING:
        return None
    return value


def at_path(record: Any, path: Path) -> Any:
    """The value at a path, or `MISSING`; a name in a list means the values of all entries."""
    for depth, key in enumerate(path):
        if isinstance(record, Mapping) and key in record:
            record = record[key]
        elif isinstance(record, list | tuple) and not key.isdecimal():
            values = [at_path(entry, path[depth:]) for entry in record]
            if any(value is MISSING for value in values):
                return MISSING
            return values
        elif isinstance(record, list | tuple) and int(key) < len(record):
            record = record[int(key)]
        else:
            return MISSING

    return record
