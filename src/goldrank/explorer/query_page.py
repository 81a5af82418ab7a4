"""One query: its values, why they differ, what each document gave, and both rankings side by side.

Why a query lost or gained is told in at most three sentences, each of which explains a tenth of it or could turn it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldrank.data.documents import Document
from goldrank.data.explanation import ShownPart
from goldrank.data.qrels import Grade
from goldrank.explorer import ladder
from goldrank.explorer.first_documents import DEPTH
from goldrank.explorer.page_numbers import grade_text, signed, value, way
from goldrank.explorer.session import Session, View
from goldrank.explorer.sides import IDEAL, MOST_HOLES, Side, ideal_side, side_of
from goldrank.explorer.snippets import QueryWords, snippet, visible

MOST_LEDGER = 8
MOST_MATRIX = 30
BAR = 220


def values(session: Session, view: View, query: str, start: int = 1, ideal: bool = False) -> dict[str, Any]:
    """What the template shows."""
    grades = session.judged(query)
    main = view.b or view.a
    best = ideal_side(view.measure, main.table(query).per_label, grades)
    right = side_of(main, query, view.measure, grades)
    if ideal or view.b is None:
        left = best
    else:
        left = side_of(view.a, query, view.measure, grades)

    top = max((grade for grade in grades.values()), default=1)
    highest = max([criterion.grade for criterion in session.offered] + [top])
    if top > 0:
        top = top
    else:
        top = highest

    shown = shown_documents(session, query, highest)
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
            (grade_text(criterion.grade), ladder.grade_class(criterion.grade, highest), criterion.name)
            for criterion in session.offered
        ][::-1],
        "one_run": view.b is None,
        "is_ideal": left.name == IDEAL,
        "matrix": _matrix(session, query, shown) if len(session.systems) > 2 else None,
        "texts_state": session.texts.state,
        "neighbours": neighbours(session, view, query),
    }


def shown_documents(session: Session, query: str, highest: float) -> ladder.ShownDocuments:
    """How documents of a query are shown."""
    words = QueryWords(session.text_of(query))

    def title(doc: str) -> Sequence[ShownPart]:
        text = session.texts.get(doc)
        if text is None:
            head = ""
        else:
            head = titled(text)[0]
        if head:
            return snippet(head, words, 120)
        return [ShownPart(visible(doc))]

    def body(doc: str) -> Sequence[ShownPart]:
        text = session.texts.get(doc)
        if text is None:
            return []
        return snippet(titled(text)[1], words)

    return ladder.ShownDocuments(title, body, session.judged(query), session.grade_name, highest)


def titled(found: Document) -> tuple[str, str]:
    """Title and text; of a text without a title its first sentence, if it is short enough for one, and the rest."""
    if found.title:
        return found.title, found.text
    text = found.text
    head, stop, _ = text[:200].partition(". ")
    if stop and 2 < len(head) <= 90 and "\n" not in head:
        return head, text[len(head) + 2 :]
    line, stop, _ = text[:200].partition("\n")
    if stop and 2 < len(line) <= 90:
        return (line, text[len(line) + 1 :])
    return ("", text)


def _verdict(total: float, better: float) -> str:
    if math.isnan(total):
        return "not counted"
    return {"up": "better", "down": "worse", "": "equal"}[way(total, better)]


def ledger(left: Side, right: Side, shown: ladder.ShownDocuments, view: View) -> dict[str, Any]:
    """What each document gave in both rankings; the differences add up to that of the values."""
    docs = [doc for doc in {**left.pieces, **right.pieces} if left.piece(doc) or right.piece(doc)]
    docs.sort(key=lambda doc: (-abs(right.piece(doc) - left.piece(doc)), -abs(right.piece(doc)), doc))
    made = []
    for doc in docs[:MOST_LEDGER]:
        delta = right.piece(doc) - left.piece(doc)
        made.append(
            {
                **shown.row(doc),
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
    return {"name": side.name, "number": number, **bar_of(side.value, *side.bounds, BAR)}


def bar_of(mean: float, low: float, high: float, width: int) -> dict[str, Any]:
    """A value and its bounds, and where their bar begins, ends and has its dot; values beyond 0 and 1 shrink it."""
    most = max(1.0, high)
    least = min(0.0, low)

    def x(number: float) -> float:
        return round(4 + (number - least) / (most - least) * (width - 8), 1)

    return {"value": value(mean), "low": value(low), "high": value(high),
            "x0": x(low), "x1": x(high), "x": x(min(max(mean, least), most)), "width": width}  # fmt: skip


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


def _missed(left: Side, right: Side, shown: ladder.ShownDocuments, start: int) -> list[dict[str, Any]]:
    """Relevant documents that neither list has among the shown ranks."""
    if left.name != IDEAL:
        near = {*left.docs[: start + ladder.ROWS - 1]}
    else:
        near = set()
    near |= {*right.docs[: start + ladder.ROWS - 1]}
    missed = [doc for doc, grade in shown.grades.items() if grade > 0 and doc not in near]
    missed.sort(key=lambda doc: (-shown.grades[doc], doc))
    sides = [side for side in (left, right) if side.name != IDEAL]
    return [{**shown.row(doc), "ranks": [(side.name, side.ranks.get(doc)) for side in sides]} for doc in missed[:20]]


def _matrix(session: Session, query: str, shown: ladder.ShownDocuments) -> dict[str, Any]:
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
    wanted |= dict.fromkeys(doc for head in heads.values() for doc, rank in head.items() if rank <= 3)
    docs = sorted(wanted, key=lambda doc: (-shown.grades.get(doc, -1), min(r.get(doc, 10**9) for r in ranks.values())))
    return {
        "systems": list(ranks),
        "rows": [
            {**shown.row(doc), "ranks": [own.get(doc, "–") for own in ranks.values()]} for doc in docs[:MOST_MATRIX]
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
        neighbour = session.queries[int(order[i])]
        text = session.shown(neighbour)
        return {"id": neighbour, "text": text[:28].rstrip() + "…" * (len(text) > 28)}

    return {"at": at + 1, "of": len(order), "before": known(at - 1), "after": known(at + 1)}


SHARE = 0.1
MOST = 3
COUNTED = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")

Words = list[ShownPart]
"""A sentence; what is marked is bold."""


@dataclass(frozen=True)
class Reasons:
    """The sentences, and the documents that should be judged first."""

    sentences: list[Words]
    to_judge: list[str]
    """Unjudged documents that they speak of."""


def reasons(a: Side, b: Side, grades: Mapping[str, Grade], title: Callable[[str], str], top: Grade) -> Reasons:
    """Why B's value is what it is beside A's."""
    total = b.value - a.value
    texts: list[Words] = []
    unjudged = _unjudged(b, grades)
    if not b.answered:
        texts.append([ShownPart(b.name, True), ShownPart(" has no ranking for this query.")])
    elif a.name != IDEAL and not a.answered:
        texts.append([ShownPart(a.name, True), ShownPart(" has no ranking for this query.")])

    if not any(grade > 0 for grade in grades.values()):
        texts.append([ShownPart("Nothing relevant is judged for this query: "), ShownPart("no ranking can be better.")])

    moved = _moved(a, b, total, grades, title)
    fallen = None
    if moved is not None:
        fallen, words = moved
        texts.append(words)

    texts += [tied for side in (b, a) if (tied := _tied(side, total)) is not None]
    holes, asked = _holes(b, fallen, unjudged, total, top)
    if holes is not None:
        texts.append(holes)

    if not texts:
        if total == 0:
            same = "Both systems have the same value."
        else:
            same = "No single document explains this."
        texts = [[ShownPart(same)]]

    return Reasons(texts[:MOST], asked)


def _unjudged(side: Side, grades: Mapping[str, Grade]) -> list[tuple[int, str]]:
    return [(rank, doc) for rank, doc in enumerate(side.docs, 1) if rank in side.moves and grades.get(doc, -1) < 0]


def _moved(
    a: Side, b: Side, total: float, grades: Mapping[str, Grade], title: Callable[[str], str]
) -> tuple[str, Words] | None:
    """The document with the largest part in the difference, if it explains enough of it."""
    effects = {doc: b.piece(doc) - a.piece(doc) for doc in {*a.pieces, *b.pieces}}
    if not effects or total == 0:
        return None

    doc = max(effects, key=lambda doc: (effects[doc] * (1 if total > 0 else -1), doc))
    if effects[doc] * total <= 0 or abs(effects[doc]) < SHARE * abs(total):
        return None

    old, new = a.ranks.get(doc), b.ranks.get(doc)
    if a.name == IDEAL:
        if new:
            how = f"is at {new}; the ideal order has it at {old}."
        else:
            how = "was not returned."
    elif old and new and old != new:
        how = f"{'fell' if new > old else 'rose'} from {old} to {new}."
    elif old and new:
        how = f"stayed at {new}, but counts differently there."
    elif new:
        how = f"is new, at {new}."
    else:
        how = f"was at {old} and is not returned any more."

    if abs(effects[doc] - total) < 5e-5:
        alone = "all of it"
    else:
        alone = f"{signed(effects[doc])} of {signed(total)}"

    if doc in grades:
        grade = f" (grade {grade_text(grades.get(doc))}) "
    else:
        grade = " "

    return doc, [ShownPart(title(doc), True), ShownPart(f"{grade}{how} That alone is {alone}.")]


def _tied(side: Side, total: float) -> Words | None:
    ties = side.ties
    if ties is None or ties.high - ties.low < SHARE * abs(total):
        return None

    if ties.mean is None:
        mean = ""
    else:
        mean = f", on average {value(ties.mean)}"

    if ties.score != ties.score:
        score = ""
    else:
        score = f", {ties.score:.2f}"

    where = f"ranks {ties.first} to {ties.last}"
    text = f" {side.name} gives {where} the same score{score}; their order says nothing."
    return [
        ShownPart("Ties.", True),
        ShownPart(f"{text} Other orders give {value(ties.low)} to {value(ties.high)}{mean}."),
    ]


def _holes(
    side: Side, fallen: str | None, unjudged: list[tuple[int, str]], total: float, top: Grade
) -> tuple[Words | None, list[str]]:
    """What unjudged documents above the one that fell could change; above all others if none fell."""
    limit = side.ranks.get(fallen or "", 0) or len(side.docs) + 1
    above = [(rank, doc) for rank, doc in unjudged if rank < limit] or unjudged
    if not above:
        return None, []

    rank, _ = max(above, key=lambda hole: abs(side.moves[hole[0]]))
    move = side.moves[rank]
    low, high = side.bounds or (side.value, side.value)
    could_turn = (total < 0 < high - side.value + total) or (total > 0 > low - side.value + total)
    if abs(move) < max(SHARE * abs(total), 5e-5) and not could_turn:
        return None, []

    if len(above) < len(COUNTED):
        many = COUNTED[len(above)]
    else:
        many = f"{len(above):,}"

    if len(above) == 1:
        were = "document was"
    else:
        were = "documents were"

    if fallen and above[0][0] < limit and above[-1][0] < limit:
        where = " above it"
    else:
        where = ""

    which = f"the one at {rank}"
    if len(above) == 1:
        which = "it"
    elif rank == above[0][0]:
        which = "the first"

    does = f"{side.name} {'gains' if move >= 0 else 'loses'} {value(abs(move))}"
    if not where:
        text = f" {many} {were}{where} never judged."
    else:
        text = f" {many} {were.split()[0]}{where} {were.split()[1]} never judged."

    return (
        [ShownPart("Unjudged.", True), ShownPart(f"{text} If {which} has grade {grade_text(top)}, {does}.")],
        [doc for _, doc in above],
    )
