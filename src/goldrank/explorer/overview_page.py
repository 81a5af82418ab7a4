"""The first page: the verdict and how far to trust it, queries to read, systems, a mark per query, slices, holes."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import islice
from typing import Any

import numpy as np

from goldrank.base import ids
from goldrank.comparison.pair import Pair
from goldrank.comparison.result import Comparison
from goldrank.data.placements import Placements
from goldrank.explorer.live import LiveSystem
from goldrank.explorer.page_numbers import MINUS, signed, value, way
from goldrank.explorer.queries_page import rows
from goldrank.explorer.query_page import bar_of
from goldrank.explorer.session import Session, View
from goldrank.report.charts import ticks
from goldrank.report.comparison_queries import cutoff

FIRST = 8
MOST_MEASURES = 4
MOST_MARKS = 2_000
"""With more queries, marks are put together in squares."""
BINS = 40
AFTER = 20
"""Documents of the queue whose effect on the bounds is told."""
_NUMBER = re.compile(r"(?<![\w-])-(?=\d)")


def values(session: Session, view: View, link: Any, wait: float | None) -> dict[str, Any]:
    """What the template shows."""
    comparison = session.verdicts.get(wait if session.is_small or wait is None else 0.0)
    pair = pair_of(comparison, view)
    order = session.loss_order(view)[0].tolist()
    deltas = session.deltas(view)
    lost = [i for i in order if deltas[i] * view.better < -5e-5]
    first = lost[:FIRST] or order[:FIRST]
    signs = [way(float(delta), view.better) for delta in deltas[~np.isnan(deltas)]]
    preparing = not session.ready(view)
    if preparing and wait is None:
        session.work.wait()
        preparing = not session.ready(view)

    return {
        "names": [system.name for system in session.systems],
        "verdict": verdict(session, view, pair, comparison is not None),
        "trouble": session.verdicts.trouble or session.work.trouble,
        "stale": session.verdicts.seq if comparison is not None and session.verdicts.seq != session.seq else None,
        "largest": _largest(session, lost, deltas),
        "first": rows(session, view, first),
        "counts": {name: signs.count(key) for name, key in (("better", "up"), ("worse", "down"), ("equal", ""))},
        "count": len(signs),
        "systems": systems(session, view, comparison),
        "shown_measures": [str(measure) for measure in _measures(session, view)],
        "scatter": scatter(session, view, link) if view.b is not None else None,
        "slices": slices(session, view, link),
        "unjudged": _unjudged(session, view),
        "preparing": preparing,
        "apart": None if preparing else _apart(session, view),
        "caveat": _share(session, view),
    }


def pair_of(comparison: Comparison | None, view: View) -> Pair | None:
    """The row of the comparison about these two systems, whichever comes first."""
    if comparison is None or view.b is None:
        return None
    wanted = {view.a.name, view.b.name}
    return next((pair for pair in comparison.of(view.name) if {pair.a, pair.b} == wanted), None)


def _largest(session: Session, lost: list[int], deltas: np.ndarray) -> dict[str, str] | None:
    if not lost:
        return None
    query = session.queries[lost[0]]
    text = session.shown(query)
    return {"query": query, "text": text[:80] + "…" * (len(text) > 80), "delta": signed(float(deltas[lost[0]]))}


def verdict(session: Session, view: View, pair: Pair | None, is_made: bool) -> dict[str, Any]:
    """The sentence that the page opens with; without statistics as long as they are being made."""
    if view.b is None:
        mean = view.a.mean(view.measure)
        many = f"{len(session.queries):,} quer{'y' if len(session.queries) == 1 else 'ies'}"
        lead = f"{ids.show(view.a.name)}: {value(mean)} {view.name}"
        return {"style": "", "lead": lead, "rest": f"over {many}.", "caveats": [], "waiting": False}

    if pair is None:
        difference = view.b.mean(view.measure) - view.a.mean(view.measure)
        lead = f"{ids.show(view.b.name)} minus {ids.show(view.a.name)}: {signed(difference)} {view.name}"
        if is_made:
            rest = "These two were not tested against each other."
        else:
            rest = "Interval and verdict follow in a moment."
        return {"style": "", "lead": lead, "rest": rest, "caveats": [], "waiting": not is_made}

    return {
        "style": pair.verdict if pair.verdict in ("better", "worse") else "",
        "lead": minus(pair.sentence),
        "rest": minus(" ".join(pair.reasons)),
        "caveats": [(note.is_warning, minus(note.sentence)) for note in pair.caveats],
        "waiting": False,
    }


def minus(text: str) -> str:
    """A sentence with true minus signs before numbers."""
    return _NUMBER.sub(MINUS, text)


def _share(session: Session, view: View) -> str:
    """How much of what was returned nobody judged, and what that could do."""
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
    could = [
        f"{ids.show(s.name)} may have {value(b[0])} to {value(b[1])}"
        for s in view.systems
        if (b := _bounds(session, view, s))
    ]
    if could:
        return f"{text}; with all of them judged, {' and '.join(could)}."
    return f"{text}."


def _bounds(session: Session, view: View, system: LiveSystem) -> tuple[float, float] | None:
    """How far a system's mean could move; of A and B under the same judgements as their difference."""
    own = system.mean_bounds(view.measure)
    if own is None or system not in view.systems:
        return own
    holes = session.holes(view)
    if holes is None:
        return own
    ends = holes.each_system[view.systems.index(system)]
    return system.summary(view.measure, ends.low), system.summary(view.measure, ends.high)


