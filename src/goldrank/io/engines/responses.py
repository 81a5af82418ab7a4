"""Rows of a run from answers of search engines: one answer, several in a list or in lines, or a dict of them by name.

An answer seldom names its query. The query is, in this order: what the user named (`query=` a path, a template such as
q{n}, {stem} or {request.id}, or @FILE whose lines are the queries in order); the key of the answer; a field beside it;
the searched words in the answer. An answer without any of them is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
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
    "Say how queries are called: --map query=q{n} numbers them, query={stem} takes the name of the file, "
    "query=@queries.txt the lines of a file in the order of the responses, query=FIELD a field beside the response or "
    'in it; or write {"q1": response, ...}.'
)
QUERIES_FILE = "@"
"""What the name of a file with queries begins with."""
_NAMES = ("query_id", "qid", "q_id", "queryid", "topic_id", "id", "_id", "name", "_name", "query", "query_text")
"""Fields beside a response that name its query."""

_WRAPPERS = ("response", "result", "results", "body", "raw", "search_response")
"""Names of fields that hold a response and are not names of queries."""


class _Entry(NamedTuple):
    """A response and the fields around it."""

    response: Any
    around: Mapping[str, Any]
    key: Any
    """Its name in the answer that it is part of; None if it has no name."""
    where: str


class Responses:
    """All responses of an input, of one engine."""

    def __init__(self, shape: AnswerShape, entries: Sequence[_Entry], columns: Columns, file: str) -> None:
        self.shape = shape
        self._entries = entries
        self._columns = columns
        self._file = PurePath(file)
        self.counts: Counter[str] = Counter()
        self.queries: list[str] = []
        self.positions: list[str] = []
        """The position of each row."""

    def rows(self) -> Iterator[tuple[str, Any, float]]:
        """Rows of query, document and score. If scores are missing or do not descend, the order of the list counts."""
        pages: dict[str, dict[int, tuple[str, list[Hit]]]] = {}
        lines = self._lines_of_queries()
        for number, entry in enumerate(self._entries, 1):
            page = self.shape.page(entry.response, entry.where)
            self.counts["partial-responses"] += page.is_partial
            if lines is None:
                query = self._query(entry, page.query, number)
            else:
                query = lines[number - 1]
            of_query = pages.setdefault(query, {})
            if page.before in of_query:
                problem = f"query '{ids.show(query)}' has another response at {of_query[page.before][0]}"
                raise InputError(problem, where=entry.where, hint=_HINT)
            of_query[page.before] = (entry.where, list(page.hits))

        self.queries = list(pages)
        for query, of_query in pages.items():
            hits = [(before + i, hit) for before in sorted(of_query) for i, hit in enumerate(of_query[before][1], 1)]
            scores = [self._score(hit) for _, hit in hits]
            usable = all(isinstance(score, int | float) and not isinstance(score, bool) for score in scores)
            descends = usable and all(a >= b for a, b in pairwise(scores))
            self.counts["scores-not-descending"] += usable and not descends
            if not descends:
                scores = [-rank for rank, _ in hits]
            for (_, hit), score in zip(hits, scores, strict=True):
                self.positions.append(hit.where)
                yield query, self._doc(hit), float(score)

    def _lines_of_queries(self) -> list[str] | None:
        """The queries from the lines of a file, one for each response; None if the user named no such file."""
        named = self._columns.named("query", "run")
        if named is None or not named.startswith(QUERIES_FILE):
            return None
        self._columns.mark_used("query", "run")

        queries = query_lines(named.removeprefix(QUERIES_FILE))
        if len(queries) != len(self._entries):
            hint = "Each line is the query of one response, in the same order; several files each have {stem}."
            problem = f"has {len(self._entries):,} responses, and {named[1:]} has {len(queries):,} queries"
            raise InputError(problem, where=str(self._file), hint=hint)
        return queries

    def _query(self, entry: _Entry, searched: Any, number: int) -> str:
        named = self._columns.named("query", "run")
        if named is not None:
            self._columns.mark_used("query", "run")
            return self._named_query(named, entry, number)

        value = searched
        name = aliases.first_present(entry.around, _NAMES)
        if name:
            value = entry.around[name]
        if entry.key is not None:
            value = entry.key

        if isinstance(value, Mapping):
            field = aliases.first_present(value, (*_NAMES, "text", "q"))
            if not field:
                raise _no_query(entry.where)
            value = value[field]
        if value is None or isinstance(value, list):
            raise _no_query(entry.where)
        return ids.as_text(value, "query id", entry.where)

    def _named_query(self, named: str, entry: _Entry, number: int) -> str:
        def value(path: str) -> Any:
            value = value_at(entry.around, path)
            if value is None:
                value = value_at(entry.response, path)
            if value is None or isinstance(value, Mapping | list):
                present = list({**entry.around, **_mapping(entry.response)})
                raise self._columns.missing(path, "query", present, entry.where)
            return value

        def filled(field: re.Match[str]) -> str:
            if field[1] == "n":
                return str(number)
            if field[1] == "file":
                return self._file.name
            if field[1] == "stem":
                return self._file.name.partition(".")[0]
            return str(value(field[1]))

        if not _FIELDS.search(named):
            return ids.as_text(value(named), "query id", entry.where)
        return _FIELDS.sub(filled, named)

    def _doc(self, hit: Hit) -> Any:
        named = self._columns.named("doc", "run")
        doc = hit.doc
        if named is not None:
            doc = value_at(hit.record, named)
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


def query_lines(path: str) -> list[str]:
    """The queries of a file, one a line: the id alone, or before a tab."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}"
        raise InputError(problem, where=path, hint="--map query=@FILE is a file with a query a line.") from None
    return [line.partition("\t")[0].strip() for line in lines if line.strip()]


