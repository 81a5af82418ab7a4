"""Optional packages, and the command that installs each. docs/install.md says what works without them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from goldrank.base.errors import GoldrankError

PARTS = {
    "polars": "tables",
    "scipy": "statistics",
    "rapidfuzz": "texts",
    "jinja2": "pages",
    "rich": "terminal",
    "backports.zstd": "zstd",
    "httpx": "judge",
    "starlette": "serve",
    "uvicorn": "serve",
    "pyspark": "spark",
}
"""The extra of goldrank that installs a package. Any other package is installed by its name."""
PLAIN = ("polars", "scipy", "rapidfuzz", "jinja2", "rich", "backports.zstd")
"""Packages of a plain install. A user without one of them has a light install, and may want to keep it light."""


class MissingPackageError(GoldrankError, ImportError):
    """A package that this needs is not installed."""


class needed:  # noqa: N801 - it is used like a function
    """Wrap the import of an optional package: if it is missing, the error says how to install it.

    `install` is the name that pip uses, if it differs; `instead` is what a user can do without the package. It is used
    in loops, so it is a class and not a generator, and looks nothing up unless a package is missing.

    >>> with needed("no_such_package", install="no-such-package", instead="leave it out"):
    ...     import no_such_package
    Traceback (most recent call last):
    goldrank.base.packages.MissingPackageError: no_such_package is not installed
      pip install no-such-package, or leave it out.
    """

    def __init__(self, package: str, *, install: str | None = None, instead: str = "") -> None:
        self.package, self.install, self.instead = package, install, instead

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # A dependency of the package may be missing too; the command installs it as well. goldrank's modules are there.
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("goldrank"):
            hint = install_hint(self.package, self.install)
            if self.instead:
                hint += f", or {self.instead}."
            raise MissingPackageError(f"{error.name or self.package} is not installed", hint=hint) from None


def installed(package: str) -> bool:
    """Whether an optional package is installed."""
    from importlib.util import find_spec

    return find_spec(package) is not None


def install_hint(package: str, install: str | None = None) -> str:
    """The command that installs a package, together with the other packages of its extra."""
    if package.partition(".")[0] in sys.stdlib_module_names:
        return "This Python was built without it. Take another build of Python"
    if package not in PARTS:
        return f"pip install {install or package}"
    if package in PLAIN:
        alone = f", or, to keep a light install light, pip install {package}"
    else:
        alone = ""
    return f"pip install 'goldrank[{PARTS[package]}]'{alone}"


class Lazy:
    """A module of an optional package; it is imported when one of its names is first used."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools that inspect objects ask for such names, and must not load the package
            raise AttributeError(name)
        with needed(self._module.partition(".")[0]):
            value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


special, stats = Lazy("scipy.special"), Lazy("scipy.stats")
