"""`History`: recorded scores in one SQLite file that survives crashes, full disks and other writers.

One record is one transaction: it is there whole, and on the disk, when `record` returns, or not at all. What is
recorded is hashed, and what is read is compared with its hash, so that a damaged file is refused and never believed.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import sqlite3
import struct
import time as clock
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import numpy as np

from goldrank.data.scores import Bounds, Column, Scores
from goldrank.errors import HistoryError, OptionError, did_you_mean
from goldrank.history import packing

APPLICATION = 0x676F6C64
"""SQLite's application_id of these files: 'gold'."""
VERSION = 1
"""Of the tables below, kept in SQLite's user_version."""
PATIENCE = 30.0
"""Seconds to wait for another writer."""

_TABLES = """
CREATE TABLE query_set (sha256 BLOB PRIMARY KEY, ids BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    label TEXT NOT NULL,
    digest TEXT NOT NULL,
    query_set BLOB NOT NULL REFERENCES query_set,
    queries INTEGER NOT NULL,
    details TEXT NOT NULL
);
CREATE TABLE value (
    record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    measure TEXT NOT NULL,
    summary REAL,
    average TEXT NOT NULL,
    higher_is_better INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    per_query BLOB NOT NULL,
    UNIQUE (record, position)
);
CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    record INTEGER NOT NULL REFERENCES record ON DELETE RESTRICT,
    digest TEXT NOT NULL
);
CREATE TABLE total (records INTEGER NOT NULL, baselines INTEGER NOT NULL);
INSERT INTO total VALUES (0, 0);
"""
"""`value.kind` is 'value' for a measure, or 'why low' and 'why high' for its bounds. `total` tells that a damaged
page has swallowed rows. Nothing is found by an index that could be damaged on its own, except the values of a record,
and those are counted by its digest."""

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}
"""By version, what makes the tables those of the next one. Each runs in a transaction, with the new version."""


@dataclass(frozen=True)
class Record:
    """What was recorded once: which run, judged by what, with which summaries; `History.scores` has the rest."""

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
    summaries: Mapping[str, float]
    averages: Mapping[str, str]
    """By measure, how its summary was made: 'mean', 'sum' or 'geometric'."""
    higher_is_better: Mapping[str, bool]
    digest: str
    """SHA-256 of all of the record."""
    values_sha256: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By measure, the SHA-256 of its per-query values and their queries: where it is equal, nothing moved."""

    @property
    def basis(self) -> tuple[str, str, str, int | None]:
        """What must be equal for two records to be about the same: judgements and their rules, convention, depth."""
        return self.qrels_sha256, self.criteria, self.convention, self.depth

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures' full spelling."""
        return tuple(self.summaries)


