"""Ready wrappers for other packages, one file each, imported when used. docs/arrays.md shows them.

None of the packages comes with goldrank; one that is missing is answered with the line that installs it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from goldrank.errors import GoldrankError


class MissingPackageError(GoldrankError, ImportError):
    """A package that a wrapper is for is not installed."""


def need(module: str, package: str | None = None) -> Any:  # a module of somebody else's
    """The module, or the error that says how to install its package."""
    if find_spec(module.partition(".")[0]) is None:
        raise MissingPackageError(f"{package or module} is not installed", hint=f"pip install {package or module}")
    return import_module(module)
