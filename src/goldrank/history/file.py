"""`HistoryFile`: one SQLite file with its tables, opened safely, brought up to date, read and written in transactions.

What SQLite says is turned into errors that say what to do.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

from goldrank.errors import HistoryError, OptionError, file_name

APPLICATION = 0x676F6C64
"""SQLite's application_id of these files: 'gold'."""
VERSION = 3
"""Of the format, kept in SQLite's user_version. Since 2 notes are objects (before, they were text); since 3 there are
analyses."""
OLDEST_READABLE = 1
"""Files from this version on can be read without bringing them up to date."""

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

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: lambda db: None,  # the tables are the same, and notes that are text are still read
    2: lambda db: _execute(db, ANALYSIS),
}
"""By version, what makes the tables those of the next one. Each runs in a transaction, with the new version."""

LOCK_TIMEOUT = 30.0
"""Seconds to wait for another writer."""

RECOVER = (
    "Take a copy from before. Else keep this file and save what can be read: `sqlite3 old.db .recover | sqlite3 "
    "new.db`, then `goldrank history --db new.db`; `goldrank export` writes sound records to JSON or Parquet."
)
_MAKE = "`goldrank record` makes one; History.open(path, create=True) does in Python."


class HistoryFile:
    """The open file of a history."""

    def __init__(self, connection: sqlite3.Connection, path: str, read_only: bool) -> None:
        self._db = connection
        self.path = path
        self.read_only = read_only

    @classmethod
    def open(cls, path: str | Path, *, create: bool = False, read_only: bool = False) -> Self:
        """The history in a file; `create` makes the file if it is not there, `read_only` never writes to it."""
        name = file_name(path, "a history")
        if create and read_only:
            raise OptionError("a history cannot be created and read-only at once")
        file = Path(path)
        if os.path.isdir(name):
            raise HistoryError("is a folder, not a history", where=name)
        if not create and not os.path.exists(name):
            raise HistoryError("there is no history here", where=name, hint=_MAKE)
        if os.path.isfile(name) and 0 < file.stat().st_size < 100:  # SQLite would take one byte for nothing
            raise HistoryError("is not an SQLite file, or all but its beginning is lost", where=name, hint=RECOVER)
        with translated_errors(name):
            connection = _connect(file, create, read_only)
            try:
                history = cls(connection, name, read_only)
                history._prepare(create)
            except BaseException:
                connection.close()
                raise
        return history

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the history cannot be used any more."""
        self._db.close()

    def _prepare(self, create: bool) -> None:
        db = self._db
        application, version = _pragma(db, "application_id"), _pragma(db, "user_version")
        tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if not application and not version and not tables:
            if not create:
                raise self._error("is empty", _MAKE)
            _retry_while_locked(self._create)
            return
        if application != APPLICATION:
            hint = "Name another file with --db; it is made if it is not there."
            raise self._error("is an SQLite file of another program, not a history", hint)
        self._check_tables()
        if version < 1:
            raise self._damaged(f"there is no version {version} of the format")
        if version > VERSION:
            what = f"has version {version} of the format; this goldrank knows versions up to {VERSION}"
            raise self._error(what, "Use the goldrank that wrote it, or a newer one.")
        if self.read_only:
            if version < OLDEST_READABLE:
                hint = "Open it once for writing, as `goldrank record` does: that brings it up to date."
                raise self._error(f"has the older version {version} of the format, and it is opened read-only", hint)
            return
        for old in range(version, VERSION):
            with self._writing():
                if _pragma(db, "user_version") == old:  # another process may have been quicker
                    MIGRATIONS[old](db)
                    db.execute(f"PRAGMA user_version = {old + 1}")
        self._configure()

    def _check_tables(self) -> None:
        """Plain tables only: views, triggers and computed columns run what somebody wrote, perhaps without end."""
        for kind, name, sql in self._db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
            plain = kind == "index" or (kind == "table" and not str(sql).lower().startswith("create virtual"))
            if plain and kind == "table":
                hidden = self._db.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden", (name,)).fetchone()
                plain = hidden is None
            if not plain:
                raise self._damaged(f"its {kind} {str(name)[:60]!r} is none that a history has")

    def _create(self) -> None:
        db = self._db
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        self._configure()
        with self._writing():
            if not _pragma(db, "application_id"):  # another process may have been quicker
                for statement in (TABLES + ANALYSIS).split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")

    def _configure(self) -> None:
        """What a connection must be told each time."""
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it is on the disk at the end, or none."""
        if self.read_only:
            raise self._error("is opened read-only")
        with translated_errors(self.path):
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
        with translated_errors(self.path):
            inside = self._db.in_transaction
            if not inside:
                self._db.execute("BEGIN")
            try:
                yield
            finally:
                if not inside and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _damaged(self, what: str) -> HistoryError:
        return self._error(f"the file is damaged: {what}", RECOVER)

    def _error(self, what: str, hint: str | None = None) -> HistoryError:
        return HistoryError(what, where=self.path, hint=hint)


def _connect(path: Path, create: bool, read_only: bool) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode="

    def connected(mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(address + mode, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
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
def translated_errors(path: str) -> Iterator[None]:
    """SQLite's errors as errors of goldrank, with what to do about them."""
    try:
        yield
    except sqlite3.Error as error:
        raise _history_error(error, path) from error
    except OverflowError as error:
        raise HistoryError(f"cannot be asked for that: {error}", where=path) from None


def _history_error(error: sqlite3.Error, path: str) -> HistoryError:
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
            f"another program has been writing to it for {LOCK_TIMEOUT:g} seconds",
            "Try again when it is done.",
        ),
        sqlite3.SQLITE_NOTADB: ("is not an SQLite file, or its beginning is damaged", RECOVER),
        sqlite3.SQLITE_CORRUPT: (f"the file is damaged: {error}", RECOVER),
    }.get(_kind(error), (f"cannot be used: {error}", RECOVER))  # fmt: skip
    return HistoryError(what, where=path, hint=hint)


def _kind(error: sqlite3.Error) -> int:
    """SQLite's number of the error, without the refinements."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _retry_while_locked(action: Callable[[], None]) -> None:
    """Run it again while another process has the file locked; SQLite itself does not wait for changes of its modes."""
    end = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if _kind(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _execute(db: sqlite3.Connection, statement: str) -> None:
    db.execute(statement)


def _pragma(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])
