"""The first page: the verdict and caveats, queries to read, systems, marks of queries, slices, unjudged documents."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.data.placements import Placements
from goldrank.data.table import count
from goldrank.explorer.live import LiveSystem
from goldrank.explorer.page_numbers import MINUS, signed, value, way
from goldrank.explorer.queries_page import rows
from goldrank.explorer.query_page import bar_of
from goldrank.explorer.session import Session, View
from goldrank.measures import Measure
from goldrank.report.charts import ticks
from goldrank.report.comparison_queries import cutoff

FIRST = 8
MOST_MEASURES = 4
MOST_MARKS = 2_000
"""With more queries, squares take the place of marks."""
BINS = 40
AFTER = 20
"""Documents of the queue whose effect on the bounds is shown."""
_NUMBER = re.compile(r"(?<![\w-])-(?=\d)")


def values(session: Session, view: View, link: Any, wait: float | None) -> dict[str, Any]:
    """The values of the template."""
    verdict_wait = wait
    if not session.is_small and wait is not None:
        verdict_wait = 0.0
    comparison = session.verdicts.get(verdict_wait)
    stale = None
    if comparison is not None and session.verdicts.seq != session.seq:
        stale = session.verdicts.seq

    order = session.loss_order(view)[0].tolist()
    deltas = session.deltas(view)
    lost = [i for i in order if deltas[i] * view.better < -5e-5]
    first = lost[:FIRST] or order[:FIRST]
    signs = [way(float(delta), view.better) for delta in deltas[~np.isnan(deltas)]]

    preparing = not session.ready(view)
    if preparing and wait is None:
        session.work.wait()
        preparing = not session.ready(view)
    scatter_values, apart = None, None
    if view.b is not None:
        scatter_values = scatter(session, view, link)
    if not preparing:
        apart = _apart(session, view)

    return {
        "names": [system.name for system in session.systems],
        "verdict": verdict(session, view, pair_of(comparison, view), comparison is not None),
        "trouble": session.verdicts.trouble or session.work.trouble,
        "stale": stale,
        "largest": _largest(session, lost, deltas),
        "first": rows(session, view, first),
        "counts": {"better": signs.count("up"), "worse": signs.count("down"), "equal": signs.count("")},
        "count": len(signs),
        "systems": systems(session, view, comparison),
        "shown_measures": list(map(str, _measures(session, view))),
        "scatter": scatter_values,
        "slices": slices(session, view, link),
        "unjudged": _unjudged(session, view),
        "preparing": preparing,
        "apart": apart,
        "caveat": _share(session, view),
    }


def pair_of(comparison: Comparison | None, view: View) -> Pair | None:
    """The row of the comparison about these two systems, in either order."""
    if comparison is None or view.b is None:
        return None
    names = {view.a.name, view.b.name}
    return next((pair for pair in comparison.of(view.name) if {pair.a, pair.b} == names), None)


def _largest(session: Session, lost: list[int], deltas: np.ndarray) -> dict[str, str] | None:
    if not lost:
        return None
    query = session.queries[lost[0]]
    return {"query": query, "text": _shortened(session.shown(query), 80), "delta": signed(float(deltas[lost[0]]))}


def _shortened(text: str, most: int) -> str:
    if len(text) > most:
        return text[:most] + "…"
    return text


def verdict(session: Session, view: View, pair: Pair | None, is_made: bool) -> dict[str, Any]:
    """The first sentence of the page; without statistics as long as they are being computed."""
    if view.b is None:
        mean = view.a.mean(view.measure)
        queries = count(len(session.queries), "query")
        lead = f"{ids.show(view.a.name)}: {value(mean)} {view.name}"
        return {"style": "", "lead": lead, "rest": f"over {queries}.", "caveats": [], "waiting": False}

    if pair is None:
        difference = view.b.mean(view.measure) - view.a.mean(view.measure)
        lead = f"{ids.show(view.b.name)} minus {ids.show(view.a.name)}: {signed(difference)} {view.name}"
        reason = "Interval and verdict follow in a moment."
        if is_made:
            reason = "These two were not tested against each other."
        return {"style": "", "lead": lead, "rest": reason, "caveats": [], "waiting": not is_made}

    style = ""
    if pair.verdict in ("better", "worse"):
        style = pair.verdict
    return {
        "style": style,
        "lead": minus(pair.sentence),
        "rest": minus(" ".join(pair.reasons)),
        "caveats": [(note.is_warning, minus(note.sentence)) for note in pair.caveats],
        "waiting": False,
    }


def minus(text: str) -> str:
    """A sentence with true minus signs before numbers."""
    return _NUMBER.sub(MINUS, text)


def _share(session: Session, view: View) -> str:
    """The share of unjudged documents among the first ones, and how far values could move by them."""
    if not session.has_rankings:
        return ""

    k = cutoff(view.name)
    returned = judged = 0
    for system in view.systems:
        p = session.placed(system).placements
        returned += int(np.minimum(p.retrieved, k).sum())
        judged += int(((p.rank <= k) & (p.grade >= 0)).sum())

    if not returned or judged == returned:
        return ""

    text = f"{(returned - judged) / returned:.0%} of the first {k} documents were never judged".replace("%", " %")
    ranges = []
    for system in view.systems:
        bounds = _bounds(session, view, system)
        if bounds:
            ranges.append(f"{ids.show(system.name)} may have {value(bounds[0])} to {value(bounds[1])}")
    if ranges:
        return f"{text}; with all of them judged, {' and '.join(ranges)}."
    return f"{text}."


def _bounds(session: Session, view: View, system: LiveSystem) -> tuple[float, float] | None:
    """How far a system's mean could move; for A and B, under the judgements that their difference is computed with."""
    own = system.mean_bounds(view.measure)
    if own is None or system not in view.systems:
        return own
    holes = session.holes(view)
    if holes is None:
        return own
    ends = holes.each_system[view.systems.index(system)]
    return system.summary(view.measure, ends.low), system.summary(view.measure, ends.high)


