"""Objects with fields, whatever they are, and what stands at a path in them."""

from __future__ import annotations

import dataclasses
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
    """Whether a value stands for nothing: None, and what pandas has in its place."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def value_at(record: Any, path: str) -> Any:
    """What stands at a dotted path, or under it as a key; None if nothing does."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    value = at_path(record, tuple(path.split(".")))
    if value is MISSING:
        return None
    return value


def at_path(record: Any, path: Path) -> Any:
    """What stands at a path; a name that is no position is looked up in every entry of a list."""
    for at, key in enumerate(path):
        if isinstance(record, Mapping) and key in record:
            record = record[key]
        elif isinstance(record, list | tuple) and not key.isdecimal():
            values = [at_path(entry, path[at:]) for entry in record]
            if any(value is MISSING for value in values):
                return MISSING
            return values
        elif isinstance(record, list | tuple) and int(key) < len(record):
            record = record[int(key)]
        else:
            return MISSING

    return record
