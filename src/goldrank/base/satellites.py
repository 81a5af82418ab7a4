"""Satellites: the folders beside the core, each of which says as data which names and commands it brings.

A satellite's `__init__` may have two tables and imports nothing:

    PUBLIC = {"fuse": "goldrank.fusion.combine"}
    COMMANDS = {"fuse": ("compare", "goldrank.fusion.fuse_command", "Combine runs, and say whether that helps.")}

A third table, `PROVIDES`, has functions that a command of the core calls where the satellite is there:

    PROVIDES = {"record scores": "goldrank.history.comparing:scores_of_records"}

The core knows no satellite by name. Packages that somebody installs beside goldrank join by the entry point
`goldrank.satellites`, which names a module with the same tables.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from goldrank.base.errors import GoldrankError

CORE = (
    "base", "data", "io", "core", "engine", "conventions", "measures", "match", "evaluation", "comparison", "report",
    "cli",
)  # fmt: skip
"""The packages of the core; every other folder of goldrank is a satellite."""

ENTRY_POINT = "goldrank.satellites"


class CommandEntry(NamedTuple):
    """Where a command is, and what the help page says of it."""

    group: str
    """The heading of the help page that it stands under."""
    module: str
    """The module whose `command` it is."""
    help: str


def folders() -> list[str]:
    """The names of goldrank's own satellites, in the order of the alphabet."""
    here = [str(Path(__file__).parent.parent)]
    return sorted(found.name for found in pkgutil.iter_modules(here) if found.ispkg and found.name not in CORE)


def satellites() -> Iterator[ModuleType]:
    """The tables of every satellite: goldrank's own, then those that were installed beside it."""
    for name in folders():
        yield import_module(f"goldrank.{name}")

    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINT):
        yield import_module(entry.value)


def public_names() -> dict[str, str]:
    """The public names of all satellites, with the modules that they are in."""
    names: dict[str, str] = {}
    for satellite in satellites():
        names |= getattr(satellite, "PUBLIC", {})
    return names


def commands() -> dict[str, CommandEntry]:
    """The commands of all satellites."""
    entries: dict[str, CommandEntry] = {}
    for satellite in satellites():
        table = getattr(satellite, "COMMANDS", {})
        entries |= {name: CommandEntry(*entry) for name, entry in table.items()}
    return entries


def provided(name: str) -> Any:
    """The function that a satellite provides under a name."""
    for satellite in satellites():
        path = getattr(satellite, "PROVIDES", {}).get(name)
        if path is not None:
            module, _, function = path.partition(":")
            return getattr(import_module(module), function)
    raise GoldrankError(f"no satellite provides {name}", hint="Was a part of goldrank deleted?", code="no-satellite")
