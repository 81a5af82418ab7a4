"""What a command writes is never for more people than the files that it was made from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_OF_OTHERS = 0o077
"""The permissions of the group and of everybody."""


@contextmanager
def narrowed(words: Iterable[str]) -> Iterator[None]:
    """Within it, new files have no permission that one of the files in a command line has not.

    The umask is the process's: all that is written goes through it, also by libraries. Files that exist keep theirs.
    """
    missing = 0
    for word in words:
        missing |= _OF_OTHERS & ~_permissions(word)
    before = os.umask(_OF_OTHERS)
    os.umask(before | missing)
    try:
        yield
    finally:
        os.umask(before)


def _permissions(word: str) -> int:
    """The permissions of a FILE or NAME=FILE of data; all of them if it is none. Programs are no data."""
    for path in (word, word.partition("=")[2]):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IXUSR:
            return stat.S_IMODE(status.st_mode)
    return _OF_OTHERS
