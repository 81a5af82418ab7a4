"""Satellites: the folders beside the core, each with tables of the names and commands that it adds.

The `__init__` of a satellite imports nothing and may have two tables:

    PUBLIC = {"fuse": "goldrank.fusion.combine"}
    COMMANDS = {"fuse": ("compare", "goldrank.fusion.fuse_command", "Combine runs, and say whether that helps.")}

A third table, `PROVIDES`, has functions that a command of the core calls if the satellite exists:

    PROVIDES = {"record scores": "goldrank.history.comparing:scores_of_records"}

A fourth, `READERS`, has result files that a satellite reads and scores by itself: by name the module with `read`, what
it reads, and the keys of JSON that tell such a file. A name is also a word of `--convention`.

    READERS = {"locomo": ("goldrank.memory.files", "result files of LoCoMo", ("qa", "evidence"))}

A fifth, `COLUMNS`, has the names of what readers count, as regular expressions, and whether high values are good.

    COLUMNS = {"WastedShare": False}

The core knows no satellite by name. Other installed packages join by the entry point `goldrank.satellites`, which
names a module with such tables.
"""

from __future__ import annotations

import pkgutil
import re
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
    """The module of a command, and its entry in the help page."""

    group: str
    """Its heading in the help page."""
    module: str
    """The module that defines it as `command`."""
    help: str


class ReaderEntry(NamedTuple):
    """A satellite that reads and scores files of other programs."""

    module: str
    """The module with `read(files, request)`, which returns results with `scores`."""
    about: str
    keys: tuple[str, ...]
    """Keys of JSON that the first record of such a file has; a|b is either. None: only its name tells it."""


def folders() -> list[str]:
    """The names of goldrank's own satellites, sorted."""
    package = [str(Path(__file__).parent.parent)]
    modules = pkgutil.iter_modules(package)
    return sorted(module.name for module in modules if module.ispkg and module.name not in CORE)


def satellites() -> Iterator[ModuleType]:
    """The modules of all satellites: goldrank's own, then those of other packages."""
    for name in folders():
        yield import_module(f"goldrank.{name}")

    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINT):
        yield import_module(entry.value)


def public_names() -> dict[str, str]:
    """The public names of all satellites, with their modules."""
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


def provides(name: str) -> bool:
    """Whether a satellite provides a function under a name."""
    return any(name in getattr(satellite, "PROVIDES", {}) for satellite in satellites())


def readers() -> dict[str, ReaderEntry]:
    """What satellites read and score by themselves, by name."""
    entries: dict[str, ReaderEntry] = {}
    for satellite in satellites():
        table = getattr(satellite, "READERS", {})
        entries |= {name: ReaderEntry(*entry) for name, entry in table.items()}
    return entries


def is_high_good(column: str) -> bool | None:
    """Whether high values of a column are good that a reader of a satellite counts; None if no reader counts it.

    Options and cut-offs, such as @10 and (tokens=1000), may follow the name.
    """
    for satellite in satellites():
        for pattern, is_good in getattr(satellite, "COLUMNS", {}).items():
            if re.fullmatch(rf"(?:{pattern})(?:\([^()]*\))?(?:@\d+)?", column):
                return bool(is_good)
    return None


def provided(name: str) -> Any:
    """The function that a satellite provides under a name."""
    for satellite in satellites():
        path = getattr(satellite, "PROVIDES", {}).get(name)
        if path is not None:
            module, _, function = path.partition(":")
            return getattr(import_module(module), function)
    raise GoldrankError(f"no satellite provides {name}", hint="Was a part of goldrank deleted?", code="no-satellite")
