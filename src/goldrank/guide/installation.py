"""What is installed: which core, which packages, and what is missing for what."""

from __future__ import annotations

import importlib
import platform
from dataclasses import dataclass
from importlib import metadata

from goldrank import __version__
from goldrank.base.packages import PARTS, install_hint, installed
from goldrank.core import why_plain
from goldrank.data.table import Head, Part, Sentence, Table

PURPOSES = {
    "tables": "CSV, TSV, Parquet, Arrow and data frames",
    "statistics": "intervals, compare, fuse, plan, judge agree, tested drops of a gate",
    "texts": "lexical matching of texts",
    "pages": "HTML pages",
    "terminal": "colours and bars on the terminal",
    "zstd": "files packed with zstd",
    "judge": "judges behind an endpoint, search engines over HTTP",
    "serve": "goldrank serve",
    "spark": "tables in Spark",
}
"""What each part is for; docs/install.md says what it weighs."""

IN_PYTHON = {"backports.zstd": "compression.zstd"}
"""Modules of newer Pythons that do what a package does."""


@dataclass(frozen=True)
class PackageState:
    """A package that goldrank can use."""

    name: str
    version: str
    """'' if it is not installed."""
    purpose: str
    error: str = ""
    """Why an installed package cannot be imported."""

    @property
    def is_usable(self) -> bool:
        """Whether it is installed, and can be imported."""
        return bool(self.version) and not self.error

    @property
    def state(self) -> str:
        """Its version, or what is wrong."""
        if self.error:
            return f"{self.version}, cannot be imported: {self.error}"
        return self.version or "not installed"


def packages() -> list[PackageState]:
    """The state of every package that goldrank can use."""
    states = []
    for name, part in PARTS.items():
        module = name
        if installed_in_python(name):
            module = IN_PYTHON[name]
        states.append(PackageState(name, _version(name, module), PURPOSES[part], _import_error(module)))
    return states


def installed_in_python(package: str) -> bool:
    """Whether this Python has what a package does."""
    return package in IN_PYTHON and _is_there(IN_PYTHON[package])


def _is_there(module: str) -> bool:
    try:
        return installed(module)
    except ModuleNotFoundError:  # the package that it would be in is missing
        return False


def _version(package: str, module: str) -> str:
    if not _is_there(module):
        return ""
    if installed_in_python(package):
        return f"in Python {platform.python_version()}"
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "version unknown"


def _import_error(module: str) -> str:
    if not _is_there(module):
        return ""
    try:
        importlib.import_module(module)
    except Exception as error:  # a broken package may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def core_words() -> str:
    """Which core is in use, and why not the compiled one."""
    if not why_plain:
        return "compiled"
    return f"plain, because {why_plain}. Large files take about seven times as long"


def parts() -> list[Part]:
    """What `goldrank doctor` shows."""
    states = packages()
    rows = [[state.name, state.state, state.purpose] for state in states]
    shown: list[Part] = [
        Sentence(f"goldrank {__version__}, Python {platform.python_version()} on {platform.system()}"),
        Sentence(f"core: {core_words()}"),
        Table(Head.texts("package", "version", "for"), rows),
    ]

    missing = [state for state in states if not state.is_usable]
    if not missing:
        return [*shown, Sentence("Everything is installed.")]
    by_part: dict[str, str] = {}
    for state in missing:
        by_part.setdefault(PARTS[state.name], f"{state.purpose}: {install_hint(state.name)}")
    return [*shown, Sentence("Missing, for"), *(Sentence(f"  {words}") for words in by_part.values())]
