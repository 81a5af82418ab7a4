"""Numbers as reports show them; '-' where one is not defined, and a dot in a row of bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from goldrank.comparison.intervals import Interval
from goldrank.comparison.pair import format_interval, p_digits
from goldrank.data.table import Cell, Head, Table

BARS = "▁▂▃▄▅▆▇█"
MISSING = "·"


def number(value: float | None, digits: int = 4, signed: bool = False) -> str:
    """'0.1234', or with a sign '+0.1234'."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:{'+' * signed}.{digits}f}"


def interval(ends: Interval, digits: int = 4, signed: bool = False) -> str:
    """'0.1000 to 0.2000'; an end near 0 has as many digits as show that it is not 0."""
    if math.isnan(ends.low):
        return "-"
    if digits == 4:
        return format_interval(ends, signed)
    return f"{number(ends.low, digits, signed)} to {number(ends.high, digits, signed)}"


def p_value(value: float, at_most: bool = False, alpha: float = 0.05) -> str:
    """'0.012', '< 0.001', or '<= 0.0001' where only that is known; with digits that show its side of alpha."""
    if math.isnan(value):
        return "-"
    if at_most:
        return f"<= {value:.1g}"
    if value < 0.001:
        return "< 0.001"
    return p_digits(value, alpha)


def counted(value: int) -> Cell:
    """'1,200', as the cell of a table."""
    return Cell(f"{value:,}", value)


def figures(title: str, rows: Mapping[str, int | float | Cell]) -> Table:
    """A table of numbers: a name and a number in each row; amounts have four decimals."""
    cells = []
    for name, value in rows.items():
        if isinstance(value, int):
            value = counted(value)
        cells.append([name, value])
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
            continue
        share = 0.0
        if span > 0:
            share = min(1.0, max(0.0, (value - low) / span))
        bars.append(BARS[min(len(BARS) - 1, int(share * len(BARS)))])
    return "".join(bars)


def share(value: float, low: float, high: float) -> Cell:
    """A share with its interval."""
    return Cell(f"{value:.1%} ({low:.1%} to {high:.1%})", value)
