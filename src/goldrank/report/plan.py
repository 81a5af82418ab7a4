"""How many queries differences need, and how sure a gate is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goldrank.base import ids
from goldrank.comparison.planning import Plan, PlannedRow
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, count
from goldrank.report.forms import writers
from goldrank.report.numbers import counted, number

FEW = 30
"""Queries of a pilot below which what it does not tell is a warning."""


def parts(plan: Plan) -> list[Part]:
    """Queries by difference, what so many find, and a gate's outcomes."""
    shown: list[Part] = [_needed(plan)]
    if any(row.found for row in plan.planned):
        shown.append(_found(plan))

    if plan.gate:
        shown += [_gate(plan), Sentence(_OUTCOMES, "remark")]

    if plan.pilot is None:
        source = "from Bonferroni's bound, without a pilot"
    else:
        source = f"from a pilot of {plan.pilot:,} queries"

    told = f"found with a chance of {plan.power:.0%}, alpha {plan.alpha:g} corrected for {count(plan.tests, 'test')}"
    shown.append(Sentence(f"{told}, {source}", "remark"))
    if plan.times is not None and plan.pilot is not None:
        least, most = plan.times
        told = f"a pilot tells how much queries differ only roughly: in truth {least:.1f} to {most:.1f} times as many"
        shown.append(Sentence(f"{told} may be needed", "warning" if plan.pilot < FEW else "remark"))

    return shown


def _needed(plan: Plan) -> Table:
    differences = [f"{need.difference:g}" for need in plan.planned[0].needed]

    def cells(row: PlannedRow) -> list[Cell]:
        return [Cell("-" if need.queries is None else f"{need.queries:,}", need.queries) for need in row.needed]

    return _table(plan, "queries needed, by difference", differences, cells)


def _found(plan: Plan) -> Table:
    sizes = [least.queries for least in plan.planned[0].found]
    same = all([least.queries for least in row.found] == sizes for row in plan.planned)

    def cells(row: PlannedRow) -> list[Cell]:
        both = [[counted(least.queries), Cell(number(least.detectable), least.detectable)] for least in row.found]
        return [cell for pair in both for cell in pair[same:]]

    if same:
        heads = [f"{size:,} queries" for size in sizes]
    else:
        heads = ["queries", "difference"]
    return _table(plan, "smallest difference found, by queries", heads, cells)


def _table(plan: Plan, title: str, heads: Sequence[str], cells: Callable[[PlannedRow], list[Cell]]) -> Table:
    """A row for each measure and pair of the pilot, with its deviation."""
    rows: list[Cells] = []
    for row in plan.planned:
        if plan.pilot is None:
            about = []
        else:
            about = [row.measure, f"{ids.show(row.b)} - {ids.show(row.a)}"]
        rows.append([*about, Cell(number(row.deviation), row.deviation), *cells(row)])
    if plan.pilot is None:
        named = []
    else:
        named = [*Head.texts("measure"), *Head.names("pair")]
    return Table([*named, *Head.numbers("deviation", *heads)], rows, title)


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
    return Cell("-" if value != value else f"{value:.0%}", value)


def _size(value: float, plan: Plan) -> str:
    if not plan.is_relative:
        return f"{value:.4g}"
    return f"{100 * value:.3g}%"


_OUTCOMES = (
    "fails: a drop of more than the tolerance is shown; shown to hold: one of less is; not shown: neither, and the "
    "gate passes unless it is strict. Holes in the judgements are not part of it."
)
WRITERS = writers()
