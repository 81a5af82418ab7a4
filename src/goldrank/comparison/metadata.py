"""What is known of queries besides their results: attributes, texts, clusters, weights; from any form to a function."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from goldrank import ids, types
from goldrank.errors import InputError, Place
from goldrank.io import json_text
from goldrank.io.sources import open_source

QueryValues: TypeAlias = "Mapping[Any, Any] | types.Path | types.ArrowStream"
"""Something about queries: by id, a JSONL file, or a data frame. Any value that can be shown is taken."""

Attribute: TypeAlias = "QueryValues | Callable[[str], Any] | None"
"""An attribute of queries: the same, a function of the query id, or None for one of the automatic ones."""


def lookup(given: Any, name: str) -> Callable[[str], Any]:
    """A function of the query id, from such a function, a mapping, a JSONL file or a data frame of queries."""
    if callable(given):
        found: Callable[[str], Any] = given
        return found
    if isinstance(given, Mapping):
        by_id = {ids.as_text(key, "query id"): value for key, value in given.items()}
        return by_id.get
    if isinstance(given, str | os.PathLike):
        rows = read_objects(given)
    elif hasattr(given, "to_dicts"):
        rows = given.to_dicts()
    elif hasattr(given, "to_dict"):
        rows = given.to_dict("records")
    elif hasattr(given, "to_pylist"):
        rows = given.to_pylist()
    else:
        raise InputError(
            f"{name!r}: {type(given).__name__} holds no values of queries",
            hint="Give a dict, a function, a JSONL file or a data frame.",
        )
    field = "text" if name == "queries" else name
    table = {}
    for row in rows:
        key = next((row[word] for word in ("query", "query_id", "qid", "_id", "id") if word in row), None)
        if key is None or field not in row:
            raise InputError(f"query metadata has no field for the query id or no field {field!r}: {list(row)[:8]}")
        table[ids.as_text(key, "query id")] = row[field]
    return table.get


def read_objects(path: types.Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, or the one object of a JSON file."""
    source = open_source(path)
    hint = "Each field has one name."
    if json_text.is_lines(source):
        numbered = list(json_text.read_lines(source, Counter(), hint))
    else:
        numbered = [(1, json_text.read_whole(source, hint))]
    for number, row in numbered:
        if not isinstance(row, dict):
            raise InputError("is not a JSON object", where=Place(source.name, number))
    return [row for _, row in numbered]
