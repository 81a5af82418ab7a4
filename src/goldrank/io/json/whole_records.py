"""Whole JSON records of a file, as other programs wrote them: JSON or JSON lines, told by the content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import InputError
from goldrank.base.types import Path
from goldrank.io.sources import open_source


def whole_records(path: Path) -> list[Mapping[str, Any]]:
    """The records of a file with JSON or JSON lines, also compressed or on standard input; one object is one record."""
    source = open_source(path)
    content = source.read(lines=True)
    name = source.name
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}", where=name, code="not-utf8") from None

    try:
        parsed = json.loads(text)
    except RecursionError:
        raise InputError("is nested too deeply", where=name, code="bad-json") from None
    except ValueError:
        parsed = _lines(text, name)

    if isinstance(parsed, Mapping):
        parsed = [parsed]
    if not isinstance(parsed, list):
        raise InputError("holds no records", where=name, hint="Each record is a JSON object.")
    return objects(parsed, name)


def objects(records: list[Any], name: str) -> list[Mapping[str, Any]]:
    """Records, each of which must be an object."""
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            raise InputError(f"record {number} is not an object", where=name, hint="Each record is a JSON object.")
    return records


def _lines(text: str, name: str) -> list[Any]:
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON: {error}", where=f"{name}:{number}", code="bad-json") from None
    return records
