"""What kind of thing was given: a file, a data frame, a Spark DataFrame. Nothing is imported to find out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, TypeGuard


def is_file(given: object) -> TypeGuard[str | os.PathLike[str] | IO[bytes]]:
    """Whether it is a path or an open stream."""
    return isinstance(given, str | os.PathLike) or (hasattr(given, "read") and not is_frame(given))


def is_frame(given: object) -> bool:
    """Whether it is a data frame of any library."""
    kind = type(given)
    return hasattr(kind, "__arrow_c_stream__") or (hasattr(kind, "columns") and not isinstance(given, Mapping))


def is_spark(given: object) -> bool:
    """Whether it is a Spark DataFrame, classic or Connect, by the module of its class."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in type(given).__mro__
    )
