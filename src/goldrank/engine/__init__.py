"""Qrels x Run -> Placements. An engine ranks and joins; it contains no measure."""

from __future__ import annotations

from goldrank.conventions import Convention
from goldrank.data.blocks import USUAL, BlockSource, Plan
from goldrank.data.placements import Placements
from goldrank.data.qrels import Qrels
from goldrank.data.run import Run
from goldrank.engine import memory as dicts
from goldrank.engine.counts import RunCounts
from goldrank.engine.heads import heads


def place(qrels: Qrels, run: Run, convention: Convention, plan: Plan = USUAL) -> tuple[Placements, RunCounts]:
    """Where the run put each judged document, and what was seen on the way."""
    if run.remote is not None:
        from goldrank.engine import spark

        return spark.place(qrels, run.remote, convention)
    if run.blocks is not None:
        from goldrank.engine import streaming as blocks

        return blocks.place(qrels, run.blocks, convention, plan)
    return dicts.place(qrels, run, convention)


def place_by_tag(
    qrels: Qrels, source: BlockSource, convention: Convention, plan: Plan = USUAL
) -> dict[bytes, tuple[Placements, RunCounts]]:
    """The same for each of the runs in one input, by tag."""
    from goldrank.engine import streaming as blocks

    return blocks.place_by_tag(qrels, source, convention, plan)


def processors() -> int:
    """How many threads can run at once."""
    from goldrank.engine import streaming as blocks

    return blocks.processors()


__all__ = ["RunCounts", "heads", "place", "place_by_tag", "processors"]
