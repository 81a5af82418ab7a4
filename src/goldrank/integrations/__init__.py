"""Ready wrappers for other packages, one file each, imported when used. docs/arrays.md shows them.

goldrank does not install these packages; the error for a missing one has the line that installs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from goldrank.base.packages import MissingPackageError, needed

__all__ = ["MissingPackageError", "need"]


def need(module: str, package: str | None = None) -> Any:  # a module of another project
    """Import a module; if it is missing, raise the error with the line that installs its package."""
    with needed(module.partition(".")[0], install=package):
        return import_module(module)
