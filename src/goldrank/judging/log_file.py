"""`JudgementFile`: the SQLite file of a log of judgements, its tables and the triggers that keep them append-only."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from goldrank.base.errors import StoreError, file_name, one_of
from goldrank.base.sqlite_file import SqliteFile
from goldrank.base.types import Path as PathLike

Mode: TypeAlias = Literal["a", "r"]
"""How a log is opened: to be read and added to (it is made if it is not there), or to be read alone."""

APPLICATION = 0x676A7564
"""SQLite's application_id of these files: 'gjud'."""
VERSION = 1
"""The version of the format, kept in SQLite's user_version."""
LOCK_TIMEOUT = 30.0
"""Seconds to wait for another writer."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE judges (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'model', 'file'))
);
CREATE TABLE criteria (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    judge INTEGER NOT NULL REFERENCES judges,
    query BLOB NOT NULL,
    doc BLOB NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('grade', 'withdraw', 'skip', 'cannot_tell', 'comment')),
    grade REAL,
    comment TEXT NOT NULL,
    criteria INTEGER REFERENCES criteria,
    seen TEXT NOT NULL,
    whole INTEGER,
    blind INTEGER,
    seconds REAL,
    knew INTEGER,
    data TEXT NOT NULL,
    chain TEXT NOT NULL
);
CREATE INDEX events_by_pair ON events (query, doc, judge, seq);
CREATE TABLE asked (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    at TEXT NOT NULL,
    item TEXT NOT NULL,
    messages TEXT NOT NULL,
    parameters TEXT NOT NULL
);
CREATE INDEX asked_by_key ON asked (key);
CREATE TABLE answered (
    asked INTEGER PRIMARY KEY REFERENCES asked,
    at TEXT NOT NULL,
    status TEXT NOT NULL,
    body TEXT NOT NULL,
    parsed TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    tokens_cached INTEGER,
    estimated INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    cost REAL NOT NULL
);
"""
"""`seen`: SHA-256 of the query and the text as shown; `whole`: not only the snippet; `knew`: the last `seq` of the
judge's pair that the page knew, or for 'withdraw' the event that is taken back; `data`: hash of the inputs; `chain`:
SHA-256 of the row and the previous chain. `asked.messages` is a hash. Headers, and so keys, are never stored."""

APPEND_ONLY = ("meta", "judges", "criteria", "events", "asked", "answered")
TRIGGERS = tuple(
    f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, 'judgements are never changed'); END"
    for table in APPEND_ONLY
    for act in ("UPDATE", "DELETE")
)

_RECOVER = (
    "Take a copy from before. Else keep this file and save what can be read: "
    "`sqlite3 old.db .recover | sqlite3 new.db`."
)


class JudgementFile(SqliteFile):
    """The open file of a log of judgements."""

    error_class = StoreError
    noun = "a log of judgements"
    application = APPLICATION
    make = "`goldrank judge` and `goldrank serve` make one; JudgementLog(path) does in Python."
    recover = _RECOVER
    elsewhere = "Name a file elsewhere with --log."
    own_triggers = frozenset(TRIGGERS)

    def __init__(self, path: PathLike, *, mode: Mode = "a") -> None:
        name = file_name(path, "a log of judgements")
        one_of(mode, get_args(Mode), "mode")
        read_only = mode == "r"
        self._open(name, not read_only, read_only, LOCK_TIMEOUT)

    def _prepare(self, create: bool) -> None:
        version = self._version(create)
        if version is None:
            return
        if version != VERSION:
            message = f"has version {version} of the format; this goldrank knows version {VERSION}"
            raise self._error(message, "Use the goldrank that wrote it, or a newer one.", code="newer-version")
        triggers = {row[0] for row in self._db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")}
        if triggers != set(TRIGGERS):
            raise self._damaged("the triggers that keep its rows from being changed are gone")
        if not self.read_only:
            self._configure()

    def _create(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL").fetchone()
        self._configure()
        with self._writing():
            if not self._pragma("application_id"):  # another process may have been quicker
                for statement in (*TABLES.split(";\n"), *TRIGGERS):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
