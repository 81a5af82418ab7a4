"""Rows of a run or of qrels from JSON records: a record for each document, or for each query with a list of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.base.machine import fits
from goldrank.base.notes import Note
from goldrank.data.run import check_score, column_choice
from goldrank.io import aliases
from goldrank.io.columns import Columns
from goldrank.io.engines import answer_shapes as shapes
from goldrank.io.engines import responses
from goldrank.io.json.json_text import Batch
from goldrank.io.objects.field_values import MISSING, value_at
from goldrank.io.objects.id_lists import IdLists, texts_error

ROW = 500
"""Bytes of memory for a row of a run, without its record."""


class SignedField(NamedTuple):
    """The field of a number. Ranks and distances have the sign -1: lower ones are better."""

    name: str
    sign: int


class RowFields(NamedTuple):
    """The roles of fields in records with certain keys; of several fields for a role, the one known first is first."""

    queries: tuple[str, ...]
    docs: tuple[str, ...]
    lists: tuple[str, ...]
    """Fields that may hold the list of a query's documents."""
    order: SignedField | None
    """The field that orders the documents of a run."""
    grade: SignedField | None
    judged_by: str | None
    listed_doc: str | None
    """The id of a document in a list."""


def _row_fields(keys: tuple[str, ...]) -> RowFields:
    return RowFields(
        queries=aliases.all_present(keys, aliases.COLUMNS["query"]),
        docs=aliases.all_present(keys, aliases.COLUMNS["doc"]),
        lists=tuple(key for key in keys if key.casefold() in aliases.RANKED_LISTS),
        order=_first_field(keys, aliases.ORDERED_BY),
        grade=_first_field(keys, ("grade",)),
        judged_by=aliases.find(keys, "judged_by"),
        listed_doc=aliases.first_present(keys, aliases.LISTED_DOC),
    )


row_fields = aliases.OncePerShape(_row_fields)
"""The fields of records with certain keys, cached."""


def _first_field(keys: tuple[str, ...], roles: Iterable[str]) -> SignedField | None:
    """The field of the first role that keys have."""
    for role in roles:
        name = aliases.find(keys, role)
        if name is not None:
            return SignedField(name, _sign(role))
    return None


def _sign(role: str) -> int:
    if role in ("score", "grade"):
        return 1
    return -1


def rankings(batches: Iterable[Batch], where: str) -> dict[str, dict[str, float]] | None:
    """The scores of a run by query and document; None if a record is not plainly one document of one query.

    A plain record has texts as ids and a number as score, and its query has the document once. `RecordRows` reads all
    other records, and reports mistakes.
    """
    results: dict[str, dict[str, float]] = {}
    count = 0
    try:
        for batch in batches:
            rows = _plain_rows(batch.values, is_first=not count)
            if rows is None:
                return None

            count += len(batch.values)
            fits(ROW * count, f"a run of {count:,} records", where)
            last: str | None = None
            row: dict[str, float] = {}
            for query, doc, score in rows:
                if query != last:
                    last, row = query, results.setdefault(query, {})
                row[doc] = score

        ids.check_keys(results, "query id", where)
        for row in results.values():
            ids.check_keys(row, "document id", where)
    except InputError:
        return None

    is_repeated = sum(map(len, results.values())) < count
    if count and not is_repeated:
        return results
    return None


class _RowNames(NamedTuple):
    """The fields of a record that is one document of one query."""

    query: str
    doc: str
    number: str
    sign: int


def _plain_rows(records: Sequence[Any], is_first: bool) -> Iterable[tuple[str, str, float]] | None:
    """Query, document and score of each record; None if a record needs a closer check."""
    if set(map(type, records)) != {dict} or (is_first and not _is_one_document(records[0])):
        return None
    variants = {_row_names(row_fields(keys)) for keys in set(map(tuple, records))}
    if len(variants) > 1:
        return None
    (names,) = variants
    if names is None:
        return None

    queries = list(map(itemgetter(names.query), records))
    docs = list(map(itemgetter(names.doc), records))
    scores = list(map(itemgetter(names.number), records))
    if {*map(type, queries), *map(type, docs)} != {str} or not set(map(type, scores)) <= {float, int}:
        return None
    if any(map(math.isnan, scores)):
        return None
    if names.sign < 0 or int in map(type, scores):
        scores = [names.sign * float(score) for score in scores]
    return zip(queries, docs, scores, strict=True)


