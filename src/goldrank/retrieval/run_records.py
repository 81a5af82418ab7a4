"""The file of records beside a run: what `goldrank run` knows of each query that the run itself cannot hold."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from goldrank.base.errors import InputError


@dataclass(frozen=True)
class RunRecords:
    """How long queries took, which failed, and for which nothing was found."""

    latency_ms: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    """By query, why it has no answer."""
    empty: frozenset[str] = frozenset()
    """The queries that were answered without a document. A run in TREC text has no line for them."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """By document, the text that the engine sent with it."""


NO_RECORDS = RunRecords()


def records_beside(path: str) -> RunRecords:
    """The records of a run that is a file; none if there is no such file beside it."""
    records_path = f"{path}.jsonl"
    if not os.path.isfile(records_path):
        return NO_RECORDS

    records = []
    with open(records_path, "rb") as file:
        for number, line in enumerate(file, 1):
            records.append(_record(line, f"{records_path}:{number}"))
    return records_of(records)


def records_of(records: list[Mapping[str, Any]]) -> RunRecords:
    """What records say beside their rankings."""
    latency_ms: dict[str, float] = {}
    failures: dict[str, str] = {}
    empty: list[str] = []
    texts: dict[str, str] = {}
    for record in records:
        query = record["id"]
        if "error" in record:
            failures[query] = _code(record["error"])
            continue

        if not record.get("retrieved"):
            empty.append(query)
        milliseconds = record.get("latency_ms")
        if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool):
            latency_ms[query] = float(milliseconds)
        for entry in record.get("retrieved", ()):
            if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
                texts.setdefault(str(entry.get("id")), entry["text"])

    return RunRecords(latency_ms, failures, frozenset(empty), texts)


def _record(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        message = "is not a record of a run, though it is beside one"
        raise InputError(message, where=where, hint="Move it away.", code="not-a-journal")
    return record


def _code(error: Any) -> str:
    if isinstance(error, Mapping):
        return str(error.get("code", "failed"))
    return "failed"
