"""`HistoryReader`: the records of a history. What is read is compared with its hash, and refused if it is damaged."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import struct
import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from goldrank.data.scores import Bounds, Column, Scores
from goldrank.errors import HistoryError, did_you_mean
from goldrank.history import packing
from goldrank.history.file import HistoryFile, translated_errors
from goldrank.history.record import Record, baseline_digest, full_name, record_digest, values_hash
from goldrank.notes import Note

_RECORDS = "SELECT id, time, label, digest, query_set, queries, details FROM record"
_VALUES = "SELECT record, position, kind, measure, summary, average, higher_is_better, sha256 FROM value"
_BASELINES = (
    "SELECT name, record, baseline.digest, record.digest FROM baseline LEFT JOIN record ON record.id = baseline.record "
    "ORDER BY name"
)
_QUERY_SET = "SELECT ids FROM query_set WHERE sha256 = ?"
_ONE_MEASURE = (
    "SELECT query_set, per_query FROM record JOIN value ON record.id = value.record "
    "WHERE record.id = ? AND kind = 'value' AND measure = ?"
)
_PLAIN = (
    "commit", "branch", "note", "criteria", "run", "qrels_name", "qrels_sha256", "run_sha256", "convention", "depth",
    "version",
)  # fmt: skip


class HistoryReader(HistoryFile):
    """The part of a history that only reads."""

    def records(self, *, label: str | None = None, measure: object = None, limit: int | None = None) -> list[Record]:
        """The records, oldest first, without per-query values; the newest `limit` of those with a label or measure."""
        name = None if measure is None else full_name(measure)
        with self._reading():
            rows, damage = self._rows(label)
            if damage is not None:
                raise self._damaged(damage)
            if limit is not None and name is None:
                rows = rows[max(0, len(rows) - limit) :]
            columns = self._columns_of(None if label is None and limit is None else [row[0] for row in rows])
        records = [self._record(row, columns.get(row[0], [])) for row in rows]
        if name is not None:
            records = [record for record in records if name in record.summaries]
        return records if limit is None else records[max(0, len(records) - limit) :]

    def sound_records(self, *, label: str | None = None) -> tuple[list[Record], list[HistoryError]]:
        """The records that can be read, oldest first, and what is wrong with the others: for saving what there is."""
        with self._reading():
            rows, damage = self._rows(label)
            records, errors = [], [] if damage is None else [self._damaged(damage)]
            for row in rows:
                try:
                    with translated_errors(self.path):
                        records.append(self._record(row, self._columns_of([row[0]]).get(row[0], [])))
                except HistoryError as error:
                    errors.append(error)
        return records, errors

    def get(self, ref: int | str) -> Record:
        """A record by its number, or the newest with a label."""
        if isinstance(ref, str) and ref.isascii() and ref.isdigit():
            ref = int(ref)
        with self._reading():
            if isinstance(ref, str):
                can_be, where = is_text(ref), "label = ? ORDER BY time DESC, id DESC LIMIT 1"
            else:
                can_be, where = abs(ref) < 1 << 63, "id = ?"
            row = self._db.execute(f"{_RECORDS} WHERE {where}", (ref,)).fetchone() if can_be else None
            columns = {} if row is None else self._columns_of([row[0]])
        if row is not None:
            return self._record(row, columns.get(row[0], []))
        labels = dict.fromkeys(record.label for record in self.records())
        if isinstance(ref, str):
            known = ", ".join(filter(None, labels)) or "none"
            hint = did_you_mean(ref, labels) or f"Labels are: {known}."
            raise HistoryError(f"there is no record with the label {ref!r}", where=self.path, hint=hint)
        raise HistoryError(f"there is no record {ref}", where=self.path, hint="`goldrank history` lists them.")

    def scores(self, record: Record | int) -> Scores:
        """The scores as they were recorded, every query's values included."""
        number = record.id if isinstance(record, Record) else record
        with self._reading():
            self.get(number)  # compares what it reads with its hash
            details, sha256 = self._db.execute(
                "SELECT details, query_set FROM record WHERE id = ?", (number,)
            ).fetchone()
            packed = self._db.execute(_QUERY_SET, (sha256,)).fetchone()
            rows = self._db.execute(
                "SELECT kind, measure, summary, average, higher_is_better, sha256, per_query FROM value "
                "WHERE record = ? ORDER BY position",
                (number,),
            ).fetchall()
        queries = self._queries(packed, sha256, number)
        data = json.loads(details)
        provenance = data["provenance"]
        counts_nan = (provenance.get("policies") or {}).get("empty") == "nan"
        by_kind: dict[str, dict[str, Column]] = {}
        for kind, measure, summary, average, better, expected, blob in rows:
            values = self._values(blob, queries, sha256, expected, f"{measure} in record {number}")
            shown = math.nan if summary is None else float(summary)
            by_kind.setdefault(kind, {})[measure] = Column(measure, values, shown, average, bool(better), counts_nan)
        bounds = {
            measure: Bounds(why, low, by_kind[f"{why} high"][measure])
            for kind in by_kind
            if (why := kind.removesuffix(" low")) != kind
            for measure, low in by_kind[kind].items()
        }
        return Scores(
            run=data["run"],
            queries=queries,
            columns=by_kind.get("value", {}),
            counts=data["counts"],
            notes=tuple(map(Note.from_dict, data["notes"])),
            convention=data["convention"],
            origin=partial(dict, provenance),
            bounds=bounds,
        )

    def values(self, records: Sequence[Record], measure: object) -> list[tuple[tuple[str, ...], np.ndarray]]:
        """One measure of many records: for each its query ids and their values."""
        name = full_name(measure)
        ids: dict[bytes, tuple[str, ...]] = {}
        found = []
        with self._reading():
            for record in records:
                row = self._db.execute(_ONE_MEASURE, (record.id, name)).fetchone()
                if row is None:
                    raise HistoryError(f"record {record.id} has no {name}", where=self.path)
                query_set, blob = row
                if query_set not in ids:
                    packed = self._db.execute(_QUERY_SET, (query_set,)).fetchone()
                    ids[query_set] = self._queries(packed, query_set, record.id)
                expected = record.values_sha256[name]
                values = self._values(blob, ids[query_set], query_set, expected, f"{name} in record {record.id}")
                found.append((ids[query_set], values))
        return found

    def baseline(self, name: str) -> Record:
        """The record that was given this name by `set_baseline`."""
        known = self.baselines()
        if name not in known:
            hint = did_you_mean(name, known) or f"Baselines are: {', '.join(known) or 'none'}."
            raise HistoryError(f"there is no baseline {name!r}", where=self.path, hint=hint)
        return self.get(known[name])

    def baselines(self) -> dict[str, int]:
        """The number of each baseline's record, by its name."""
        with self._reading():
            rows = self._db.execute(_BASELINES).fetchall()
            total = self._db.execute("SELECT baselines FROM total").fetchone()
        if total is None or total[0] != len(rows):
            raise self._damaged("not all baselines can be read")
        for name, number, digest, recorded in rows:
            if digest != baseline_digest(name, recorded):
                raise self._damaged(f"baseline {name!r} does not point to the record {number} that it was set to")
        return {name: number for name, number, *_ in rows}

    def check(self) -> None:
        """Read everything and compare it with its hashes; a `HistoryError` says what is damaged."""
        with translated_errors(self.path):
            problems = [row[0] for row in self._db.execute("PRAGMA integrity_check(5)")]
            if problems != ["ok"]:
                raise self._damaged("; ".join(map(str, problems)))
        for record in self.records():
            self.scores(record)
        self.baselines()
        with translated_errors(self.path):
            if self._db.execute("PRAGMA foreign_key_check").fetchone():
                raise self._damaged("there are parts of records that are gone")

    def _rows(self, label: str | None) -> tuple[list[tuple[Any, ...]], str | None]:
        """The rows of records with a label, oldest first, and what is wrong with the table of all records, if it is."""
        rows = self._db.execute(_RECORDS + " ORDER BY time, id").fetchall()
        total = self._db.execute("SELECT records FROM total").fetchone()
        damage = None
        if total is None or total[0] != len(rows):
            recorded = "an unknown number of" if total is None else f"{total[0]:,}"
            damage = f"{recorded} records were recorded and {len(rows):,} can be read"
        return [row for row in rows if label is None or row[2] == label], damage

    def _columns_of(self, records: Sequence[int] | None) -> dict[int, list[tuple[Any, ...]]]:
        """By record, the rows of its values without the values; of all records for None."""
        by_record: dict[int, list[tuple[Any, ...]]] = {}
        if records is None:
            rows = self._db.execute(_VALUES + " ORDER BY record, position").fetchall()
        else:
            each = _VALUES + " WHERE record = ? ORDER BY position"
            rows = [row for number in records for row in self._db.execute(each, (number,))]
        for number, *row in rows:
            by_record.setdefault(number, []).append(tuple(row))
        return by_record

    def _record(self, row: tuple[Any, ...], columns: list[tuple[Any, ...]]) -> Record:
        number, when, label, digest, query_set, queries, details = row
        try:
            sound = record_digest(when, label, query_set, queries, details, columns) == digest
        except (TypeError, ValueError, struct.error):  # a damaged page may hold values of any type
            sound = False
        if not sound:
            raise self._damaged(f"record {number} is not what was recorded")
        data = json.loads(details)
        main = [
            (measure, summary, average, better, sha)
            for _, kind, measure, summary, average, better, sha in columns
            if kind == "value"
        ]
        return Record(
            id=number,
            time=datetime.datetime.fromisoformat(when),
            label=label,
            tags=tuple(data["tags"]),
            queries=queries,
            summaries={m: math.nan if summary is None else float(summary) for m, summary, *_ in main},
            averages={m: average for m, _, average, *_ in main},
            higher_is_better={m: bool(better) for m, _, _, better, _ in main},
            values_sha256={m: sha for m, *_, sha in main},
            digest=digest,
            **{name: data[name] for name in _PLAIN},
        )

    def _values(self, blob: bytes, queries: tuple[str, ...], query_set: bytes, expected: str, what: str) -> np.ndarray:
        try:
            values = packing.unpack_values(blob)
        except (TypeError, ValueError) as error:
            raise self._damaged(f"the values of {what} cannot be unpacked ({error})") from None
        if len(values) != len(queries) or values_hash(values, query_set) != expected:
            raise self._damaged(f"the values of {what} are not those that were recorded")
        return values

    def _queries(self, packed: tuple[bytes] | None, sha256: bytes, record: int) -> tuple[str, ...]:
        try:
            raw = zlib.decompress(packed[0]) if packed else b""
        except (TypeError, zlib.error):
            raw = b""
        if hashlib.sha256(raw).digest() != sha256:
            raise self._damaged(f"the query ids of record {record} are not those that were recorded")
        return packing.unpack_ids(raw)


def is_text(text: object) -> bool:
    """Whether it is text that can be a label or a name."""
    return isinstance(text, str) and text.isprintable()
