"""Vectors that a model made, kept in memory and on the disk, so that no text is given to it twice."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from goldrank.errors import InputError

MOST_BYTES = 256_000_000
"""Of vectors in memory."""
FILE = "vectors-1.sqlite"
_AT_ONCE = 500


def usual_folder() -> str:
    """Where models' answers are kept if nothing else is said: GOLDRANK_CACHE, or the user's folder for such things."""
    given = os.environ.get("GOLDRANK_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return given or str(Path(base) / "goldrank")


class KeptVectors:
    """Rows of float32 by sha256 of the model, with its weights and settings, and the text; None: none on the disk."""

    def __init__(self, model: str | None, folder: str | None = None) -> None:
        self._model = None if model is None else model.encode()
        self._folder = folder
        self._memory: dict[Any, np.ndarray] = {}
        self._bytes = 0

    def of(self, given: list[Any], make: Callable[[list[Any]], np.ndarray]) -> np.ndarray:
        """A row for each of the given, made if it is not kept."""
        rows = {one: self._memory[one] for one in given if one in self._memory}
        keys = {one: self._key(one) for one in given if one not in rows} if self._model is not None else {}
        rows |= self._read(keys)
        missing = [one for one in dict.fromkeys(given) if one not in rows]
        if missing:
            made = make(missing)
            rows |= zip(missing, made, strict=True)
            self._write({keys[one]: rows[one] for one in missing} if keys else {})
        for one in given:
            if one not in self._memory and self._bytes < MOST_BYTES:
                self._memory[one] = rows[one]
                self._bytes += rows[one].nbytes
        return np.stack([rows[one] for one in given])

    def _key(self, one: Any) -> bytes:
        assert self._model is not None
        parts = one if isinstance(one, tuple) else (one,)
        whole = hashlib.sha256(self._model)
        for part in parts:
            text = part.encode("utf-8", "surrogatepass")
            whole.update(b"\0%d\0" % len(text) + text)
        return whole.digest()

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._folder or usual_folder()) / FILE

    def _with_file(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Use the file, if one can be had: what cannot be kept in the usual folder is made anew the next time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=30)) as opened, opened:
                opened.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
                work(opened)
        except (sqlite3.DatabaseError, OSError) as error:
            damaged = not isinstance(error, sqlite3.OperationalError | OSError)
            if damaged or self._folder is not None:
                hint = "Delete the file, or name another folder." if damaged else "Make room, or name another folder."
                raise InputError(f"vectors cannot be kept: {error}", where=str(self.path), hint=hint) from error

    def _read(self, keys: dict[Any, bytes]) -> dict[Any, np.ndarray]:
        found: dict[bytes, np.ndarray] = {}
        wanted = list(keys.values())

        def look(opened: sqlite3.Connection) -> None:
            for begin in range(0, len(wanted), _AT_ONCE):
                part = wanted[begin : begin + _AT_ONCE]
                marks = ",".join("?" * len(part))
                for key, vector in opened.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part):  # noqa: S608 - marks
                    found[key] = np.frombuffer(vector, "<f4")

        if wanted:
            self._with_file(look)
        return {one: found[key] for one, key in keys.items() if key in found}

    def _write(self, rows: dict[bytes, np.ndarray]) -> None:
        kept = [(key, row.astype("<f4").tobytes()) for key, row in rows.items()]
        if kept:
            self._with_file(lambda opened: opened.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", kept))
