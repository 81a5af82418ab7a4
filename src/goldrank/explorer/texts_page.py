"""One question: its references, the texts that cover them in both systems, near misses, and where a budget ends; lines
between references and texts, and evidence shown in its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from goldrank.base import ids
from goldrank.base.errors import GoldrankError
from goldrank.data.explanation import Explanation, ShownText, SourcePlaces
from goldrank.explorer.ladder import curve
from goldrank.explorer.page_numbers import signed, way
from goldrank.explorer.query_page import neighbours
from goldrank.explorer.session import Session, View
from goldrank.explorer.snippets import visible
from goldrank.match.tokens import words


def values(session: Session, view: View, query: str) -> dict[str, Any]:
    """What the template shows."""
    systems = view.systems
    sides: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    trouble = ""
    explained: list[Explanation | None] = []
    for number, system in enumerate(systems):
        explanation: Explanation | None = None
        try:
            explanation = system.scores.explain(query)  # type: ignore[attr-defined]
        except (GoldrankError, KeyError) as error:
            trouble = str(error).partition("\n")[0]
        explained.append(explanation)
        value = float(system.values[view.name][session.numbers[query]])
        side = {"name": system.name, "number": number, "value": value, "texts": [], "summary": "", "left_out": ""}
        if explanation is not None:
            budget = view.measure.option("tokens")
            side |= {
                "texts": _texts(explanation, int(budget) if budget else None),
                "summary": explanation.summary,
                "left_out": explanation.left_out,
            }
            references = references or [
                {"name": f"r{i + 1}", "parts": [], "by": []} for i in range(len(explanation.references))
            ]
            for reference in (*explanation.covered, *explanation.missed):
                at = int(reference.name[1:]) - 1
                if at < len(references):
                    references[at]["parts"] = references[at]["parts"] or reference.alternatives
                    references[at]["by"].append(
                        {"number": number, "name": system.name, "says": reference.says, "covered": bool(reference.by)}
                    )
        sides.append(side)

    if len(sides) == 2:
        total = sides[-1]["value"] - sides[0]["value"]
    else:
        total = sides[0]["value"] - view.measure.declaration.high

    return {
        "query": query,
        "text": visible(session.text_of(query)),
        "sides": sides,
        "references": references,
        "trouble": trouble,
        "total": total,
        "total_text": signed(total),
        "total_way": way(total, view.better),
        "why": _why(references, systems),
        "neighbours": neighbours(session, view, query),
        "drawing": drawing(explained),
        "sources": in_sources(explained),
    }  # fmt: skip


def _texts(explanation: Explanation, budget: int | None) -> list[dict[str, Any]]:
    """The texts of a system, with a line where the budget of the measure ends."""
    rows: list[dict[str, Any]] = []
    spent = 0
    shown: ShownText
    for shown in explanation.texts:
        tokens = len(words(explanation.retrieved[shown.rank - 1]))
        fits = budget is None or spent + tokens <= budget
        if not fits and rows and not rows[-1]["ends"] and spent <= (budget or 0):
            rows[-1]["ends"] = True
        spent += tokens
        rows.append({"rank": shown.rank, "parts": shown.parts, "covers": shown.covers, "closest": shown.closest,
                     "ends": False, "inside": fits})  # fmt: skip
    return rows


def _why(references: list[dict[str, Any]], systems: list[Any]) -> list[str]:
    """Which references one system covers and the other does not."""
    if not references:
        return ["This question has no reference text."]

    if len(systems) == 1:
        missed = [
            reference["name"] for reference in references if reference["by"] and not reference["by"][0]["covered"]
        ]
        return [f"Not covered: {', '.join(missed)}." if missed else "Every reference is covered."]

    said = []
    for here, there, word in ((0, 1, "lost"), (1, 0, "gained")):
        names = [
            reference["name"]
            for reference in references
            if len(reference["by"]) == 2 and reference["by"][here]["covered"] and not reference["by"][there]["covered"]
        ]
        if names:
            said.append(f"{systems[1].name} {word} {', '.join(names)}.")

    return said or ["Both systems cover the same references; what differs is where."]


ROWS = 12
"""References and texts of each system that have a row in the drawing."""
STEP = 40
"""The height of a row, in the drawing's own units."""
SHORT = 120
STRETCH = 600
"""Characters of a stretch of a source; of a longer one, which is no evidence, its ends are shown."""
MOST_SOURCES = 5
MOST_STRETCHES = 200