def _row_names(fields: RowFields) -> _RowNames | None:
    """The first field of each role; None if a role has no field."""
    if not fields.queries or not fields.docs or fields.order is None:
        return None
    return _RowNames(fields.queries[0], fields.docs[0], *fields.order)


def _is_one_document(record: Mapping[str, Any]) -> bool:
    """Whether the first record of a run has one document, and there is only one field for each id."""
    fields = row_fields(tuple(record))
    for names in (fields.queries, fields.docs):
        scalar = tuple(name for name in names if isinstance(record[name], str | int))
        if not names or scalar != names[:1]:
            return False
    if IdLists("run", Columns()).is_record(record):
        return False
    return responses.find([record], "", None, Columns()) is None


@dataclass(frozen=True)
class RecordRows:
    """Records, and the roles of their fields."""

    thing: str
    """"run" or "qrels"."""
    records: Sequence[Any]
    lines: Sequence[int] | None
    """The number of each record's line, of JSON Lines."""
    where: str
    columns: Columns
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Fields of ids that were chosen by their values."""
    origins: list[tuple[int, int | None]] = field(default_factory=list)
    """For each row read so far, its record and its index in the record's list."""
    judged_by: list[Any] = field(default_factory=list)
    """For each row read so far, who judged it."""
    ungraded: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    """The rows without a grade that were read so far: number and record."""

    @cached_property
    def _first(self) -> Mapping[str, Any]:
        return next((record for record in self.records if isinstance(record, Mapping)), {})

    @cached_property
    def lists(self) -> IdLists | None:
        """Finds lists of ids; None if records have no such lists."""
        lists = IdLists(self.thing, self.columns)
        if lists.is_record(self._first):
            return lists
        return None

    @cached_property
    def candidates(self) -> dict[str, tuple[str, ...]]:
        """The fields that could hold ids; only the named field if the user named one."""
        by_role = {}
        for role in ("query", "doc"):
            named = self.columns.named(role, self.thing)
            names = aliases.all_present(self._first, aliases.COLUMNS[role])
            scalar = tuple(name for name in names if isinstance(self._first[name], str | int))
            by_role[role] = scalar or names
            if named is not None:
                by_role[role] = (named,)
        return by_role

    @property
    def is_open(self) -> bool:
        """Whether several fields could hold the ids, so that their values must decide."""
        return any(len(names) > 1 for names in self.candidates.values()) and all(self.candidates.values())

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on choices among several fields."""
        return tuple(column_choice(role, names[0], names) for role, names in self.candidates.items() if len(names) > 1)

    def with_ids(self, columns: Mapping[str, str]) -> RecordRows:
        """These records with ids from certain fields, to be read again."""
        return replace(self, chosen=columns, origins=[], judged_by=[], ungraded=[])

    def position(self, number: int) -> str:
        """The position of a record."""
        if self.lines is None:
            return f"{self.where}: $[{number}]"
        return f"{self.where}:{self.lines[number]}"

    def row_position(self, row: int) -> str:
        """The position of a row."""
        number, index = self.origins[row]
        if index is None:
            return self.position(number)
        return f"{self.position(number)}, {_list_in(self.records[number])}[{index}]"

    def query_of(self, record: Mapping[str, Any], number: int) -> str:
        """The id of a record's query."""
        if self.lists is not None:
            return self.lists.query_of(record, number + 1, self.position(number))
        value = self._id(record, "query", row_fields(tuple(record)).queries)
        return ids.as_text(value, "query id", self.position(number))

    def rows(self) -> Iterator[tuple[Any, Any, Any]]:
        """Query, document and number of each document."""
        for number, record in enumerate(self.records):
            if not isinstance(record, dict):
                problem = f"is {ids.show(repr(record), 60)}, not an object"
                raise InputError(problem, where=self.position(number), hint=RECORD)
            yield from self._of_record(record, number)

    def _of_record(self, record: Mapping[str, Any], number: int) -> Iterator[tuple[Any, Any, Any]]:
        fields = row_fields(tuple(record))
        query = self._id(record, "query", fields.queries)
        doc = self._id(record, "doc", fields.docs)
        list_field = _list_in(record)
        value, sign = self._number(record, fields)
        if query is None:
            raise self._missing(record, "query", number)
        if doc is None or isinstance(doc, list | dict):
            if list_field is None:
                raise self._missing(record, "document", number)
            yield from self._of_list(record, query, list_field, number)
            return

        if value is MISSING:
            if self.thing == "run":
                raise self._missing(record, "score", number)
            if aliases.ordered_by(record) != "score":
                raise self._missing(record, "grade", number)
            self.ungraded.append((len(self.origins), record))
            value = 1

        self.origins.append((number, None))
        self.judged_by.append(_value(record, fields.judged_by))
        yield query, doc, self._signed(value, sign)

    def _of_list(
        self, record: Mapping[str, Any], query: Any, list_field: str, number: int
    ) -> Iterator[tuple[Any, Any, Any]]:
        """The rows of a record with a list of documents."""
        judge_field = row_fields(tuple(record)).judged_by
        for index, item in enumerate(record[list_field]):
            implied: float = 1
            if self.thing == "run":
                implied = -float(index + 1)
            self.origins.append((number, index))
            if not isinstance(item, dict):
                self.judged_by.append(_value(record, judge_field))
                yield query, item, implied
                continue

            fields = row_fields(tuple(item))
            if fields.listed_doc is None:
                where = self.row_position(-1)
                raise InputError(f"has no document id; it has: {keys_of(item)}", where=where)
            name = judge_field or fields.judged_by
            judge = _value(record, name)
            if name is not None and name in item:
                judge = item[name]
            self.judged_by.append(judge)

            value, sign = self._number(item, fields)
            if value is MISSING:
                self.ungraded.append((len(self.origins) - 1, item))
                yield query, item[fields.listed_doc], implied
            else:
                yield query, item[fields.listed_doc], self._signed(value, sign)

    def _id(self, record: Mapping[str, Any], role: str, names: tuple[str, ...]) -> Any:
        """The id of a query or document; None if the record has none."""
        chosen = self.chosen.get(role)
        if chosen is not None and chosen in record:
            return record[chosen]

        named_value = self._named_value(record, role)
        if named_value is not None:
            return named_value

        if len(names) == 1:
            return record[names[0]]
        for name in names:
            if isinstance(record[name], str | int):
                return record[name]
        if names:
            return record[names[0]]
        return None

    def _named_value(self, record: Mapping[str, Any], role: str) -> Any:
        """The value of the field that the user named for a role; None if there is no such value."""
        named = self._named.get(role)
        if named is None:
            return None
        value = value_at(record, named)
        if value is not None:
            self.columns.mark_used(role, self.thing)
        return value

    @cached_property
    def _named(self) -> dict[str, str]:
        """The fields that the user named."""
        roles = ("query", "doc", *self._number_roles)
        by_role = {role: self.columns.named(role, self.thing) for role in roles}
        return {role: name for role, name in by_role.items() if name is not None}

    @cached_property
    def _number_roles(self) -> tuple[str, ...]:
        """The possible roles of a row's number; empty if every pair is relevant."""
        if self.thing == "run":
            return aliases.ORDERED_BY
        if self.columns.all_relevant():
            return ()
        return ("grade",)

    def _number(self, record: Mapping[str, Any], fields: RowFields) -> tuple[Any, int]:
        """The grade, or the number that orders documents, with its sign; MISSING if there is no such field."""
        for role in self._number_roles:
            value = self._named_value(record, role)
            if value is not None:
                return value, _sign(role)

        known = fields.grade
        if self.thing == "run":
            known = fields.order
        if known is None or not self._number_roles:
            return MISSING, 1
        return record[known.name], known.sign

    def _signed(self, value: Any, sign: int) -> Any:
        """The number of the last row as a score; a rank or a distance is better if it is lower."""
        if sign > 0:
            return value
        try:
            return -check_score(value, self.where)
        except InputError as error:
            error.where = self.row_position(-1)
            raise error from None

    def _missing(self, record: Mapping[str, Any], noun: str, number: int) -> InputError:
        role = {"document": "doc"}.get(noun, noun)
        lists = [name for name, value in record.items() if isinstance(value, list)]
        if role == "doc" and len(lists) == 1:
            role = "reference_ids"
            if self.thing == "run":
                role = "retrieved_ids"
        texts = texts_error(record, self.position(number))
        if texts is not None:
            return texts
        hint = f"Say where it is: --map {role}=FIELD. {nearest_shape(record)}"
        return InputError(f"has no {noun}; it has: {keys_of(record)}", where=self.position(number), hint=hint)


