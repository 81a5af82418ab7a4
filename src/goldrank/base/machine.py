"""The memory of this machine, and whether data that must be held at once fits into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goldrank.base.errors import MemoryLimitError

CHECKED_FROM = 64 << 20
"""Fewer bytes than this are not checked: they are always available."""
HINT = "Use a machine (or a container) with more memory, or split the queries into shards: docs/scale.md."

_ROOT = Path("/")
"""The root of the system's files; tests replace it."""


def fits(needed: int, activity: str, where: str, hint: str = HINT) -> None:
    """Raise if fewer than `needed` bytes of memory are available. Call it before data is held at once.

    Parameters
    ----------
    needed : int
        About how many bytes are needed.
    activity : str
        What needs them, as the beginning of a sentence: "holding a table".
    where : str
        The file or other source that the error names.
    hint : str, optional
        What the user can do.

    Raises
    ------
    MemoryLimitError
        If less memory is available.

    Examples
    --------
    >>> fits(1_000_000, "holding a table", "run.csv")
    """
    if needed < CHECKED_FROM:
        return
    free = available()
    if free is None or needed <= free:
        return
    raise MemoryLimitError(
        f"{activity} takes about {in_words(needed)}, and {in_words(free)} of memory are available",
        where=where,
        hint=hint,
        code="over-memory-limit",
    )


def available() -> int | None:
    """Bytes of memory available now, limited by the machine and by the control groups of this process.

    None where the system does not report it.
    """
    limits = [_of_machine(), *_of_control_groups()]
    known = [limit for limit in limits if limit is not None]
    if known:
        return max(0, min(known))
    return None


def _of_machine() -> int | None:
    """Memory that is free or can be freed, and free swap; the installed memory where that is unknown."""
    amounts = _numbers(_ROOT / "proc/meminfo")
    if "MemAvailable:" in amounts:
        return 1024 * (amounts["MemAvailable:"] + amounts.get("SwapFree:", 0))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def _of_control_groups() -> list[int]:
    """Bytes left in each control group (of version 1 or 2) of this process."""
    left = []
    for line in _lines(_ROOT / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root = _ROOT / "sys/fs/cgroup"
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _ROOT / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue

        # The limits of all groups above apply too. Within a container, the root is the group itself.
        inner = root / path.strip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                left += _left_in(folder, *names)
    return left


def _left_in(folder: Path, limit_name: str, usage_name: str, reclaimable_name: str) -> list[int]:
    """Bytes left in one control group, as a list of one; an empty list if it has no limit."""
    limit = _lines(folder / limit_name)
    usage = _lines(folder / usage_name)
    if not limit or not usage or not limit[0].isdigit() or not usage[0].isdigit():
        return []
    reclaimable = _numbers(folder / "memory.stat").get(reclaimable_name, 0)
    return [int(limit[0]) - int(usage[0]) + reclaimable]


def _lines(path: Path) -> list[str]:
    """The lines of a file of the system; an empty list if there is no such file."""
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _numbers(path: Path) -> dict[str, int]:
    """The numbers of a file of the system, by the word before each."""
    words = [line.split() for line in _lines(path)]
    return {row[0]: int(row[1]) for row in words if len(row) > 1 and row[1].isdigit()}


@contextmanager
def memory_errors_name(where: str) -> Iterator[None]:
    """Turn a `MemoryError` into an error that names what was being read."""
    try:
        yield
    except MemoryLimitError:  # it has a more precise message
        raise
    except MemoryError:
        problem = "memory ran out while it was read"
        hint = f"Is it what it should be? {HINT}"
        raise MemoryLimitError(problem, where=where, hint=hint, code="memory-ran-out") from None


def in_words(size: int) -> str:
    """A number of bytes in words.

    >>> in_words(1_500_000_000), in_words(20_000_000)
    ('1.5 GB', '20 MB')
    """
    if size < 10**9:
        return f"{max(1, round(size / 10**6)):,} MB"
    return f"{size / 10**9:,.1f} GB"
