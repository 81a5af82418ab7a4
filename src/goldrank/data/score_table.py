"""What people see of `Scores`. It is loaded when somebody prints them."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank import ids
from goldrank.data.scores import Scores, format_value
from goldrank.data.table import (
    Cell,
    Head,
    Part,
    Sentence,
    Table,
    count,
    note_sentences,
    notebook_html,
    plain,
    warnings_first,
)


def text(scores: Sequence[Scores]) -> str:
    """The scores of one or more runs as plain text."""
    return plain(score_parts(scores))


def fragment(scores: Sequence[Scores]) -> str:
    """The same for notebooks."""
    return notebook_html(score_parts(scores))


def score_parts(scores: Sequence[Scores]) -> list[Part]:
    """What people see of scores: a table, measures down and runs across, and the notes below."""
    names = list(dict.fromkeys(name for run in scores for name in run.columns))
    rows = [[Cell(name), *(_cell(run, name) for run in scores)] for name in names]
    heads = [*Head.texts("measure"), *Head.numbers(*(ids.show(run.run) for run in scores))]
    counted = dict.fromkeys(_headline(run) for run in scores)
    notes = [note for run in scores for note in note_sentences(run.notes, ids.show(run.run) if len(scores) > 1 else "")]
    return [Table(heads, rows), *(Sentence(text, "remark") for text in counted), *warnings_first(notes)]


def _cell(scores: Scores, name: str) -> Cell:
    column = scores.columns.get(name)
    return Cell(format_value(column.summary, column.average), column.summary) if column else Cell("")


def _headline(scores: Scores) -> str:
    return count(len(scores.queries), "query") + (f", {scores.convention}" if scores.convention else "")
