"""The questions to ask, from strings, records or items."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldrank import ids
from goldrank.data.texts import Reference, TextItem
from goldrank.errors import InputError
from goldrank.io.items import FAILED
from goldrank.io.json_text import step
from goldrank.io.record_fields import ItemFields
from goldrank.io.records import as_mapping, open_records
from goldrank.io.text_values import absent


@dataclass
class AskedQuestion:
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
            raise InputError(
                f"query id '{ids.show(question.query)}' is duplicated, first at {seen[question.query]}", where=where
            )
        seen[question.query] = where
        yield question


def _question(record: Any, where: str, fields: ItemFields, number: int) -> AskedQuestion:
    if isinstance(record, str):
        return _asked(str(number), record, {}, where)
    if isinstance(record, TextItem):
        kept = {"references": [_plain(reference) for reference in record.references], "evidence": _evidence(record)}
        return _asked(record.query, record.question, {key: value for key, value in kept.items() if value}, where)
    whole = as_mapping(record, where)
    found = fields.find(whole, where)
    if "question" not in found or absent(found["question"].value):
        raise fields.missing("question", whole, where)
    query = found.get("query")
    others: dict[str, Any] = {
        role: found[role].value for role in ("references", "evidence", "sources") if role in found
    }
    if "sources" in others and not isinstance(others["sources"], Mapping):
        del others["sources"]  # they belong to the texts that were retrieved before
    used = {field.path for field in found.values()}
    others |= {
        key: value
        for key, value in whole.items()
        if isinstance(key, str)
        and "$" + step(key) not in used
        and key not in ("retrieved", "query", "question", "latency", FAILED)
    }
    known = query is not None and not absent(query.value)
    return _asked(
        ids.as_text(query.value, "query id") if known and query is not None else str(number),
        found["question"].value,
        others,
        where,
    )


def _asked(query: str, text: Any, others: dict[str, Any], where: str) -> AskedQuestion:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the question is {text!r:.60}, not text", where=where)
    return AskedQuestion(query, text, others)


def _plain(reference: Reference) -> dict[str, Any]:
    return {"any_of": list(reference.texts), "grade": reference.grade}


def _evidence(item: TextItem) -> list[Any]:
    return [
        {"any_of": [{"all_of": [span._asdict() for span in spans]} for spans in evidence.alternatives]}
        for evidence in item.evidence
    ]
