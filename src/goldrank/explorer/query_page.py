"""One query: its values, why they differ, what each document adds, and both rankings side by side.

At most three sentences say why a query lost or gained; each explains a tenth of the change or could reverse it.
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
    """The values of the template."""
    grades = session.judged(query)
    main = view.b or view.a
    best = ideal_side(view.measure, main.table(query).per_label, grades)
    right = side_of(main, query, view.measure, grades)
    left = best
    if view.b is not None and not ideal:
        left = side_of(view.a, query, view.measure, grades)

    top = max(grades.values(), default=1)
    highest = max([criterion.grade for criterion in session.offered] + [top])
    if top <= 0:
        top = highest

    shown = shown_documents(session, query, highest)

    def plain_title(doc: str) -> str:
        return "".join(part.text for part in shown.title(doc))

    drawn, lines_said = ladder.lines(left, right, shown, start)
    total = right.value - left.value
    too_many, matrix = 0, None
    if left.too_many or right.too_many:
        too_many = MOST_HOLES
    if len(session.systems) > 2:
        matrix = _matrix(session, query, shown)
    return {
        "query": query,
        "text": visible(session.text_of(query)),
        "is_unjudged": not grades,
        "left": left,
        "right": right,
        "total": total,
        "total_text": signed(total),
        "total_way": way(total, view.better),
        "verdict": _verdict(total, view.better),
        "why": reasons(left, right, grades, plain_title, top),
        "ledger": ledger(left, right, shown, view),
        "bounds": [_bar(side, i) for i, side in enumerate((left, right)) if side.bounds is not None],
        "too_many": too_many,
        "left_rows": ladder.rows(left, right, best, shown, start, False),
        "right_rows": ladder.rows(right, left, best, shown, start, True),
        "lines": drawn,
        "lines_said": lines_said,
        "start": start,
        "end": start + ladder.ROWS - 1,
        "pages": _pages(left, right, start),
        "missed": _missed(left, right, shown, start),
        "top": grade_text(top),
        "legend": _legend(session, highest),
        "one_run": view.b is None,
        "is_ideal": left.name == IDEAL,
        "matrix": matrix,
        "texts_state": session.texts.state,
        "neighbours": neighbours(session, view, query),
    }


def _legend(session: Session, highest: float) -> list[tuple[str, str, str]]:
    """Text, class and name of each grade, the highest first."""
    legend = []
    for criterion in reversed(session.offered):
        style = ladder.grade_class(criterion.grade, highest)
        legend.append((grade_text(criterion.grade), style, criterion.name))
    return legend


def shown_documents(session: Session, query: str, highest: float) -> ladder.ShownDocuments:
    """How documents of a query are shown."""
    words = QueryWords(session.text_of(query))

    def title(doc: str) -> Sequence[ShownPart]:
        document = session.texts.get(doc)
        if document is not None:
            heading, _ = titled(document)
            if heading:
                return snippet(heading, words, 120)
        return [ShownPart(visible(doc))]

    def body(doc: str) -> Sequence[ShownPart]:
        document = session.texts.get(doc)
        if document is None:
            return []
        return snippet(titled(document)[1], words)

    return ladder.ShownDocuments(title, body, session.judged(query), session.grade_name, highest)


def titled(document: Document) -> tuple[str, str]:
    """Title and text; a text without a title has its first sentence or line as the title, if that is short enough."""
    if document.title:
        return document.title, document.text
    text = document.text
    sentence, stop, _ = text[:200].partition(". ")
    if stop and 2 < len(sentence) <= 90 and "\n" not in sentence:
        return sentence, text[len(sentence) + 2 :]
    line, stop, _ = text[:200].partition("\n")
    if stop and 2 < len(line) <= 90:
        return line, text[len(line) + 1 :]
    return "", text


def _verdict(total: float, better: float) -> str:
    if math.isnan(total):
        return "not counted"
    return {"up": "better", "down": "worse", "": "equal"}[way(total, better)]


def ledger(left: Side, right: Side, shown: ladder.ShownDocuments, view: View) -> dict[str, Any]:
    """What each document adds in both rankings; the differences add up to the difference of the values."""
    docs = [doc for doc in {**left.pieces, **right.pieces} if left.piece(doc) or right.piece(doc)]
    docs.sort(key=lambda doc: (-abs(right.piece(doc) - left.piece(doc)), -abs(right.piece(doc)), doc))
    listed = []
    for doc in docs[:MOST_LEDGER]:
        delta = right.piece(doc) - left.piece(doc)
        listed.append(
            {
                **shown.row(doc),
                "ranks": f"{left.ranks.get(doc, '–')} → {right.ranks.get(doc, '–')}",
                "a": value(left.piece(doc)),
                "b": value(right.piece(doc)),
                "delta": signed(delta),
                "way": way(delta, view.better),
            }
        )

    unlisted = docs[MOST_LEDGER:]
    left_sum = sum(left.piece(doc) for doc in unlisted) + left.rest_value
    right_sum = sum(right.piece(doc) for doc in unlisted) + right.rest_value
    rest_row = None
    if abs(left_sum) > 1e-12 or abs(right_sum) > 1e-12:
        delta = right_sum - left_sum
        rest_row = {
            "count": len(unlisted),
            "a": value(left_sum),
            "b": value(right_sum),
            "delta": signed(delta),
            "way": way(delta, view.better),
        }
    return {"rows": listed, "rest": rest_row, "known": bool(left.pieces or right.pieces)}


def _bar(side: Side, number: int) -> dict[str, Any]:
    """A bar from the least to the greatest value that a query could have."""
    assert side.bounds is not None
    return {"name": side.name, "number": number, **bar_of(side.value, *side.bounds, BAR)}


def bar_of(mean: float, low: float, high: float, width: int) -> dict[str, Any]:
    """A value and its bounds, with the ends and the dot of their bar; values beyond 0 and 1 shrink it."""
    most = max(1.0, high)
    least = min(0.0, low)

    def x(number: float) -> float:
        return round(4 + (number - least) / (most - least) * (width - 8), 1)

    return {
        "value": value(mean),
        "low": value(low),
        "high": value(high),
        "x0": x(low),
        "x1": x(high),
        "x": x(min(max(mean, least), most)),
        "width": width,
    }


def _pages(left: Side, right: Side, start: int) -> dict[str, Any]:
    deepest = min(DEPTH, max(len(left.docs), len(right.docs)))
    retrieved = right.retrieved
    if left.name != IDEAL:
        retrieved = max(left.retrieved, right.retrieved)

    before, after = None, None
    next_start = start + ladder.ROWS
    if start > 1:
        before = max(1, start - ladder.ROWS)
    if next_start <= deepest:
        after = next_start
    return {
        "before": before,
        "after": after,
        "after_end": min(next_start + ladder.ROWS - 1, deepest),
        "deepest": deepest,
        "more": retrieved > deepest and next_start > deepest,
    }


def _missed(left: Side, right: Side, shown: ladder.ShownDocuments, start: int) -> list[dict[str, Any]]:
    """Relevant documents that neither list has among the shown ranks."""
    sides = [side for side in (left, right) if side.name != IDEAL]
    near: set[str] = set()
    for side in sides:
        near.update(side.docs[: start + ladder.ROWS - 1])

    missed = [doc for doc, grade in shown.grades.items() if grade > 0 and doc not in near]
    missed.sort(key=lambda doc: (-shown.grades[doc], doc))
    rows = []
    for doc in missed[:20]:
        rows.append({**shown.row(doc), "ranks": [(side.name, side.ranks.get(doc)) for side in sides]})
    return rows


def _matrix(session: Session, query: str, shown: ladder.ShownDocuments) -> dict[str, Any]:
    """Documents by runs, with ranks in the cells: judged ones, and the first three of each run."""
    top_ranks = {system.name: system.query_top(query).ranks() for system in session.systems}
    ranks = {}
    for system in session.systems:
        table = system.table(query).per_label
        assert table.label is not None
        judged = list(session.judged(query))
        placed = {judged[label]: rank for label, rank in zip(table.label.tolist(), table.rank.tolist(), strict=True)}
        ranks[system.name] = {**top_ranks[system.name], **placed}

    chosen = dict.fromkeys(doc for doc, grade in shown.grades.items() if grade > 0)
    chosen |= dict.fromkeys(doc for doc_ranks in top_ranks.values() for doc, rank in doc_ranks.items() if rank <= 3)

    def order(doc: str) -> tuple[float, int]:
        best_rank = min(run_ranks.get(doc, 10**9) for run_ranks in ranks.values())
        return -shown.grades.get(doc, -1), best_rank

    docs = sorted(chosen, key=order)
    rows = []
    for doc in docs[:MOST_MATRIX]:
        rows.append({**shown.row(doc), "ranks": [run_ranks.get(doc, "–") for run_ranks in ranks.values()]})
    return {"systems": list(ranks), "rows": rows, "more": max(0, len(docs) - MOST_MATRIX)}


def neighbours(session: Session, view: View, query: str) -> dict[str, Any]:
    """The queries before and after this one, by loss."""
    order, loss_rank = session.loss_order(view)
    rank = int(loss_rank[session.numbers[query]])
    if rank >= len(order):
        return {"at": None, "of": len(order), "by": "loss", "before": None, "after": None}

    def known(i: int) -> Mapping[str, str] | None:
        if not 0 <= i < len(order):
            return None
        neighbour = session.queries[int(order[i])]
        text = session.shown(neighbour)
        short = text[:28].rstrip()
        if len(text) > 28:
            short += "…"
        return {"id": neighbour, "text": short}

    by = "loss"
    if not session.is_judged:
        by = "change"
    return {"at": rank + 1, "of": len(order), "by": by, "before": known(rank - 1), "after": known(rank + 1)}


SHARE = 0.1
MOST = 3
COUNTED = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")

Words = list[ShownPart]
"""A sentence; marked parts are bold."""


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

    for side in (b, a):
        tied = _tied(side, total)
        if tied is not None:
            texts.append(tied)
    unjudged_words, to_judge = _holes(b, fallen, unjudged, total, top)
    if unjudged_words is not None:
        texts.append(unjudged_words)

    if not texts:
        fallback = "No single document explains this."
        if total == 0:
            fallback = "Both systems have the same value."
        texts = [[ShownPart(fallback)]]

    return Reasons(texts[:MOST], to_judge)


def _unjudged(side: Side, grades: Mapping[str, Grade]) -> list[tuple[int, str]]:
    return [(rank, doc) for rank, doc in enumerate(side.docs, 1) if rank in side.moves and grades.get(doc, -1) < 0]


def _moved(
    a: Side, b: Side, total: float, grades: Mapping[str, Grade], title: Callable[[str], str]
) -> tuple[str, Words] | None:
    """The document with the largest part in the difference, if it explains enough of it."""
    effects = {doc: b.piece(doc) - a.piece(doc) for doc in {*a.pieces, *b.pieces}}
    if not effects or total == 0:
        return None

    sign = -1
    if total > 0:
        sign = 1
    doc = max(effects, key=lambda doc: (effects[doc] * sign, doc))
    if effects[doc] * total <= 0 or abs(effects[doc]) < SHARE * abs(total):
        return None

    alone = f"{signed(effects[doc])} of {signed(total)}"
    if abs(effects[doc] - total) < 5e-5:
        alone = "all of it"
    grade = " "
    if doc in grades:
        grade = f" (grade {grade_text(grades.get(doc))}) "
    movement = _movement(a, b, doc)
    return doc, [ShownPart(title(doc), True), ShownPart(f"{grade}{movement} That alone is {alone}.")]


def _movement(a: Side, b: Side, doc: str) -> str:
    """How a document moved from A to B, in words."""
    old, new = a.ranks.get(doc), b.ranks.get(doc)
    if a.name == IDEAL:
        if new:
            return f"is at {new}; the ideal order has it at {old}."
        return "was not returned."

    if old and new:
        if new > old:
            return f"fell from {old} to {new}."
        if new < old:
            return f"rose from {old} to {new}."
        return f"stayed at {new}, but counts differently there."
    if new:
        return f"is new, at {new}."
    return f"was at {old} and is not returned any more."


def _tied(side: Side, total: float) -> Words | None:
    ties = side.ties
    if ties is None or ties.high - ties.low < SHARE * abs(total):
        return None

    mean, score = "", ""
    if ties.mean is not None:
        mean = f", on average {value(ties.mean)}"
    if not math.isnan(ties.score):
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

    rank, _ = max(above, key=lambda unjudged_doc: abs(side.moves[unjudged_doc[0]]))
    move = side.moves[rank]
    low, high = side.bounds or (side.value, side.value)
    could_gain = total < 0 < high - side.value + total
    could_lose = total > 0 > low - side.value + total
    is_small = abs(move) < max(SHARE * abs(total), 5e-5)
    if is_small and not could_gain and not could_lose:
        return None, []

    number_word = f"{len(above):,}"
    if len(above) < len(COUNTED):
        number_word = COUNTED[len(above)]
    noun, verb, which = "documents", "were", f"the one at {rank}"
    if len(above) == 1:
        noun, verb, which = "document", "was", "it"
    elif rank == above[0][0]:
        which = "the first"
    where = ""
    if fallen and above[0][0] < limit and above[-1][0] < limit:
        where = " above it"
    effect = "gains"
    if move < 0:
        effect = "loses"

    text = f" {number_word} {noun}{where} {verb} never judged."
    outcome = f"If {which} has grade {grade_text(top)}, {side.name} {effect} {value(abs(move))}."
    return [ShownPart("Unjudged.", True), ShownPart(f"{text} {outcome}")], [doc for _, doc in above]