def _value(record: Mapping[str, Any], field: str | None) -> Any:
    """The value of a field; None if there is no field."""
    if field is None:
        return None
    return record.get(field)


def _list_in(record: Mapping[str, Any]) -> str | None:
    """The field with the list of a query's documents; None if there is no such field."""
    for name in row_fields(tuple(record)).lists:
        if isinstance(record[name], list):
            return name
    return None


# For the error about JSON of an unknown shape: its keys, and the most similar known shape.

TABLE = '{"q1": {"d1": 1, ...}, ...}'
RECORD = '{"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}'
_OTHER_SHAPES: dict[str, tuple[tuple[str, ...], str]] = {
    "a record for each document": (("query_id", "doc_id", "qid", "docno", "score", "rank", "grade"), RECORD),
    "a record for each query": (("query_id", *aliases.RANKED_LISTS), RECORD),
    "ids that were expected and retrieved": (
        (*aliases.ID_LISTS["retrieved_ids"], *aliases.ID_LISTS["reference_ids"], "user_input", "question"),
        '{"query_id": ..., "retrieved_ids": [...], "expected_ids": [...]}',
    ),
    "predictions of MTEB": (
        ("mteb_model_meta", "default", "test"), '{"mteb_model_meta": ..., subset: {split: {query: {doc: score}}}}'
    ),
    "a data set of LlamaIndex": (
        ("queries", "corpus", "relevant_docs", "mode"), '{"relevant_docs": {query: [doc, ...]}, ...}'
    ),
    "_rank_eval of Elasticsearch": (
        ("requests", "metric", "details", "metric_score", "failures"), '{"requests": [{"id": ..., "ratings": [...]}]}'
    ),
    "judgements of OpenSearch": (("judgmentRatings", "type", "name"), '{"judgmentRatings": [{"query": ..., ...}]}'),
    "ratings of Quepid": (
        ("queries", "case_name", "id_field", "scorer"), '{"queries": [{"query": ..., "ratings": {doc: rating}}]}'
    ),
}  # fmt: skip
"""Shapes that are not answers of search engines: their keys, and an example."""


