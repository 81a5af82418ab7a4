"""Plain values in JSON files: values that JSON cannot hold become null or are escaped; invalid JSON is an error."""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import Any

from goldrank.base.errors import InputError, cannot_open, file_name
from goldrank.base.writing import write_whole


def write_json(path: str | Path, data: Any) -> None:
    """Write plain values to a file; NaN becomes null."""
    import json

    write_whole(path, json.dumps(without_nan(data), ensure_ascii=True).encode() + b"\n")


# Any: the content of the file, which the caller checks.
def read_json(path: str | PathLike[str]) -> Any:
    """The content of a JSON file."""
    import json

    try:
        return json.loads(Path(file_name(path)).read_bytes())
    except OSError as error:
        raise cannot_open(error, str(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", where=str(path), code="not-json") from None


def without_nan(value: Any) -> Any:
    """A value for JSON, which has no NaN and no infinity: they become null."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def utf8(text: str) -> str:
    """The text of an id for data frames: undecodable bytes become escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
