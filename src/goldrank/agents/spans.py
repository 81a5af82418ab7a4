"""Traces of OpenInference as questions with searches: a trace is a question, a RETRIEVER span is a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from goldrank.base.errors import InputError

KIND = "openinference.span.kind"
_DOCUMENT = re.compile(r"retrieval\.documents\.([0-9]{1,9})\.document\.(\w+)")


def as_questions(records: Sequence[Mapping[str, Any]], name: str) -> Sequence[Mapping[str, Any]]:
    """Records of questions; spans are put together by trace, all other records stay as they are."""
    if not records or not all(isinstance(record.get("attributes"), Mapping) for record in records):
        return records
    try:
        spans = [(record, dict(_flat(record["attributes"]))) for record in records]
    except RecursionError:
        raise InputError("a span has attributes that are nested too deep", where=name) from None
    if not any(KIND in attributes for _, attributes in spans):
        return records

    traces: dict[str, dict[str, Any]] = {}
    for number, (record, attributes) in enumerate(sorted(spans, key=_start), 1):
        context = record.get("context")
        trace_id = record.get("trace_id")
        if isinstance(context, Mapping):
            trace_id = context.get("trace_id") or trace_id
        trace = str(trace_id or "")
        if not trace:
            raise InputError(f"span {number} has no trace_id", where=name, hint="A trace is a question.")
        question = traces.setdefault(trace, {"id": trace, "searches": [], "tokens": None, "latency": None})
        _add(question, record, attributes, name)
    return list(traces.values())


def _add(question: dict[str, Any], record: Mapping[str, Any], attributes: Mapping[str, Any], name: str) -> None:
    """What one span says of its question."""
    kind = str(attributes.get(KIND, "")).upper()
    if kind == "RETRIEVER":
        search = {
            "query": attributes.get("input.value"),
            "retrieved": _documents(attributes, question["id"], name),
            "latency": _seconds(record),
        }
        question["searches"].append(search)
    if kind == "LLM" and isinstance(attributes.get("llm.token_count.total"), int):
        question["tokens"] = (question["tokens"] or 0) + attributes["llm.token_count.total"]
    if not record.get("parent_id"):
        question["latency"] = _seconds(record)
    if "session.id" in attributes:
        question["conversation"] = str(attributes["session.id"])


def _documents(attributes: Mapping[str, Any], trace: str, name: str) -> list[str]:
    by_rank: dict[int, str] = {}
    ranks: set[int] = set()
    for key, value in attributes.items():
        matched = _DOCUMENT.fullmatch(key)
        if matched is None:
            continue
        ranks.add(int(matched[1]))
        if matched[2] == "id":
            by_rank[int(matched[1])] = str(value)

    if ranks - by_rank.keys():
        hint = "LangChain's spans have no ids: set document.id in the spans, or write records with `searches`."
        raise InputError("documents have no document.id", where=f"{name}, trace {trace!r}", hint=hint, code="no-ids")
    return [by_rank[rank] for rank in sorted(by_rank)]


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Attributes by their dotted names, whether they are nested or not."""
    entries: Iterator[tuple[str, Any]] = iter(())
    if isinstance(value, Mapping):
        entries = ((str(key), inner) for key, inner in value.items())
    elif isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        entries = ((str(i), inner) for i, inner in enumerate(value))
    else:
        yield prefix, value
        return
    for key, inner in entries:
        dotted = key
        if prefix:
            dotted = f"{prefix}.{key}"
        yield from _flat(inner, dotted)


def _start(span: tuple[Mapping[str, Any], Mapping[str, Any]]) -> str:
    return str(span[0].get("start_time", ""))


def _seconds(record: Mapping[str, Any]) -> float | None:
    try:
        begin = datetime.fromisoformat(str(record["start_time"]).replace("Z", "+00:00"))
        end = datetime.fromisoformat(str(record["end_time"]).replace("Z", "+00:00"))
    except (KeyError, ValueError):
        return None
    return (end - begin).total_seconds()
