"""How many queries differences need, and how certain a gate is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from goldrank.base import ids
from goldrank.comparison.planning import Plan, PlannedRow
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count
from goldrank.report.numbers import counted, number

FEW = 30
"""With fewer queries in a pilot, its uncertainty is a warning."""


def parts(plan: Plan) -> list[Part]:
    """Queries by difference, differences by number of queries, and a gate's outcomes."""
    shown_parts: list[Part] = [_needed(plan)]
    if any(row.found for row in plan.planned):
        shown_parts.append(_detectable(plan))

    if plan.gate:
        shown_parts += [_gate(plan), Sentence(_OUTCOMES, "remark")]

    source = "from Bonferroni's bound, without a pilot"
    if plan.pilot is not None:
        source = f"from a pilot of {plan.pilot:,} queries"
    words = f"found with a chance of {plan.power:.0%}, alpha {plan.alpha:g} corrected for {count(plan.tests, 'test')}"
    shown_parts.append(Sentence(f"{words}, {source}", "remark"))
    if plan.times is not None and plan.pilot is not None:
        low, high = plan.times
        words = f"a pilot tells how much queries differ only roughly: in truth {low:.1f} to {high:.1f} times as many"
        style = "remark"
        if plan.pilot < FEW:
            style = "warning"
        shown_parts.append(Sentence(f"{words} may be needed", style))

    return shown_parts


def _needed(plan: Plan) -> Table:
    differences = [f"{needed.difference:g}" for needed in plan.planned[0].needed]

    def cells(row: PlannedRow) -> list[Cell]:
        cells_of_row = []
        for needed in row.needed:
            text = "-"
            if needed.queries is not None:
                text = f"{needed.queries:,}"
            cells_of_row.append(Cell(text, needed.queries))
        return cells_of_row

    return _table(plan, "queries needed, by difference", differences, cells)


def _detectable(plan: Plan) -> Table:
    sizes = _sizes(plan.planned[0])
    has_same_sizes = all(_sizes(row) == sizes for row in plan.planned)

    def cells(row: PlannedRow) -> list[Cell]:
        cells_of_row = []
        for size in row.found:
            if not has_same_sizes:
                cells_of_row.append(counted(size.queries))
            cells_of_row.append(Cell(number(size.detectable), size.detectable))
        return cells_of_row

    heads = ["queries", "difference"]
    if has_same_sizes:
        heads = [f"{size:,} queries" for size in sizes]
    return _table(plan, "smallest difference found, by queries", heads, cells)


def _sizes(row: PlannedRow) -> list[int]:
    return [size.queries for size in row.found]


def _table(plan: Plan, title: str, heads: Sequence[str], cells: Callable[[PlannedRow], list[Cell]]) -> Table:
    """A row for each measure and pair of the pilot, with its deviation."""
    rows: list[Cells] = []
    for row in plan.planned:
        row_names: list[str] = []
        if plan.pilot is not None:
            row_names = [row.measure, f"{ids.show(row.b)} - {ids.show(row.a)}"]
        rows.append([*row_names, Cell(number(row.deviation), row.deviation), *cells(row)])

    name_heads: list[Head] = []
    if plan.pilot is not None:
        name_heads = [*Head.texts("measure"), *Head.names("pair")]
    return Table([*name_heads, *Head.numbers("deviation", *heads)], rows, title)


def _gate(plan: Plan) -> Table:
    rows: list[Cells] = [
        [
            outcome.measure,
            counted(outcome.queries),
            Cell(_size(outcome.drop, plan), outcome.drop),
            *map(_chance, (outcome.fails, outcome.unclear, outcome.shown)),
        ]
        for outcome in plan.gate
    ]
    heads = [*Head.texts("measure"), *Head.numbers("queries", "true drop", "fails", "not shown", "shown to hold")]
    return Table(heads, rows, f"a gate with a tolerance of {_size(plan.tolerance or 0.0, plan)}")


def _chance(value: float) -> Cell:
    if math.isnan(value):
        return Cell("-", value)
    return Cell(f"{value:.0%}", value)


def _size(value: float, plan: Plan) -> str:
    if not plan.is_relative:
        return f"{value:.4g}"
    return f"{100 * value:.3g}%"


_OUTCOMES = (
    "fails: a drop of more than the tolerance is shown; shown to hold: one of less is; not shown: neither, and the "
    "gate passes unless it is strict. Unjudged documents are not part of it."
)
