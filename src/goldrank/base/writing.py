"""Files are written whole or not at all: a full disk or a signal leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from pathlib import Path
from typing import BinaryIO

from goldrank.base.errors import GoldrankError, file_name


def write_whole(path: str | os.PathLike[str], content: bytes, *, make_folder: bool = False) -> None:
    """Replace a file by one with this content, or raise an error that says why not and leave everything as it was.

    What is no file (a pipe, a device) is written to. `make_folder` makes the folder too.
    """
    name = file_name(path)
    try:
        if make_folder:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        _write(name, content)
    except (OSError, ValueError) as error:  # a ValueError for a name with NUL in it
        reason = getattr(error, "strerror", None) or error
        hint = _HINTS.get(type(error))
        raise GoldrankError(f"cannot be written: {reason}", where=name, hint=hint, code="cannot-write") from None


def cache_folder() -> Path:
    """Where goldrank keeps what it can make again: GOLDRANK_CACHE, or in the user's folder for such things."""
    given = os.environ.get("GOLDRANK_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(given or os.path.join(base, "goldrank"))


def new_folder(path: str | os.PathLike[str]) -> Path:
    """A folder, made if it is not there."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GoldrankError(f"cannot be made: {reason}", where=os.fsdecode(path)) from None
    return Path(path)


_HINTS: dict[type, str] = {FileNotFoundError: "Is its folder there?"}


def _write(name: str, content: bytes) -> None:
    target = os.path.realpath(name)  # a link stays one
    try:
        there = os.stat(target)
    except FileNotFoundError:
        there = None

    if there is not None and not stat.S_ISREG(there.st_mode):
        _write_to(target, content)
        return

    folder, last = os.path.split(target)
    # Short enough in any alphabet, and another one for each thread that writes the same file.
    temporary = os.path.join(folder, f".{last[:40]}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        with _new_file(temporary, None if there is None else stat.S_IMODE(there.st_mode)) as file:
            _fill(file, content)
        os.replace(temporary, target)
    except PermissionError:
        # A folder that takes no new file, or (Windows) a file that is open elsewhere.
        _remove(temporary)
        _write_to(target, content)
    except BaseException:
        _remove(temporary)
        raise


def private_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A new file that only its owner may read, from the first byte on."""
    return _new_file(path, 0o600)


def _new_file(path: str | os.PathLike[str], mode: int | None) -> BinaryIO:
    """A new file, open for writing, with these permissions before anything stands in it; None: the usual ones."""
    usual = 0o666  # less what the umask takes away
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, usual if mode is None else 0o600)
    file = os.fdopen(descriptor, "wb")
    if mode is not None:
        os.chmod(path, mode)
    return file


_BINARY = getattr(os, "O_BINARY", 0)
"""Of Windows."""


def _write_to(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        _fill(file, content)


def _fill(file: BinaryIO, content: bytes) -> None:
    file.write(content)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
