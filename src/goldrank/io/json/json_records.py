"""Records of JSON as rows of a run or of qrels: one for each document, or one for each query with a list of them."""

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
from goldrank.io.objects.id_lists import IdLists, texts_hint

ROW = 500
"""Bytes that a row of a run takes beside the record that it comes from."""


class SignedField(NamedTuple):
    """The field that has a number; of ranks and distances, whose sign is -1, the lower ones are better."""

    name: str
    sign: int


class RowFields(NamedTuple):
    """Which fields of records with certain keys hold what; where several may, the one that is known first is first."""

    queries: tuple[str, ...]
    docs: tuple[str, ...]
    lists: tuple[str, ...]
    """Those that may hold the list of a query's documents."""
    order: SignedField | None
    """What orders the documents of a run."""
    grade: SignedField | None
    judged_by: str | None
    listed_doc: str | None
    """The id of a document in a list."""


def _row_fields(keys: tuple[str, ...]) -> RowFields:
    order = [(name, word) for word in aliases.ORDERED_BY if (name := aliases.find(keys, word)) is not None]
    grade = aliases.find(keys, "grade")
    return RowFields(
        queries=aliases.all_present(keys, aliases.COLUMNS["query"]),
        docs=aliases.all_present(keys, aliases.COLUMNS["doc"]),
        lists=tuple(key for key in keys if key.casefold() in aliases.RANKED_LISTS),
        order=SignedField(order[0][0], _sign(order[0][1])) if order else None,
        grade=None if grade is None else SignedField(grade, _sign("grade")),
        judged_by=aliases.find(keys, "judged_by"),
        listed_doc=aliases.first_present(keys, aliases.LISTED_DOC),
    )


row_fields = aliases.OncePerShape(_row_fields)
"""The fields of records that have certain keys."""


def _sign(role: str) -> int:
    if role in ("score", "grade"):
        return 1
    return -1