def keys_of(record: Mapping[Any, Any]) -> str:
    """The keys of an object for a message."""
    keys = [ids.show(str(key), 40) for key in list(record)[:20]]
    if len(record) > 20:
        keys.append("...")
    return ", ".join(keys) or "nothing"


def is_answer(table: Any) -> bool:
    """Whether all keys of an object belong to the answers of a search engine, so that they are not queries."""
    if not isinstance(table, Mapping) or len(table) < 2:
        return False
    return any(table.keys() <= set(shape.keys) for shape in shapes.SHAPES)


def nearest_shape(record: Mapping[Any, Any]) -> str:
    """The known shape with most of an object's keys, or the simplest shapes if none has any."""
    known = _OTHER_SHAPES | {f"an answer of {shape.name}": (shape.keys, shape.example) for shape in shapes.SHAPES}
    present = {aliases.normal(key) for key in record if isinstance(key, str)}
    for value in list(record.values())[:3]:
        if isinstance(value, Mapping):
            present |= {aliases.normal(key) for key in list(value)[:20] if isinstance(key, str)}

    def common(name: str) -> int:
        return len(present & {aliases.normal(key) for key in known[name][0]})

    best = max(known, key=common)
    if not common(best):
        return f"Expected {TABLE}, or {RECORD}."
    return f"The nearest known shape is {best}: {known[best][1]}. Found keys: {keys_of(record)}."
