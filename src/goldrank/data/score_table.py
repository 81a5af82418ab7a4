"""The table that shows `Scores`. It is loaded when scores are printed."""

from __future__ import annotations

from collections.abc import Sequence

from goldrank.base import ids
from goldrank.data.query_costs import UNITS, cost_summaries, said_of_queries, short
from goldrank.data.scores import Scores, format_value
from goldrank.data.table import (
    Cell,
    Cells,
    Head,
    Part,
    Sentence,
    Table,
    count,
    notes_by_run,
)


def score_parts(scores: Sequence[Scores]) -> list[Part]:
    """A table with a row for each measure and a column for each run, and the notes below."""
    rows = []
    for name in dict.fromkeys(name for run in scores for name in run.columns):
        rows.append([Cell(name), *(_cell(run, name) for run in scores)])

    heads = [*Head.texts("measure"), *Head.numbers(*(ids.show(run.run) for run in scores))]
    headlines = dict.fromkeys(_headline(run) for run in scores)
    notes = notes_by_run({run.run: run.notes for run in scores})
    return [Table(heads, rows), *cost_parts(scores), *(Sentence(text, "remark") for text in headlines), *notes]


def cost_parts(scores: Sequence[Scores]) -> list[Part]:
    """What queries cost, where that is known: nothing, or one table."""
    rows: list[Cells] = []
    for run in scores:
        for cost in cost_summaries(said_of_queries(run)):
            numbers = [Cell(short(value), value) for value in (cost.p50, cost.p95, cost.mean, cost.total)]
            rows.append([run.run, UNITS[cost.kind], *numbers, Cell(f"{cost.n:,}", cost.n)])
    if not rows:
        return []
    heads = [*Head.names("run"), *Head.texts("costs"), *Head.numbers("p50", "p95", "mean", "total", "queries")]
    return [Table(heads, rows, "Costs")]


def _cell(scores: Scores, name: str) -> Cell:
    column = scores.columns.get(name)
    if column:
        return Cell(format_value(column.summary, column.average), column.summary)
    return Cell("")


def _headline(scores: Scores) -> str:
    queries = count(len(scores.queries), "query")
    if scores.convention:
        return f"{queries}, {scores.convention}"
    return queries
