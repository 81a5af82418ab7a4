"""What people see of `Scores`. It is loaded when somebody prints them."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.base import ids
from goldrank.data.scores import Scores, format_value
from goldrank.data.table import (
    Cell,
    Head,
    Part,
    Sentence,
    Table,
    count,
    notes_by_run,
)


def score_parts(scores: Sequence[Scores]) -> list[Part]:
    """What people see of scores: a table, measures down and runs across, and the notes below."""
    names = list(dict.fromkeys(name for run in scores for name in run.columns))
    rows = [[Cell(name), *(_cell(run, name) for run in scores)] for name in names]
    heads = [*Head.texts("measure"), *Head.numbers(*(ids.show(run.run) for run in scores))]
    counted = dict.fromkeys(_headline(run) for run in scores)
    notes = notes_by_run({run.run: run.notes for run in scores})
    return [Table(heads, rows), *(Sentence(text, "remark") for text in counted), *notes]


def _cell(scores: Scores, name: str) -> Cell:
    column = scores.columns.get(name)
    if column:
        return Cell(format_value(column.summary, column.average), column.summary)
    return Cell("")


def _headline(scores: Scores) -> str:
    return count(len(scores.queries), "query") + (f", {scores.convention}" if scores.convention else "")
