"""`HistoryFile`: one SQLite file with its tables, opened safely, brought up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from goldrank.base import types
from goldrank.base.errors import GoldrankError, StoreError, file_name, one_of
from goldrank.base.sqlite_file import SqliteFile

APPLICATION = 0x676F6C64
"""SQLite's application_id of these files: 'gold'."""
VERSION = 4
"""Of the format, kept in SQLite's user_version. Since 4 it has facts of each query. Versions 1 to 3 were written before
goldrank 1.0."""

ANALYSIS = """
CREATE TABLE analysis (
    line TEXT NOT NULL,
    measure TEXT NOT NULL,
    alpha REAL NOT NULL,
    content TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (line, measure, alpha)
);
"""
"""How far the search for changes of a line has come, and the marks that it has set."""

TABLES = """
CREATE TABLE query_set (sha256 BLOB PRIMARY KEY, ids BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE judgement_set (sha256 BLOB PRIMARY KEY, hashes BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    label TEXT NOT NULL,
    digest TEXT NOT NULL,
    query_set BLOB NOT NULL REFERENCES query_set,
    judgement_set BLOB REFERENCES judgement_set,
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
"""`value.kind` is 'value' for a measure, 'why low' and 'why high' for its bounds, or 'fact' for facts of each query.
`judgement_set` has, by query, the hashes of its judgements. `total` shows that a damaged page has lost rows. Nothing is
looked up by an index that could be damaged alone, except the values of a record, and its digest counts those."""

LOCK_TIMEOUT = 30.0
"""Seconds to wait for another writer."""

RECOVER = (
    "Take a copy from before. Else keep this file and save what can be read: `sqlite3 old.db .recover | sqlite3 "
    "new.db`, then `goldrank history --db new.db`; `goldrank history export` writes sound records to JSON or Parquet."
)


class HistoryFile(SqliteFile):
    """The open file of a history."""

    error_class = StoreError
    noun = "a history"
    application = APPLICATION
    make = "`goldrank record` makes one; History(path) does in Python."
    recover = RECOVER
    elsewhere = "Name a file elsewhere with --db."

    def __init__(self, path: types.Path, *, mode: Literal["a", "r"] = "a") -> None:
        one_of(mode, ("a", "r"), "mode")
        self._open(file_name(path, "a history"), mode == "a", mode == "r", LOCK_TIMEOUT)

    def _prepare(self, create: bool) -> None:
        version = self._version(create)
        if version is None:
            return
        if version < 1:
            raise self._damaged(f"there is no version {version} of the format")
        if version != VERSION:
            raise self._other_version(version)
        if not self.read_only:
            self._configure()

    def _other_version(self, version: int) -> GoldrankError:
        message = f"has version {version} of the format; this goldrank reads version {VERSION}"
        if version > VERSION:
            return self._error(message, "Use the goldrank that wrote it, or a newer one.", code="newer-version")
        hint = "It was written before goldrank 1.0: record into a new file, and keep this one for the older goldrank."
        return self._error(message, hint, code="older-version")

    def _create(self) -> None:
        db = self._db
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        self._configure()
        with self._writing():
            if not self._pragma("application_id"):  # another process may have been quicker
                for statement in (TABLES + ANALYSIS).split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")


def can_be_written(path: str | Path) -> bool:
    """Whether a history can be added to; SQLite makes files beside it."""
    return os.access(path, os.W_OK) and os.access(Path(path).absolute().parent, os.W_OK)
