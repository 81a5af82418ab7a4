"""`History`: recorded scores in one SQLite file that survives crashes, full disks and other writers.

One record is one transaction: it is there whole, and on the disk, when `record` returns, or not at all. What is
recorded is hashed, and what is read is compared with its hash, so that a damaged file is refused.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from goldrank.base.errors import (
    GoldrankError,
    OptionError,
    StoreError,
    did_you_mean,
    file_name,
    of_type,
    whole_number,
)
from goldrank.base.notes import Note
from goldrank.base.types import MeasureLike, Path, QueriesLike
from goldrank.comparison.settings import Statistics
from goldrank.conventions import options_of
from goldrank.data.query_costs import costs_of
from goldrank.data.query_facts import COUNTS, QueryFacts
from goldrank.data.scores import Bounds, Column, Remarks, Scores
from goldrank.data.signature import full_if_known
from goldrank.history import packing
from goldrank.history.history_file import HistoryFile
from goldrank.history.record import (
    Record,
    RecordRow,
    analysis_digest,
    baseline_digest,
    full_name,
    record_digest,
    values_hash,
)

if TYPE_CHECKING:
    from goldrank.gating.baseline import Baseline
    from goldrank.history.over_time import Trend

_RECORDS = "SELECT id, digest, time, label, query_set, judgement_set, queries, details FROM record"
_VALUES = "SELECT record, position, kind, measure, summary, average, higher_is_better, sha256 FROM value"
_BASELINES = (
    "SELECT name, record, baseline.digest, record.digest FROM baseline LEFT JOIN record ON record.id = baseline.record "
    "ORDER BY name"
)
_ONE_MEASURE = (
    "SELECT query_set, per_query FROM record JOIN value ON record.id = value.record "
    "WHERE record.id = ? AND kind = 'value' AND measure = ?"
)
_INSERT = (
    "INSERT INTO record (time, label, query_set, judgement_set, queries, details, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_UNUSED_JUDGEMENTS = (
    "DELETE FROM judgement_set WHERE sha256 NOT IN (SELECT judgement_set FROM record WHERE judgement_set IS NOT NULL)"
)
FACT = "fact"
"""The kind of values that are facts of each query, and not a measure."""


class History(HistoryFile):
    """Recorded scores in one file, which others may write to at the same time.

    Parameters
    ----------
    path : str or path
        The file.
    mode : {"a", "r"}
        "a" adds to it, and makes the file if it is not there. "r" reads and never writes.

    Raises
    ------
    StoreError
        If it cannot be opened, is damaged, or is not a history of this version.

    Examples
    --------
    >>> import tempfile
    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, ["RR"])
    >>> with tempfile.TemporaryDirectory() as folder, History(f"{folder}/history.db") as history:
    ...     record = history.record(scores, label="main")
    ...     history["main"].mean, history.scores(record).per_query
    ({'RR': 0.5}, {'RR': {'q1': 0.5}})
    """

    def __repr__(self) -> str:
        return f"History({os.fspath(self.path)!r})"

    def record(
        self,
        scores: Scores,
        *,
        label: str = "",
        commit: str = "",
        branch: str = "",
        note: str = "",
        tags: Sequence[str] = (),
        replicate: bool = False,
        time: datetime.datetime | None = None,
    ) -> Record:
        """Record scores. They are on the disk when this returns; if it raises, nothing was recorded.

        Parameters
        ----------
        scores : Scores
            The scores of one run.
        label : str
            The line of records that it belongs to, such as a branch or a system.
        commit, branch, note : str
            What was measured, and a remark.
        tags : list of str
            Anything else, for example "index=v3".
        replicate : bool
            Whether it is another run of the same system as the record before it on its line: replicates show how far
            runs differ by chance.
        time : datetime, optional
            When it was measured; by default now.

        Returns
        -------
        Record

        Raises
        ------
        StoreError
            If the file cannot be written.
        OptionError
            If the label is a number or not printable, or tags are not a list.
        """
        of_type(scores, Scores, "what is recorded", "the scores of one run", "Evaluate it first.")
        scores = with_cost_columns(scores)
        _check_label(label)
        if isinstance(tags, str):
            raise OptionError(f"tags is {tags!r}; it must be a list of texts", hint=f"For example tags=[{tags!r}].")
        utc_time = (time or datetime.datetime.now(datetime.UTC)).astimezone(datetime.UTC)
        description: dict[str, Any] = {"commit": commit, "branch": branch, "note": note, "tags": list(tags)}
        if replicate:
            description["replicate"] = True

        ids = packing.pack_ids(scores.queries)
        hashes = None
        judgement_set = None
        if scores.judgement_hashes is not None:
            hashes = packing.pack_hashes(scores.judgement_hashes)
            judgement_set = hashlib.sha256(hashes).digest()
        row = RecordRow(
            time=utc_time.isoformat(timespec="seconds"),
            label=label,
            query_set=hashlib.sha256(ids).digest(),
            judgement_set=judgement_set,
            queries=len(scores.queries),
            details=json.dumps({**description, **_details(scores)}, ensure_ascii=True),
        )
        columns = [_row(i, kind, column, row.query_set) for i, (kind, column) in enumerate(_columns(scores))]
        digest = record_digest(row, [column[:-1] for column in columns])

        with self._writing():
            self._db.execute("INSERT OR IGNORE INTO query_set VALUES (?, ?)", (row.query_set, packing.compress(ids)))
            if hashes is not None:
                judgement_row = row.judgement_set, packing.compress(hashes)
                self._db.execute("INSERT OR IGNORE INTO judgement_set VALUES (?, ?)", judgement_row)
            number = self._db.execute(_INSERT, (*row, digest)).lastrowid
            self._db.executemany(
                "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(number, *column) for column in columns]
            )
            self._db.execute("UPDATE total SET records = records + 1")
        assert number is not None
        return self[number]

    def set_baseline(self, name: str, ref: Record | int | str) -> None:
        """Give a record a name, which stays with this record until it is set anew.

        Parameters
        ----------
        name : str
            The name, such as "main".
        ref : Record, int or str
            The record, its number, or its label or commit.
        """
        if not name or not _is_text(name):
            raise OptionError(f"a baseline's name is {name!r}; it must be printable text")
        if not isinstance(ref, Record):
            ref = self[ref]
        with self._writing():
            self._db.execute(
                "INSERT INTO baseline VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET record = ?2, digest = ?3",
                (name, ref.id, baseline_digest(name, ref.digest)),
            )
            self._db.execute("UPDATE total SET baselines = (SELECT count(*) FROM baseline)")

    def prune(
        self,
        *,
        keep: int | None = None,
        before: datetime.datetime | None = None,
        label: str | None = None,
        dry_run: bool = False,
    ) -> list[Record]:
        """Remove old records. Those that a baseline points to always stay.

        Parameters
        ----------
        keep : int, optional
            How many records of each label stay, the newest.
        before : datetime, optional
            Only records from before this time go. With both, only those that are neither among the newest nor recent.
        label : str, optional
            Only the records with this label.
        dry_run : bool
            Say what would be removed, and remove nothing.

        Returns
        -------
        list of Record
            The records that were removed, oldest first.
        """
        if keep is None and before is None:
            raise OptionError("say what to keep", hint="For example keep=100, or before=datetime(2026, 1, 1), or both.")
        if keep is not None:
            whole_number(keep, "keep")
        limit = None
        if before is not None:
            limit = _moment(before)

        frozen = set(self.baselines().values())
        count_by_label: dict[str, int] = {}
        removed = []
        for record in reversed(self.records(label=label)):
            count_by_label[record.label] = count_by_label.get(record.label, 0) + 1
            is_recent = keep is not None and count_by_label[record.label] <= keep
            is_late = limit is not None and record.time >= limit
            if not is_recent and not is_late and record.id not in frozen:
                removed.append(record)
        removed.reverse()

        if removed and not dry_run:
            with self._writing():
                # A baseline that was set meanwhile makes this fail as a whole.
                self._db.executemany("DELETE FROM record WHERE id = ?", [(record.id,) for record in removed])
                self._db.execute("UPDATE total SET records = (SELECT count(*) FROM record)")
                self._db.execute("DELETE FROM query_set WHERE sha256 NOT IN (SELECT query_set FROM record)")
                self._db.execute(_UNUSED_JUDGEMENTS)
            with self._translated():
                self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
        return removed

    def records(
        self, *, label: str | None = None, measure: MeasureLike | None = None, limit: int | None = None
    ) -> list[Record]:
        """The records, oldest first, without values of single queries.

        Parameters
        ----------
        label : str, optional
            Only the records with this label.
        measure : measure, optional
            Only those that have this measure.
        limit : int, optional
            Only this number of them, the newest.

        Returns
        -------
        list of Record
        """
        with self._reading():
            rows, damage = self._rows(label)
            if damage is not None:
                raise self._damaged(damage)
            if limit is not None and measure is None:
                rows = rows[max(0, len(rows) - limit) :]
            numbers = None
            if label is not None or limit is not None:
                numbers = [row[0] for row in rows]
            columns = self._columns_of(numbers)

        records = [self._record(row, columns.get(row[0], [])) for row in rows]
        if measure is not None:
            records = [record for record in records if record.spelled(measure)]
        if limit is None:
            return records
        return records[max(0, len(records) - limit) :]

    def sound_records(self, *, label: str | None = None) -> tuple[list[Record], list[GoldrankError]]:
        """The records that can be read, oldest first, and what is wrong with the others: to save what can be saved."""
        records: list[Record] = []
        errors: list[GoldrankError] = []
        with self._reading():
            rows, damage = self._rows(label)
            if damage is not None:
                errors.append(self._damaged(damage))
            for row in rows:
                try:
                    with self._translated():
                        records.append(self._record(row, self._columns_of([row[0]]).get(row[0], [])))
                except StoreError as error:
                    errors.append(error)
        return records, errors

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records())

    def __len__(self) -> int:
        return len(self.records())

    def __getitem__(self, ref: int | str) -> Record:
        """A record by its number, or the newest with a label, or with a commit or four or more characters of it."""
        of_type(ref, (int, str, np.integer), "what names a record", "a number, a label or a commit")
        if not isinstance(ref, str):
            ref = int(ref)
        if isinstance(ref, str) and ref.isascii() and ref.isdigit() and (ref[0] != "0" or len(ref) < 4):
            ref = int(ref)  # with zeros in front it is a commit

        if isinstance(ref, str):
            is_possible, condition = _is_text(ref), "label = ? ORDER BY time DESC, id DESC LIMIT 1"
        else:
            is_possible, condition = abs(ref) < 1 << 63, "id = ?"

        row = None
        with self._reading():
            if is_possible:
                row = self._db.execute(f"{_RECORDS} WHERE {condition}", (ref,)).fetchone()
            if row is not None:
                columns = self._columns_of([row[0]])

        if row is not None:
            return self._record(row, columns.get(row[0], []))
        return self._by_commit(ref)

    def _by_commit(self, ref: int | str) -> Record:
        """The newest record of a commit, or the error that says what there is."""
        records = self.records()
        prefix = str(ref)
        matching = [record for record in records if prefix in (record.commit, record.commit.removesuffix("-dirty"))]
        if not matching and len(prefix) >= 4:
            matching = [record for record in records if record.commit.startswith(prefix)]

        commits = dict.fromkeys(record.commit.removesuffix("-dirty") for record in matching)
        if len(commits) > 1:
            hint = f"There are: {', '.join(list(commits)[:5])}. Say more of it."
            raise self._error(f"{len(commits)} commits begin with {prefix!r}", hint)

        if matching:
            return matching[-1]

        if isinstance(ref, str):
            labels = dict.fromkeys(record.label for record in records)
            label_words = ", ".join(filter(None, labels)) or "none"
            hint = did_you_mean(ref, labels) or f"Labels are: {label_words}."
            raise self._error(f"there is no record with the label or commit {ref!r}", hint, code="no-record")

        raise self._error(f"there is no record {ref}", "`goldrank history` lists them.", code="no-record")

    def scores(self, ref: Record | int | str) -> Scores:
        """The scores as they were recorded, every query's values included.

        Parameters
        ----------
        ref : Record, int or str
            The record, its number, or its label or commit.

        Returns
        -------
        Scores
        """
        if isinstance(ref, Record):
            ref = ref.id
        with self._reading():
            number = self[ref].id  # compares what it reads with its hash
            _, _, *content = self._db.execute(f"{_RECORDS} WHERE id = ?", (number,)).fetchone()
            row = RecordRow(*content)
            queries = self._queries(row.query_set, number)
            hashes = None
            if row.judgement_set is not None:
                hashes = self._hashes(row.judgement_set, number)
            rows = self._db.execute(
                "SELECT kind, measure, summary, average, higher_is_better, sha256, per_query FROM value "
                "WHERE record = ? ORDER BY position",
                (number,),
            ).fetchall()
        data = json.loads(row.details)
        provenance = data["provenance"]
        counts_nan = (provenance.get("policies") or {}).get("empty") == "nan"
        by_kind: dict[str, dict[str, Column]] = {}
        for kind, measure, summary, average, better, expected, blob in rows:
            values = self._values(blob, queries, row.query_set, expected, f"{measure} in record {number}")
            column = Column(measure, values, _or_nan(summary), average, bool(better), counts_nan)
            by_kind.setdefault(kind, {})[measure] = column

        return Scores(
            run=data["run"],
            queries=queries,
            columns=by_kind.get("value", {}),
            remarks=Remarks(data["counts"], tuple(map(Note.from_dict, data["notes"]))),
            convention=data["convention"],
            origin=partial(dict, provenance),
            bounds=_bounds(by_kind),
            options=provenance.get("options", options_of(data["convention"])),
            facts=_facts(by_kind.get(FACT, {}), hashes),
        )

    def values(self, records: Sequence[Record], measure: object) -> list[tuple[tuple[str, ...], np.ndarray]]:
        """One measure of many records: for each its query ids and their values."""
        name = full_name(measure)
        ids: dict[bytes, tuple[str, ...]] = {}
        values_of_records = []
        with self._reading():
            for record in records:
                row = self._db.execute(_ONE_MEASURE, (record.id, name)).fetchone()
                if row is None:
                    raise self._error(f"record {record.id} has no {name}")
                query_set, blob = row
                if query_set not in ids:
                    ids[query_set] = self._queries(query_set, record.id)
                expected = record.values_sha256[name]
                values = self._values(blob, ids[query_set], query_set, expected, f"{name} in record {record.id}")
                values_of_records.append((ids[query_set], values))

        return values_of_records

    def baseline(self, name: str) -> Baseline:
        """The baseline that `set_baseline` gave this name, for `gate`.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Baseline

        Raises
        ------
        StoreError
            If there is none of that name.
        """
        numbers = self.baselines()
        if name not in numbers:
            hint = did_you_mean(str(name), numbers) or f"Baselines are: {', '.join(numbers) or 'none'}."
            raise self._error(f"there is no baseline {name!r}", hint, code="no-baseline")
        return self.as_baseline(self[numbers[name]], name)

    def as_baseline(self, record: Record, name: str) -> Baseline:
        """A record as a baseline of some name."""
        from goldrank.gating.baseline import Baseline

        frozen = record.time.isoformat()
        baseline = Baseline.of_record(self.scores(record), name, record.digest, frozen, record.label)
        baseline.equal_runs = equal_runs(self.records(label=record.label or None), record)
        return baseline

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

    def trend(
        self,
        measure: MeasureLike | None = None,
        *,
        label: str | None = None,
        queries: QueriesLike | None = None,
        slice_by: str | Sequence[str] = (),
        statistics: Statistics = Statistics(),
    ) -> Trend:
        """A measure over time, and where it changed by more than chance does.

        Parameters
        ----------
        measure : measure, optional
            By default the first of the newest record.
        label : str, optional
            Only the records with this label.
        queries : Queries, optional
            Attributes of queries that slices go by.
        slice_by : str or list of str
            Attributes by which records are shown on slices too.
        statistics : Statistics
            `alpha` is a line's chance of a false alarm, and `seed` where random numbers begin.

        Returns
        -------
        Trend

        Raises
        ------
        StoreError
            If nothing was recorded, or not this measure.
        """
        from goldrank.history.over_time import TrendRequest, trend_of

        request = TrendRequest(label=label, queries=queries, slice_by=slice_by, statistics=statistics)
        return trend_of(self, measure, request)

    def save(self, path: Path, *, label: str | None = None) -> None:
        """Write the records with all their values to a file that other programs read.

        Parameters
        ----------
        path : str or path
            A .parquet, .csv or .json file. Parquet and CSV have a row per record, measure and query.
        label : str, optional
            Only the records with this label.

        Raises
        ------
        StoreError
            If a record is damaged; the others are written.
        """
        from goldrank.history.exporting import export

        _, damaged = export(self, file_name(path), label=label)
        if damaged:
            raise self._damaged(f"not all records were written ({len(damaged):,} left out): {damaged[0].what}")

    def analysis(self, line: str, measure: str, alpha: float) -> dict[str, Any] | None:
        """The stored state of the search for changes of a line; None if there is none."""
        with self._reading():
            query = "SELECT * FROM analysis WHERE line = ? AND measure = ? AND alpha = ?"
            row = self._db.execute(query, (line, measure, alpha)).fetchone()
        if row is None:
            return None
        return self._analysis(row)

    def keep_analysis(self, line: str, measure: str, alpha: float, content: Mapping[str, Any]) -> None:
        """Keep the state of a search; it replaces the stored one of the same line, measure and alpha."""
        text = json.dumps(content, ensure_ascii=True)
        with self._writing():
            self._db.execute(
                "INSERT OR REPLACE INTO analysis VALUES (?, ?, ?, ?, ?)",
                (line, measure, alpha, text, analysis_digest(line, measure, alpha, text)),
            )

    def _analysis(self, row: tuple[Any, ...]) -> dict[str, Any]:
        line, measure, alpha, content, digest = row
        if analysis_digest(line, measure, alpha, content) != digest:
            message = f"the file is damaged: the marks of {measure} on the line {line} are not those that were set"
            hint = "`goldrank history check` says what else is; `goldrank history --dry-run` does without marks."
            raise self._error(message, hint, code="damaged-file")
        analysis: dict[str, Any] = json.loads(content)
        return analysis

    def check(self) -> int:
        """Read everything and compare it with its hashes.

        Returns
        -------
        int
            How many records there are.

        Raises
        ------
        StoreError
            If anything is damaged; it says what.
        """
        with self._translated():
            problems = [row[0] for row in self._db.execute("PRAGMA integrity_check(5)")]
            if problems != ["ok"]:
                raise self._damaged("; ".join(map(str, problems)))
        records = self.records()
        for record in records:
            self.scores(record)
        self.baselines()
        with self._translated():
            for row in self._db.execute("SELECT * FROM analysis").fetchall():
                self._analysis(row)
            if self._db.execute("PRAGMA foreign_key_check").fetchone():
                raise self._damaged("there are parts of records that are gone")
        return len(records)

    def _rows(self, label: str | None) -> tuple[list[tuple[Any, ...]], str | None]:
        """The rows of records with a label, oldest first, and what is wrong with the table of all records."""
        rows = self._db.execute(_RECORDS + " ORDER BY time, id").fetchall()
        total = self._db.execute("SELECT records FROM total").fetchone()
        damage = None
        if total is None or total[0] != len(rows):
            recorded = "an unknown number of"
            if total and isinstance(total[0], int):
                recorded = f"{total[0]:,}"
            damage = f"{recorded} records were recorded and {len(rows):,} can be read"
        return [row for row in rows if label is None or row[3] == label], damage

    def _columns_of(self, records: Sequence[int] | None) -> dict[int, list[tuple[Any, ...]]]:
        """By record, the rows of its values without the values; of all records for None."""
        by_record: dict[int, list[tuple[Any, ...]]] = {}
        if records is None:
            rows = self._db.execute(_VALUES + " ORDER BY record, position").fetchall()
        else:
            query = _VALUES + " WHERE record = ? ORDER BY position"
            rows = [row for number in records for row in self._db.execute(query, (number,))]

        for number, *row in rows:
            by_record.setdefault(number, []).append(tuple(row))
        return by_record

    def _record(self, row: tuple[Any, ...], columns: list[tuple[Any, ...]]) -> Record:
        number, digest, *fields = row
        content = RecordRow(*fields)
        try:
            sound = record_digest(content, columns) == digest
        except (TypeError, ValueError, struct.error):  # a damaged page may hold values of any type
            sound = False

        if not sound:
            raise self._damaged(f"record {number} is not what was recorded")

        data = json.loads(content.details)
        summaries, averages, higher_is_better, hashes = {}, {}, {}, {}
        for _, kind, measure, summary, average, better, sha256 in columns:
            if kind == "value":
                summaries[measure] = _or_nan(summary)
                averages[measure] = average
                higher_is_better[measure] = bool(better)
                hashes[measure] = sha256

        return Record(
            id=number,
            time=datetime.datetime.fromisoformat(content.time),
            label=content.label,
            tags=tuple(data.pop("tags")),
            queries=content.queries,
            mean=summaries,
            averages=averages,
            higher_is_better=higher_is_better,
            values_sha256=hashes,
            digest=digest,
            **{name: value for name, value in data.items() if name in Record.__dataclass_fields__},
        )

    def _values(self, blob: bytes, queries: tuple[str, ...], query_set: bytes, expected: str, label: str) -> np.ndarray:
        try:
            values = packing.unpack_values(blob, len(queries))
        except (TypeError, ValueError) as error:
            raise self._damaged(f"the values of {label} cannot be unpacked ({error})") from None
        if len(values) != len(queries) or values_hash(values, query_set) != expected:
            raise self._damaged(f"the values of {label} are not those that were recorded")
        return values

    def _queries(self, sha256: bytes, record: int) -> tuple[str, ...]:
        packed = self._db.execute("SELECT ids FROM query_set WHERE sha256 = ?", (sha256,)).fetchone()
        try:
            return packing.unpack_ids(_unpacked(packed, sha256))
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the query ids of record {record} are not those that were recorded ({error})"
            raise self._damaged(message) from None

    def _hashes(self, sha256: bytes, record: int) -> dict[str, str]:
        packed = self._db.execute("SELECT hashes FROM judgement_set WHERE sha256 = ?", (sha256,)).fetchone()
        try:
            return packing.unpack_hashes(_unpacked(packed, sha256))
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the hashes of judgements of record {record} are not those that were recorded ({error})"
            raise self._damaged(message) from None


def _unpacked(packed: tuple[bytes] | None, sha256: bytes) -> bytes:
    """The unpacked bytes, if they have their hash."""
    raw = b""
    if packed:
        raw = packing.decompress(packed[0])
    if hashlib.sha256(raw).digest() != sha256:
        raise ValueError("another hash")
    return raw


def equal_runs(records: Sequence[Record], record: Record) -> int:
    """How many runs of a record's system are recorded, if all have the same values; 0 if they differ or it is one.

    Runs of a system are a record and the replicates after it. The same file recorded again is not another run.
    """
    name = record.label or record.run
    line = [entry for entry in records if (entry.label or entry.run, entry.basis) == (name, record.basis)]
    runs: list[Record] = []
    runs_of: dict[int, list[Record]] = {}
    for entry in line:
        if not entry.replicate:
            runs = []
        runs.append(entry)
        runs_of[entry.id] = runs

    runs = runs_of[record.id]
    values = {tuple(sorted(entry.values_sha256.items())) for entry in runs}
    if len(runs) > 1 and len(values) == 1:
        return len(runs)
    return 0


def with_cost_columns(scores: Scores) -> Scores:
    """Scores whose latency, tokens and cost are columns too, so that they have a line over time."""
    columns = dict(scores.columns)
    for kind, values in costs_of(scores).items():
        known = values[~np.isnan(values)]
        if kind not in columns and len(known):
            columns[kind] = Column(kind, values, math.fsum(known.tolist()) / len(known), "mean", higher_is_better=False)
    if len(columns) == len(scores.columns):
        return scores
    return replace(scores, columns=columns)


def _details(scores: Scores) -> dict[str, Any]:
    """What is stored of scores beside their values."""
    provenance = dict(scores.provenance)
    qrels, run = _part(provenance, "qrels"), _part(provenance, "run")
    counts = {name: int(count) for name, count in scores.counts.items()}
    signature = full_if_known(scores)

    return {
        "criteria": str(qrels.get("criteria") or ""),
        "run": scores.run,
        "qrels_name": str(qrels.get("name") or ""),
        "qrels_sha256": str(qrels.get("sha256") or ""),
        "run_sha256": str(run.get("sha256") or ""),
        "convention": scores.convention,
        "depth": provenance.get("depth"),
        "version": str(provenance.get("goldrank") or ""),
        "counts": counts,
        "notes": [note.to_dict() for note in scores.notes],
        "provenance": provenance,
        "signature": signature,
    }


def _facts(columns: Mapping[str, Column], hashes: Mapping[str, str] | None) -> QueryFacts:
    """The facts of each query, from values of the kind `FACT`."""
    numbers: dict[str, Any] = {}
    for name, column in columns.items():
        numbers[name] = column.values
        if name in COUNTS:
            numbers[name] = column.values.astype(np.int64)
    return QueryFacts(**numbers, hashes=hashes)


def _bounds(by_kind: Mapping[str, Mapping[str, Column]]) -> dict[str, Bounds]:
    """The bounds of measures, from values of the kinds '... low' and '... high'."""
    bounds = {}
    for kind, columns in by_kind.items():
        if not kind.endswith(" low"):
            continue
        why = kind.removesuffix(" low")
        for measure, low in columns.items():
            bounds[measure] = Bounds(why, low, by_kind[f"{why} high"][measure])
    return bounds


def _part(provenance: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = provenance.get(name)
    if isinstance(part, Mapping):
        return part
    return {}


def _columns(scores: Scores) -> Iterator[tuple[str, Column]]:
    for column in scores.columns.values():
        yield "value", column
    for bounds in scores.bounds.values():
        yield f"{bounds.why} low", bounds.low
        yield f"{bounds.why} high", bounds.high
    for name, values in scores.query_facts.numbers.items():
        yield FACT, Column(name, values.astype(np.float64), math.nan, "sum")


def _row(position: int, kind: str, column: Column, query_set: bytes) -> tuple[Any, ...]:
    summary = None
    if not math.isnan(column.summary):  # SQLite has neither NaN nor -0
        summary = float(column.summary) + 0.0
    about = (position, kind, column.measure, summary, column.average, int(column.higher_is_better))
    return (*about, values_hash(column.values, query_set), packing.pack_values(column.values))


def _check_label(label: object) -> None:
    if not isinstance(label, str) or not _is_text(label) or label.isdigit():
        raise OptionError(
            f"label is {label!r}; it must be printable text, and not a number alone",
            hint="For example label='main'. A number alone means a record.",
        )


def _moment(time: datetime.datetime) -> datetime.datetime:
    """A time with its zone, UTC if it names none."""
    of_type(time, datetime.datetime, "before", "a time", "For example datetime(2026, 1, 31).")
    if time.tzinfo is None:
        return time.replace(tzinfo=datetime.UTC)
    return time


def _or_nan(summary: float | None) -> float:
    if summary is None:
        return math.nan
    return float(summary)


def _is_text(text: object) -> bool:
    """Whether it is text that can be a label or a name."""
    return isinstance(text, str) and text.isprintable()
