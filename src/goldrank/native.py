"""The compiled inner loops, where they were built: `core` is the module, or None.

Everything works without it, with the same values. GOLDRANK_PURE=1 leaves it out; so does a module that was built from
other sources than these, which its contract number tells.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

CONTRACT = 10
SEED = int.from_bytes(os.urandom(8), "little")
"""Where the hashes of ids begin, another number in each process: nobody can choose ids that have one hash. No value,
and no order of anything that is shown, depends on it."""


def _load() -> ModuleType | None:
    if os.environ.get("GOLDRANK_PURE", "") not in ("", "0") or sys.byteorder != "little":
        return None
    try:
        module = importlib.import_module("goldrank._native")
    except ImportError:
        return None
    if module.CONTRACT != CONTRACT:
        return None

    module.seed(SEED)
    return module


core = _load()


def in_use() -> str:
    """Which implementation of the inner loops is in use, in words."""
    return "compiled core" if core is not None else "without the compiled core"