def _measures(session: Session, view: View) -> list[Any]:
    others = [measure for measure in session.measures if str(measure) != view.name]
    return [view.measure, *others][:MOST_MEASURES]


def systems(session: Session, view: View, comparison: Comparison | None) -> list[dict[str, Any]]:
    """A row per system: means with their intervals as soon as there are any, and what could be."""
    made = []
    measures = _measures(session, view)
    means = {str(measure): [system.mean(measure) for system in session.systems] for measure in measures}
    for i, system in enumerate(session.systems):
        cells = []
        for measure in measures:
            name = str(measure)
            mean = means[name][i]
            if measure.declaration.higher_is_better:
                best = max(means[name])
            else:
                best = min(means[name])
            if comparison:
                summary = comparison.summaries.get((name, system.name))
            else:
                summary = None
            fresh = summary is not None and session.verdicts.seq == session.seq
            if fresh and summary:
                within = f"{value(summary.shown_interval.low)} to {value(summary.shown_interval.high)}"
            else:
                within = ""
            is_best = round(mean, 4) == round(best, 4) and len({round(m, 4) for m in means[name]}) > 1
            cells.append(
                {"value": value(mean), "interval": within, "best": is_best and not measure.declaration.diagnostic}
            )
        ends = _bounds(session, view, system)
        if ends is None:
            bar = None
        else:
            bar = bar_of(system.mean(view.measure), *ends, 200)
        too_many = ends is None and system.too_many(view.measure)
        letter = ""
        if system is view.a:
            letter = "A"
        elif system is view.b:
            letter = "B"
        made.append(
            {
                "name": system.name,
                "letter": letter,
                "number": 0 if system is view.a else 1,
                "cells": cells,
                "bar": bar,
                "too_many": too_many,
            }
        )

    return made


def scatter(session: Session, view: View, link: Any) -> dict[str, Any]:
    """A mark per query, A across and B up; above 2,000 queries squares that say how many there are."""
    assert view.b is not None
    a, b = view.a.values[view.name], view.b.values[view.name]
    known = np.flatnonzero(~(np.isnan(a) | np.isnan(b)))
    if not len(known):
        return {"marks": [], "ticks": [], "low": 0, "labels": [], "bins": []}
    least, most = float(min(a[known].min(), b[known].min())), float(max(a[known].max(), b[known].max()))
    if 0.5 <= most <= 1.0:
        high = 1.0
    else:
        high = most or 1.0
    if least >= 0.25 and high <= 1:
        low = math.floor(least * 10 - 1e-9) / 10
    else:
        low = min(0.0, least)
    left, top, side = 40.0, 12.0, 376.0

    def x(number: float) -> float:
        return round(left + (number - low) / ((high - low) or 1) * side, 1)

    def y(number: float) -> float:
        return round(top + side - (number - low) / ((high - low) or 1) * side, 1)

    grid = [(x(t), y(t), f"{t:g}") for t in ticks(low, high) if t > low + 1e-9]
    common = {"ticks": grid, "low": low if low > 0 else 0, "labels": []}
    if len(known) > MOST_MARKS:
        return {**common, "marks": [], "bins": _bins(session, a, b, known, low, high, left, top, side, view, link)}
    places: dict[tuple[float, float], list[int]] = defaultdict(list)
    for i in known.tolist():
        places[x(float(a[i])), y(float(b[i]))].append(i)
    deltas = session.deltas(view)
    marks = []
    for (px, py), numbers in places.items():
        names = [f"{session.shown(session.queries[i])[:80]} {signed(float(deltas[i]))}" for i in numbers]
        sign = way(float(deltas[numbers[0]]), view.better)
        title = "; ".join(names[:6]) + f" and {len(names) - 6} more" * (len(names) > 6)
        marks.append({"x": px, "y": py, "sign": sign, "title": title,
                      "href": link.query(session.queries[numbers[0]]), "count": len(numbers)})  # fmt: skip
    labels = []
    for i in session.loss_order(view)[0][:1].tolist():
        if deltas[i] * view.better < -5e-5:
            text = session.shown(session.queries[i])
            labels.append({"x": x(float(a[i])), "y": y(float(b[i])), "text": text[:34] + "…" * (len(text) > 34),
                           "end": x(float(a[i])) > 228})  # fmt: skip
    return {**common, "marks": marks, "bins": [], "labels": labels}


