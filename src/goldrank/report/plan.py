"""How many queries differences need, and how sure a gate is."""

from __future__ import annotations

from goldrank import ids
from goldrank.comparison.planning import Plan
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table
from goldrank.report.forms import writers
from goldrank.report.numbers import count, number

FEW = 30
"""Queries of a pilot below which what it does not tell is a warning."""


def parts(plan: Plan) -> list[Part]:
    """Queries by difference, what so many find, and a gate's outcomes."""
    shown: list[Part] = [_needed(plan)]
    if any(row.found for row in plan.planned):
        shown.append(_found(plan))
    if plan.gate:
        shown += [_gate(plan), Sentence(_OUTCOMES, "remark")]
    source = (
        "from Bonferroni's bound, without a pilot" if plan.pilot is None else f"from a pilot of {plan.pilot:,} queries"
    )
    told = f"found with a chance of {plan.power:.0%}, alpha {plan.alpha:g} corrected for {count(plan.tests, 'test')}"
    shown.append(Sentence(f"{told}, {source}", "remark"))
    if plan.times is not None and plan.pilot is not None:
        least, most = plan.times
        told = f"a pilot tells how much queries differ only roughly: in truth {least:.1f} to {most:.1f} times as many"
        shown.append(Sentence(f"{told} may be needed", "warning" if plan.pilot < FEW else "remark"))
    return shown


def _about(plan: Plan) -> tuple[list[Head], list[list[Cell | str]]]:
    """What each row is about."""
    if plan.pilot is None:
        rows: list[list[Cell | str]] = [[Cell(number(row.deviation), row.deviation)] for row in plan.planned]
        return Head.numbers("deviation"), rows
    rows = [
        [row.measure, f"{ids.show(row.b)} - {ids.show(row.a)}", Cell(number(row.deviation), row.deviation)]
        for row in plan.planned
    ]
    return [*Head.texts("measure"), *Head.names("pair"), *Head.numbers("deviation")], rows


def _needed(plan: Plan) -> Table:
    heads, rows = _about(plan)
    differences = [one.difference for one in plan.planned[0].needed]
    every: list[Cells] = []
    for about, row in zip(rows, plan.planned, strict=True):
        cells = [Cell("-" if one.queries is None else f"{one.queries:,}", one.queries) for one in row.needed]
        every.append([*about, *cells])
    return Table([*heads, *Head.numbers(*(f"{one:g}" for one in differences))], every, "queries needed, by difference")


def _found(plan: Plan) -> Table:
    heads, rows = _about(plan)
    every: list[Cells] = []
    same = all([one.queries for one in row.found] == [one.queries for one in plan.planned[0].found]
               for row in plan.planned)  # fmt: skip
    for about, row in zip(rows, plan.planned, strict=True):
        cells: list[Cell | str] = []
        for one in row.found:
            cells += [] if same else [Cell(f"{one.queries:,}", one.queries)]
            cells.append(Cell(number(one.detectable), one.detectable))
        every.append([*about, *cells])
    sizes = [f"{one.queries:,} queries" for one in plan.planned[0].found] if same else ["queries", "difference"]
    return Table([*heads, *Head.numbers(*sizes)], every, "smallest difference found, by queries")


def _gate(plan: Plan) -> Table:
    rows: list[Cells] = [
        [
            one.measure,
            Cell(f"{one.queries:,}", one.queries),
            Cell(_size(one.drop, plan), one.drop),
            *map(_chance, (one.fails, one.unclear, one.shown)),
        ]
        for one in plan.gate
    ]
    heads = [*Head.texts("measure"), *Head.numbers("queries", "true drop", "fails", "unclear", "shown to hold")]
    return Table(heads, rows, f"a gate with a tolerance of {_size(plan.tolerance or 0.0, plan)}")


def _chance(value: float) -> Cell:
    return Cell("-" if value != value else f"{value:.0%}", value)


def _size(value: float, plan: Plan) -> str:
    return f"{value:.4g}" if not plan.is_relative else f"{100 * value:.3g}%"


_OUTCOMES = (
    "fails: a drop of more than the tolerance is shown; shown to hold: one of less is; unclear: neither, and the "
    "gate passes unless it is strict. Holes in the judgements are not part of it."
)
WRITERS = writers(parts)
