"""What tests of the core share: both makes, and work done with the one and the other."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import pytest

import goldrank.core
from goldrank.core import portable
from goldrank.core.hashing import SEED

# Callers that the tests do not import themselves; each has the core in a name of its own.
for _name in ("engine.streaming", "fusion.lists", "measures.apply", "measures.cutoff", "io.text.trec"):
    importlib.import_module(f"goldrank.{_name}")


def compiled_make() -> Any:
    """The compiled make, also where GOLDRANK_PURE leaves it out; None where it is not built."""
    try:
        module = importlib.import_module("goldrank._native")
    except ImportError:
        return None
    if module.CONTRACT != goldrank.core.CONTRACT:
        return None
    module._seed(SEED)  # as the core does where it chooses this one: hashes of both begin alike
    return module


COMPILED = compiled_make()
MAKES = {"portable": portable} if COMPILED is None else {"portable": portable, "compiled": COMPILED}
needs_core = pytest.mark.skipif(COMPILED is None, reason="the compiled core is not built")
every_make = pytest.mark.parametrize("make", MAKES.values(), ids=list(MAKES))


def callers() -> list[ModuleType]:
    """The modules that hold the core, as far as they are imported."""
    named = [module for name, module in sys.modules.items() if name.startswith("goldrank.")]
    return [module for module in named if vars(module).get("core") is goldrank.core.core]


@pytest.fixture
def both(monkeypatch):
    """Call something with the compiled make (where it is built) and with the portable one."""

    def twice(work):
        outcomes = []
        for make in (COMPILED or portable, portable):
            with monkeypatch.context() as patch:
                for module in callers():
                    patch.setattr(module, "core", make)
                outcomes.append(work())
        return outcomes

    return twice
