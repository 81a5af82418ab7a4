"""Why a query lost or gained, in at most three sentences, each of which explains a tenth of it or could turn it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from goldrank.data.explanation import ShownPart
from goldrank.data.qrels import Grade
from goldrank.web.numbers import grade_text, signed, value
from goldrank.web.sides import IDEAL, Side

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
    found: list[Words] = []
    unjudged = _unjudged(b, grades)
    if not b.answered:
        found.append([ShownPart(b.name, True), ShownPart(" has no ranking for this query.")])
    elif a.name != IDEAL and not a.answered:
        found.append([ShownPart(a.name, True), ShownPart(" has no ranking for this query.")])
    if not any(grade > 0 for grade in grades.values()):
        found.append([ShownPart("Nothing relevant is judged for this query: "), ShownPart("no ranking can be better.")])
    moved = _moved(a, b, total, grades, title)
    fallen = None
    if moved is not None:
        fallen, words = moved
        found.append(words)
    found += [tied for side in (b, a) if (tied := _tied(side, total)) is not None]
    holes, asked = _holes(b, fallen, unjudged, total, top)
    if holes is not None:
        found.append(holes)
    if not found:
        same = "Both systems have the same value." if total == 0 else "No single document explains this."
        found = [[ShownPart(same)]]
    return Reasons(found[:MOST], asked)


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
        how = f"is at {new}; the ideal order has it at {old}." if new else "was not returned."
    elif old and new and old != new:
        how = f"{'fell' if new > old else 'rose'} from {old} to {new}."
    elif old and new:
        how = f"stayed at {new}, but counts differently there."
    elif new:
        how = f"is new, at {new}."
    else:
        how = f"was at {old} and is not returned any more."
    alone = "all of it" if abs(effects[doc] - total) < 5e-5 else f"{signed(effects[doc])} of {signed(total)}"
    grade = f" (grade {grade_text(grades.get(doc))}) " if doc in grades else " "
    return doc, [ShownPart(title(doc), True), ShownPart(f"{grade}{how} That alone is {alone}.")]


def _tied(side: Side, total: float) -> Words | None:
    ties = side.ties
    if ties is None or ties.high - ties.low < SHARE * abs(total):
        return None
    mean = "" if ties.mean is None else f", on average {value(ties.mean)}"
    score = "" if ties.score != ties.score else f", {ties.score:.2f}"
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
    rank, _ = max(above, key=lambda one: abs(side.moves[one[0]]))
    move = side.moves[rank]
    low, high = side.bounds or (side.value, side.value)
    could_turn = (total < 0 < high - side.value + total) or (total > 0 > low - side.value + total)
    if abs(move) < max(SHARE * abs(total), 5e-5) and not could_turn:
        return None, []
    many = COUNTED[len(above)] if len(above) < len(COUNTED) else f"{len(above):,}"
    were = "document was" if len(above) == 1 else "documents were"
    where = " above it" if fallen and above[0][0] < limit and above[-1][0] < limit else ""
    which = "it" if len(above) == 1 else "the first" if rank == above[0][0] else f"the one at {rank}"
    does = f"{side.name} {'gains' if move >= 0 else 'loses'} {value(abs(move))}"
    text = (
        f" {many} {were}{where} never judged."
        if not where
        else f" {many} {were.split()[0]}{where} {were.split()[1]} never judged."
    )
    return (
        [ShownPart("Unjudged.", True), ShownPart(f"{text} If {which} has grade {grade_text(top)}, {does}.")],
        [doc for _, doc in above],
    )
