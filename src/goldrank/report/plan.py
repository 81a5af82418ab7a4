"""How many queries differences need, and how sure a gate is."""

from __future__ import annotations

import json
from collections.abc import Callable

from goldrank import ids
from goldrank.comparison.planning import GateOutcome, Plan
from goldrank.data.json_values import without_nan
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table, plain
from goldrank.report import markdown, separated
from goldrank.report.numbers import count, number


def parts(plan: Plan) -> list[Part]:
    """Queries by difference, what so many find, and a gate's outcomes."""
    shown: list[Part] = [_needed(plan)]
    if any(row.found for row in plan.planned):
        shown.append(_found(plan))
    if plan.gate:
        shown += [_gate(plan), Sentence(_gate_words(plan), "remark")]
    source = (
        "from Bonferroni's bound, without a pilot" if plan.pilot is None else f"from a pilot of {plan.pilot:,} queries"
    )
    told = f"found with a chance of {plan.power:.0%}, alpha {plan.alpha:g} corrected for {count(plan.tests, 'test')}"
    shown.append(Sentence(f"{told}, {source}", "remark"))
    if plan.pilot is not None and plan.pilot < 30:
        few = (
            f"a pilot of {plan.pilot} queries tells the deviation roughly: the true number may be half or twice as many"
        )
        shown.append(Sentence(few, "warning"))
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
        [one.measure, Cell(f"{one.queries:,}", one.queries), _drop(one, plan), *map(_chance, _outcomes(one))]
        for one in plan.gate
    ]
    heads = [*Head.texts("measure"), *Head.numbers("queries", "true drop", "fails", "unclear", "shown to hold")]
    return Table(heads, rows, f"a gate with a tolerance of {_size(plan.tolerance or 0.0, plan)}")


def _outcomes(one: GateOutcome) -> tuple[float, float, float]:
    return one.fails, one.unclear, one.shown


def _chance(value: float) -> Cell:
    return Cell("-" if value != value else f"{value:.0%}", value)


def _drop(one: GateOutcome, plan: Plan) -> Cell:
    return Cell(_size(one.drop, plan), one.drop)


def _size(value: float, plan: Plan) -> str:
    return f"{value:.4g}" if not plan.is_relative else f"{100 * value:.3g}%"


def _gate_words(plan: Plan) -> str:
    return (
        "fails: a drop of more than the tolerance is shown; shown to hold: one of less is; unclear: neither, and the "
        "gate passes unless it is strict. Holes in the judgements are not part of it."
    )


WRITERS: dict[str, Callable[[Plan], str]] = {
    "table": lambda plan: plain(parts(plan)),
    "markdown": lambda plan: markdown.write(parts(plan)),
    "csv": lambda plan: separated.write(_long(plan)),
    "json": lambda plan: json.dumps(without_nan(plan.to_dict()), indent=2),
}


def _long(plan: Plan) -> Table:
    rows = plan.rows()
    cells = [
        ["" if value is None else Cell(str(value), value) if isinstance(value, int | float) else str(value)
         for value in row.values()]
        for row in rows
    ]  # fmt: skip
    return Table(Head.texts(*rows[0]), cells)
