"""One question: its references, the texts that cover them in both systems, near misses, and where a budget ends; lines
between references and texts, and evidence shown in its source."""

from __future__ import annotations

import math
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
    """The values of the template."""
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
            texts = _texts(explanation, view.measure.option("tokens"))
            side |= {"texts": texts, "summary": explanation.summary, "left_out": explanation.left_out}
            references = references or [
                {"name": f"r{i + 1}", "parts": [], "by": []} for i in range(len(explanation.references))
            ]
            _add_coverage(references, explanation, number, system.name)
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
    }


def _add_coverage(references: list[dict[str, Any]], explanation: Explanation, number: int, name: str) -> None:
    """Add to each reference whether a system covers it."""
    for reference in (*explanation.covered, *explanation.missed):
        index = int(reference.name[1:]) - 1
        if index >= len(references):
            continue
        row = references[index]
        row["parts"] = row["parts"] or reference.alternatives
        row["by"].append({"number": number, "name": name, "says": reference.says, "covered": bool(reference.by)})


def _texts(explanation: Explanation, budget: Any) -> list[dict[str, Any]]:
    """The texts of a system, with a line where the budget of the measure ends; no budget is None or 0."""
    most = math.inf
    if budget:
        most = int(budget)

    rows: list[dict[str, Any]] = []
    spent = 0
    shown: ShownText
    for shown in explanation.texts:
        tokens = len(words(explanation.retrieved[shown.rank - 1]))
        fits = spent + tokens <= most
        if not fits and rows and not rows[-1]["ends"] and spent <= most:
            rows[-1]["ends"] = True
        spent += tokens
        rows.append(
            {
                "rank": shown.rank,
                "parts": shown.parts,
                "covers": shown.covers,
                "closest": shown.closest,
                "ends": False,
                "inside": fits,
            }
        )
    return rows


def _why(references: list[dict[str, Any]], systems: list[Any]) -> list[str]:
    """Which references one system covers and the other does not."""
    if not references:
        return ["This question has no reference text."]

    if len(systems) == 1:
        missed = [
            reference["name"] for reference in references if reference["by"] and not reference["by"][0]["covered"]
        ]
        if missed:
            return [f"Not covered: {', '.join(missed)}."]
        return ["Every reference is covered."]

    lost, gained = [], []
    for reference in references:
        if len(reference["by"]) != 2:
            continue
        covered_before, covered_now = reference["by"][0]["covered"], reference["by"][1]["covered"]
        if covered_before and not covered_now:
            lost.append(reference["name"])
        if covered_now and not covered_before:
            gained.append(reference["name"])

    sentences = []
    for word, names in (("lost", lost), ("gained", gained)):
        if names:
            sentences.append(f"{systems[1].name} {word} {', '.join(names)}.")
    return sentences or ["Both systems cover the same references; what differs is where."]


ROWS = 12
"""References and texts of each system that have a row in the drawing."""
STEP = 40
"""The height of a row, in the drawing's own units."""
SHORT = 120
STRETCH = 600
"""Characters of a stretch of a source; of a longer one that is not evidence, only its ends are shown."""
MOST_SOURCES = 5
MOST_STRETCHES = 200

Shown = Mapping[str, Any]


def drawing(explanations: Sequence[Explanation | None]) -> dict[str, Any] | None:
    """References in the middle, texts of A and B beside them; None if there is nothing to connect.

    Rows have one height, so that lines are drawn without measuring; they work without a script and in files.
    """
    known = next((side for side in explanations if side is not None), None)
    if known is None or not len(known.references) or not any(side and len(side.retrieved) for side in explanations):
        return None

    references = [_short(" / ".join(reference.texts)) for reference in known.references[:ROWS]]
    sides = [_side(side, number == 0 and len(explanations) > 1) for number, side in enumerate(explanations)]
    rows = max([len(references), *(len(side["rows"]) for side in sides)])
    more = max([len(known.references), *(len(side.retrieved) for side in explanations if side)]) > ROWS
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
    left, right = STEP * reference + STEP // 2, STEP * text + STEP // 2
    if mirrored:
        left, right = right, left
    return {"path": curve(left, right), "style": style, "title": title}


def _short(text: str) -> str:
    shown = visible(text[: 2 * SHORT])
    if len(shown) > SHORT:
        return shown[:SHORT] + "…"
    return shown


def in_sources(explanations: Sequence[Explanation | None]) -> list[dict[str, Any]]:
    """Sources of evidence, cut wherever evidence or a retrieved text begins or ends."""
    names = dict.fromkeys(source.name for side in explanations if side is not None for source in side.sources)
    sources = []
    for name in list(names)[:MOST_SOURCES]:
        by_side = [_source(explanation, name) for explanation in explanations]
        sources.append({"name": ids.show(name, 80), "stretches": _stretches(by_side)})
    return sources


def _source(explanation: Explanation | None, name: str) -> SourcePlaces | None:
    if explanation is None:
        return None
    return next((source for source in explanation.sources if source.name == name), None)


def _stretches(by_side: Sequence[SourcePlaces | None]) -> list[Shown]:
    known = [source for source in by_side if source is not None]
    text = next((source.text for source in known if source.text), "")
    evidence = known[0].evidence
    cuts = {0, len(text)}
    for _, start, end in evidence:
        cuts |= {start, end}
    for source in known:
        for _, start, end in source.retrieved:
            cuts |= {start, end}

    stretches: list[Shown] = []
    for low, high in pairwise(sorted(cuts)):
        names = [name for name, start, end in evidence if start <= low and high <= end]
        stretch_text = f"characters {low:,} to {high:,}"
        if text:
            stretch_text = _cut(text[low:high], bool(names))
        stretches.append(
            {
                "evidence": list(dict.fromkeys(names)),
                "ranks": [_ranks_text(source, low, high) for source in by_side],
                "text": stretch_text,
            }
        )

    return stretches[:MOST_STRETCHES]


def _ranks_text(source: SourcePlaces | None, low: int, high: int) -> str:
    """The ranks of the retrieved texts that contain a stretch of a source."""
    if source is None:
        return ""
    ranks = {rank for rank, start, end in source.retrieved if start <= low and high <= end}
    return ", ".join(map(str, sorted(ranks)))


def _cut(text: str, is_evidence: bool) -> str:
    if is_evidence or len(text) <= STRETCH:
        return visible(text, keep_lines=True)
    half = STRETCH // 2
    return visible(f"{text[:half]} … {text[-half:]}", keep_lines=True)
