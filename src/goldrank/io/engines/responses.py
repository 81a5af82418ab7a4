"""Answers of search engines -> rows of a run: one answer, several in a list or in lines, or a dict of them by name.

An answer seldom says which query it is for. That is, in this order: what the user named (`query=` a path, or a
template such as q{n} or {request.id}); the key that the answer stands under; a field beside it; what it says itself
that was searched for. Without any of them it is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.io import aliases
from goldrank.io.columns import Columns
from goldrank.io.engines import answer_shapes as shapes
from goldrank.io.engines.answer_shapes import AnswerShape, Hit
from goldrank.io.json.json_text import step
from goldrank.io.objects.field_values import value_at

_FIELDS = re.compile(r"\{([^{}]+)\}")
_HINT = (
    "Say how queries are called: --map query=q{n} numbers them, --map query=FIELD takes a field beside the response "
    'or in it; or write {"q1": response, ...}.'
)
_NAMES = ("query_id", "qid", "q_id", "queryid", "topic_id", "id", "_id", "name", "_name", "query", "query_text")
"""Fields beside a response that say which query it is for."""


_WRAPPERS = ("response", "result", "results", "body", "raw", "search_response")
"""Names of fields that hold a response, and of no query."""


class _Entry(NamedTuple):
    """A response and what stands around it."""

    response: Any
    around: Mapping[str, Any]
    key: Any
    """What it is called by the answer that it is part of, None if nothing says so."""
    where: str


class Responses:
    """All responses of an input, of one engine."""

    def __init__(self, shape: AnswerShape, entries: Sequence[_Entry], columns: Columns) -> None:
        self.shape = shape
        self._entries = entries
        self._columns = columns
        self.counts: Counter[str] = Counter()
        self.queries: list[str] = []
        self.places: list[str] = []
        """Where each row stands."""

    def rows(self) -> Iterator[tuple[str, Any, float]]:
        """Rows of query, document and score; the order of a list is its ranking where scores are none or do not
        descend."""
        pages: dict[str, dict[int, tuple[str, list[Hit]]]] = {}
        for number, entry in enumerate(self._entries, 1):
            page = self.shape.page(entry.response, entry.where)
            self.counts["partial-responses"] += page.is_partial
            query = self._query(entry, page.query, number)
            own = pages.setdefault(query, {})
            if page.before in own:
                what = f"query '{ids.show(query)}' has another response at {own[page.before][0]}"
                raise InputError(what, where=entry.where, hint=_HINT)
            own[page.before] = (entry.where, list(page.hits))

        self.queries = list(pages)
        for query, own in pages.items():
            hits = [(before + i, hit) for before in sorted(own) for i, hit in enumerate(own[before][1])]
            scores = [self._score(hit) for _, hit in hits]
            usable = all(isinstance(score, int | float) and not isinstance(score, bool) for score in scores)
            descends = usable and all(a >= b for a, b in pairwise(scores))
            self.counts["scores-not-descending"] += usable and not descends
            for (place, hit), score in zip(hits, scores, strict=True):
                self.places.append(hit.where)
                yield query, self._doc(hit), float(score) if descends else -float(place + 1)

    def _query(self, entry: _Entry, own: Any, number: int) -> str:
        named = self._columns.named("query", "run")
        if named is not None:
            self._columns.mark_used("query", "run")
            return self._named_query(named, entry, number)

        name = aliases.first_present(entry.around, _NAMES)
        if name:
            value = entry.around[name]
        else:
            value = own

        if entry.key is not None:
            value = entry.key

        if isinstance(value, Mapping):
            inner = aliases.first_present(value, (*_NAMES, "text", "q"))
            if inner:
                value = value[inner]
            else:
                value = None

        if value is None or isinstance(value, list):
            raise InputError("nothing says which query this response is for", where=entry.where, hint=_HINT)
        return ids.as_text(value, "query id", entry.where)

    def _named_query(self, named: str, entry: _Entry, number: int) -> str:
        def value(path: str) -> Any:
            given = value_at(entry.around, path)
            if given is not None:
                given = given
            else:
                given = value_at(entry.response, path)
            if given is None or isinstance(given, Mapping | list):
                raise self._columns.missing(
                    path, "query", list({**entry.around, **_mapping(entry.response)}), entry.where
                )
            return given

        if not _FIELDS.search(named):
            return ids.as_text(value(named), "query id", entry.where)
        return _FIELDS.sub(lambda field: str(number if field[1] == "n" else value(field[1])), named)

    def _doc(self, hit: Hit) -> Any:
        named = self._columns.named("doc", "run")
        if named is None:
            doc = hit.doc
        else:
            doc = value_at(hit.record, named)

        if named is not None:
            self._columns.mark_used("doc", "run")

        if isinstance(doc, list) and len(doc) == 1:  # Solr's fields with several values, Elasticsearch's `fields`
            doc = doc[0]

        if doc is None or isinstance(doc, Mapping | list):
            keys = ", ".join(ids.show(str(key), 40) for key in list(hit.record)[:12]) or "nothing"
            hint = "Say where it is: --map doc=FIELD, such as doc=_source.sku."
            raise InputError(f"has no document id; it has: {keys}", where=hit.where, hint=hint)

        return doc

    def _score(self, hit: Hit) -> Any:
        named = self._columns.named("score", "run")
        if named is None:
            return hit.score
        self._columns.mark_used("score", "run")
        return value_at(hit.record, named)


def _mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return {}


def find(data: Any, where: str, lines: Sequence[int] | None, columns: Columns) -> Responses | None:
    """The responses in what a JSON file holds, if any; `lines` are those that the records of JSON Lines stand in."""
    if isinstance(data, list):
        if data:
            first = _inner(data[0])
        else:
            first = None
        if first is None:
            return None
        places = [f"{where}: $[{i}]" if lines is None else str(Position(where, lines[i])) for i in range(len(data))]
        listed = [entry for i, record in enumerate(data) for entry in _entries(first[0], record, None, places[i])]
        return Responses(first[0], listed, columns)

    if not isinstance(data, Mapping) or not data:
        return None
    if (inner := _inner(data)) is not None and not _is_by_name(data, inner[1]):
        return Responses(inner[0], list(_entries(inner[0], data, None, f"{where}: $")), columns)

    shape = next((held[0] for value in data.values() if (held := _inner(value)) is not None), None)
    if shape is None or not all(isinstance(value, Mapping) for value in data.values()):
        return None

    named = [entry for key, value in data.items() for entry in _entries(shape, value, key, f"{where}: ${step(key)}")]
    return Responses(shape, named, columns)


def _is_by_name(data: Mapping[str, Any], key: str | None) -> bool:
    """Whether an object has responses under the names of queries, rather than one with other fields beside it."""
    return key is not None and key not in _WRAPPERS and all(isinstance(value, Mapping) for value in data.values())


def _inner(record: Any) -> tuple[AnswerShape, str | None] | None:
    """The engine whose answer a record is, or holds under a key."""
    if not isinstance(record, Mapping):
        return None
    if (shape := shapes.shape_of(record)) is not None:
        return shape, None
    candidates = ((shapes.shape_of(value), key) for key, value in record.items() if isinstance(value, Mapping))
    return next(((shape, key) for shape, key in candidates if shape is not None), None)


def _entries(shape: AnswerShape, record: Any, key: Any, where: str) -> Iterator[_Entry]:
    """The responses of an answer; it may stand in a record with other fields beside it."""
    around = _mapping(record)
    inner = _inner(record)
    if inner is not None and inner[1] is not None:
        record, where = around[inner[1]], f"{where}{step(inner[1])}"
        around = {name: value for name, value in around.items() if name != inner[1]}

    if isinstance(record, Mapping):
        several = shape.responses(record)
    else:
        several = None

    if several is None:
        yield _Entry(record, around, key, where)
        return

    listed = next((value for value in around.values() if isinstance(value, list) and _names_all(value, several)), None)
    for i, response in enumerate(several):
        if listed:
            name = listed[i]
        else:
            name = None
        if key is not None and len(several) == 1:
            name = key
        yield _Entry(response, _mapping(response), name, f"{where}.{shape.several}[{i}]")


def _names_all(value: list[Any], responses: Sequence[Any]) -> bool:
    """Whether a list beside responses has an id for each."""
    return (
        value is not responses and len(value) == len(responses) and all(isinstance(name, str | int) for name in value)
    )
