"""Pages for judges: one document after the other, who judged how, and where judges differ."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from goldrank.comparison.holes import ToJudge
from goldrank.judgements import agreement
from goldrank.web import doc_page, ladder
from goldrank.web.judging import Judging
from goldrank.web.numbers import grade_text, signed, value
from goldrank.web.overview_page import bounds_after
from goldrank.web.query_page import shown_documents
from goldrank.web.session import Session, View
from goldrank.web.snippets import visible

NEXT = 10
"""Documents of the queue whose effect is told."""
MOST_CONFLICTS = 200


def highest(session: Session) -> float:
    """The highest grade of the scale."""
    return max(one.grade for one in session.offered)


def values(
    session: Session, judging: Judging, view: View, judge: str, blind: bool, query: str | None,
    item: ToJudge | None, left: int,
) -> dict[str, Any]:  # fmt: skip
    """What the page shows: the document to judge, what judgements changed, and the last ones."""
    done = judging.done(judge)
    seconds = judging.median_seconds(judge)
    shown: dict[str, Any] = {}
    if item is not None:
        shown = doc_page.values(session, view, item.doc, item.query)
        shown |= {
            "knew": judging.last_seq(judge, item.query, item.doc),
            "ranks": [] if blind else shown["ranks"],
            "worth": "" if blind else signed(item.move),
        }
    return {
        **shown,
        "item": item,
        "judge": judge,
        "blind": blind,
        "only": query,
        "left": left,
        "done": done,
        "whole": done + left,
        "progress": round(300 * done / max(1, done + left), 1),
        "seconds": None if seconds is None else f"{seconds:.0f} s",
        "changes": changes(session, judging, view, judge, blind),
        "last": _last(session, judging, judge),
        "offered": [
            (one.grade, ladder.grade_class(one.grade, highest(session)), one.name, one.sentence)
            for one in session.offered
        ],
        "has_criteria": bool(session.criteria),
    }


def changes(session: Session, judging: Judging, view: View, judge: str, blind: bool) -> dict[str, Any]:
    """Values and bounds as they were when the judge began, and as they are."""
    before = judging.before(judge)
    rows = []
    rooms: list[tuple[float, float]] = []
    for i, system in enumerate(view.systems):
        key = (system.name, view.name)
        mean, bounds = system.mean(view.measure), system.mean_bounds(view.measure)
        old = before.means[key] if before else mean
        old_bounds = before.bounds[key] if before else bounds
        rows.append(
            {
                "name": system.name,
                "number": i,
                "old": value(old),
                "new": value(mean),
                "delta": signed(mean - old),
                "moved": mean != old,
                "bounds": f"{value(bounds[0])} to {value(bounds[1])}" if bounds else "",
                "old_bounds": f"{value(old_bounds[0])} to {value(old_bounds[1])}" if old_bounds else "",
            }
        )
        if bounds and old_bounds:
            rooms.append((old_bounds[1] - old_bounds[0], bounds[1] - bounds[0]))
    room = None
    if rooms:
        then, now = (sum(pair[i] for pair in rooms) / len(rooms) for i in (0, 1))
        after = bounds_after(session, view, NEXT)
        main = view.systems[-1].mean_bounds(view.measure)
        closes = (main[1] - main[0]) - (after[1] - after[0]) if after and main else None
        room = {"old": value(then), "new": value(now), "width": round(300 * min(1.0, now / then), 1) if then else 0,
                "closes": value(max(0.0, closes)) if closes is not None else ""}  # fmt: skip
    return {"rows": [] if blind else rows, "room": room, "next": NEXT}


def _last(session: Session, judging: Judging, judge: str) -> list[dict[str, Any]]:
    made = []
    for event in judging.last(judge):
        known = event.query in session.numbers
        shown = shown_documents(session, event.query, 1, highest(session)) if known else None
        title = "".join(part.text for part in shown.title(event.doc)) if shown else visible(event.doc)
        made.append(
            {
                "grade": grade_text(event.grade) if event.action == "grade" else "–",
                "grade_class": ladder.grade_class(event.grade, highest(session)) if event.action == "grade" else "g",
                "title": title[:90],
                "query": event.query,
                "query_text": visible(session.text_of(event.query) or event.query)[:60],
                "action": event.action,
                "known": known,
            }
        )
    return made


def judges(session: Session, judging: Judging) -> dict[str, Any]:
    """Who judged how much, how quickly, and how alike judges are."""
    table = judging.table()
    scale = [one.grade for one in session.offered]
    rows = []
    for judge in judging.judges():
        seconds = judging.median_seconds(judge)
        grades = list(table.get(judge, {}).values())
        rows.append(
            {
                "judge": judge,
                "open": bool(judging.last(judge, 1)),
                "count": len(grades),
                "seconds": "–" if seconds is None else f"{seconds:.0f} s",
                "grades": [sum(grade == one for grade in grades) for one in scale],
            }
        )
    pairs = []
    for first, second in combinations(sorted(table), 2):
        both = sorted(table[first].keys() & table[second].keys())
        if both:
            ours, theirs = ([table[judge][pair] for pair in both] for judge in (first, second))
            every = sorted({*scale, *ours, *theirs})
            kappa = agreement.kappa(agreement.confusion(ours, theirs, every), "linear")
            pairs.append({"first": first, "second": second, "count": len(both), "kappa": value(kappa)})
    units = sorted({pair for grades in table.values() for pair in grades})
    alpha = _alpha(np.array([[grades.get(pair, np.nan) for pair in units] for grades in table.values()], float))
    return {"rows": rows, "pairs": pairs, "scale": [grade_text(one) for one in scale], "alpha": alpha,
            "conflicts": len(judging.conflicts())}  # fmt: skip


def _alpha(grades: np.ndarray) -> str:
    found = agreement.alpha(grades) if len(grades) > 1 else np.nan
    return "" if np.isnan(found) else value(found)


def conflicts(session: Session, judging: Judging) -> list[dict[str, Any]]:
    """Documents on which judges differ, with both grades and comments."""
    made = []
    top = highest(session)
    for query, doc, standing in judging.conflicts()[:MOST_CONFLICTS]:
        if query not in session.numbers:
            continue
        shown = shown_documents(session, query, 1, top)
        given = [
            {"judge": judge, "grade": grade_text(one.grade), "grade_class": ladder.grade_class(one.grade, top),
             "comment": visible(one.comment)}
            for judge, one in sorted(standing.items())
            if one.grade is not None
        ]  # fmt: skip
        made.append(
            {"query": query, "doc": doc, "title": shown.title(doc), "snippet": shown.snippet(doc), "given": given,
             "query_text": visible(session.text_of(query) or query),
             "merged": grade_text(session.judged(query).get(doc))}
        )  # fmt: skip
    return made
