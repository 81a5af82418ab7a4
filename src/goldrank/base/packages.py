"""Packages that may be missing, and the line that installs each. docs/install.md says what works without them."""

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
"""The part (extra) of goldrank that brings a package. Any other package is installed by its own name."""
PLAIN = ("polars", "scipy", "rapidfuzz", "jinja2", "rich", "backports.zstd")
"""What a plain install brings. Who misses one has a light install, and may want to keep it light."""


class MissingPackageError(GoldrankError, ImportError):
    """A package that this needs is not installed."""


class needed:  # noqa: N801 - it is used as a function is
    """Where a package is imported, and may be missing: then the error is one that says how to install it.

    `install` is what pip calls it, if that is another name; `instead` what people can do without it. It may stand in a
    loop, so it is no generator and looks nothing up unless something is missing.

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
        # What the package itself needs may be missing too; the same line brings it. Our own modules are never missing.
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("goldrank"):
            hint = install_hint(self.package, self.install)
            hint += f", or {self.instead}." if self.instead else ""
            raise MissingPackageError(f"{error.name or self.package} is not installed", hint=hint) from None


def installed(package: str) -> bool:
    """Whether a package is there that things only look better with."""
    from importlib.util import find_spec

    return find_spec(package) is not None


def install_hint(package: str, install: str | None = None) -> str:
    """The command that installs a package, with the rest of the part of goldrank that it belongs to."""
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
    """A module of a package that may be missing; it is imported when something of it is first asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # who looks at objects asks for such names, and shall not load anything
            raise AttributeError(name)
        with needed(self._module.partition(".")[0]):
            value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


special, stats = Lazy("scipy.special"), Lazy("scipy.stats")
