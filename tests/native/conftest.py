"""What tests of the compiled core share."""

from __future__ import annotations

import pytest

from goldrank import native
from goldrank.data import blocks, id_column, judgement_columns, placements, qrels, run
from goldrank.engine import lists, memory, ranking
from goldrank.fusion import lists as fusion_lists
from goldrank.io import scan
from goldrank.measures import apply, cutoff

MODULES = (
    *(memory, lists, ranking, scan, id_column, judgement_columns, qrels, run),
    *(placements, apply, cutoff, blocks, fusion_lists),
)
"""Those that call the core."""


@pytest.fixture
def both(monkeypatch):
    """Call something with the core and without it."""

    def twice(work):
        outcomes = []
        for core in (native.core, None):
            with monkeypatch.context() as patch:
                for module in MODULES:
                    patch.setattr(module, "core", core)
                outcomes.append(work())
        return outcomes

    return twice
