"""One question: its references, the texts that cover them in both systems, near misses, and where a budget ends."""

from __future__ import annotations

from typing import Any

from goldrank.data.explanation import Explanation, ShownText
from goldrank.errors import GoldrankError
from goldrank.match.tokens import words
from goldrank.web import coverage
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
        "drawing": coverage.drawing(explained),
        "sources": coverage.in_sources(explained),
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