def _measures(session: Session, view: View) -> list[Any]:
    other_measures = [measure for measure in session.measures if str(measure) != view.name]
    return [view.measure, *other_measures][:MOST_MEASURES]


def systems(session: Session, view: View, comparison: Comparison | None) -> list[dict[str, Any]]:
    """A row per system: means, their intervals as soon as there are any, and bounds."""
    measures = _measures(session, view)
    if session.verdicts.seq != session.seq:
        comparison = None  # its intervals are of earlier judgements

    means: dict[str, list[float]] = {}
    for measure in measures:
        means[str(measure)] = [system.mean(measure) for system in session.systems]

    listed = []
    for i, system in enumerate(session.systems):
        bounds = _bounds(session, view, system)
        bar = None
        if bounds is not None:
            bar = bar_of(system.mean(view.measure), *bounds, 200)
        letter = ""
        if system is view.a:
            letter = "A"
        elif system is view.b:
            letter = "B"
        cells = []
        for measure in measures:
            interval = _interval_text(comparison, measure, system)
            cells.append({**_mean_cell(measure, means[str(measure)], i), "interval": interval})
        listed.append(
            {
                "name": system.name,
                "letter": letter,
                "number": int(system is not view.a),
                "cells": cells,
                "bar": bar,
                "too_many": bounds is None and system.too_many(view.measure),
            }
        )

    return listed


def _mean_cell(measure: Measure, means: Sequence[float], number: int) -> dict[str, Any]:
    """The mean of a system, by its number among all, and whether it is the best."""
    rounded = [round(mean, 4) for mean in means]
    best = max(rounded)
    if not measure.declaration.higher_is_better:
        best = min(rounded)
    is_best = rounded[number] == best and len(set(rounded)) > 1
    return {"value": value(means[number]), "best": is_best and not measure.declaration.diagnostic}


def _interval_text(comparison: Comparison | None, measure: Measure, system: LiveSystem) -> str:
    """The interval of a system's mean; empty if there is none."""
    if comparison is None:
        return ""
    summary = comparison.summaries.get((str(measure), system.name))
    if not summary:
        return ""
    return f"{value(summary.shown_interval.low)} to {value(summary.shown_interval.high)}"


