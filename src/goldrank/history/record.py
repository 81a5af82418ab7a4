"""One recorded measurement: `Record`, and the hashes by which a damaged record is found."""

from __future__ import annotations

import datetime
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from goldrank.conventions import options_of
from goldrank.measures import known


class RecordBasis(NamedTuple):
    """What must be equal for two records to be comparable: judgements and their rules, convention, depth."""

    qrels_sha256: str
    criteria: str
    convention: str
    depth: int | None


@dataclass(frozen=True)
class Record:
    """One recorded measurement: which run, judged by what, with which means; `History.scores` has all values."""

    id: int
    time: datetime.datetime
    label: str
    commit: str
    branch: str
    note: str
    tags: tuple[str, ...]
    criteria: str
    """The rules by which documents were judged relevant, as the judges had them."""
    run: str
    qrels_name: str
    qrels_sha256: str
    run_sha256: str
    convention: str
    depth: int | None
    """Where rankings were cut, if they were."""
    version: str
    """The goldrank that measured."""
    queries: int
    mean: Mapping[str, float]
    """By measure, its summary: the mean over queries (a sum for counts)."""
    averages: Mapping[str, str]
    """By measure, how its summary was made: 'mean', 'sum' or 'geometric'."""
    higher_is_better: Mapping[str, bool]
    digest: str
    """SHA-256 of all of the record."""
    values_sha256: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By measure, the SHA-256 of its per-query values and their queries: where it is equal, nothing moved."""
    signature: str = ""
    """Where its numbers come from, with the run if it was known; empty in records of older versions."""
    replicate: bool = False
    """Whether it is another run of the same system as the record before it on its line."""

    @property
    def basis(self) -> RecordBasis:
        """What must be equal for two records to be comparable: judgements and their rules, convention, depth."""
        return RecordBasis(self.qrels_sha256, self.criteria, self.convention, self.depth)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures' full spelling."""
        return tuple(self.mean)

    def spelled(self, measure: object) -> str | None:
        """The full spelling of a measure of the record, from any spelling; None if the record does not have it."""
        name = full_name(measure)
        if name in self.mean:
            return name

        parsed = known(name)
        if parsed is None:
            return None
        spelling = str(parsed.with_defaults(options_of(self.convention).get(parsed.name, {})))
        if spelling in self.mean:
            return spelling
        return None


def values_hash(values: np.ndarray, query_set: bytes) -> str:
    """The hash of a measure's values and of the queries that they are about."""
    return hashlib.sha256(query_set + np.ascontiguousarray(values, "<f8").tobytes()).hexdigest()


class RecordRow(NamedTuple):
    """A row of the table of records, without its number and digest."""

    time: str
    label: str
    query_set: bytes
    judgement_set: bytes | None
    queries: int
    details: str


def record_digest(row: RecordRow, columns: Sequence[tuple[Any, ...]]) -> str:
    """The hash of a record: of its rows, and of the hashes of its values, query ids and judgements."""
    rows = []
    for position, kind, measure, summary, *other_fields in columns:
        bits = None
        if summary is not None:
            bits = struct.pack("<d", summary).hex()
        rows.append([position, kind, measure, bits, *other_fields])

    judgements = None
    if row.judgement_set is not None:
        judgements = memoryview(row.judgement_set).hex()
    set_hashes = [memoryview(row.query_set).hex(), judgements]
    content = json.dumps([row.time, row.label, *set_hashes, row.queries, row.details, rows], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()


def baseline_digest(name: object, recorded: object) -> str:
    """The hash of a baseline: of its name and of the record that it means."""
    return hashlib.sha256(f"{name}\n{recorded}".encode("utf-8", "backslashreplace")).hexdigest()


def analysis_digest(line: str, measure: str, alpha: float, content: str) -> str:
    """The hash of an analysis."""
    return hashlib.sha256(json.dumps([line, measure, alpha, content], ensure_ascii=True).encode()).hexdigest()


def full_name(measure: object) -> str:
    """A measure's full spelling, by any of its spellings; as it is, if it is not declared here."""
    return str(known(str(measure)) or measure)
