"""The tables of a history file, their version, and how an older file becomes one of this version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

APPLICATION = 0x676F6C64
"""SQLite's application_id of these files: 'gold'."""
VERSION = 2
"""Of the format, kept in SQLite's user_version. Since 2 notes are objects; before, they were text."""
OLDEST_READABLE = 1
"""Files from this version on can be read without bringing them up to date."""

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
}
"""By version, what makes the tables those of the next one. Each runs in a transaction, with the new version."""
