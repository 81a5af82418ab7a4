"""Files as Windows has them: what is open anywhere in this process cannot be replaced, renamed or removed.

`pytest -p windows_files` runs any tests so. `strict` is the same as a context.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def held_open(path: Any) -> bool:
    """Whether a descriptor or a mapping of this process is of that file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError, TypeError):
        return False
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            other = os.stat(f"/proc/self/fd/{name}")
            if (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino):
                return True
    name = os.path.realpath(path)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        return any(line.rstrip("\n").endswith(name) for line in maps)


def _refusing(change: Callable[..., Any]) -> Callable[..., Any]:
    def changed(*paths: Any, **how: Any) -> Any:
        for path in paths[:2]:
            if isinstance(path, str | bytes | os.PathLike) and not how.get("dir_fd") and held_open(path):
                raise PermissionError(13, "The process cannot access the file because it is being used", path)
        return change(*paths, **how)

    return changed


@contextlib.contextmanager
def strict() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "rename", "unlink", "remove"):
            patch.setattr(os, name, _refusing(getattr(os, name)))
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with strict():
        yield
