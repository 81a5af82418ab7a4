"""The rows of a result as a Parquet file."""

from __future__ import annotations

import io

from goldrank.data.showing import Result


def render(result: Result) -> bytes:
    """What `to_polars` gives, as the bytes of a file."""
    buffer = io.BytesIO()
    result.to_polars().write_parquet(buffer)
    return buffer.getvalue()
