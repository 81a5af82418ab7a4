"""One query: its values, why they differ, what each document gave, and both rankings side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from goldrank.data.explanation import ShownPart
from goldrank.web import ladder
from goldrank.web.heads import DEPTH
from goldrank.web.numbers import grade_text, signed, value, way
from goldrank.web.session import Session, View
from goldrank.web.sides import IDEAL, MOST_HOLES, Side, ideal_side, side_of
from goldrank.web.snippets import QueryWords, snippet, visible
from goldrank.web.why import reasons

MOST_LEDGER = 8
MOST_MATRIX = 30
BAR = 220


def values(session: Session, view: View, query: str, start: int = 1, ideal: bool = False) -> dict[str, Any]:
    """What the template shows."""
    grades = session.judged(query)
    main = view.b or view.a
    best = ideal_side(view.measure, main.table(query).per_label, grades)
    right = side_of(main, query, view.measure, grades)
    left = best if ideal or view.b is None else side_of(view.a, query, view.measure, grades)
    top = max((grade for grade in grades.values()), default=1)
    highest = max([one.grade for one in session.offered] + [top])
    top = top if top > 0 else highest
    shown = shown_documents(session, query, top, highest)
    why = reasons(left, right, grades, lambda doc: "".join(p.text for p in shown.title(doc)), top)
    drawn, said = ladder.lines(left, right, shown, start)
    total = right.value - left.value
    return {
        "query": query,
        "text": visible(session.text_of(query)),
        "left": left,
        "right": right,
        "total": total,
        "total_text": signed(total),
        "total_way": way(total, view.better),
        "verdict": _verdict(total, view.better),
        "why": why,
        "ledger": ledger(left, right, shown, view),
        "bounds": [_bar(side, i) for i, side in enumerate((left, right)) if side.bounds is not None],
        "too_many": MOST_HOLES if left.too_many or right.too_many else 0,
        "left_rows": ladder.rows(left, right, best, shown, start, False),
        "right_rows": ladder.rows(right, left, best, shown, start, True),
        "lines": drawn,
        "lines_said": said,
        "start": start,
        "end": start + ladder.ROWS - 1,
        "pages": _pages(left, right, start),
        "missed": _missed(left, right, shown, start),
        "top": grade_text(top),
        "legend": [
            (grade_text(one.grade), ladder.grade_class(one.grade, highest), one.name) for one in session.offered
        ][::-1],
        "one_run": view.b is None,
        "is_ideal": left.name == IDEAL,
        "matrix": _matrix(session, query, shown) if len(session.systems) > 2 else None,
        "texts_state": session.texts.state,
        "neighbours": neighbours(session, view, query),
    }


def shown_documents(session: Session, query: str, top: float, highest: float) -> ladder.Shown:
    """How documents of a query are shown."""
    words = QueryWords(session.text_of(query))

    def title(doc: str) -> Sequence[ShownPart]:
        found = session.texts.get(doc)
        if found is None or not (found.title or found.text):
            return [ShownPart(visible(doc))]
        if found.title:
            return snippet(found.title, words, 120).parts
        head, _ = split_title(found.text)
        return snippet(head, words, 120).parts if head else [ShownPart(visible(doc))]

    def body(doc: str) -> Sequence[ShownPart]:
        found = session.texts.get(doc)
        if found is None:
            return []
        text = found.text if found.title else split_title(found.text)[1]
        return snippet(text, words).parts

    return ladder.Shown(title, body, session.judged(query), session.grade_name, top, highest)


def split_title(text: str) -> tuple[str, str]:
    """The first sentence of a text without a title, if it is short enough for one; and the rest."""
    head, stop, _ = text[:200].partition(". ")
    if stop and 2 < len(head) <= 90 and "\n" not in head:
        return head, text[len(head) + 2 :]
    line, stop, _ = text[:200].partition("\n")
    return (line, text[len(line) + 1 :]) if stop and 2 < len(line) <= 90 else ("", text)


def _verdict(total: float, better: float) -> str:
    if math.isnan(total):
        return "not counted"
    return {"up": "better", "down": "worse", "": "equal"}[way(total, better)]


def ledger(left: Side, right: Side, shown: ladder.Shown, view: View) -> dict[str, Any]:
    """What each document gave in both rankings; the differences add up to that of the values."""
    docs = [doc for doc in {**left.pieces, **right.pieces} if left.piece(doc) or right.piece(doc)]
    docs.sort(key=lambda doc: (-abs(right.piece(doc) - left.piece(doc)), -abs(right.piece(doc)), doc))
    made = []
    for doc in docs[:MOST_LEDGER]:
        grade = shown.grades.get(doc)
        delta = right.piece(doc) - left.piece(doc)
        made.append(
            {
                "doc": doc,
                "title": shown.title(doc),
                "grade": grade_text(grade),
                "grade_class": ladder.grade_class(grade, shown.highest),
                "ranks": f"{left.ranks.get(doc, '–')} → {right.ranks.get(doc, '–')}",
                "a": value(left.piece(doc)),
                "b": value(right.piece(doc)),
                "delta": signed(delta),
                "way": way(delta, view.better),
            }
        )
    others = docs[MOST_LEDGER:]
    rest = [sum(side.piece(doc) for doc in others) + side.rest for side in (left, right)]
    has_rest = any(abs(part) > 1e-12 for part in rest)
    return {
        "rows": made,
        "rest": {"count": len(others), "a": value(rest[0]), "b": value(rest[1]), "delta": signed(rest[1] - rest[0]),
                 "way": way(rest[1] - rest[0], view.better)} if has_rest else None,
        "known": bool(left.pieces or right.pieces),
    }  # fmt: skip


def _bar(side: Side, number: int) -> dict[str, Any]:
    """A bar from the least to the greatest value that a query could have."""
    assert side.bounds is not None
    low, high = side.bounds
    return {"name": side.name, "number": number, "value": value(side.value), "low": value(low), "high": value(high),
            **bar_places(side.value, low, high, BAR)}  # fmt: skip


def bar_places(mean: float, low: float, high: float, width: int) -> dict[str, float]:
    """Where a bar of values between 0 and 1 begins, ends and has its dot; larger values shrink it."""
    most = max(1.0, high)
    least = min(0.0, low)

    def x(number: float) -> float:
        return round(4 + (number - least) / (most - least) * (width - 8), 1)

    return {"x0": x(low), "x1": x(high), "x": x(min(max(mean, least), most)), "width": width}


def _pages(left: Side, right: Side, start: int) -> dict[str, Any]:
    deepest = min(DEPTH, max(len(left.docs), len(right.docs)))
    after = start + ladder.ROWS
    return {
        "before": max(1, start - ladder.ROWS) if start > 1 else None,
        "after": after if after <= deepest else None,
        "after_end": min(after + ladder.ROWS - 1, deepest),
        "deepest": deepest,
        "more": max(left.retrieved if left.name != IDEAL else 0, right.retrieved) > deepest and after > deepest,
    }


def _missed(left: Side, right: Side, shown: ladder.Shown, start: int) -> list[dict[str, Any]]:
    """Relevant documents that neither list has among the shown ranks."""
    near = {*left.docs[: start + ladder.ROWS - 1]} if left.name != IDEAL else set()
    near |= {*right.docs[: start + ladder.ROWS - 1]}
    found = [doc for doc, grade in shown.grades.items() if grade > 0 and doc not in near]
    found.sort(key=lambda doc: (-shown.grades[doc], doc))
    return [
        {
            "doc": doc,
            "title": shown.title(doc),
            "grade": grade_text(shown.grades[doc]),
            "grade_class": ladder.grade_class(shown.grades[doc], shown.highest),
            "ranks": [(side.name, side.ranks.get(doc)) for side in (left, right) if side.name != IDEAL],
        }
        for doc in found[:20]
    ]


def _matrix(session: Session, query: str, shown: ladder.Shown) -> dict[str, Any]:
    """Documents by runs, with ranks in the cells: judged ones, and the first three of each run."""
    heads = {system.name: system.head(query).ranks() for system in session.systems}
    ranks = {}
    for system in session.systems:
        table = system.table(query).per_label
        assert table.label is not None
        judged = list(session.judged(query))
        placed = {judged[label]: rank for label, rank in zip(table.label.tolist(), table.rank.tolist(), strict=True)}
        ranks[system.name] = {**heads[system.name], **placed}
    wanted = dict.fromkeys(doc for doc, grade in shown.grades.items() if grade > 0)
    wanted |= dict.fromkeys(doc for found in heads.values() for doc, rank in found.items() if rank <= 3)
    docs = sorted(wanted, key=lambda doc: (-shown.grades.get(doc, -1), min(r.get(doc, 10**9) for r in ranks.values())))
    return {
        "systems": list(ranks),
        "rows": [
            {
                "doc": doc,
                "title": shown.title(doc),
                "grade": grade_text(shown.grades.get(doc)),
                "grade_class": ladder.grade_class(shown.grades.get(doc), shown.highest),
                "ranks": [found.get(doc, "–") for found in ranks.values()],
            }
            for doc in docs[:MOST_MATRIX]
        ],
        "more": max(0, len(docs) - MOST_MATRIX),
    }


def neighbours(session: Session, view: View, query: str) -> dict[str, Any]:
    """The queries before and after this one, by loss."""
    order, place = session.loss_order(view)
    at = int(place[session.numbers[query]])
    if at >= len(order):
        return {"at": None, "of": len(order), "before": None, "after": None}

    def known(i: int) -> Mapping[str, str] | None:
        if not 0 <= i < len(order):
            return None
        found = session.queries[int(order[i])]
        text = visible(session.text_of(found) or found)
        return {"id": found, "text": text[:28].rstrip() + "…" * (len(text) > 28)}

    return {"at": at + 1, "of": len(order), "before": known(at - 1), "after": known(at + 1)}
