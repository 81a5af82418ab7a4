"""What the cells of a comparison's tables say, whatever they are written in."""

from __future__ import annotations

import math

from goldrank.comparison.paired import Interval
from goldrank.comparison.result import Comparison, Pair
from goldrank.data.scores import format_value

SIGNS = {"better": "better", "worse": "worse", "same": "same", "equivalent": "equivalent", "unclear": "unclear"}


def value(comparison: Comparison, measure: str, run: str) -> str:
    """A system's value, as the measure itself reports it."""
    summary = comparison.summaries[measure, run]
    return format_value(summary.shown, summary.average)


def interval(found: Interval, signed: bool = False) -> str:
    """'0.1000 to 0.2000', or '-' where it is not defined."""
    if math.isnan(found.low):
        return "-"
    sign = "+" if signed else ""
    return f"{found.low:{sign}.4f} to {found.high:{sign}.4f}"


def number(found: float, digits: int = 4, signed: bool = False) -> str:
    """A number, or '-' where it is not defined."""
    if math.isnan(found):
        return "-"
    return f"{found:{'+' if signed else ''}.{digits}f}"


def p_value(found: float) -> str:
    """'0.012' or '< 0.001'."""
    if math.isnan(found):
        return "-"
    return "< 0.001" if found < 0.001 else f"{found:.3f}"


def counts(pair: Pair) -> str:
    """Wins, ties and losses."""
    return f"{pair.wins:,} / {pair.ties:,} / {pair.losses:,}"


def relative(pair: Pair) -> str:
    """The difference as a share of a's mean."""
    if pair.mean_a == 0 or math.isnan(pair.mean_a):
        return "-"
    return f"{pair.difference / abs(pair.mean_a):+.1%}"


def letters_note(comparison: Comparison) -> str:
    """What the letters after values mean."""
    return (
        f"A letter after a value: clearly better than that system (corrected p at most {comparison.settings.alpha:g})."
    )
