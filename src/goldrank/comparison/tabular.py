"""Records of results: the attributes that go into a row."""

from __future__ import annotations

from typing import Any


def attributes(result: object, names: str) -> dict[str, Any]:
    """The named attributes, in this order."""
    return {name: getattr(result, name) for name in names.split()}
