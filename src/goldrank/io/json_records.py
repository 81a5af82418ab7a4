"""Records of JSON as rows of a run or of qrels: one for each document, or one for each query with a list of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from goldrank import ids
from goldrank.data.run import check_score, column_choice
from goldrank.errors import InputError
from goldrank.io import aliases, shapes
from goldrank.io.columns import Columns
from goldrank.io.field_values import MISSING, value_at
from goldrank.io.id_lists import IdLists, texts_hint
from goldrank.notes import Note


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
    places: list[str] = field(default_factory=list)
    """Where each row stands, as far as rows were read."""
    judged_by: list[Any] = field(default_factory=list)
    """Who judged each row, as far as rows were read."""
    ungraded: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    """Where rows without a grade stand and what they have, as far as rows were read."""

    @cached_property
    def _first(self) -> Mapping[str, Any]:
        return next((record for record in self.records if isinstance(record, Mapping)), {})

    @cached_property
    def lists(self) -> IdLists | None:
        """How lists of ids are found, if records have such."""
        lists = IdLists(self.thing, self.columns)
        return lists if lists.is_record(self._first) else None

    @cached_property
    def candidates(self) -> dict[str, tuple[str, ...]]:
        """The fields that could hold ids; one that the user named is the only one."""
        by_role = {}
        for role in ("query", "doc"):
            named = self.columns.named(role, self.thing)
            names = aliases.all_present(self._first, aliases.COLUMNS[role])
            scalar = [name for name in names if isinstance(self._first[name], str | int)]
            by_role[role] = (named,) if named is not None else tuple(scalar or names)
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
        return replace(self, chosen=columns, places=[], judged_by=[], ungraded=[])

    def place(self, number: int) -> str:
        """Where a record stands."""
        return f"{self.where}: $[{number}]" if self.lines is None else f"{self.where}:{self.lines[number]}"

    def rows(self) -> Iterator[tuple[Any, Any, Any]]:
        """Query, document and number of each document; `places` gets where it stands."""
        for number, record in enumerate(self.records):
            place = self.place(number)
            if not isinstance(record, Mapping):
                what = f"is {ids.show(repr(record), 60)}, not an object"
                raise InputError(what, where=place, hint=RECORD)
            yield from self._of_record(record, place)

    def _of_record(self, record: Mapping[str, Any], place: str) -> Iterator[tuple[Any, Any, Any]]:
        query, doc = (self._value(record, role, place) for role in ("query", "doc"))
        items = next((k for k in record if k.casefold() in aliases.RANKED_LISTS and isinstance(record[k], list)), None)
        value, sign = self._number(record)
        if query is None or (doc is None and items is None):
            missing = "query" if query is None else "document"
            raise self._missing(record, missing, place)
        if doc is not None and not isinstance(doc, list | Mapping):
            implicit = value is MISSING
            if implicit and (self.thing == "run" or aliases.ordered_by(record) != "score"):
                raise self._missing(record, "score" if self.thing == "run" else "grade", place)
            self._begin(place, record)
            self.ungraded.extend([(place, record)] * implicit)
            yield query, doc, 1 if implicit else _signed(value, sign, place)
            return
        if items is None:
            raise self._missing(record, "document", place)
        for rank, item in enumerate(record[items], 1):
            implied: Any = 1 if self.thing == "qrels" else -float(rank)
            at = f"{place}, {items}[{rank - 1}]"
            if not isinstance(item, Mapping):
                self._begin(at, record)
                yield query, item, implied
                continue
            name = aliases.first_present(item, aliases.LISTED_DOC)
            if name is None:
                raise InputError(f"has no document id; it has: {keys_of(item)}", where=at)
            self._begin(at, {**record, **item})
            number, sign = self._number(item)
            self.ungraded.extend([(at, item)] * (number is MISSING))
            yield query, item[name], implied if number is MISSING else _signed(number, sign, at)

    def _begin(self, place: str, said: Mapping[str, Any]) -> None:
        """Another row, where it stands, and who judged it."""
        self.places.append(place)
        name = aliases.find(said, "judged_by")
        self.judged_by.append(None if name is None else said[name])

    def _value(self, record: Mapping[str, Any], role: str, place: str) -> Any:
        """The id of a query or document; None if there is none."""
        name = self.chosen.get(role)
        if name is not None and name in record:
            return record[name]
        named = self.columns.named(role, self.thing)
        if named is not None and (value := value_at(record, named)) is not None:
            self.columns.mark_used(role, self.thing)
            return value
        names = aliases.all_present(record, aliases.COLUMNS[role])
        name = next((name for name in names if isinstance(record[name], str | int)), next(iter(names), None))
        return None if name is None else record[name]

    def _number(self, record: Mapping[str, Any]) -> tuple[Any, int]:
        """The grade, or what orders documents and whether more of it is better; MISSING if there is no such field."""
        if self.thing == "qrels" and self.columns.all_relevant():
            return MISSING, 1
        roles = ("grade",) if self.thing == "qrels" else aliases.ORDERED_BY
        for role in roles:
            named = self.columns.named(role, self.thing)
            if named is not None and (value := value_at(record, named)) is not None:
                self.columns.mark_used(role, self.thing)
                return value, 1 if role in ("score", "grade") else -1
        for role in roles:
            name = aliases.find(record, role)
            if name is not None:
                return record[name], 1 if role in ("score", "grade") else -1
        return MISSING, 1

    def _missing(self, record: Mapping[str, Any], what: str, place: str) -> InputError:
        role = {"document": "doc"}.get(what, what)
        hint = f"{texts_hint(record)}Say where it is: --map {role}=FIELD. {nearest_shape(record)}"
        return InputError(f"has no {what}; it has: {keys_of(record)}", where=place, hint=hint)


def _signed(value: Any, sign: int, place: str) -> Any:
    """A number as a score; a rank or a distance is better the lower it is."""
    return value if sign > 0 else -check_score(value, place)


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
