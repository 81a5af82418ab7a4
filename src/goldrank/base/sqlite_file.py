"""`SqliteFile`: one SQLite file that is opened safely, and read and written in transactions.

Errors of SQLite become errors that say what to do. The history and the log of judgements are such files.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import quote

from goldrank.base.errors import GoldrankError

LEAST_BYTES = 100
"""The length of SQLite's header. SQLite would take a file of one byte for an empty one."""


class SqliteFile:
    """An open file. Its connection may be used by several threads: transactions wait for each other."""

    error_class: ClassVar[type[GoldrankError]] = GoldrankError
    noun: ClassVar[str]
    """The name of such a file in a sentence: 'a history'."""
    application: ClassVar[int]
    """SQLite's application_id of such files."""
    make: ClassVar[str]
    """A hint: how to make such a file."""
    recover: ClassVar[str]
    """A hint: what to do about a damaged file."""
    elsewhere: ClassVar[str]
    """A hint: how to choose another file."""
    own_triggers: ClassVar[frozenset[str]] = frozenset()
    """The SQL of the triggers that such a file may have."""

    def __init__(self, connection: sqlite3.Connection, path: str, read_only: bool, lock_timeout: float) -> None:
        self._db = connection
        self._lock = threading.RLock()
        self.path = path
        self.read_only = read_only
        self.lock_timeout = lock_timeout
        """Seconds to wait for another writer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it cannot be used any more."""
        with self._lock:
            self._db.close()

    def _open(self, name: str, create: bool, read_only: bool, lock_timeout: float) -> None:
        """Open the file, create it if it is missing and `create` is on, and check it by `_prepare`."""
        if os.path.isdir(name):
            raise self.error_class(f"is a folder, not {self.noun}", where=name, code="is-a-folder")
        if not create and not os.path.exists(name):
            problem = f"there is no {self.noun.removeprefix('a ')} here"
            raise self.error_class(problem, where=name, hint=self.make, code="no-file")

        try:
            if os.path.isfile(name) and 0 < os.path.getsize(name) < LEAST_BYTES:
                problem = "is not an SQLite file, or all but its beginning is lost"
                raise self.error_class(problem, where=name, hint=self.recover, code="not-sqlite")
            with self._translated_at(name, lock_timeout):
                connection = _connect(Path(name), create, read_only, lock_timeout)
        except ValueError as error:  # a name with NUL in it
            raise self.error_class(f"cannot be opened: {error}", where=name, code="cannot-open") from None

        SqliteFile.__init__(self, connection, name, read_only, lock_timeout)
        try:
            with self._translated():
                self._prepare(create)
        except BaseException:
            self.close()
            raise

    def _prepare(self, create: bool) -> None:
        """Check the version of an open file, and create the tables of a new one."""
        raise NotImplementedError

    def _create(self) -> None:
        """Create the tables."""
        raise NotImplementedError

    def _version(self, create: bool) -> int | None:
        """The version of the format; None for a new file, whose tables are created here."""
        with self._reading():  # a consistent state: another process may be creating the file now
            application, version = self._pragma("application_id"), self._pragma("user_version")
            tables = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]

        if not application and not version and not tables:
            if not create:
                raise self._error("is empty", self.make, code="empty-file")
            self._retry_while_locked(self._create)
            return None

        if application != self.application:
            problem = f"is an SQLite file of another program, not {self.noun}"
            raise self._error(problem, f"{self.elsewhere} It is made if it is not there.", code="other-program")

        self._check_schema(self.noun)
        return version

    def _check_schema(self, noun: str) -> None:
        """Allow plain tables only: views, triggers and computed columns run foreign code, perhaps without end."""
        for kind, name, sql in self._db.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
            if not self._is_plain(kind, name, sql):
                raise self._damaged(f"its {kind} {str(name)[:60]!r} does not belong into {noun}")

    def _is_plain(self, kind: str, name: str, sql: str | None) -> bool:
        """Whether an entry of the schema runs no code of others."""
        if kind == "index":
            return True
        if kind == "trigger":
            return sql in self.own_triggers
        if kind != "table" or str(sql).lower().startswith("create virtual"):
            return False
        hidden = self._db.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden", (name,)).fetchone()
        return hidden is None

    def _configure(self) -> None:
        """Set the options that SQLite forgets when a connection ends."""
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run one transaction: at the end all of it is on the disk, or nothing."""
        if self.read_only:
            raise self._error("is opened read-only", code="read-only")
        with self._lock, self._translated():
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
        """Run several queries on one state of the file, also while other processes write."""
        with self._lock, self._translated():
            inside = self._db.in_transaction
            if not inside:
                self._db.execute("BEGIN")
            try:
                yield
            finally:
                if not inside and self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _pragma(self, pragma: str) -> int:
        return int(self._db.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _damaged(self, damage: str) -> GoldrankError:
        return self._error(f"the file is damaged: {damage}", self.recover, code="damaged-file")

    def _error(self, problem: str, hint: str | None = None, code: str | None = None) -> GoldrankError:
        return self.error_class(problem, where=self.path, hint=hint, code=code)

    def _translated(self) -> AbstractContextManager[None]:
        return self._translated_at(self.path, self.lock_timeout)

    @classmethod
    @contextmanager
    def _translated_at(cls, path: str, lock_timeout: float) -> Iterator[None]:
        """Turn errors of SQLite into errors of goldrank that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise cls._explained(error, path, lock_timeout) from error
        except UnicodeDecodeError:  # also where SQLite quotes damaged names in an error
            problem = "the file is damaged: names or texts in it are not UTF-8"
            raise cls.error_class(problem, where=path, hint=cls.recover, code="damaged-file") from None
        except OverflowError as error:
            raise cls.error_class(f"cannot answer this query: {error}", where=path) from None

    @classmethod
    def _explained(cls, error: sqlite3.Error, path: str, lock_timeout: float) -> GoldrankError:
        explained = partial(cls.error_class, where=path)
        full = "the disk is full: nothing was recorded, and what was there before is as it was"
        failing = f"the disk cannot be read or written ({error}): nothing was recorded"
        read_only = "cannot be written: the file or its folder is read-only"
        not_there = f"Is its folder there, and may you write to it? {cls.elsewhere}"
        busy = f"another program has been writing to it for {lock_timeout:g} seconds"
        not_sqlite = "is not an SQLite file, or its beginning is damaged"
        beyond = f"Is the disk full, beyond a quota, or failing? {cls.elsewhere}"

        return {
            sqlite3.SQLITE_FULL: explained(full, hint=f"Make room, or n{cls.elsewhere[1:]}", code="disk-full"),
            sqlite3.SQLITE_IOERR: explained(failing, hint=beyond, code="disk-fails"),
            sqlite3.SQLITE_READONLY: explained(read_only, hint=cls.elsewhere, code="cannot-write"),
            sqlite3.SQLITE_CANTOPEN: explained("cannot be opened or made", hint=not_there, code="cannot-open"),
            sqlite3.SQLITE_BUSY: explained(busy, hint="Try again when it is done.", code="file-in-use"),
            sqlite3.SQLITE_NOTADB: explained(not_sqlite, hint=cls.recover, code="not-sqlite"),
            sqlite3.SQLITE_CORRUPT: explained(f"the file is damaged: {error}", hint=cls.recover, code="damaged-file"),
        }.get(_kind(error), explained(f"cannot be used: {error}", hint=cls.recover, code="sqlite-error"))

    def _retry_while_locked(self, action: Callable[[], None]) -> None:
        """Repeat an action while another process locks the file; SQLite itself does not wait when its mode changes."""
        end = time.monotonic() + self.lock_timeout
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if _kind(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > end:
                    raise
            time.sleep(0.01)


def _connect(path: Path, create: bool, read_only: bool, lock_timeout: float) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode="

    def connect(mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address + mode, uri=True, timeout=lock_timeout, isolation_level=None, check_same_thread=False
        )
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
        if create:
            return connect("rwc")
        return connect("rw")

    # SQLite creates further files beside an open file, and a connection that may write removes them at the end. In a
    # read-only folder it cannot create them. Without a log of waiting changes the file can be read as it is.
    waiting_changes = Path(f"{path}-wal")
    for mode in ("rw", "ro"):
        try:
            return connect(mode)
        except sqlite3.OperationalError as error:
            if _kind(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            if mode == "ro" and waiting_changes.exists() and waiting_changes.stat().st_size:
                raise
    return connect("ro&immutable=1")


def _kind(error: sqlite3.Error) -> int:
    """SQLite's primary number of an error."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
