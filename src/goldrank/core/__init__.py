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

__all__ = ["CONTRACT", "TIES_ASCENDING", "TIES_BY_INPUT", "TIES_DESCENDING", "Core", "core", "why_plain"]


def _compiled() -> tuple[ModuleType | None, str]:
    """The compiled make; or None and why: it was not built from these sources, or is switched off."""
    if os.environ.get("GOLDRANK_PURE", "") not in ("", "0"):
        return None, "GOLDRANK_PURE is set"
    if sys.byteorder != "little":
        return None, "this machine is big-endian"

    try:
        module = importlib.import_module("goldrank._native")
    except ImportError:
        return None, "the compiled one was not built: install a wheel, or a C compiler and then goldrank again"
    if module.CONTRACT != CONTRACT:
        return None, "the compiled one was built from other sources: install goldrank again"

    module._seed(SEED)
    return module, ""


def _chosen() -> tuple[Core, str]:
    """The make in use, and why it is not the compiled one. Only this function decides."""
    compiled, reason = _compiled()
    if compiled is None:
        return cast(Core, importlib.import_module("goldrank.core.portable")), reason
    return cast(Core, compiled), ""


core, why_plain = _chosen()
"""The make in use; and '' or the reason why it is the plain one."""
