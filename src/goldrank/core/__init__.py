"""The core: the inner loops of goldrank, in two makes. `contract.Core` describes them.

The compiled make is used if it was built. It is not used with GOLDRANK_PURE=1, nor if its contract number shows that it
was built from other sources. Both makes give equal values.

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
    """The compiled make; None if it was not built from these sources, or is switched off."""
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
    """The make in use. Only this function decides."""
    compiled = _compiled()
    if compiled is None:
        return cast(Core, importlib.import_module("goldrank.core.portable"))
    return cast(Core, compiled)


core: Core = _chosen()
