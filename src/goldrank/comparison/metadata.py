"""What is known of queries besides their results: attributes, texts, clusters, weights; from any form to a function."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from goldrank import ids, types
from goldrank.errors import InputError, Place
from goldrank.io import json_text
from goldrank.io.field_values import as_mapping
from goldrank.io.sources import open_source

QueryValues: TypeAlias = "Mapping[Any, Any] | types.Path | types.ArrowStream"
"""Something about queries: by id, a JSONL file, or a data frame. Any value that can be shown is taken."""

Attribute: TypeAlias = "QueryValues | Callable[[str], Any] | None"
"""An attribute of queries: the same, a function of the query id, or None for one of the automatic ones."""

QUERY_FIELDS = ("query", "query_id", "qid", "_id", "id")
DOCUMENT_FIELDS = ("doc", "doc_id", "docid", "docno", "document", "_id", "id")
"""Where the ids are, the first that a row has."""
MOST_TEXT = 300
"""Characters of a document that are kept."""


def _asked(function: Callable[[str], Any], name: str, query: str) -> Any:
    """What somebody's function says of a query, or the error that says for which one it failed."""
    try:
        return function(query)
    except Exception as error:
        what = f"{name!r}: the function failed for query '{ids.show(query)}': {type(error).__name__}: {error}"
        raise InputError(what) from error


def lookup(given: Any, name: str) -> Callable[[str], Any]:
    """A function of the query id, from such a function, a mapping, a JSONL file or a data frame of queries."""
    if callable(given):
        return partial(_asked, given, name)
    if isinstance(given, Mapping):
        by_id = {ids.as_text(key, "query id"): value for key, value in given.items()}
        return by_id.get
    field = "text" if name == "queries" else name
    table = {}
    for row in _records(given, f"{name!r}", "queries"):
        key = next((row[word] for word in QUERY_FIELDS if word in row), None)
        if name == "queries" and field not in row and "title" in row:  # TREC topics
            row = {**row, field: row["title"]}
        if key is None or field not in row:
            raise InputError(f"query metadata has no field for the query id or no field {field!r}: {list(row)[:8]}")
        table[ids.as_text(key, "query id")] = row[field]
    return table.get


def is_missing(value: object) -> bool:
    """Whether a query has no value: None, or NaN as data frames have it."""
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value))


def _records(given: Any, name: str, what: str) -> Iterable[dict[str, Any]]:
    """The rows of a JSONL file, a data frame, or an iterator such as those of ir_datasets."""
    if isinstance(given, str | os.PathLike):
        return read_objects(given)
    if hasattr(given, f"{what.replace('documents', 'docs')}_iter"):  # a data set of ir_datasets
        given = getattr(given, f"{what.replace('documents', 'docs')}_iter")()
    for method, arguments in (("to_dicts", ()), ("to_dict", ("records",)), ("to_pylist", ())):
        if hasattr(given, method):
            rows: Iterable[dict[str, Any]] = getattr(given, method)(*arguments)
            return rows
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return (dict(as_mapping(row, f"{what}: row {number}")) for number, row in enumerate(given, 1))
    raise InputError(
        f"{name}: {type(given).__name__} holds no values of {what}",
        hint="Give a dict, a function, a JSONL file or a data frame.",
        code="holds-no-values",
    )


def document_texts(given: Any, wanted: Collection[str], *, whole: bool = False) -> dict[str, str]:
    """The titles and texts of some documents, cut to a line or `whole`; of a file nothing else is kept."""
    wanted = set(wanted)
    texts: dict[str, str] = {}
    if callable(given):
        pairs: Iterable[tuple[Any, Any]] = ((doc, given(doc)) for doc in wanted)
    elif isinstance(given, Mapping):
        pairs = given.items()
    else:
        pairs = ((_document_id(row), row) for row in _records(given, "documents", "documents"))
    for key, value in pairs:
        doc = ids.as_text(key, "document id")
        if doc in wanted and value is not None:
            texts[doc] = _titled(value) if whole else _line(value)
    if not texts:
        raise InputError("no judged document has a text", where="documents", hint="Are the ids the same?")
    return {doc: text for doc, text in texts.items() if text}


def _document_id(row: dict[str, Any]) -> Any:
    key = next((row[word] for word in DOCUMENT_FIELDS if word in row), None)
    if key is None or not ("text" in row or "title" in row):
        raise InputError(
            f"a document has no field for its id, or neither 'title' nor 'text': {list(row)[:8]}",
            where="documents",
            hint=f"Ids are in one of: {', '.join(DOCUMENT_FIELDS)}.",
        )
    return key


def _titled(value: Any) -> str:
    """A title, and a text after it."""
    if isinstance(value, Mapping):
        return ". ".join(str(value[key]) for key in ("title", "text") if value.get(key))
    return str(value)


def _line(value: Any) -> str:
    """The same as one line."""
    return " ".join(_titled(value)[: 2 * MOST_TEXT].split())[:MOST_TEXT]


def read_objects(path: types.Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, or the one object of a JSON file."""
    source = open_source(path)
    hint = "Each field has one name."
    if json_text.is_lines(source):
        numbered: Iterable[tuple[int, Any]] = json_text.read_lines(source, Counter(), hint)
    else:
        numbered = [(1, json_text.read_whole(source, hint))]
    for number, row in numbered:
        if not isinstance(row, dict):
            raise InputError("is not a JSON object", where=Place(source.name, number))
        yield row