Shown = Mapping[str, Any]


def drawing(found: Sequence[Explanation | None]) -> dict[str, Any] | None:
    """References in the middle, texts of A and B beside them; None if there is nothing to connect.

    Rows have one height, so that lines are drawn without measuring; they work without a script and in files.
    """
    known = next((side for side in found if side is not None), None)
    if known is None or not len(known.references) or not any(side and len(side.retrieved) for side in found):
        return None
    references = [_short(" / ".join(reference.texts)) for reference in known.references[:ROWS]]
    sides = [_side(side, number == 0 and len(found) > 1) for number, side in enumerate(found)]
    rows = max([len(references), *(len(side["rows"]) for side in sides)])
    more = max([len(known.references), *(len(side.retrieved) for side in found if side)]) > ROWS
    return {"references": references, "sides": sides, "rows": rows, "height": STEP * rows, "more": more, "most": ROWS}


def _side(explanation: Explanation | None, mirrored: bool) -> dict[str, Any]:
    if explanation is None:
        return {"rows": [], "lines": []}

    lines = []
    columns = min(ROWS, len(explanation.references))
    for column in range(columns):
        for row in range(min(ROWS, len(explanation.retrieved))):
            if explanation.matched[row, column]:
                lines.append(_line(column, row, mirrored, "fl rel upw", f"text {row + 1} covers r{column + 1}"))

    for near in explanation.missed:
        column = int(near.name[1:]) - 1
        if near.closest is not None and column < columns and near.closest[0] <= ROWS:
            rank, why = near.closest
            lines.append(_line(column, rank - 1, mirrored, "fl un", f"text {rank} is near r{column + 1}: {why}"))

    return {"rows": [_short(text) for text in explanation.retrieved[:ROWS]], "lines": lines}


def _line(reference: int, text: int, mirrored: bool, style: str, title: str) -> dict[str, str]:
    """A line from a reference to a text; mirrored where texts are on the left."""
    ends = [STEP * reference + STEP // 2, STEP * text + STEP // 2]
    return {"path": curve(*(ends[::-1] if mirrored else ends)), "style": style, "title": title}


def _short(text: str) -> str:
    shown = visible(text[: 2 * SHORT])
    return shown[:SHORT] + "…" * (len(shown) > SHORT)


def in_sources(found: Sequence[Explanation | None]) -> list[dict[str, Any]]:
    """Sources of evidence, cut wherever evidence or a retrieved text begins or ends."""
    names = dict.fromkeys(source.name for side in found if side is not None for source in side.sources)
    sources = []
    for name in list(names)[:MOST_SOURCES]:
        by_side = [next((s for s in side.sources if s.name == name), None) if side else None for side in found]
        sources.append({"name": ids.show(name, 80), "stretches": _stretches(by_side)})
    return sources


def _stretches(by_side: Sequence[SourcePlaces | None]) -> list[Shown]:
    known = [places for places in by_side if places is not None]
    text = next((places.text for places in known if places.text), "")
    evidence = known[0].evidence
    cuts = {0, len(text)} | {at for _, *ends in evidence for at in ends}
    cuts |= {at for places in known for _, *ends in places.retrieved for at in ends}
    ordered = sorted(cuts)
    stretches: list[Shown] = []
    for low, high in pairwise(ordered):
        of = [name for name, start, end in evidence if start <= low and high <= end]
        ranks = [
            sorted({rank for rank, start, end in places.retrieved if start <= low and high <= end}) if places else []
            for places in by_side
        ]
        stretches.append(
            {
                "evidence": list(dict.fromkeys(of)),
                "ranks": [", ".join(map(str, side)) for side in ranks],
                "text": _cut(text[low:high], bool(of)) if text else f"characters {low:,} to {high:,}",
            }
        )

    return stretches[:MOST_STRETCHES]


def _cut(text: str, whole: bool) -> str:
    if whole or len(text) <= STRETCH:
        return visible(text, keep_lines=True)
    half = STRETCH // 2
    return visible(f"{text[:half]} … {text[-half:]}", keep_lines=True)
