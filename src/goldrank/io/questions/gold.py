"""Gold for several systems: references or evidence are in one file, retrieved texts in other files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import InputError, MismatchError
from goldrank.base.notes import Note
from goldrank.io.questions.cited_answers import from_trec, is_trec_answer
from goldrank.io.questions.item_reader import BESIDE, FAILED
from goldrank.io.records import ItemFields, Records, as_mapping, attributes_of, open_records

_NEEDED = ("references", "evidence", "nuggets", "expected_ids", "answerable", "no_answer")
_OF_GOLD = (*_NEEDED, "reference", "question")
_OF_ANSWERS = ("response", "sentences", "cited_ids", "correct")
_OF_RESULTS = (
    "retrieved",
    "retrieved_ids",
    "scores",
    "sources",
    *_OF_ANSWERS,
    "latency",
    "latency_ms",
    *BESIDE,
    "question",
)


def with_gold(
    results: Records,
    gold: Any,  # records, or their source
    *,
    fields: Mapping[str, str | None] | None = None,
    gold_fields: Mapping[str, str | None] | None = None,
    format: str | None = None,
) -> Records:
    """The results of a system, joined by question id with the references or evidence of other records.

    A question without results counts as one for which nothing was retrieved. `fields` names fields of both sides,
    `gold_fields` fields of the gold, if they differ.
    """
    of_results = {role: path for role, path in (fields or {}).items() if role in ("query", *_OF_RESULTS)}
    of_gold = {role: path for role, path in (fields or {}).items() if role in ("query", *_OF_GOLD)}
    if gold_fields is not None:
        of_gold = dict(gold_fields)
    expected = _by_id(gold, ItemFields(of_gold), "gold", format)
    retrieved = _by_id(results, ItemFields(of_results), results.name, None)
    if not expected.keys() & retrieved.keys():
        raise MismatchError(
            f"no question of {results.name} is in the gold: {ids.samples(list(retrieved))}; gold: "
            f"{ids.samples(list(expected))}",
            hint="Both need the same ids.",
        )

    missing = [query for query in expected if query not in retrieved]
    extra = [query for query in retrieved if query not in expected]
    notes = [*results.notes]
    if missing:
        notes.append(Note.of("gold-without-results", count=len(missing), samples=missing))
    if extra:
        notes.append(Note.of("results-without-gold", count=len(extra), samples=extra))

    nothing: dict[str, Any] = {"retrieved_ids": []}
    if any({"references", "evidence", "nuggets"} & values.keys() for values in expected.values()):
        nothing = {"retrieved": []}

    def rows(counts: Counter[str]) -> Iterator[tuple[int, Any]]:
        for number, (query, values) in enumerate(expected.items()):
            yield number, {"id": query, **retrieved.get(query, nothing), **values}

    def position(number: int) -> str:
        return f"{results.name}: question {number + 1}"

    return Records(results.name, results.label, rows, position, results.digest, notes)


def _by_id(source: Any, fields: ItemFields, name: str, format: str | None) -> dict[str, dict[str, Any]]:
    """The values of records by question and role."""
    records = source
    if not isinstance(source, Records):
        records = open_records(source, fields, format, name=name)

    is_gold = name == "gold"
    roles: tuple[str, ...] = _OF_RESULTS
    if is_gold:
        roles = _OF_GOLD
    by_query: dict[str, dict[str, Any]] = {}
    for number, record in records.rows(Counter()):
        where = records.position(number)
        if is_trec_answer(as_mapping(record, where)):
            record = from_trec(record, where)
        values = fields.find(as_mapping(record, where), where)
        if "query" not in values:
            raise InputError("has no id", where=where, hint="Gold and results are put together by the questions' ids.")
        query = ids.as_text(values["query"].value, "query id", where)
        if query in by_query:
            raise InputError(f"query id '{ids.show(query)}' is duplicated", where=where)

        by_role = {role: values[role].value for role in roles if role in values}
        by_role |= attributes_of(record, fields)
        if is_gold and not set(_NEEDED) & by_role.keys():
            raise fields.missing("references", as_mapping(record, where), where)
        if not is_gold and FAILED in record:
            by_role[FAILED] = record[FAILED]
        elif not is_gold and not {"retrieved", "retrieved_ids", "sentences", "cited_ids"} & by_role.keys():
            raise fields.missing("retrieved", as_mapping(record, where), where)
        by_query[query] = by_role

    return by_query
