"""The memory that this process has, and what it may take."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from goldrank.errors import MemoryLimitError

LIBRARIES = 32 << 20
"""What comes to the process while the work is done, whatever its size: 2 MB with TREC text, 21 to 27 MB with Parquet
and CSV."""
HINT = "Give more memory, or split the queries into shards: docs/scale.md."

GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much memory a container has."""

_limit: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def limited(limit: int | None) -> Iterator[None]:
    """Within it, the process may take so many bytes, instead of all that the machine has."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def reserve(needed: int, what: str, where: str) -> None:
    """Raises if so many bytes more do not fit into what the process may take."""
    limit = most()
    if limit is not None:
        check(limit, resident() + needed, what, where)


def most() -> int | None:
    """How many bytes the process may take: what was said, else what the machine has; None if nobody knows."""
    limit = _limit.get()
    return of_machine() if limit is None else limit


def is_set() -> bool:
    """Whether somebody said how much the process may take."""
    return _limit.get() is not None


@cache
def of_machine() -> int | None:
    """The memory of this machine, or of the container that the process runs in; None if it does not say."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no such names
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in GROUP_LIMITS:
        try:
            sizes.append(int(Path(path).read_text()))
        except (OSError, ValueError):  # there is no group, or it has no limit: "max"
            continue
    return min((size for size in sizes if size > 0), default=None)


def check(limit: int, needed: int, what: str, where: str, hint: str = HINT) -> None:
    """Refuse what surely does not fit."""
    if needed > limit:
        raise MemoryLimitError(
            f"{what} takes about {in_words(needed)}, more than the {in_words(limit)} that there are",
            where=where,
            hint=hint,
            code="over-memory-limit",
        )


@contextmanager
def named(where: str) -> Iterator[None]:
    """Say what was being read when memory ran out."""
    try:
        yield
    except MemoryError:
        hint = f"Is it what it should be? {HINT}"
        what = "memory ran out while it was read"
        raise MemoryLimitError(what, where=where, hint=hint, code="memory-ran-out") from None


def in_words(size: int) -> str:
    """Bytes for people: '1.5 GB'."""
    if size < 10**9:
        return f"{max(1, round(size / 10**6)):,} MB"
    return f"{size / 10**9:,.1f} GB"


def resident() -> int:
    """Bytes of memory that this process has now, as far as the system says."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return LIBRARIES
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
