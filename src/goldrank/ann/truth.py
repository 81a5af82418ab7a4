"""`goldrank eval EXACT RUN... --truth exact`: runs of approximate search against exact search."""

from __future__ import annotations

import re
from collections.abc import Sequence

from goldrank.ann.recall import AnnRecall, ann_recall
from goldrank.base.errors import OptionError
from goldrank.data.run import Run

USUAL_K = 10
_RECALL = re.compile(r"(?:ANN-)?R(?:ecall)?@(\d+)", re.IGNORECASE)


def against_exact(exact: Run, runs: Sequence[Run], measures: Sequence[str]) -> list[AnnRecall]:
    """The recall of each run at each cut-off that -m names; 10 without -m."""
    cutoffs = [_cutoff(measure) for measure in measures] or [USUAL_K]
    return [ann_recall(exact, run, k=k) for run in runs for k in cutoffs]


def _cutoff(measure: str) -> int:
    matched = _RECALL.fullmatch(measure)
    if matched is None or int(matched[1]) < 1:
        raise OptionError(f"{measure} is not measured against exact search", hint="Only recall is: -m R@10.")
    return int(matched[1])
