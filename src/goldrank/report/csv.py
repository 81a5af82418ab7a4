"""A comparison as CSV: one line per measure and pair of systems."""

from __future__ import annotations

import csv
import io
import math

from goldrank import ids
from goldrank.comparison.result import Comparison

HEADS = (
    "measure", "a", "b", "queries", "mean_a", "mean_b", "difference", "low", "high", "effect", "wins", "ties",
    "losses", "p_randomization", "p_t", "p_wilcoxon", "p_sign", "p_adjusted", "p_equivalence", "detectable",
    "queries_needed", "verdict",
)  # fmt: skip


def escape(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    shown = ids.show(text, 200)
    return "'" + shown if shown[:1] in ("=", "+", "-", "@") else shown


def render(comparison: Comparison) -> str:
    """Numbers at full precision; empty where a value is not defined."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADS)
    for pair in comparison:
        row = [
            pair.n, pair.mean_a, pair.mean_b, pair.difference, pair.interval.low, pair.interval.high, pair.effect,
            pair.wins, pair.ties, pair.losses, *(pair.p[test] for test in ("randomization", "t", "wilcoxon", "sign")),
            pair.adjusted, pair.equivalence, pair.detectable, pair.needed,
        ]  # fmt: skip
        numbers = ["" if v is None or (isinstance(v, float) and math.isnan(v)) else repr(v) for v in row]
        writer.writerow([escape(pair.measure), escape(pair.a), escape(pair.b), *numbers, pair.verdict])
    return file.getvalue()
