"""`History`: recorded scores in one SQLite file that survives crashes, full disks and other writers.

One record is one transaction: it is there whole, and on the disk, when `record` returns, or not at all. What is
recorded is hashed, and what is read is compared with its hash, so that a damaged file is refused.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from goldrank.data.scores import Column, Scores
from goldrank.errors import OptionError, whole_number
from goldrank.history import packing
from goldrank.history.file import translated_errors
from goldrank.history.reading import HistoryReader, is_text
from goldrank.history.record import Record, baseline_digest, record_digest, values_hash


class History(HistoryReader):
    """Recorded scores in one file. Open it with `History.open`, as a context or with `close`.

    >>> import tempfile, pathlib
    >>> scores = evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, ["RR"])
    >>> with tempfile.TemporaryDirectory() as folder, History.open(f"{folder}/history.db", create=True) as history:
    ...     record = history.record(scores, label="main")
    ...     history.get("main").summaries, history.scores(record).per_query
    ({'RR': 0.5}, {'RR': {'q1': 0.5}})
    """

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
                "notes": [said.to_dict() for said in scores.notes],
                "provenance": provenance,
            },
            ensure_ascii=True,
        )
        ids = packing.pack_ids(scores.queries)
        query_set = hashlib.sha256(ids).digest()
        rows = [_row(i, kind, column, query_set) for i, (kind, column) in enumerate(_columns(scores))]
        digest = record_digest(when, label, query_set, len(scores.queries), details, [row[:-1] for row in rows])
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
        if not name or not is_text(name):
            raise OptionError(f"a baseline's name is {name!r}; it must be printable text")
        found = self.get(record)
        with self._writing():
            self._db.execute(
                "INSERT INTO baseline VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET record = ?2, digest = ?3",
                (name, found.id, baseline_digest(name, found.digest)),
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
        if keep is not None:
            whole_number(keep, "keep")
        limit = None if before is None else _moment(before)
        frozen = set(self.baselines().values())
        seen: dict[str, int] = {}
        removed = []
        for record in reversed(self.records(label=label)):
            seen[record.label] = seen.get(record.label, 0) + 1
            recent = keep is not None and seen[record.label] <= keep
            late = limit is not None and record.time >= limit
            if not recent and not late and record.id not in frozen:
                removed.append(record)
        removed.reverse()
        if removed and not dry_run:
            with self._writing():
                # A baseline that was set meanwhile makes this fail as a whole.
                self._db.executemany("DELETE FROM record WHERE id = ?", [(record.id,) for record in removed])
                self._db.execute("UPDATE total SET records = (SELECT count(*) FROM record)")
                self._db.execute("DELETE FROM query_set WHERE sha256 NOT IN (SELECT query_set FROM record)")
            with translated_errors(self.path):
                self._db.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
        return removed


def _part(provenance: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = provenance.get(name)
    return part if isinstance(part, Mapping) else {}


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
        values_hash(values, query_set),
        packing.pack_values(values),
    )


def _check_label(label: str) -> None:
    if not is_text(label) or label.isdigit():
        raise OptionError(
            f"label is {label!r}; it must be printable text, and not a number alone",
            hint="For example label='main'. A number alone means a record.",
        )


def _moment(given: datetime.datetime | str) -> datetime.datetime:
    try:
        moment = datetime.datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise OptionError(f"{given!r} is not a time", hint="For example 2026-01-31 or 2026-01-31T12:00.") from None
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment
