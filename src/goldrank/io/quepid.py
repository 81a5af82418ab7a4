"""Quepid's exports in JSON: ratings by query, cases, and ratings for the Rated Ranking Evaluator. Its CSV files are
tables, its TREC files TREC text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from goldrank import ids
from goldrank.errors import InputError

_HINT = 'Expected {"queries": [{"query": ..., "ratings": {doc: rating}}]}.'


def is_export(data: Any) -> bool:
    """Whether it is an export with ratings."""
    queries = data.get("queries") if isinstance(data, Mapping) else None
    if not isinstance(queries, list) or not queries or not isinstance(queries[0], Mapping):
        return False
    return bool(queries[0].keys() & {"ratings", "relevant_documents"}) and "relevant_docs" not in data


def ratings(data: Any, where: str, counts: Counter[str]) -> Iterator[tuple[Any, Any, Any, str]] | None:
    """Rows of query, document, rating and place; None if it is no such export. `counts` gets codes of notes."""
    return _rows(data["queries"], where, counts) if is_export(data) else None


def _rows(queries: list[Any], where: str, counts: Counter[str]) -> Iterator[tuple[Any, Any, Any, str]]:
    for i, entry in enumerate(queries):
        place = f"{where}: $.queries[{i}]"
        if not isinstance(entry, Mapping):
            raise InputError(f"is {ids.show(repr(entry), 60)}, not an object", where=place, hint=_HINT)
        query = entry.get("query", entry.get("query_text"))
        placeholders = entry.get("placeholders")
        if query is None and isinstance(placeholders, Mapping):
            query = placeholders.get("$query", next(iter(placeholders.values()), None))
        if query is None:
            raise InputError("has no query", where=place, hint=_HINT)
        rated = list(_rated(entry, place))
        counts["unrated-queries"] += not rated
        for doc, rating, at in rated:
            if rating is None:
                counts["ungraded-rows"] += 1
            else:
                yield query, doc, rating, at


def _rated(entry: Mapping[str, Any], place: str) -> Iterator[tuple[Any, Any, str]]:
    """Documents with their ratings: {doc: rating}, or {rating: [doc, ...]} for the Rated Ranking Evaluator."""
    name = "ratings" if "ratings" in entry else "relevant_documents"
    given = entry.get(name) or {}
    if not isinstance(given, Mapping):
        raise InputError(f"is {ids.show(repr(given), 60)}, not an object", where=f"{place}.{name}", hint=_HINT)
    for key, value in given.items():
        at = f"{place}.{name}['{ids.show(key, 40)}']"
        if name == "ratings":
            yield key, value, at
            continue
        docs = value.get("relevant", value.get("docs")) if isinstance(value, Mapping) else value
        if not isinstance(docs, list) or not str(key).lstrip("-").isdigit():
            raise InputError("is no rating with a list of documents", where=at, hint=_HINT)
        for doc in docs:
            yield doc, int(key), at
