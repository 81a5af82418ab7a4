"""`HistoryFile`: one SQLite file with its tables, opened safely, brought up to date."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Self

from goldrank.errors import HistoryError, OptionError, file_name
from goldrank.sqlite_file import SqliteFile

APPLICATION = 0x676F6C64
"""SQLite's application_id of these files: 'gold'."""
VERSION = 3
"""Of the format, kept in SQLite's user_version. Since 2 notes are objects (before, they were text); since 3 there are
analyses."""

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

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], object]] = {
    1: lambda db: None,  # the tables are the same, and notes that are text are still read
    2: lambda db: db.execute(ANALYSIS),
}
"""By version, what makes the tables those of the next one. Each runs in a transaction, with the new version."""

LOCK_TIMEOUT = 30.0
"""Seconds to wait for another writer."""

RECOVER = (
    "Take a copy from before. Else keep this file and save what can be read: `sqlite3 old.db .recover | sqlite3 "
    "new.db`, then `goldrank history --db new.db`; `goldrank export` writes sound records to JSON or Parquet."
)


class HistoryFile(SqliteFile):
    """The open file of a history."""

    error_class = HistoryError
    noun = "a history"
    application = APPLICATION
    make = "`goldrank record` makes one; History.open(path, create=True) does in Python."
    recover = RECOVER
    elsewhere = "Name a file elsewhere with --db."

    @classmethod
    def open(cls, path: str | Path, *, create: bool = False, read_only: bool = False) -> Self:
        """The history in a file; `create` makes the file if it is not there, `read_only` never writes to it."""
        name = file_name(path, "a history")
        if create and read_only:
            raise OptionError("a history cannot be created and read-only at once")
        return cls._opened(name, create, read_only, LOCK_TIMEOUT)

    def _prepare(self, create: bool) -> None:
        db = self._db
        version = self._version(create)
        if version is None:
            return
        if version < 1:
            raise self._damaged(f"there is no version {version} of the format")
        if version > VERSION:
            what = f"has version {version} of the format; this goldrank knows versions up to {VERSION}"
            raise self._error(what, "Use the goldrank that wrote it, or a newer one.", code="newer-version")
        if self.read_only:  # every version so far can be read without bringing it up to date
            return
        for old in range(version, VERSION):
            with self._writing():
                if self._pragma("user_version") == old:  # another process may have been quicker
                    MIGRATIONS[old](db)
                    db.execute(f"PRAGMA user_version = {old + 1}")
        self._configure()

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
