"""The questions to ask, from strings, records or items."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from goldrank import ids
from goldrank.data.texts import TextItem
from goldrank.errors import InputError
from goldrank.io.items import FAILED
from goldrank.io.json_text import step
from goldrank.io.record_fields import ItemFields
from goldrank.io.records import as_mapping, open_records
from goldrank.io.text_values import absent


class AskedQuestion(NamedTuple):
    """A question, its id, and all else that it came with."""

    query: str
    text: str
    others: dict[str, Any]


def read_questions(given: Any, fields: ItemFields) -> Iterator[AskedQuestion]:
    """Questions with their ids and all that they came with, but for what was retrieved before."""
    if isinstance(given, str) and not os.path.exists(given) and (" " in given or given.endswith("?")):
        raise InputError(f"'{ids.show(given)}' is one question", hint="Give a list of questions, or a path.")
    if isinstance(given, Iterator):
        given = list(given)
    if isinstance(given, list | tuple) and not given:
        return
    records = open_records(given, fields)
    seen: dict[str, str] = {}
    for number, record in records.rows(Counter()):
        where = records.place(number)
        question = _question(record, where, fields, len(seen) + 1)
        if question.query in seen:
            shown, first = ids.show(question.query), seen[question.query]
            raise InputError(f"query id '{shown}' is duplicated, first at {first}", where=where)
        seen[question.query] = where
        yield question


def _question(record: Any, where: str, fields: ItemFields, number: int) -> AskedQuestion:
    asked = AskedQuestion(str(number), record, {})
    if isinstance(record, TextItem):
        asked = AskedQuestion(record.query, record.question, _expected(record))
    elif not isinstance(record, str):
        asked = _of_record(as_mapping(record, where), where, fields, number)
    if not isinstance(asked.text, str) or not asked.text.strip():
        raise InputError(f"the question is {asked.text!r:.60}, not text", where=where)
    return asked


def _of_record(record: Mapping[str, Any], where: str, fields: ItemFields, number: int) -> AskedQuestion:
    found = fields.find(record, where)
    if "question" not in found or absent(found["question"].value):
        raise fields.missing("question", record, where)
    query = found["query"].value if "query" in found else None
    others: dict[str, Any] = {}
    others |= {role: found[role].value for role in ("references", "evidence", "sources") if role in found}
    if "sources" in others and not isinstance(others["sources"], Mapping):
        del others["sources"]  # they belong to the texts that were retrieved before
    used = {field.path for field in found.values()}
    dropped = ("retrieved", "query", "question", "latency", FAILED)
    for key, value in record.items():
        if isinstance(key, str) and "$" + step(key) not in used and key not in dropped:
            others[key] = value
    text_id = str(number) if absent(query) else ids.as_text(query, "query id")
    return AskedQuestion(text_id, found["question"].value, others)


def _expected(item: TextItem) -> dict[str, Any]:
    """References and evidence as plain objects, as far as there are any."""
    references = [{"any_of": list(reference.texts), "grade": reference.grade} for reference in item.references]
    evidence = [
        {"any_of": [{"all_of": [span._asdict() for span in spans]} for spans in piece.alternatives]}
        for piece in item.evidence
    ]
    return {key: value for key, value in (("references", references), ("evidence", evidence)) if value}
