"""Two rankings side by side, with lines between the same documents: drawn without measuring, since rows are equal."""

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
    if highest <= 3:
        level = grade
    else:
        level = -(-3 * grade // highest)
    if grade > 0:
        return f"g g{min(3, max(1, round(level)))}"
    return "g"


def rows(side: Side, other: Side, ideal: Side, shown: ShownDocuments, start: int, is_b: bool) -> list[dict[str, Any]]:
    """The rows of one ranking from a rank on.

    `tied` is 't1st', 'tmid' or 'tlast' for a place in a group of equal scores; `move` is what an unjudged document
    would change.
    """
    widest = max((abs(piece) for piece in (*ideal.pieces.values(), *side.pieces.values())), default=0.0) or 1.0
    ideal_at = list(ideal.pieces.values())
    made = []
    for rank, doc in enumerate(side.docs[start - 1 : start - 1 + ROWS], start):
        grade = shown.grades.get(doc)
        judged = grade is not None and grade >= 0
        words, style = _movement(side, other, doc, rank, start + ROWS - 1, is_b)
        piece = side.piece(doc)
        if not judged:
            move = side.moves.get(rank)
        else:
            move = None
        made.append(
            {
                **shown.row(doc),
                "rank": rank,
                "grade_name": shown.names(grade),
                "snippet": shown.snippet(doc),
                "movement": words,
                "movement_class": style,
                "score": _score(side.scores[rank - 1]) if rank <= len(side.scores) else "",
                "tied": _tie(side, rank),
                "piece": value(piece) if judged and abs(piece) >= 5e-5 else "",
                "move": signed(move) if move is not None else "",
                "ideal_width": _width(ideal_at[rank - 1] if rank <= len(ideal_at) else 0.0, widest),
                "gain_width": _width(piece, widest),
                "shared": doc in other.docs[start - 1 : start - 1 + ROWS],
                "judged": judged,
            }
        )
    return made


def _score(score: float) -> str:
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
    """Where the other ranking has the document."""
    there = other.ranks.get(doc)
    if other.name == IDEAL:
        if there:
            return (f"ideal: {there}", "dim")
        return ("", "")

    if not is_b:
        if there:
            return f"now {there}", "dim" if there <= window else "down"
        if other.whole:
            return ("not in B", "down")
        return (f"below {len(other.docs)}", "down")

    if side.name == IDEAL:
        return "", ""

    if there:
        if there == rank:
            return f"= was {there}", "dim"
        if there > rank:
            return f"▲ was {there}", "up"
        return f"▼ was {there}", "down"

    if other.whole:
        return ("new", "up")
    return (f"new in {len(other.docs)}", "up")


def lines(a: Side, b: Side, shown: ShownDocuments, start: int) -> tuple[list[LadderLine], str]:
    """The lines between two lists, and a sentence if not all are drawn."""
    left, right = (side.docs[start - 1 : start - 1 + ROWS] for side in (a, b))
    at = {doc: i for i, doc in enumerate(right)}
    both = [doc for doc in left if doc in at]
    most = max(len(left), len(right), 1)
    few = len(both) < FEW_SHARED * most or len(both) > MOST_LINES
    thin: list[LadderLine] = []
    thick: list[LadderLine] = []
    for i, doc in enumerate(left):
        relevant = shown.grades.get(doc, 0) > 0
        style = _style(doc, relevant, shown, i, at.get(doc))
        y = STEP * i + STEP // 2
        if doc in at:
            if few and not relevant:
                continue
            end = STEP * at[doc] + STEP // 2
            title = "".join(part.text for part in shown.title(doc))
            line = LadderLine(curve(y, end), style, f"{title}: {i + start} to {at[doc] + start}")
            (thick if relevant else thin).append(line)
        elif not few or relevant:
            thin.append(LadderLine(f"M0 {y}H{STUB}", style, "", f"M{STUB} {y - 5}v10"))

    for i, doc in enumerate(right):
        relevant = shown.grades.get(doc, 0) > 0
        if doc not in left and (not few or relevant):
            y = STEP * i + STEP // 2
            away = WIDTH - STUB
            thin.append(
                LadderLine(f"M{away} {y}H{WIDTH}", _style(doc, relevant, shown, None, i), "", f"M{away} {y - 5}v10")
            )

    if few and both:
        said = f"{len(both)} of {most} shared; lines for relevant ones only."
    else:
        said = ""

    return thin + thick, said


def curve(left: int, right: int) -> str:
    """A line from a height on the left to one on the right."""
    middle = WIDTH // 2
    return f"M0 {left}C{middle} {left} {middle} {right} {WIDTH} {right}"


def _style(doc: str, relevant: bool, shown: ShownDocuments, old: int | None, new: int | None) -> str:
    if not relevant:
        if shown.grades.get(doc, -1) < 0:
            return "fl un"
        return "fl"
    fell = new is None or (old is not None and new > old)
    rose = old is None or (new is not None and new < old)
    if fell:
        return "fl rel dn"
    if rose:
        return "fl rel upw"
    return "fl rel"