def _bins(
    session: Session, a: np.ndarray, b: np.ndarray, known: np.ndarray, low: float, high: float,
    left: float, top: float, side: float, view: View, link: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Squares of queries with about the same values; each opens the one of them that lost most."""
    width = (high - low) / BINS or 1.0
    column = np.minimum(((a[known] - low) / width).astype(int), BINS - 1)
    row = np.minimum(((b[known] - low) / width).astype(int), BINS - 1)
    cell = row * BINS + column
    order = np.argsort(session.deltas(view)[known] * view.better, kind="stable")
    first: dict[int, int] = {}
    for i in order.tolist():
        first.setdefault(int(cell[i]), int(known[i]))

    counts = np.bincount(cell, minlength=BINS * BINS)
    size = round(side / BINS, 2)
    made = []
    for at in np.flatnonzero(counts).tolist():
        i, j = at % BINS, at // BINS
        many = int(counts[at])
        shade = int(min(3, math.log10(many)))
        sign = ""
        if i != j:
            if (j > i) == (view.better > 0):
                sign = "up"
            else:
                sign = "down"
        made.append(
            {
                "x": round(left + i * size, 1),
                "y": round(top + side - (j + 1) * size, 1),
                "size": size,
                "shade": shade,
                "sign": sign,
                "title": f"{many:,} queries",
                "href": link.query(session.queries[first[at]]),
            }
        )

    return made


def slices(session: Session, view: View, link: Any) -> list[dict[str, Any]]:
    """Means of the groups of queries."""
    groups = []
    for attribute, parts in session.groups.items():
        listed = []
        for name, mask in parts.items():
            means = []
            for system in (view.a, view.b):
                if system is not None:
                    values_ = system.values[view.name][mask]
                else:
                    values_ = np.zeros(0)
                values_ = values_[~np.isnan(values_)]
                means.append(float(values_.mean()) if len(values_) else math.nan)
            delta = means[1] - means[0]
            listed.append({"name": name, "n": int(mask.sum()), "a": value(means[0]), "b": value(means[1]),
                          "delta": signed(delta), "way": way(delta, view.better), "few": int(mask.sum()) < 10,
                          "href": link("/queries", slice=f"{attribute}:{name}")})  # fmt: skip
        groups.append({"attribute": attribute, "rows": listed, "few": all(row["few"] for row in listed)})

    return groups


def _unjudged(session: Session, view: View) -> dict[str, Any] | None:
    """How many documents are unjudged, and how far the bounds shrink if the first of the queue are not relevant."""
    system = view.b or view.a
    ends = system.mean_bounds(view.measure)
    k = cutoff(view.name)
    total = int(session.unjudged(view, k).sum())
    if ends is None or not total:
        return None

    after = bounds_after(session, view, AFTER)
    mean = system.mean(view.measure)
    now = bar_of(mean, *ends, 170)
    return {
        "count": total,
        "k": k,
        "name": system.name,
        "now": now,
        "now_width": value(ends[1] - ends[0]),
        "after": {**bar_of(mean, *after, 170), "old": now} if after else None,
        "after_width": value(after[1] - after[0]) if after else "",
        "after_count": len(list(islice(session.queue(view), AFTER))),
        "number": 1 if view.b else 0,
    }


def _apart(session: Session, view: View) -> dict[str, Any] | None:
    """How far B - A could move; a document that is unjudged in both rankings is one judgement."""
    holes = session.holes(view)
    if holes is None or view.b is None or view.measure.declaration.average != "mean" or not holes.any:
        return None
    if not (view.a.counted.all() and view.b.counted.all()):
        return None  # the means are then over other queries in each system
    low, high = (view.b.summary(view.measure, end) for end in (holes.low, holes.high))
    return {"low": signed(low), "high": signed(high), "at_most": bool(holes.at_most.any())}


def bounds_after(session: Session, view: View, first: int) -> tuple[float, float] | None:
    """The bounds of the summary if the first documents of the queue are judged not relevant."""
    from goldrank.measures.unjudged_share import unjudged_bounds

    system = view.b or view.a
    now = system.bounds(view.measure)
    queue = list(islice(session.queue(view), first))
    if now is None or not queue:
        return None
    low, high = (end.copy() for end in now)
    by_query: dict[str, dict[str, int]] = defaultdict(dict)
    for document in queue:
        by_query[document.query][document.doc] = 0
    for query, zeros in by_query.items():
        table: Placements = system.placed_with(query, {**session.judged(query), **zeros}, exact=False)
        at = session.numbers[query]
        (low[at],), (high[at],) = unjudged_bounds(view.measure, table.per_label)
    return system.summary(view.measure, low), system.summary(view.measure, high)
