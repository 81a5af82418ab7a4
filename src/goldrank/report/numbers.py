"""Numbers as reports show them; '-' where one is not defined, and a dot in a row of bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from goldrank.comparison.intervals import Interval
from goldrank.data.table import Cell, Head, Table

BARS = "▁▂▃▄▅▆▇█"
MISSING = "·"


def number(value: float | None, digits: int = 4, signed: bool = False) -> str:
    """'0.1234', or with a sign '+0.1234'."""
    return "-" if value is None or math.isnan(value) else f"{value:{'+' * signed}.{digits}f}"


def interval(found: Interval, digits: int = 4, signed: bool = False) -> str:
    """'0.1000 to 0.2000'."""
    if math.isnan(found.low):
        return "-"
    return f"{number(found.low, digits, signed)} to {number(found.high, digits, signed)}"


def p_value(value: float, at_most: bool = False) -> str:
    """'0.012', '< 0.001', or '<= 0.0001' where only that is known."""
    if math.isnan(value):
        return "-"
    if at_most:
        return f"<= {value:.1g}"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def counted(value: int) -> Cell:
    """'1,200', as the cell of a table."""
    return Cell(f"{value:,}", value)


def figures(title: str, rows: Mapping[str, int | float | Cell]) -> Table:
    """What is known in numbers: a name and a number in each row; amounts have four decimals."""
    cells = [[name, counted(value) if isinstance(value, int) else value] for name, value in rows.items()]
    return Table([*Head.texts(title), *Head.numbers("")], cells)


def sparkline(values: Iterable[float], low: float = 0.0, high: float = 1.0) -> str:
    """One bar per value, the lowest for `low` or less and the highest for `high` or more; a dot for NaN.

    >>> sparkline([0, 0.5, 1, float("nan")])
    '▁▅█·'
    """
    span = high - low
    bars = []
    for value in values:
        if math.isnan(value):
            bars.append(MISSING)
        else:
            share = min(1.0, max(0.0, (value - low) / span)) if span > 0 else 0.0
            bars.append(BARS[min(len(BARS) - 1, int(share * len(BARS)))])
    return "".join(bars)


def share(value: float, low: float, high: float) -> Cell:
    """A share with its interval."""
    return Cell(f"{value:.1%} ({low:.1%} to {high:.1%})", value)
