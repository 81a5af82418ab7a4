"""Qrels x Run -> Placements. An engine ranks and joins; it contains no measure."""

from __future__ import annotations

from goldrank.conventions import Convention
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine import dicts
from goldrank.engine.counts import RunCounts
from goldrank.engine.heads import heads


def place(qrels: Qrels, run: Run, convention: Convention) -> tuple[Placements, RunCounts]:
    """Where the run put each judged document, and what was seen on the way."""
    if run.remote is not None:
        from goldrank.engine import spark

        return spark.place(qrels, run.remote, convention)
    if run.blocks is not None:
        from goldrank.engine import blocks

        return blocks.place(qrels, run.blocks, convention)
    return dicts.place(qrels, run, convention)


__all__ = ["RunCounts", "heads", "place"]
