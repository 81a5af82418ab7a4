"""Writing files completely or not at all: after a full disk or a signal the old file is still there."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from pathlib import Path
from typing import BinaryIO

from goldrank.base.errors import GoldrankError, file_name


def write_whole(path: str | os.PathLike[str], content: bytes, *, make_folder: bool = False) -> None:
    """Replace a file by one with this content, or raise an error with the reason and change nothing.

    A pipe or a device is written to directly. `make_folder` creates the folder too.
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
    """The folder of files that goldrank can make again: GOLDRANK_CACHE, or a folder in the user's cache."""
    folder = os.environ.get("GOLDRANK_CACHE")
    if folder:
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "goldrank")


def new_folder(path: str | os.PathLike[str]) -> Path:
    """A folder, created if it does not exist."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GoldrankError(f"cannot be made: {reason}", where=os.fsdecode(path)) from None
    return Path(path)


_HINTS: dict[type, str] = {FileNotFoundError: "Is its folder there?"}


def _write(name: str, content: bytes) -> None:
    target = os.path.realpath(name)  # a link stays a link
    mode: int | None = None
    try:
        status = os.stat(target)
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(status.st_mode):
            _write_to(target, content)
            return
        mode = stat.S_IMODE(status.st_mode)

    folder, last = os.path.split(target)
    # Short enough in any alphabet, and different for each thread that writes this file.
    temporary = os.path.join(folder, f".{last[:40]}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        with _new_file(temporary, mode) as file:
            _fill(file, content)
        os.replace(temporary, target)
    except PermissionError:
        # The folder allows no new file, or (Windows) another program has the file open.
        _remove(temporary)
        _write_to(target, content)
    except BaseException:
        _remove(temporary)
        raise


def private_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A new file that only its owner may read, from the first byte on."""
    return _new_file(path, 0o600)


def _new_file(path: str | os.PathLike[str], mode: int | None) -> BinaryIO:
    """Open a new file for writing, with these permissions from the start; None: the usual permissions."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    if mode is None:
        return os.fdopen(os.open(path, flags, 0o666), "wb")  # the umask removes some permissions

    file = os.fdopen(os.open(path, flags, 0o600), "wb")
    os.chmod(path, mode)
    return file


_BINARY = getattr(os, "O_BINARY", 0)
"""A flag that only Windows has."""


def _write_to(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        _fill(file, content)


def _fill(file: BinaryIO, content: bytes) -> None:
    file.write(content)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
