"""Numbers as pages show them: four decimals, a true minus."""

from __future__ import annotations

import math

from goldrank.data.qrels import Grade
from goldrank.report import numbers

MINUS = "\u2212"


def value(number: float | None) -> str:
    """'0.1234'; '-' where it is not defined."""
    if number is not None and not math.isnan(number):
        return numbers.number(number).replace("-", MINUS)
    return "–"


def signed(number: float | None) -> str:
    """'+0.1234' or '−0.1234'; a number that rounds to zero is '0.0000'."""
    if number is None or math.isnan(number):
        return "–"
    if abs(number) < 5e-5:
        return "0.0000"
    return numbers.number(number, signed=True).replace("-", MINUS)


def way(number: float, better: float = 1.0) -> str:
    """The class of a difference: 'up', 'down' or ''."""
    if math.isnan(number) or abs(number) < 5e-5:
        return ""
    if number * better > 0:
        return "up"
    return "down"


def grade_text(grade: Grade | None) -> str:
    """A grade as the judge gave it; '?' if there is no grade."""
    if grade is None or grade < 0:
        return "?"
    return f"{grade:g}"
