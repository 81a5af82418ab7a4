"""The answers so far, in a file that survives a kill: one record a line, each written at once.

The first line has a key of the engine and its questions. An incomplete last line is cut off; a file of other queries,
of another engine or of a process that still writes is refused.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from goldrank.base.errors import GoldrankError, InputError, cannot_open

FORMAT = "goldrank-journal/1"
_OPENING = json.dumps({"format": FORMAT})[:-1].encode()
"""The first bytes of every such file."""
SYNC_SECONDS = 1.0
"""How long a record may be only in the system's memory."""


class Journal:
    """The records of one run, by query."""

    def __init__(self, path: str | None, key: str, *, restart: bool = False) -> None:
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}
        """The last record of each query."""
        self._file: int | None = None
        self._synced = 0.0
        if path is None:
            return

        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags, 0o666)
        except (OSError, ValueError) as error:
            raise cannot_open(error, path, GoldrankError) from None
        try:
            _lock(self._file, path)
            self._begin(key, restart)
        except BaseException:
            self.close()
            raise

    @property
    def answered(self) -> set[str]:
        """The queries that need not be asked again."""
        return {query for query, record in self.records.items() if "error" not in record}

    def _begin(self, key: str, restart: bool) -> None:
        """Read the records of the file; one without a complete first line starts again."""
        assert self._file is not None
        assert self.path is not None
        raw = b""
        if not restart:
            raw = _all_of(self._file)
        if not (raw.startswith(_OPENING) or _OPENING.startswith(raw)):
            raise _other_file(self.path, 1)

        end = raw.rfind(b"\n") + 1
        lines = raw[:end].splitlines()
        os.ftruncate(self._file, end)
        if not lines:
            self._write({"format": FORMAT, "key": key})
            return

        header = _record(lines[0], self.path, 1)
        for number, line in enumerate(lines[1:], 2):
            self._take(_record(line, self.path, number), number)
        if header.get("key") == key:
            return
        if self.answered:
            message = "has answers of another engine, or to other queries, or for another k"
            raise InputError(message, where=self.path, hint=_HINT, code="other-journal")

        self.records.clear()  # they are all failures: nothing is lost
        os.ftruncate(self._file, 0)
        self._write({"format": FORMAT, "key": key})

    def _take(self, record: dict[str, Any], number: int) -> None:
        """Keep a record that was written before; an answer is never replaced."""
        query = record.get("id")
        if not isinstance(query, str):
            raise _other_file(str(self.path), number)
        before = self.records.get(query)
        if before is None or "error" in before:
            self.records[query] = record

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep a record."""
        self.records[record["id"]] = dict(record)
        if self._file is None:
            return
        self._write(record)
        now = time.monotonic()
        if now - self._synced >= SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = now

    def _write(self, record: Mapping[str, Any]) -> None:
        assert self._file is not None
        line = json.dumps(record, ensure_ascii=True).encode() + b"\n"
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise GoldrankError(f"cannot be written: {error.strerror}", where=self.path, code="cannot-write") from None
        if written < len(line):
            raise GoldrankError("cannot be written: there is no room", where=self.path, code="cannot-write")

    def close(self) -> None:
        """Write everything to the disk, and release the file."""
        if self._file is not None:
            file, self._file = self._file, None
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def remove(self) -> None:
        """Delete the file, when its answers are written elsewhere."""
        if self.path is not None:
            self.close()
            os.unlink(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _all_of(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(file, "rb", closefd=False) as stream:
        return stream.read()


_HINT = "Start anew with --restart, or take another name for the output."


def _record(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise _other_file(path, number)
    return record


def _other_file(path: str, number: int) -> InputError:
    return InputError("is not a record of a run", where=f"{path}:{number}", hint=_HINT, code="not-a-journal")


def _lock(file: int, path: str) -> None:
    """Keep other processes from writing the file while it is open here."""
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        hint = "Wait for it, or take another name for the output."
        raise InputError("another process writes it", where=path, hint=hint, code="locked") from None
