"""Ready wrappers for other packages, one file each, imported when used. docs/arrays.md shows them.

None of the packages comes with goldrank; one that is missing is answered with the line that installs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from goldrank.base.packages import MissingPackageError, needed

__all__ = ["MissingPackageError", "need"]


def need(module: str, package: str | None = None) -> Any:  # a module of somebody else's
    """The module, or the error that says how to install its package."""
    with needed(module.partition(".")[0], install=package):
        return import_module(module)