class History:
    """Recorded scores in one file. Open it with `History.open`, as a context or with `close`.

    >>> import tempfile, pathlib
    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, ["RR"])
    >>> with tempfile.TemporaryDirectory() as folder, History.open(f"{folder}/history.db", create=True) as history:
    ...     record = history.record(scores, label="main")
    ...     history.get("main").summaries, history.scores(record).per_query
    ({'RR': 0.5}, {'RR': {'q1': 0.5}})
    """

    def __init__(self, connection: sqlite3.Connection, path: str, read_only: bool) -> None:
        self._db = connection
        self.path = path
        self.read_only = read_only

    @classmethod
    def open(cls, path: str | Path, *, create: bool = False, read_only: bool = False) -> History:
        """The history in a file; `create` makes the file if it is not there, `read_only` never writes to it."""
        name = str(path)
        if create and read_only:
            raise OptionError("a history cannot be created and read-only at once")
        there = Path(path)
        if there.is_dir():
            raise HistoryError("is a folder, not a history", where=name)
        if not create and not there.exists():
            raise HistoryError("there is no history here", where=name, hint=_MAKE)
        if there.is_file() and 0 < there.stat().st_size < 100:  # SQLite would take one byte for nothing
            raise HistoryError("is not an SQLite file, or all but its beginning is lost", where=name, hint=RECOVER)
        with _spoken(name):
            connection = _connect(there, create, read_only)
            try:
                history = cls(connection, name, read_only)
                history._prepare(create)
            except BaseException:
                connection.close()
                raise
        return history

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the history cannot be used any more."""
        self._db.close()

    # Writing.

    def record(
        self,
        scores: Scores,
        *,
        label: str = "",
        commit: str = "",
        branch: str = "",
        note: str = "",
        tags: Sequence[str] = (),
        criteria: str = "",
        time: datetime.datetime | None = None,
    ) -> Record:
        """Record scores. They are on the disk when this returns; if it raises, nothing was recorded.

        `label` names a line of records, such as a branch or a system. `criteria` are the rules by which relevance was
        judged; without them those of the qrels count. `time` is now.
        """
        _check_label(label)
        if isinstance(tags, str):
            raise OptionError(f"tags is {tags!r}; it must be a list of texts", hint=f"For example tags=[{tags!r}].")
        provenance = dict(scores.provenance)
        qrels, run = (_part(provenance, name) for name in ("qrels", "run"))
        moment = (time or datetime.datetime.now(datetime.UTC)).astimezone(datetime.UTC)
        when = moment.isoformat(timespec="seconds")
        details = json.dumps(
            {
                "commit": commit,
                "branch": branch,
                "note": note,
                "tags": list(tags),
                "criteria": criteria or str(qrels.get("criteria") or ""),
                "run": scores.run,
                "qrels_name": str(qrels.get("name") or ""),
                "qrels_sha256": str(qrels.get("sha256") or ""),
                "run_sha256": str(run.get("sha256") or ""),
                "convention": scores.convention,
                "depth": provenance.get("depth"),
                "version": str(provenance.get("goldrank") or ""),
                "counts": {name: int(count) for name, count in scores.counts.items()},
                "notes": list(scores.notes),
                "provenance": provenance,
            },
            ensure_ascii=True,
        )
        ids = packing.pack_ids(scores.queries)
        query_set = hashlib.sha256(ids).digest()
        rows = [_row(i, kind, column, query_set) for i, (kind, column) in enumerate(_columns(scores))]
        digest = _digest(when, label, query_set, len(scores.queries), details, [row[:-1] for row in rows])
        with self._writing():
            known = self._db.execute("SELECT 1 FROM query_set WHERE sha256 = ?", (query_set,)).fetchone()
            if not known:
                self._db.execute("INSERT INTO query_set VALUES (?, ?)", (query_set, zlib.compress(ids, 6)))
            number = self._db.execute(
                "INSERT INTO record (time, label, digest, query_set, queries, details) VALUES (?, ?, ?, ?, ?, ?)",
                (when, label, digest, query_set, len(scores.queries), details),
            ).lastrowid
            self._db.executemany(
                "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(number, *row) for row in rows]
            )
            self._db.execute("UPDATE total SET records = records + 1")
        assert number is not None
        return self.get(number)

    def set_baseline(self, name: str, record: int) -> None:
        """Give a record a name that keeps meaning it, whatever is recorded later, until it is set anew."""
        if not name or not _is_text(name):
            raise OptionError(f"a baseline's name is {name!r}; it must be printable text")
        found = self.get(record)
        with self._writing():
            self._db.execute(
                "INSERT INTO baseline VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET record = ?2, digest = ?3",
                (name, found.id, _baseline_digest(name, found.digest)),
            )
            self._db.execute("UPDATE total SET baselines = (SELECT count(*) FROM baseline)")

    def prune(
        self,
        *,
        keep: int | None = None,
        before: datetime.datetime | str | None = None,
        label: str | None = None,
        dry_run: bool = False,
    ) -> list[Record]:
        """Remove old records and say which: all but the newest `keep` of each label, and those from before a time.

        With both, only records that are neither among the newest nor recent go. Records that a baseline points to
        always stay. With `dry_run` nothing is removed.
        """
        if keep is None and before is None:
            raise OptionError("say what to keep", hint="For example keep=100, or before='2026-01-01', or both.")
        if keep is not None and (isinstance(keep, bool) or keep < 0):
            raise OptionError(f"keep is {keep!r}; it must be a whole number from 0")
        limit = None if before is None else _moment(before)
        frozen = set(self.baselines().values())
        seen: dict[str, int] = {}
        going = []
        for record in reversed(self.records(label=label)):
            seen[record.label] = seen.get(record.label, 0) + 1
            recent = keep is not None and seen[record.label] <= keep
            late = limit is not None and record.time >= limit
            if not recent and not late and record.id not in frozen:
                going.append(record)
        going.reverse()
        if going and not dry_run:
            with self._writing():
                # A baseline that was set meanwhile makes this fail as a whole.
                self._db.executemany("DELETE FROM record WHERE id = ?", [(record.id,) for record in going])
                self._db.execute("UPDATE total SET records = (SELECT count(*) FROM record)")
                self._db.execute("DELETE FROM query_set WHERE sha256 NOT IN (SELECT query_set FROM record)")
            with _spoken(self.path):
                self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
        return going

    # Reading.

    def records(self, *, label: str | None = None, measure: object = None, limit: int | None = None) -> list[Record]:
        """The records, oldest first, without per-query values; the newest `limit` of those with a label or measure."""
        name = None if measure is None else spelled(measure)
        with _spoken(self.path), self._reading():
            rows, trouble = self._rows(label)
            if trouble is not None:
                raise self._damaged(trouble)
            if limit is not None and name is None:
                rows = rows[max(0, len(rows) - limit) :]
            columns = self._columns_of(None if label is None and limit is None else [row[0] for row in rows])
        records = [self._record(row, columns.get(row[0], [])) for row in rows]
        if name is not None:
            records = [record for record in records if name in record.summaries]
        return records if limit is None else records[max(0, len(records) - limit) :]

    def sound_records(self, *, label: str | None = None) -> tuple[list[Record], list[HistoryError]]:
        """The records that can be read, oldest first, and what is wrong with the others: for saving what there is."""
        with _spoken(self.path), self._reading():
            rows, trouble = self._rows(label)
            records, troubles = [], [] if trouble is None else [self._damaged(trouble)]
            for row in rows:
                try:
                    with _spoken(self.path):
                        records.append(self._record(row, self._columns_of([row[0]]).get(row[0], [])))
                except HistoryError as error:
                    troubles.append(error)
        return records, troubles

    def get(self, ref: int | str) -> Record:
        """A record by its number, or the newest with a label."""
        if isinstance(ref, str) and ref.isascii() and ref.isdigit():
            ref = int(ref)
        with _spoken(self.path), self._reading():
            if isinstance(ref, str):
                query = _RECORDS + " WHERE label = ? ORDER BY time DESC, id DESC LIMIT 1"
            else:
                query = _RECORDS + " WHERE id = ?"
            row = self._db.execute(query, (ref,)).fetchone() if _is_reference(ref) else None
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
        with _spoken(self.path), self._reading():
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
        made: dict[str, dict[str, Column]] = {}
        for kind, measure, summary, average, better, expected, blob in rows:
            values = self._values(blob, queries, sha256, expected, f"{measure} in record {number}")
            shown = math.nan if summary is None else float(summary)
            made.setdefault(kind, {})[measure] = Column(measure, values, shown, average, bool(better))
        data = json.loads(details)
        provenance = data["provenance"]
        bounds = {
            measure: Bounds(kind.removesuffix(" low"), low, made[kind.removesuffix(" low") + " high"][measure])
            for kind, columns in made.items()
            if kind.endswith(" low")
            for measure, low in columns.items()
        }
        return Scores(
            run=data["run"],
            queries=queries,
            columns=made.get("value", {}),
            counts=data["counts"],
            notes=tuple(data["notes"]),
            convention=data["convention"],
            origin=lambda: provenance,
            bounds=bounds,
        )

    def values(self, records: Sequence[Record], measure: object) -> list[tuple[tuple[str, ...], np.ndarray]]:
        """One measure of many records: for each its query ids and their values."""
        name = spelled(measure)
        ids: dict[bytes, tuple[str, ...]] = {}
        found = []
        with _spoken(self.path), self._reading():
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
        with _spoken(self.path), self._reading():
            rows = self._db.execute(_BASELINES).fetchall()
            total = self._db.execute("SELECT baselines FROM total").fetchone()
        if total is None or total[0] != len(rows):
            raise self._damaged("not all baselines can be read")
        for name, number, digest, recorded in rows:
            if digest != _baseline_digest(name, recorded):
                raise self._damaged(f"baseline {name!r} does not point to the record {number} that it was set to")
        return {name: number for name, number, *_ in rows}

    def check(self) -> None:
        """Read everything and compare it with its hashes; a `HistoryError` says what is damaged."""
        with _spoken(self.path):
            said = [row[0] for row in self._db.execute("PRAGMA integrity_check(5)")]
            if said != ["ok"]:
                raise self._damaged("; ".join(str(one) for one in said))
        for record in self.records():
            self.scores(record)
        self.baselines()
        with _spoken(self.path):
            if self._db.execute("PRAGMA foreign_key_check").fetchone():
                raise self._damaged("there are parts of records that are gone")

    # Inside.

    def _prepare(self, create: bool) -> None:
        db = self._db
        application, version = _number(db, "application_id"), _number(db, "user_version")
        tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if not application and not version and not tables:
            if not create:
                raise HistoryError("is empty", where=self.path, hint=_MAKE)
            _patiently(lambda: self._create())
            return
        if application != APPLICATION:
            raise HistoryError(
                "is an SQLite file of another program, not a history",
                where=self.path,
                hint="Name another file with --db; it is made if it is not there.",
            )
        if version < 1:
            raise self._damaged(f"there is no version {version} of the format")
        if version > VERSION:
            raise HistoryError(
                f"has version {version} of the format; this goldrank knows versions up to {VERSION}",
                where=self.path,
                hint="Use the goldrank that wrote it, or a newer one.",
            )
        if version < VERSION and self.read_only:
            raise HistoryError(
                f"has the older version {version} of the format, and it is opened read-only",
                where=self.path,
                hint="Open it once for writing, as `goldrank record` does: that brings it up to date.",
            )
        for old in range(version, VERSION):
            with self._writing():
                if _number(db, "user_version") == old:  # another process may have been quicker
                    MIGRATIONS[old](db)
                    db.execute(f"PRAGMA user_version = {old + 1}")
        if not self.read_only:
            self._settle()

    def _create(self) -> None:
        db = self._db
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        self._settle()
        with self._writing():
            if not _number(db, "application_id"):  # another process may have been quicker
                for statement in _TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")

    def _settle(self) -> None:
        """What a connection must be told each time."""
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it is on the disk at the end, or none."""
        if self.read_only:
            raise HistoryError("is opened read-only", where=self.path)
        with _spoken(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Several questions to one state of the file, whatever others write."""
        inside = self._db.in_transaction
        if not inside:
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            if not inside and self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _rows(self, label: str | None) -> tuple[list[tuple[Any, ...]], str | None]:
        """The rows of records with a label, oldest first, and what is wrong with the table of all records, if it is."""
        rows = self._db.execute(_RECORDS + " ORDER BY time, id").fetchall()
        total = self._db.execute("SELECT records FROM total").fetchone()
        trouble = None
        if total is None or total[0] != len(rows):
            recorded = "an unknown number of" if total is None else f"{total[0]:,}"
            trouble = f"{recorded} records were recorded and {len(rows):,} can be read"
        return [row for row in rows if label is None or row[2] == label], trouble

    def _columns_of(self, records: Sequence[int] | None) -> dict[int, list[tuple[Any, ...]]]:
        """By record, the rows of its values without the values; of all records for None."""
        found: dict[int, list[tuple[Any, ...]]] = {}
        if records is None:
            rows = self._db.execute(_VALUES + " ORDER BY record, position").fetchall()
        else:
            each = _VALUES + " WHERE record = ? ORDER BY position"
            rows = [row for number in records for row in self._db.execute(each, (number,))]
        for number, *row in rows:
            found.setdefault(number, []).append(tuple(row))
        return found

    def _record(self, row: tuple[Any, ...], columns: list[tuple[Any, ...]]) -> Record:
        number, when, label, digest, query_set, queries, details = row
        try:
            sound = _digest(when, label, query_set, queries, details, columns) == digest
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
        if len(values) != len(queries) or _values_hash(values, query_set) != expected:
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

    def _damaged(self, what: str) -> HistoryError:
        return HistoryError(f"the file is damaged: {what}", where=self.path, hint=RECOVER)


RECOVER = (
    "Take a copy from before. Else keep this file and save what can be read: `sqlite3 old.db .recover | sqlite3 "
    "new.db`,\n  then `goldrank history --db new.db`; `goldrank export` writes sound records to JSON or Parquet."
)
_MAKE = "`goldrank record` makes one; History.open(path, create=True) does in Python."
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


def _connect(path: Path, create: bool, read_only: bool) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode="

    def connected(mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(address + mode, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            if read_only:
                connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    if not read_only:
        return connected("rwc" if create else "rw")
    # A reader that could write tidies up behind itself: SQLite keeps files beside a history while it is open. In a
    # folder that cannot be written it cannot make them; where no writer has left one, the history is at rest, and it
    # can be read without.
    waiting = Path(f"{path}-wal")
    for mode in ("rw", "ro"):
        try:
            return connected(mode)
        except sqlite3.OperationalError as error:
            if _kind(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            if mode == "ro" and waiting.exists() and waiting.stat().st_size:
                raise
    return connected("ro&immutable=1")


@contextmanager
def _spoken(path: str) -> Iterator[None]:
    """SQLite's errors as sentences."""
    try:
        yield
    except sqlite3.Error as error:
        raise _in_words(error, path) from error
    except OverflowError as error:
        raise HistoryError(f"cannot be asked for that: {error}", where=path) from None


def _in_words(error: sqlite3.Error, path: str) -> HistoryError:
    what, hint = {
        sqlite3.SQLITE_FULL: (
            "the disk is full: nothing was recorded, and what was there before is as it was",
            "Make room, or name a file elsewhere with --db.",
        ),
        sqlite3.SQLITE_IOERR: (
            f"the disk cannot be read or written ({error}): nothing was recorded",
            "Is the disk full, beyond a quota, or failing? Name a file elsewhere with --db.",
        ),
        sqlite3.SQLITE_READONLY: (
            "cannot be written: the file or its folder is read-only",
            "Name a file elsewhere with --db.",
        ),
        sqlite3.SQLITE_CANTOPEN: (
            "cannot be opened or made",
            "Is its folder there, and may you write to it? Name a file elsewhere with --db.",
        ),
        sqlite3.SQLITE_BUSY: (
            f"another program has been writing to it for {PATIENCE:g} seconds",
            "Try again when it is done.",
        ),
        sqlite3.SQLITE_NOTADB: ("is not an SQLite file, or its beginning is damaged", RECOVER),
        sqlite3.SQLITE_CORRUPT: (f"the file is damaged: {error}", RECOVER),
    }.get(_kind(error), (f"cannot be used: {error}", RECOVER))  # fmt: skip
    return HistoryError(what, where=path, hint=hint)


def _kind(error: sqlite3.Error) -> int:
    """SQLite's number of the error, without the refinements."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _patiently(action: Callable[[], None]) -> None:
    """Run it again while another process has the file locked; SQLite itself does not wait for changes of its modes."""
    end = clock.monotonic() + PATIENCE
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if _kind(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or clock.monotonic() > end:
                raise
        clock.sleep(0.01)


def _number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


def _part(provenance: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = provenance.get(name)
    return found if isinstance(found, Mapping) else {}


def _columns(scores: Scores) -> Iterator[tuple[str, Column]]:
    for column in scores.columns.values():
        yield "value", column
    for bounds in scores.bounds.values():
        yield f"{bounds.why} low", bounds.low
        yield f"{bounds.why} high", bounds.high


def _row(position: int, kind: str, column: Column, query_set: bytes) -> tuple[Any, ...]:
    summary = None if math.isnan(column.summary) else float(column.summary) + 0.0  # SQLite has neither NaN nor -0
    values = np.ascontiguousarray(column.values, np.float64)
    return (
        position,
        kind,
        column.measure,
        summary,
        column.average,
        int(column.higher_is_better),
        _values_hash(values, query_set),
        packing.pack_values(values),
    )


def _values_hash(values: np.ndarray, query_set: bytes) -> str:
    return hashlib.sha256(query_set + np.ascontiguousarray(values, "<f8").tobytes()).hexdigest()


def _digest(
    when: str, label: str, query_set: bytes, queries: int, details: str, columns: Sequence[tuple[Any, ...]]
) -> str:
    """The hash of a record: of what its rows say, and of the hashes of its values and query ids."""
    rows = [
        [position, kind, measure, None if summary is None else struct.pack("<d", summary).hex(), *rest]
        for position, kind, measure, summary, *rest in columns
    ]
    said = json.dumps([when, label, bytes(query_set).hex(), queries, details, rows], ensure_ascii=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _baseline_digest(name: object, recorded: object) -> str:
    return hashlib.sha256(f"{name}\n{recorded}".encode("utf-8", "backslashreplace")).hexdigest()


def _check_label(label: str) -> None:
    if not _is_text(label) or label.isdigit():
        raise OptionError(
            f"label is {label!r}; it must be printable text, and not a number alone",
            hint="For example label='main'. A number alone means a record.",
        )


def _is_text(text: str) -> bool:
    return isinstance(text, str) and text.isprintable()


def _is_reference(ref: int | str) -> bool:
    return _is_text(ref) if isinstance(ref, str) else abs(ref) < 1 << 63


def _moment(given: datetime.datetime | str) -> datetime.datetime:
    try:
        found = datetime.datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise OptionError(f"{given!r} is not a time", hint="For example 2026-01-31 or 2026-01-31T12:00.") from None
    return found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found


def spelled(measure: object) -> str:
    """A measure's full spelling, by any of its spellings; as it is, if it is not declared here."""
    from goldrank.errors import MeasureError
    from goldrank.measures import parse

    try:
        return str(parse(str(measure)))
    except MeasureError:
        return str(measure)  # a measure of the user's own that is not declared here
