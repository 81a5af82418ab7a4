"""Two rankings side by side, with lines between equal documents: all rows have one height, so nothing is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldrank.data.explanation import ShownPart
from goldrank.data.qrels import Grade
from goldrank.explorer.page_numbers import grade_text, signed, value
from goldrank.explorer.sides import IDEAL, Side

ROWS = 10
WIDTH, STEP, STUB = 90, 72, 22
"""The drawing's own units: its width, and the height of a row."""
METER = 64
MOST_LINES = 40
FEW_SHARED = 0.2


@dataclass(frozen=True)
class LadderLine:
    """A line between two rows, or a stub."""

    path: str
    style: str
    title: str
    end: str = ""
    """The little bar at the end of a stub."""


@dataclass(frozen=True)
class ShownDocuments:
    """How documents are shown: their texts, grades and what grades mean."""

    title: Callable[[str], Sequence[ShownPart]]
    snippet: Callable[[str], Sequence[ShownPart]]
    grades: Mapping[str, Grade]
    names: Callable[[Grade | None], str]
    highest: Grade
    """The highest grade of the scale."""

    def row(self, doc: str) -> dict[str, Any]:
        """What every list shows of a document."""
        grade = self.grades.get(doc)
        chip = grade_class(grade, self.highest)
        return {"doc": doc, "title": self.title(doc), "grade": grade_text(grade), "grade_class": chip}


def grade_class(grade: Grade | None, highest: Grade) -> str:
    """The class of a grade's chip; scales of more than three steps share the three colours."""
    if grade is None or grade < 0:
        return "g gq"
    if grade == 0:
        return "g"
    level = grade
    if highest > 3:
        level = -(-3 * grade // highest)
    return f"g g{min(3, max(1, round(level)))}"


def rows(side: Side, other: Side, ideal: Side, shown: ShownDocuments, start: int, is_b: bool) -> list[dict[str, Any]]:
    """The rows of one ranking from a rank on.

    `tied` is 't1st', 'tmid' or 'tlast' for a position in a group of equal scores; `move` is the change of the value if
    an unjudged document had the highest grade.
    """
    widest = max((abs(piece) for piece in (*ideal.pieces.values(), *side.pieces.values())), default=0.0) or 1.0
    ideal_pieces = dict(enumerate(ideal.pieces.values(), 1))
    window = start + ROWS - 1
    listed = []
    for rank, doc in enumerate(side.docs[start - 1 : window], start):
        grade = shown.grades.get(doc)
        judged = grade is not None and grade >= 0
        piece, piece_text, move_text = side.piece(doc), "", ""
        if judged and abs(piece) >= 5e-5:
            piece_text = value(piece)
        if not judged and rank in side.moves:
            move_text = signed(side.moves[rank])

        words, style = _movement(side, other, doc, rank, window, is_b)
        listed.append(
            {
                **shown.row(doc),
                "rank": rank,
                "grade_name": shown.names(grade),
                "snippet": shown.snippet(doc),
                "movement": words,
                "movement_class": style,
                "score": _score(side, rank),
                "tied": _tie(side, rank),
                "piece": piece_text,
                "move": move_text,
                "ideal_width": _width(ideal_pieces.get(rank, 0.0), widest),
                "gain_width": _width(piece, widest),
                "shared": doc in other.docs[start - 1 : window],
                "judged": judged,
            }
        )
    return listed


def _score(side: Side, rank: int) -> str:
    if rank > len(side.scores):
        return ""
    score = side.scores[rank - 1]
    if 0.01 <= abs(score) < 1e6 or score == 0:
        return f"{score:.2f}"
    return f"{score:.3g}"


def _width(part: float, widest: float) -> float:
    return round(max(0.0, part) / widest * (METER - 1), 1)


def _tie(side: Side, rank: int) -> str:
    if rank > len(side.tie_first):
        return ""
    first, last = side.tie_first[rank - 1], side.tie_last[rank - 1]
    if first == last:
        return ""
    if rank == first:
        return "t1st"
    if rank == last:
        return "tlast"
    return "tmid"


def _movement(side: Side, other: Side, doc: str, rank: int, window: int, is_b: bool) -> tuple[str, str]:
    """Where the other ranking has the document, in words, and the class of these words."""
    other_rank = other.ranks.get(doc)
    if other.name == IDEAL:
        if other_rank:
            return f"ideal: {other_rank}", "dim"
        return "", ""

    if not is_b:
        if other_rank and other_rank <= window:
            return f"now {other_rank}", "dim"
        if other_rank:
            return f"now {other_rank}", "down"
        if other.is_complete:
            return "not in B", "down"
        return f"below {len(other.docs)}", "down"

    if side.name == IDEAL:
        return "", ""

    if other_rank:
        if other_rank == rank:
            return f"= was {other_rank}", "dim"
        if other_rank > rank:
            return f"▲ was {other_rank}", "up"
        return f"▼ was {other_rank}", "down"

    if other.is_complete:
        return "new", "up"
    return f"new in {len(other.docs)}", "up"


def lines(a: Side, b: Side, shown: ShownDocuments, start: int) -> tuple[list[LadderLine], str]:
    """The lines between two lists, and a sentence if not all are drawn."""
    left, right = a.docs[start - 1 : start - 1 + ROWS], b.docs[start - 1 : start - 1 + ROWS]
    right_row = {doc: i for i, doc in enumerate(right)}
    shared = [doc for doc in left if doc in right_row]
    most = max(len(left), len(right), 1)
    draws_relevant_only = len(shared) < FEW_SHARED * most or len(shared) > MOST_LINES

    thin: list[LadderLine] = []
    thick: list[LadderLine] = []
    for i, doc in enumerate(left):
        is_relevant = shown.grades.get(doc, 0) > 0
        if draws_relevant_only and not is_relevant:
            continue
        style = _style(doc, is_relevant, shown, i, right_row.get(doc))
        y = STEP * i + STEP // 2
        if doc not in right_row:
            thin.append(LadderLine(f"M0 {y}H{STUB}", style, "", f"M{STUB} {y - 5}v10"))
            continue
        end = STEP * right_row[doc] + STEP // 2
        title = "".join(part.text for part in shown.title(doc))
        line = LadderLine(curve(y, end), style, f"{title}: {i + start} to {right_row[doc] + start}")
        if is_relevant:
            thick.append(line)
        else:
            thin.append(line)

    for i, doc in enumerate(right):
        is_relevant = shown.grades.get(doc, 0) > 0
        if doc in left or (draws_relevant_only and not is_relevant):
            continue
        y, stub = STEP * i + STEP // 2, WIDTH - STUB
        style = _style(doc, is_relevant, shown, None, i)
        thin.append(LadderLine(f"M{stub} {y}H{WIDTH}", style, "", f"M{stub} {y - 5}v10"))

    sentence = ""
    if draws_relevant_only and shared:
        sentence = f"{len(shared)} of {most} shared; lines for relevant ones only."
    return thin + thick, sentence


def curve(left: int, right: int) -> str:
    """A line from a height on the left to one on the right."""
    middle = WIDTH // 2
    return f"M0 {left}C{middle} {left} {middle} {right} {WIDTH} {right}"


def _style(doc: str, is_relevant: bool, shown: ShownDocuments, old: int | None, new: int | None) -> str:
    if not is_relevant:
        if shown.grades.get(doc, -1) < 0:
            return "fl un"
        return "fl"
    if new is None:
        return "fl rel dn"
    if old is None or new < old:
        return "fl rel upw"
    if new > old:
        return "fl rel dn"
    return "fl rel"
