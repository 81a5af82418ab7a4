"""Spans of OpenTelemetry and OpenInference as records: what a retriever was asked, and what it retrieved.

A file may have spans as a collector exports them (OTLP: `resourceSpans`, attributes as a list of keys and values), as
the SDKs print them (attributes as a mapping), or flattened. Spans of anything but a retriever are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goldrank.base.errors import InputError
from goldrank.io import aliases
from goldrank.io.questions.text_values import from_cell

_ENVELOPES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_SPAN_IDS = ("spanId", "span_id", "traceId", "trace_id", "context")
_NUMBERS = {"intValue": int, "doubleValue": float, "boolValue": bool, "stringValue": str}


def as_records(values: Sequence[Any], lines: Sequence[int] | None) -> tuple[Sequence[Any], Sequence[int] | None]:
    """Records from values of a file that may be spans, and their lines; other values unchanged."""
    if not any(_is_span(value) or _is_envelope(value) for value in values):
        return values, lines

    records: list[Any] = []
    record_lines: list[int] = []
    for number, value in enumerate(values):
        for span in _spans(value):
            record = span  # what is no object is refused where records are read, with its place
            if isinstance(span, Mapping):
                record = with_span(span)
                if "retrieved" not in record and _is_span(span):
                    continue
            records.append(record)
            if lines is not None:
                record_lines.append(lines[number])
    if lines is None:
        return records, None
    return records, record_lines


def with_span(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A span with its documents as `retrieved` and what was asked as `question`; other records unchanged."""
    try:
        fields = {**_attributes(record), **record}
    except RecursionError:
        raise InputError("a span has attributes that are nested too deep") from None
    documents = fields.get(aliases.SPAN_DOCUMENTS)
    if isinstance(documents, str):
        documents = from_cell(documents, aliases.SPAN_DOCUMENTS, Counter())
    if documents is None:
        documents = _flattened(fields)
    if documents is None:
        return record

    read: dict[str, Any] = {**record, "retrieved": documents}
    question = next((fields[name] for name in aliases.SPAN_QUESTIONS if isinstance(fields.get(name), str)), None)
    has_own_name = aliases.first_present(record, (*aliases.QUESTION_IDS, *aliases.QUESTION_TEXTS)) is not None
    if question is not None and not has_own_name:
        read["question"] = question
    return read


def _is_envelope(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(name), list) for name in _ENVELOPES)


def _is_span(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("attributes"), Mapping | list):
        return False
    return any(name in value for name in _SPAN_IDS)


def _spans(value: Any) -> Iterator[Any]:
    """The spans of what a collector exported; any other value itself."""
    if not _is_envelope(value):
        yield value
        return
    for resource in _listed(value, _ENVELOPES):
        for scope in _listed(resource, _SCOPES):
            yield from _listed(scope, ("spans",))


def _listed(value: Any, names: Sequence[str]) -> list[Any]:
    if not isinstance(value, Mapping):
        return []
    return next((value[name] for name in names if isinstance(value.get(name), list)), [])


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span: a mapping, or a list of keys and typed values."""
    attributes = record.get("attributes")
    if isinstance(attributes, Mapping):
        return dict(attributes)
    if not isinstance(attributes, list):
        return {}
    return _by_key(attributes)


def _plain(value: Any) -> Any:
    """A typed value of OTLP as a plain one: {"stringValue": "x"} is "x"."""
    if not isinstance(value, Mapping):
        return value
    for name, kind in _NUMBERS.items():
        if name in value:
            return _converted(value[name], kind)
    if "arrayValue" in value:
        return [_plain(entry) for entry in _listed(value["arrayValue"], ("values",))]
    if "kvlistValue" in value:
        return _by_key(_listed(value["kvlistValue"], ("values",)))
    return None


def _by_key(entries: Sequence[Any]) -> dict[str, Any]:
    """Plain values by their keys; what has no key is left out, as nothing can name it."""
    pairs = [entry for entry in entries if isinstance(entry, Mapping) and isinstance(entry.get("key"), str)]
    return {entry["key"]: _plain(entry.get("value")) for entry in pairs}


def _converted(value: Any, kind: Callable[[Any], Any]) -> Any:
    """A value by its type, or as it is, if it is not of that type: who reads it says so."""
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _flattened(fields: Mapping[Any, Any]) -> list[dict[str, Any]] | None:
    """Documents whose fields have keys with their number, or a list of such fields; None if there are none."""
    whole = fields.get(aliases.SPAN_DOCUMENT_LIST)
    if isinstance(whole, str):
        try:
            whole = json.loads(whole)
        except (ValueError, RecursionError):
            whole = None
    if isinstance(whole, list):
        return [_document(entry) for entry in whole if isinstance(entry, Mapping)]

    by_number: dict[str, dict[str, Any]] = {}
    for key, value in fields.items():
        if not isinstance(key, str):
            continue
        matched = aliases.SPAN_DOCUMENT.fullmatch(key)
        if matched:
            by_number.setdefault(matched[1].lstrip("0"), {})[matched[2]] = value
    in_order = sorted(by_number, key=lambda digits: (len(digits), digits))  # numbers may have any number of digits
    return [by_number[digits] for digits in in_order] or None


def _document(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A document of OpenInference's list: its keys are `document.id` and `document.score`, or inside of `document`."""
    inner = entry.get("document")
    if isinstance(inner, Mapping):
        entry = {f"document.{key}": value for key, value in inner.items()}
    names = ("id", "score")
    return {name: entry[f"document.{name}"] for name in names if f"document.{name}" in entry}
