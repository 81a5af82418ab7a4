"""The core: the inner loops of goldrank, in one of two makes. `contract.Core` says what they do.

The compiled make is used where it was built. GOLDRANK_PURE=1 leaves it out; so does a module that was built from other
sources than these, which its contract number tells. Values are the same either way.

>>> from goldrank.core import core
>>> core.MAKE in ("compiled core", "without the compiled core")
True
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import cast

from goldrank.core.contract import CONTRACT, TIES_ASCENDING, TIES_BY_INPUT, TIES_DESCENDING, Core
from goldrank.core.hashing import SEED

__all__ = ["CONTRACT", "TIES_ASCENDING", "TIES_BY_INPUT", "TIES_DESCENDING", "Core", "core"]


def _compiled() -> ModuleType | None:
    """The compiled make, if it was built from these sources and is wanted."""
    if os.environ.get("GOLDRANK_PURE", "") not in ("", "0"):
        return None
    if sys.byteorder != "little":
        return None

    try:
        module = importlib.import_module("goldrank._native")
    except ImportError:
        return None
    if module.CONTRACT != CONTRACT:
        return None

    module._seed(SEED)
    return module


def _chosen() -> Core:
    """The one place that asks which make there is."""
    compiled = _compiled()
    if compiled is None:
        return cast(Core, importlib.import_module("goldrank.core.portable"))
    return cast(Core, compiled)


core: Core = _chosen()
