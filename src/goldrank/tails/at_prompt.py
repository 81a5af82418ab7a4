"""`goldrank eval --tail`: the bad end of each measure; `-m 'P[nDCG@10 >= 0.5]'` names the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldrank.data.queries import Queries
from goldrank.data.scores import Scores
from goldrank.tails.tail import ScoreTail, score_tail

if TYPE_CHECKING:
    from goldrank.cli.readers import Target


def shown_tails(scores: Sequence[Scores], targets: Sequence[Target], queries: Queries | None) -> list[ScoreTail]:
    """The tails of each run; targets are for their measures only."""
    by_measure: dict[str, float] = {}
    for system in scores:
        by_measure |= {system.spelled(target.measure): target.value for target in targets}
    return [score_tail(system, target=by_measure or None, queries=queries) for system in scores]
