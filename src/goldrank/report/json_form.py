"""A result as JSON, for programs."""

from __future__ import annotations

from goldrank.data.showing import Result


def render(result: Result) -> str:
    """Everything in the result; NaN is null."""
    return result.to_json() + "\n"
