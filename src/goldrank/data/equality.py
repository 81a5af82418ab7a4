"""Equality by content, where `==` of Python does not give it: NaN equals NaN, and arrays are compared whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Whether two values have the same content.

    >>> same({"p": float("nan")}, {"p": float("nan")})
    True
    >>> same((1.0, np.array([1, 2])), (1.0, np.array([1, 3])))
    False
    """
    if first is second:
        return True
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _same_arrays(first, second)
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (first != first and second != second)

    if isinstance(first, tuple | list) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return _same_mappings(first, second)
    if _is_plain_dataclass(first) and type(first) is type(second):
        return same_fields(first, second)
    return bool(first == second)


def same_fields(first: Any, second: Any) -> bool:
    """Whether two objects of one data class have the same content in all fields that are compared."""
    names = [field.name for field in fields(first) if field.compare]
    return all(same(getattr(first, name), getattr(second, name)) for name in names)


def _same_arrays(first: Any, second: Any) -> bool:
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        return False
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        return np.array_equal(first, second)
    return np.array_equal(first, second, equal_nan=True)


def _same_mappings(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> bool:
    return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())


def _is_plain_dataclass(value: object) -> bool:
    """Whether Python made the `==` of its class, field by field."""
    return is_dataclass(value) and not isinstance(value, type) and type(value).__dataclass_params__.eq  # type: ignore[attr-defined]