def scatter(session: Session, view: View, link: Any) -> dict[str, Any]:
    """A mark per query, A across and B up; above 2,000 queries squares that say how many there are."""
    assert view.b is not None
    a, b = view.a.values[view.name], view.b.values[view.name]
    known = np.flatnonzero(~(np.isnan(a) | np.isnan(b)))
    if not len(known):
        return {"marks": [], "ticks": [], "low": 0, "labels": [], "bins": []}

    axes = _Axes.of(np.concatenate((a[known], b[known])))
    grid = [(axes.x(tick), axes.y(tick), f"{tick:g}") for tick in ticks(axes.low, axes.high) if tick > axes.low + 1e-9]
    lowest: float = 0
    if axes.low > 0:
        lowest = axes.low
    drawing: dict[str, Any] = {"ticks": grid, "low": lowest, "labels": [], "marks": [], "bins": []}
    if len(known) > MOST_MARKS:
        return {**drawing, "bins": _bins(session, view, known, axes, link)}

    points: dict[tuple[float, float], list[int]] = defaultdict(list)
    for i in known.tolist():
        points[axes.x(float(a[i])), axes.y(float(b[i]))].append(i)
    deltas = session.deltas(view)
    marks = []
    for (x, y), numbers in points.items():
        names = [f"{session.shown(session.queries[i])[:80]} {signed(float(deltas[i]))}" for i in numbers]
        title = "; ".join(names[:6])
        if len(names) > 6:
            title += f" and {len(names) - 6} more"
        marks.append(
            {
                "x": x,
                "y": y,
                "sign": way(float(deltas[numbers[0]]), view.better),
                "title": title,
                "href": link.query(session.queries[numbers[0]]),
                "count": len(numbers),
            }
        )

    labels = []
    for i in session.loss_order(view)[0][:1].tolist():
        if deltas[i] * view.better < -5e-5:
            x, y = axes.x(float(a[i])), axes.y(float(b[i]))
            text = _shortened(session.shown(session.queries[i]), 34)
            labels.append({"x": x, "y": y, "text": text, "end": x > 228})
    return {**drawing, "marks": marks, "labels": labels}


@dataclass(frozen=True)
class _Axes:
    """The square of the drawing, and the values at its ends."""

    low: float
    high: float
    left: float = 40.0
    top: float = 12.0
    side: float = 376.0

    @classmethod
    def of(cls, values: np.ndarray) -> _Axes:
        """Axes that show all values."""
        least, most = float(values.min()), float(values.max())
        high = most or 1.0
        if 0.5 <= most <= 1.0:
            high = 1.0
        low = min(0.0, least)
        if least >= 0.25 and high <= 1:
            low = math.floor(least * 10 - 1e-9) / 10
        return cls(low, high)

    def x(self, number: float) -> float:
        return round(self.left + (number - self.low) / ((self.high - self.low) or 1) * self.side, 1)

    def y(self, number: float) -> float:
        return round(self.top + self.side - (number - self.low) / ((self.high - self.low) or 1) * self.side, 1)


def _bins(session: Session, view: View, known: np.ndarray, axes: _Axes, link: Any) -> list[dict[str, Any]]:
    """Squares of queries with about equal values; each opens its query with the largest loss."""
    assert view.b is not None
    a, b = view.a.values[view.name][known], view.b.values[view.name][known]
    width = (axes.high - axes.low) / BINS or 1.0
    column = np.minimum(((a - axes.low) / width).astype(int), BINS - 1)
    row = np.minimum(((b - axes.low) / width).astype(int), BINS - 1)
    cell = row * BINS + column
    order = np.argsort(session.deltas(view)[known] * view.better, kind="stable")
    first: dict[int, int] = {}
    for i in order.tolist():
        first.setdefault(int(cell[i]), int(known[i]))

    counts = np.bincount(cell, minlength=BINS * BINS)
    size = round(axes.side / BINS, 2)
    squares = []
    for number in np.flatnonzero(counts).tolist():
        row_number, column_number = divmod(number, BINS)
        queries = int(counts[number])
        squares.append(
            {
                "x": round(axes.left + column_number * size, 1),
                "y": round(axes.top + axes.side - (row_number + 1) * size, 1),
                "size": size,
                "shade": int(min(3, math.log10(queries))),
                "sign": way(float(row_number - column_number), view.better),
                "title": f"{queries:,} queries",
                "href": link.query(session.queries[first[number]]),
            }
        )

    return squares