def _no_query(where: str) -> InputError:
    return InputError("nothing says which query this response is for", where=where, hint=_HINT)


def _mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return {}


def find(data: Any, where: str, lines: Sequence[int] | None, columns: Columns) -> Responses | None:
    """The responses in the content of a JSON file; None if it has none. `lines` are the lines of its records."""
    if isinstance(data, list):
        return _in_list(data, where, lines, columns)
    if not isinstance(data, Mapping) or not data:
        return None

    inner = _inner(data)
    if inner is not None and not _is_by_name(data, inner[1]):
        return Responses(inner[0], list(_entries(inner[0], data, None, f"{where}: $")), columns, where)

    inner = next(filter(None, map(_inner, data.values())), None)
    if inner is None or not all(isinstance(value, Mapping) for value in data.values()):
        return None
    entries: list[_Entry] = []
    for key, value in data.items():
        entries += _entries(inner[0], value, key, f"{where}: ${step(key)}")
    return Responses(inner[0], entries, columns, where)


def _in_list(data: list[Any], where: str, lines: Sequence[int] | None, columns: Columns) -> Responses | None:
    if not data:
        return None
    first = _inner(data[0])
    if first is None:
        return None

    entries: list[_Entry] = []
    for i, record in enumerate(data):
        position = f"{where}: $[{i}]"
        if lines is not None:
            position = str(Position(where, lines[i]))
        entries += _entries(first[0], record, None, position)
    return Responses(first[0], entries, columns, where)


def _is_by_name(data: Mapping[str, Any], key: str | None) -> bool:
    """Whether an object has responses by names of queries, and not one response with other fields beside it."""
    return key is not None and key not in _WRAPPERS and all(isinstance(value, Mapping) for value in data.values())


def _inner(record: Any) -> tuple[AnswerShape, str | None] | None:
    """The engine of a record that is an answer (and None), or of an answer in a record (and its key)."""
    if not isinstance(record, Mapping):
        return None
    shape = shapes.shape_of(record)
    if shape is not None:
        return shape, None

    for key, value in record.items():
        if isinstance(value, Mapping):
            shape = shapes.shape_of(value)
            if shape is not None:
                return shape, key
    return None


def _entries(shape: AnswerShape, record: Any, key: Any, where: str) -> Iterator[_Entry]:
    """The responses of an answer, which may be in a record with other fields."""
    around = _mapping(record)
    inner = _inner(record)
    if inner is not None and inner[1] is not None:
        record, where = around[inner[1]], f"{where}{step(inner[1])}"
        around = {name: value for name, value in around.items() if name != inner[1]}

    several = None
    if isinstance(record, Mapping):
        several = shape.responses(record)
    if several is None:
        yield _Entry(record, around, key, where)
        return

    lists = (value for value in around.values() if isinstance(value, list))
    query_ids = next((value for value in lists if _names_all(value, several)), None)
    for i, response in enumerate(several):
        name = None
        if query_ids:
            name = query_ids[i]
        if key is not None and len(several) == 1:
            name = key
        yield _Entry(response, _mapping(response), name, f"{where}.{shape.several}[{i}]")


def _names_all(value: list[Any], responses: Sequence[Any]) -> bool:
    """Whether a list beside responses has an id for each."""
    if value is responses or len(value) != len(responses):
        return False
    return all(isinstance(name, str | int) for name in value)
