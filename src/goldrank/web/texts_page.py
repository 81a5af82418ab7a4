"""One question: its references, the texts that cover them in both systems, near misses, and where a budget ends; lines
between references and texts, and evidence shown in its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from goldrank import ids
from goldrank.data.explanation import Explanation, ShownText, SourcePlaces
from goldrank.errors import GoldrankError
from goldrank.match.tokens import words
from goldrank.web.ladder import curve
from goldrank.web.numbers import signed, way
from goldrank.web.query_page import neighbours
from goldrank.web.session import Session, View
from goldrank.web.snippets import visible


def values(session: Session, view: View, query: str) -> dict[str, Any]:
    """What the template shows."""
    systems = view.systems
    sides: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    trouble = ""
    explained: list[Explanation | None] = []
    for number, system in enumerate(systems):
        found: Explanation | None = None
        try:
            found = system.scores.explain(query)  # type: ignore[attr-defined]
        except (GoldrankError, KeyError) as error:
            trouble = str(error).partition("\n")[0]
        explained.append(found)
        value = float(system.values[view.name][session.numbers[query]])
        side = {"name": system.name, "number": number, "value": value, "texts": [], "summary": "", "left_out": ""}
        if found is not None:
            budget = view.measure.option("tokens")
            side |= {
                "texts": _texts(found, int(budget) if budget else None),
                "summary": found.summary,
                "left_out": found.left_out,
            }
            references = references or [
                {"name": f"r{i + 1}", "parts": [], "by": []} for i in range(len(found.references))
            ]
            for one in (*found.covered, *found.missed):
                at = int(one.name[1:]) - 1
                if at < len(references):
                    references[at]["parts"] = references[at]["parts"] or one.alternatives
                    references[at]["by"].append(
                        {"number": number, "name": system.name, "says": one.says, "covered": bool(one.by)}
                    )
        sides.append(side)
    total = (
        sides[-1]["value"] - sides[0]["value"] if len(sides) == 2 else sides[0]["value"] - view.measure.declaration.high
    )
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


def _texts(found: Explanation, budget: int | None) -> list[dict[str, Any]]:
    """The texts of a system, with a line where the budget of the measure ends."""
    made: list[dict[str, Any]] = []
    spent = 0
    one: ShownText
    for one in found.texts:
        tokens = len(words(found.retrieved[one.rank - 1]))
        fits = budget is None or spent + tokens <= budget
        if not fits and made and not made[-1]["ends"] and spent <= (budget or 0):
            made[-1]["ends"] = True
        spent += tokens
        made.append({"rank": one.rank, "parts": one.parts, "covers": one.covers, "closest": one.closest,
                     "ends": False, "inside": fits})  # fmt: skip
    return made


def _why(references: list[dict[str, Any]], systems: list[Any]) -> list[str]:
    """Which references one system covers and the other does not."""
    if not references:
        return ["This question has no reference text."]
    if len(systems) == 1:
        missed = [one["name"] for one in references if one["by"] and not one["by"][0]["covered"]]
        return [f"Not covered: {', '.join(missed)}." if missed else "Every reference is covered."]
    said = []
    for here, there, word in ((0, 1, "lost"), (1, 0, "gained")):
        names = [
            one["name"]
            for one in references
            if len(one["by"]) == 2 and one["by"][here]["covered"] and not one["by"][there]["covered"]
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
    known = next((one for one in found if one is not None), None)
    if known is None or not len(known.references) or not any(one and len(one.retrieved) for one in found):
        return None
    references = [_short(" / ".join(one.texts)) for one in known.references[:ROWS]]
    sides = [_side(one, number == 0 and len(found) > 1) for number, one in enumerate(found)]
    rows = max([len(references), *(len(side["rows"]) for side in sides)])
    more = max([len(known.references), *(len(one.retrieved) for one in found if one)]) > ROWS
    return {"references": references, "sides": sides, "rows": rows, "height": STEP * rows, "more": more, "most": ROWS}


def _side(one: Explanation | None, mirrored: bool) -> dict[str, Any]:
    if one is None:
        return {"rows": [], "lines": []}
    lines = []
    columns = min(ROWS, len(one.references))
    for column in range(columns):
        for row in range(min(ROWS, len(one.retrieved))):
            if one.matched[row, column]:
                lines.append(_line(column, row, mirrored, "fl rel upw", f"text {row + 1} covers r{column + 1}"))
    for near in one.missed:
        column = int(near.name[1:]) - 1
        if near.closest is not None and column < columns and near.closest[0] <= ROWS:
            rank, why = near.closest
            lines.append(_line(column, rank - 1, mirrored, "fl un", f"text {rank} is near r{column + 1}: {why}"))
    return {"rows": [_short(text) for text in one.retrieved[:ROWS]], "lines": lines}


def _line(reference: int, text: int, mirrored: bool, style: str, title: str) -> dict[str, str]:
    """A line from a reference to a text; mirrored where texts are on the left."""
    ends = [STEP * reference + STEP // 2, STEP * text + STEP // 2]
    return {"path": curve(*(ends[::-1] if mirrored else ends)), "style": style, "title": title}


def _short(text: str) -> str:
    shown = visible(text[: 2 * SHORT])
    return shown[:SHORT] + "…" * (len(shown) > SHORT)


def in_sources(found: Sequence[Explanation | None]) -> list[dict[str, Any]]:
    """Sources of evidence, cut wherever evidence or a retrieved text begins or ends."""
    names = dict.fromkeys(source.name for one in found if one is not None for source in one.sources)
    made = []
    for name in list(names)[:MOST_SOURCES]:
        by_side = [next((s for s in one.sources if s.name == name), None) if one else None for one in found]
        made.append({"name": ids.show(name, 80), "stretches": _stretches(by_side)})
    return made


def _stretches(by_side: Sequence[SourcePlaces | None]) -> list[Shown]:
    known = [one for one in by_side if one is not None]
    text = next((one.text for one in known if one.text), "")
    evidence = known[0].evidence
    cuts = {0, len(text)} | {at for _, *ends in evidence for at in ends}
    cuts |= {at for one in known for _, *ends in one.retrieved for at in ends}
    ordered = sorted(cuts)
    made: list[Shown] = []
    for low, high in pairwise(ordered):
        of = [name for name, start, end in evidence if start <= low and high <= end]
        ranks = [
            sorted({rank for rank, start, end in one.retrieved if start <= low and high <= end}) if one else []
            for one in by_side
        ]
        made.append(
            {
                "evidence": list(dict.fromkeys(of)),
                "ranks": [", ".join(map(str, some)) for some in ranks],
                "text": _cut(text[low:high], bool(of)) if text else f"characters {low:,} to {high:,}",
            }
        )
    return made[:MOST_STRETCHES]


def _cut(text: str, whole: bool) -> str:
    if whole or len(text) <= STRETCH:
        return visible(text, keep_lines=True)
    half = STRETCH // 2
    return visible(f"{text[:half]} … {text[-half:]}", keep_lines=True)
