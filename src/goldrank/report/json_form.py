"""A result as JSON, for programs."""

from __future__ import annotations

from goldrank.data.showing import Result


def render(result: Result) -> str:
    """Everything that the result holds; NaN is null."""
    return result.to_json() + "\n"
