"""Curves of a comparison: means over cut-offs, and precision over recall."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from goldrank.data.scores import Scores
from goldrank.measures import Measure, make, parse

CURVE_CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
RECALL_LEVELS = tuple(i / 10 for i in range(11))


def curve_measures(wanted: Sequence[Measure]) -> list[Measure]:
    """What the curves of a report need: the first measure with a cut-off at several, and interpolated precision."""
    first = next((measure for measure in wanted if isinstance(measure.k, int)), None) or parse("nDCG@10")
    at_cutoffs = [make(first.name, k, dict(first.options)) for k in CURVE_CUTOFFS]
    return at_cutoffs + [make("IPrec", level) for level in RECALL_LEVELS]


def curves_of(scores: Sequence[Scores]) -> dict[str, dict[str, tuple[tuple[float, float], ...]]]:
    """Means over cut-offs, for every measure that was taken at three or more."""
    families: dict[str, dict[float, str]] = {}
    for name in scores[0].columns:
        head, _, cutoff = name.rpartition("@")
        with suppress(ValueError):
            if all(name in system.columns for system in scores):
                families.setdefault(head, {})[float(cutoff)] = name
    return {
        head: {
            system.run: tuple((k, system.columns[name].summary) for k, name in sorted(columns.items()))
            for system in scores
        }
        for head, columns in families.items()
        if len(columns) >= 3 and head
    }
