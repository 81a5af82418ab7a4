"""Numbers as reports show them; '-' where one is not defined."""

from __future__ import annotations

import math

from goldrank.comparison.intervals import Interval
from goldrank.data.table import Cell


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


def count(value: int, what: str) -> str:
    """'1 record', '1,200 records', '2 queries'."""
    many = f"{what[:-1]}ies" if what.endswith("query") else f"{what}s"
    return f"{value:,} {what if value == 1 else many}"


def counted(value: int) -> Cell:
    """'1,200', as the cell of a table."""
    return Cell(f"{value:,}", value)