def slices(session: Session, view: View, link: Any) -> list[dict[str, Any]]:
    """Means of the groups of queries."""
    groups = []
    for attribute, parts in session.groups.items():
        listed = []
        for name, mask in parts.items():
            a, b = _mean_of(view.a, view, mask), _mean_of(view.b, view, mask)
            listed.append(
                {
                    "name": name,
                    "n": int(mask.sum()),
                    "a": value(a),
                    "b": value(b),
                    "delta": signed(b - a),
                    "way": way(b - a, view.better),
                    "few": int(mask.sum()) < 10,
                    "href": link("/queries", slice=f"{attribute}:{name}"),
                }
            )
        groups.append({"attribute": attribute, "rows": listed, "few": all(row["few"] for row in listed)})

    return groups


def _mean_of(system: LiveSystem | None, view: View, mask: np.ndarray) -> float:
    """The mean of a system's values over some queries; NaN without a system or a value."""
    if system is None:
        return math.nan
    values = system.values[view.name][mask]
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan
    return float(values.mean())


def _unjudged(session: Session, view: View) -> dict[str, Any] | None:
    """How many documents are unjudged, and how far the bounds shrink if the first of the queue are not relevant."""
    system = view.b or view.a
    bounds = system.mean_bounds(view.measure)
    k = cutoff(view.name)
    total = int(session.unjudged(view, k).sum())
    if bounds is None or not total:
        return None

    mean = system.mean(view.measure)
    bar = bar_of(mean, *bounds, 170)
    bar_after, width_after = None, ""
    after = bounds_after(session, view, AFTER)
    if after:
        bar_after = {**bar_of(mean, *after, 170), "old": bar}
        width_after = value(after[1] - after[0])
    return {
        "count": total,
        "k": k,
        "name": system.name,
        "now": bar,
        "now_width": value(bounds[1] - bounds[0]),
        "after": bar_after,
        "after_width": width_after,
        "after_count": len(list(islice(session.queue(view), AFTER))),
        "number": int(view.b is not None),
    }


def _apart(session: Session, view: View) -> dict[str, Any] | None:
    """How far B - A could move; a document that is unjudged in both rankings is one judgement."""
    holes = session.holes(view)
    if holes is None or view.b is None or view.measure.declaration.average != "mean" or not holes.any:
        return None
    if not (view.a.counted.all() and view.b.counted.all()):
        return None  # the means of the two systems are then over different queries
    low, high = view.b.summary(view.measure, holes.low), view.b.summary(view.measure, holes.high)
    return {"low": signed(low), "high": signed(high), "at_most": bool(holes.at_most.any())}


def bounds_after(session: Session, view: View, first: int) -> tuple[float, float] | None:
    """The bounds of the summary if the first documents of the queue are judged not relevant."""
    from goldrank.measures.unjudged_share import unjudged_bounds

    system = view.b or view.a
    now = system.bounds(view.measure)
    queue = list(islice(session.queue(view), first))
    if now is None or not queue:
        return None

    low, high = now[0].copy(), now[1].copy()
    by_query: dict[str, dict[str, int]] = defaultdict(dict)
    for document in queue:
        by_query[document.query][document.doc] = 0
    for query, zeros in by_query.items():
        table: Placements = system.placed_with(query, {**session.judged(query), **zeros}, exact=False)
        number = session.numbers[query]
        (low[number],), (high[number],) = unjudged_bounds(view.measure, table.per_label)
    return system.summary(view.measure, low), system.summary(view.measure, high)