def rankings(batches: Iterable[Batch], where: str) -> dict[str, dict[str, float]] | None:
    """The scores of a run by query and document; None where a record is not plainly one document of one query.

    Such are texts for the ids and a number for the score, of a document that the query has once. `RecordRows` reads all
    others, and tells what is wrong.
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
    """Query, document and score of each record; None where a record needs a closer look."""
    if set(map(type, records)) != {dict} or (is_first and not _is_one_document(records[0])):
        return None
    names = {_row_names(row_fields(keys)) for keys in set(map(tuple, records))}
    if len(names) > 1:
        return None
    (found,) = names
    if found is None:
        return None

    queries = list(map(itemgetter(found.query), records))
    docs = list(map(itemgetter(found.doc), records))
    scores = list(map(itemgetter(found.number), records))
    if {*map(type, queries), *map(type, docs)} != {str} or not set(map(type, scores)) <= {float, int}:
        return None
    if any(map(math.isnan, scores)):
        return None
    if found.sign < 0 or int in map(type, scores):
        scores = [found.sign * float(score) for score in scores]
    return zip(queries, docs, scores, strict=True)


def _row_names(fields: RowFields) -> _RowNames | None:
    """The surest fields, if there are all."""
    if not fields.queries or not fields.docs or fields.order is None:
        return None
    return _RowNames(fields.queries[0], fields.docs[0], *fields.order)


def _is_one_document(record: Mapping[str, Any]) -> bool:
    """Whether the first record of a run says that each has one document, and leaves no choice of ids."""
    fields = row_fields(tuple(record))
    for names in (fields.queries, fields.docs):
        scalar = tuple(name for name in names if isinstance(record[name], str | int))
        if not names or scalar != names[:1]:
            return False
    is_other = IdLists("run", Columns()).is_record(record) or responses.find([record], "", None, Columns()) is not None
    return not is_other


@dataclass(frozen=True)
class RecordRows:
    """Records, and which of their fields hold what."""

    thing: str
    """"run" or "qrels"."""
    records: Sequence[Any]
    lines: Sequence[int] | None
    """The lines that records stand in, of JSON Lines."""
    where: str
    columns: Columns
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Fields of ids that were settled by their values."""
    origins: list[tuple[int, int | None]] = field(default_factory=list)
    """The record of each row and the row's position in the record's list, as far as rows were read."""
    judged_by: list[Any] = field(default_factory=list)
    """Who judged each row, as far as rows were read."""
    ungraded: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    """The numbers of rows without a grade and what they have, as far as rows were read."""

    @cached_property
    def _first(self) -> Mapping[str, Any]:
        return next((record for record in self.records if isinstance(record, Mapping)), {})

    @cached_property
    def lists(self) -> IdLists | None:
        """How lists of ids are found, if records have such."""
        lists = IdLists(self.thing, self.columns)
        if lists.is_record(self._first):
            return lists
        return None

    @cached_property
    def candidates(self) -> dict[str, tuple[str, ...]]:
        """The fields that could hold ids; one that the user named is the only one."""
        by_role = {}
        for role in ("query", "doc"):
            named = self.columns.named(role, self.thing)
            names = aliases.all_present(self._first, aliases.COLUMNS[role])
            scalar = tuple(name for name in names if isinstance(self._first[name], str | int))
            by_role[role] = (named,) if named is not None else scalar or names
        return by_role

    @property
    def is_open(self) -> bool:
        """Whether values can tell better than names which field holds the ids."""
        return any(len(names) > 1 for names in self.candidates.values()) and all(self.candidates.values())

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was chosen by name where there was a choice."""
        return tuple(column_choice(role, names[0], names) for role, names in self.candidates.items() if len(names) > 1)

    def with_ids(self, columns: Mapping[str, str]) -> RecordRows:
        """The same with ids from certain fields, to be read anew."""
        return replace(self, chosen=columns, origins=[], judged_by=[], ungraded=[])

    def place(self, number: int) -> str:
        """Where a record stands."""
        if self.lines is None:
            return f"{self.where}: $[{number}]"
        return f"{self.where}:{self.lines[number]}"

    def place_of_row(self, row: int) -> str:
        """Where a row stands."""
        number, position = self.origins[row]
        if position is None:
            return self.place(number)
        return f"{self.place(number)}, {_list_in(self.records[number])}[{position}]"

    def rows(self) -> Iterator[tuple[Any, Any, Any]]:
        """Query, document and number of each document."""
        for number, record in enumerate(self.records):
            if not isinstance(record, dict):
                what = f"is {ids.show(repr(record), 60)}, not an object"
                raise InputError(what, where=self.place(number), hint=RECORD)
            yield from self._of_record(record, number)

    def _of_record(self, record: Mapping[str, Any], number: int) -> Iterator[tuple[Any, Any, Any]]:
        fields = row_fields(tuple(record))
        query = self._id(record, "query", fields.queries)
        doc = self._id(record, "doc", fields.docs)
        items = _list_in(record)
        value, sign = self._number(record, fields)
        if query is None or (doc is None and items is None):
            if query is None:
                missing = "query"
            else:
                missing = "document"
            raise self._missing(record, missing, number)
        if doc is None or isinstance(doc, list | dict):
            if items is None:
                raise self._missing(record, "document", number)
            yield from self._of_list(record, query, items, number)
            return

        implicit = value is MISSING
        if implicit and (self.thing == "run" or aliases.ordered_by(record) != "score"):
            raise self._missing(record, "score" if self.thing == "run" else "grade", number)
        if implicit:
            self.ungraded.append((len(self.origins), record))
        self.origins.append((number, None))
        self.judged_by.append(None if fields.judged_by is None else record[fields.judged_by])
        yield query, doc, 1 if implicit else self._signed(value, sign)

    def _of_list(
        self, record: Mapping[str, Any], query: Any, items: str, number: int
    ) -> Iterator[tuple[Any, Any, Any]]:
        """The rows of a record with a list of documents."""
        judge = row_fields(tuple(record)).judged_by
        is_run = self.thing == "run"
        for position, item in enumerate(record[items]):
            implied: Any
            if is_run:
                implied = -float(position + 1)
            else:
                implied = 1
            self.origins.append((number, position))
            if not isinstance(item, dict):
                self.judged_by.append(None if judge is None else record[judge])
                yield query, item, implied
                continue

            fields = row_fields(tuple(item))
            if fields.listed_doc is None:
                place = self.place_of_row(-1)
                raise InputError(f"has no document id; it has: {keys_of(item)}", where=place)
            name = judge or fields.judged_by
            self.judged_by.append(None if name is None else item.get(name, record.get(name)))
            value, sign = self._number(item, fields)
            if value is MISSING:
                self.ungraded.append((len(self.origins) - 1, item))
            yield query, item[fields.listed_doc], implied if value is MISSING else self._signed(value, sign)

    def _id(self, record: Mapping[str, Any], role: str, names: tuple[str, ...]) -> Any:
        """The id of a query or document; None if there is none."""
        name = self.chosen.get(role)
        if name is not None and name in record:
            return record[name]

        named = self._named.get(role)
        if named is not None and (value := value_at(record, named)) is not None:
            self.columns.mark_used(role, self.thing)
            return value

        if len(names) == 1:
            return record[names[0]]

        name = next((name for name in names if isinstance(record[name], str | int)), next(iter(names), None))
        if name is None:
            return None
        return record[name]

    @cached_property
    def _named(self) -> dict[str, str]:
        """The fields that the user named."""
        roles = ("query", "doc", *self._number_roles)
        by_role = {role: self.columns.named(role, self.thing) for role in roles}
        return {role: name for role, name in by_role.items() if name is not None}

    @cached_property
    def _number_roles(self) -> tuple[str, ...]:
        """What the number of a row may be; nothing where every pair is relevant."""
        if self.thing == "run":
            return aliases.ORDERED_BY
        if self.columns.all_relevant():
            return ()
        return ("grade",)

    def _number(self, record: Mapping[str, Any], fields: RowFields) -> tuple[Any, int]:
        """The grade, or what orders documents, with its sign; MISSING if there is no such field."""
        for role in self._number_roles:
            named = self._named.get(role)
            if named is not None and (value := value_at(record, named)) is not None:
                self.columns.mark_used(role, self.thing)
                return value, _sign(role)

        if self.thing == "run":
            known = fields.order
        else:
            known = fields.grade
        if known is None or not self._number_roles:
            return MISSING, 1
        return record[known.name], known.sign

    def _signed(self, value: Any, sign: int) -> Any:
        """The number of the last row as a score; a rank or a distance is better the lower it is."""
        if sign > 0:
            return value
        try:
            return -check_score(value, self.where)
        except InputError as error:
            error.where = self.place_of_row(-1)
            raise error from None

    def _missing(self, record: Mapping[str, Any], what: str, number: int) -> InputError:
        role = {"document": "doc"}.get(what, what)
        lists = [name for name, value in record.items() if isinstance(value, list)]
        if role == "doc" and len(lists) == 1:
            if self.thing == "run":
                role = "retrieved_ids"
            else:
                role = "reference_ids"
        hint = f"{texts_hint(record)}Say where it is: --map {role}=FIELD. {nearest_shape(record)}"
        return InputError(f"has no {what}; it has: {keys_of(record)}", where=self.place(number), hint=hint)


def _list_in(record: Mapping[str, Any]) -> str | None:
    """The field that holds the list of a query's documents, if there is one."""
    lists = row_fields(tuple(record)).lists
    if lists:
        return next((name for name in lists if isinstance(record[name], list)), None)
    return None


# For the error about JSON that is of no known shape: the keys that it has, and the shape that is nearest to them.

TABLE = '{"q1": {"d1": 1, ...}, ...}'
RECORD = '{"query_id": ..., "doc_id": ..., "score": ...} or {"query_id": ..., "results": [...]}'
_OTHERS: dict[str, tuple[tuple[str, ...], str]] = {
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
"""Shapes that are no answers of search engines: their keys, and what they look like."""


def keys_of(record: Mapping[Any, Any]) -> str:
    """The keys of an object for a message."""
    shown = [ids.show(str(key), 40) for key in list(record)[:20]]
    return ", ".join(shown) + (", ..." if len(record) > 20 else "") or "nothing"


def is_answer(table: Any) -> bool:
    """Whether all keys of an object are those of some search engine's answer, so that they are no queries."""
    if not isinstance(table, Mapping) or len(table) < 2:
        return False
    return any(table.keys() <= set(shape.keys) for shape in shapes.SHAPES)


def nearest_shape(record: Mapping[Any, Any]) -> str:
    """The known shape that has most of an object's keys, or the simplest one if none has any."""
    known = _OTHERS | {f"an answer of {shape.name}": (shape.keys, shape.example) for shape in shapes.SHAPES}
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
