"""The memory of this machine: whether what must be held whole fits into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goldrank.base.errors import MemoryLimitError

ASKED_FROM = 64 << 20
"""Bytes below which the machine is not asked: so much there is."""
HINT = "Use a machine (or a container) with more memory, or split the queries into shards: docs/scale.md."

_ROOT = Path("/")
"""Where the files of the system are; tests have their own."""


def fits(needed: int, what: str, where: str, hint: str = HINT) -> None:
    """Raise if so many bytes more are not there. Asked before something is held whole.

    Parameters
    ----------
    needed : int
        How many bytes it takes, about.
    what : str
        What takes them, as the begin of a sentence: "holding a table".
    where : str
        The file, or whatever else it is about.
    hint : str, optional
        What to do.

    Raises
    ------
    MemoryLimitError
        If less memory is available.

    Examples
    --------
    >>> fits(1_000_000, "holding a table", "run.csv")
    """
    if needed < ASKED_FROM:
        return
    there = available()
    if there is None or needed <= there:
        return
    raise MemoryLimitError(
        f"{what} takes about {in_words(needed)}, and {in_words(there)} of memory are available",
        where=where,
        hint=hint,
        code="over-memory-limit",
    )


def available() -> int | None:
    """Bytes of memory that can be had now: of the machine, and of the control group that this process is in.

    None where the system does not say.
    """
    limits = [_of_machine(), *_of_control_groups()]
    known = [limit for limit in limits if limit is not None]
    if known:
        return max(0, min(known))
    return None


def _of_machine() -> int | None:
    """Memory that is free or can be freed, and free swap; else all that is built in."""
    amounts = _numbers(_ROOT / "proc/meminfo")
    if "MemAvailable:" in amounts:
        return 1024 * (amounts["MemAvailable:"] + amounts.get("SwapFree:", 0))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def _of_control_groups() -> list[int]:
    """What is left to each control group (of version 1 or 2) that holds this process."""
    left = []
    for line in _lines(_ROOT / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = _ROOT / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _ROOT / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue

        # A limit of any group above holds too. Within a container, the root is the group itself.
        inner = root / path.strip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                left += _left_in(folder, *names)
    return left


def _left_in(folder: Path, limit_name: str, usage_name: str, reclaimable_name: str) -> list[int]:
    """What is left to one control group; nothing if it has no limit."""
    limit, usage = _lines(folder / limit_name), _lines(folder / usage_name)
    if not limit or not usage or not limit[0].isdigit() or not usage[0].isdigit():
        return []
    reclaimable = _numbers(folder / "memory.stat").get(reclaimable_name, 0)
    return [int(limit[0]) - int(usage[0]) + reclaimable]


def _lines(path: Path) -> list[str]:
    """The lines of a file of the system; none if there is no such file."""
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
    """Say what was being read when memory ran out."""
    try:
        yield
    except MemoryLimitError:  # somebody said more already
        raise
    except MemoryError:
        what, hint = "memory ran out while it was read", f"Is it what it should be? {HINT}"
        raise MemoryLimitError(what, where=where, hint=hint, code="memory-ran-out") from None


def in_words(size: int) -> str:
    """Bytes for people.

    >>> in_words(1_500_000_000), in_words(20_000_000)
    ('1.5 GB', '20 MB')
    """
    if size < 10**9:
        return f"{max(1, round(size / 10**6)):,} MB"
    return f"{size / 10**9:,.1f} GB"
