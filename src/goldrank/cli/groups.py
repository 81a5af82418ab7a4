"""Judgements and records whose expected ids are in groups, for commands that score runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from goldrank.cli.inputs import open_runs
from goldrank.data.scores import ScoresByRun

if TYPE_CHECKING:
    from goldrank.cli.options import ReadingOptions


def scores_by_groups(inputs: Sequence[str], measures: Sequence[str], reading: ReadingOptions) -> ScoresByRun | None:
    """The scores of runs, or of records, whose expected ids are in groups; None if there are no groups."""
    from goldrank.io.grouped_ids import are_grouped_records, groups_of

    first, *runs = inputs
    if runs:
        if groups_of(first) is None:
            return None
        from goldrank.evaluation.rankings import evaluate

        return evaluate(first, open_runs(runs, reading), list(measures) or None, convention=reading.convention)

    if not are_grouped_records(first):
        return None
    from goldrank.evaluation.grouped import USUAL, refuse_rules
    from goldrank.evaluation.texts import evaluate_texts

    refuse_rules(reading.convention)
    name = PurePath(first).stem
    return ScoresByRun([(name, evaluate_texts(first, list(measures or USUAL)).renamed(name))])
