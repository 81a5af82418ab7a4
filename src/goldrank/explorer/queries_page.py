"""The list of queries: sorted by loss or gain, searched and filtered; each state has its own address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from goldrank.comparison import rank_changes
from goldrank.data.table import Cell, Cells, Head, Table
from goldrank.explorer.addresses import whole
from goldrank.explorer.page_numbers import signed, value, way
from goldrank.explorer.session import Session, View
from goldrank.explorer.snippets import visible
from goldrank.report.comparison_queries import cutoff

PER_PAGE = 50
BAR = 96
SORTS = {"loss": "largest loss first", "gain": "largest gain first", "id": "by id"}
SHOWS = ("worse", "equal", "better")
HAPPENED = {
    "lost": "lost from the ranking",
    "pushed out": "pushed below the cut-off",
    "intruder": "fell below unjudged",
    "found": "newly found",
    "pulled in": "raised above the cut-off",
}
"""What `rank_changes` calls it, in words for people; other causes are as they are."""
NOTED = {
    "missing-queries": "Missing in a run",
    "empty-rankings": "Empty ranking",
    "no-relevant": "Nothing relevant judged",
    "tied-documents": "Tied scores",
}
"""Codes of notes that are about single queries, in words."""
TEXT = 160


def rows(session: Session, view: View, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """What the list shows of some queries."""
    deltas = session.deltas(view)
    most = float(np.nanmax(np.abs(deltas), initial=0.0)) or 1.0
    k = cutoff(view.name)
    unjudged = session.unjudged(view, k)
    happened = _happened(session, view, numbers, k)
    retrieved = session.retrieved(view)
    made = []
    for number in numbers:
        query, delta = session.queries[number], float(deltas[number])
        text = visible(session.text_of(query))
        made.append(
            {
                "query": query,
                "text": (text if len(text) <= TEXT else text[:TEXT] + "…") or visible(query)[:TEXT],
                "a": value(view.a.values[view.name][number]),
                "b": value(view.b.values[view.name][number]) if view.b else None,
                "delta": signed(delta),
                "way": way(delta, view.better),
                "bar": bar(delta, most, view.better),
                "happened": happened.get(query, ""),
                "unjudged": f"{unjudged[number]} of {min(k, int(retrieved[number]))}" if session.has_rankings else "",
            }
        )

    return made


def bar(delta: float, most: float, better: float) -> dict[str, Any]:
    """A bar to the left or right of the middle."""
    if np.isnan(delta):
        return {"x": 0, "width": 0, "class": "fe"}
    size = round(abs(delta) / most * (BAR / 2 - 2), 1)
    return {"x": round(BAR / 2 - (size if delta < 0 else 0), 1), "width": size,
            "class": {"up": "fu", "down": "fd", "": "fe"}[way(delta, better)]}  # fmt: skip


def _happened(session: Session, view: View, numbers: Sequence[int], k: int) -> dict[str, str]:
    """For some queries what happened to most of the relevant documents that went the query's way."""
    if view.b is None or not numbers or not session.has_rankings:
        return {}
    queries = {session.queries[number] for number in numbers}
    ranks = rank_changes.locate([session.placed(view.a), session.placed(view.b)], queries)
    values = [
        {query: float(system.values[view.name][session.numbers[query]]) for query in queries}
        for system in (view.a, view.b)
    ]
    described = rank_changes.describe(ranks, 0, 1, (view.a.name, view.b.name), view.name, k, values)
    return {change.query: HAPPENED.get(change.cause, change.cause) for change in described.changes}


def selected(session: Session, view: View, params: dict[str, str]) -> tuple[list[int], dict[str, int]]:
    """The numbers of the queries that pass the filters, in order; and how many each filter would leave."""
    deltas = session.deltas(view) * view.better
    known = ~np.isnan(deltas)
    retrieved = session.retrieved(view)
    masks = {
        "worse": known & (deltas < -5e-5),
        "equal": known & (np.abs(deltas) <= 5e-5),
        "better": known & (deltas > 5e-5),
        "unjudged": session.unjudged(view, cutoff(view.name)) > 0,
        "empty": retrieved == 0,
    }
    masks |= {f"note:{code}": mask for code, mask in session.noted(view).items()}
    passing = known.copy()
    note = params.get("note", "")
    if note == "missing-queries":
        passing |= masks.get("note:missing-queries", passing)  # they have no value, and are asked for

    passing &= _searched(session, params.get("q", "")) & in_slice(session, params.get("slice", ""))
    counts = {name: int((passing & mask).sum()) for name, mask in masks.items()} | {"all": int(passing.sum())}
    if params.get("show") in SHOWS:
        passing &= masks[params["show"]]

    for name in ("unjudged", "empty"):
        if params.get(name):
            passing &= masks[name]

    if note:
        passing &= masks.get(f"note:{note}", np.zeros(len(passing), bool))

    numbers = np.flatnonzero(passing)
    sort = params.get("sort", "loss")
    if sort != "id":
        if sort != "gain":
            keys = deltas[numbers]
        else:
            keys = -deltas[numbers]
        numbers = numbers[np.argsort(keys, kind="stable")]

    return numbers.tolist(), counts


def _searched(session: Session, text: str) -> np.ndarray:
    """Queries whose text or id has all words."""
    words = text.casefold().split()
    has_words = np.ones(len(session.queries), bool)
    for i, query in enumerate(session.queries if words else ()):
        where = f"{session.text_of(query)} {query}".casefold()
        has_words[i] = all(word in where for word in words)
    return has_words


def in_slice(session: Session, given: str) -> np.ndarray:
    """Which queries are in a slice 'attribute:value'; all without one. An unknown slice has no query."""
    if not given:
        return np.ones(len(session.queries), bool)
    attribute, _, value_ = given.partition(":")
    groups = session.groups.get(attribute, {})
    return groups.get(value_, np.zeros(len(session.queries), bool))


def page(session: Session, view: View, params: dict[str, str], link: Any) -> dict[str, Any]:
    """What the template shows."""
    numbers, counts = selected(session, view, params)
    if params.get("all"):
        per_page = max(1, len(numbers))
    else:
        per_page = PER_PAGE
    last = max(1, -(-len(numbers) // per_page))
    number = min(whole(params, "page"), last)
    state = {name: params.get(name) or None for name in ("sort", "show", "unjudged", "empty", "note", "slice", "q")}

    def to(**changed: Any) -> str:
        return str(link("/queries", **{**state, **changed}))

    shows = [("All", to(show=None), not state["show"], counts["all"])]
    shows += [(name.capitalize(), to(show=name), state["show"] == name, counts[name]) for name in SHOWS]
    switches = [
        (words, to(**{name: None if state[name] else 1}), bool(state[name]), counts[name])
        for name, words in (("unjudged", "Unjudged in the first ranks"), ("empty", "No result"))
    ]
    switches += [
        (words, to(note=None if state["note"] == code else code), state["note"] == code, counts[f"note:{code}"])
        for code, words in NOTED.items()
        if f"note:{code}" in counts
    ]
    groups = [
        (
            f"{attribute}: {name}",
            to(slice=f"{attribute}:{name}"),
            state["slice"] == f"{attribute}:{name}",
            int(mask.sum()),
        )
        for attribute, parts in session.groups.items()
        for name, mask in parts.items()
    ]
    sort = state["sort"] or "loss"

    before = None
    if number > 1:
        before = to(page=number - 1 if number > 2 else None)

    return {
        "rows": rows(session, view, numbers[(number - 1) * per_page : number * per_page]),
        "count": len(numbers),
        "whole": len(session.queries),
        "first": (number - 1) * per_page + 1,
        "last": min(number * per_page, len(numbers)),
        "shows": shows,
        "switches": switches,
        "groups": groups[:24],
        "all_slices": to(slice=None) if state["slice"] else None,
        "sorts": [(words, to(sort=None if name == "loss" else name), sort == name) for name, words in SORTS.items()],
        "search": state["q"] or "",
        "search_kept": [(name, text) for name, text in state.items() if text and name != "q"],
        "before": before,
        "after": to(page=number + 1) if number < last else None,
        "clear": str(link("/queries")) if any(state.values()) else None,
    }


def table(session: Session, view: View, params: dict[str, str]) -> Table:
    """The same list as a table, all pages of it: for CSV, Markdown and LaTeX."""
    numbers, _ = selected(session, view, params)
    names = [view.a.name, *([view.b.name] if view.b else [])]
    heads = [*Head.names("query"), *Head.texts("text"), *Head.numbers(*names, "B − A" if view.b else "below the ideal")]
    deltas = session.deltas(view)
    made: list[Cells] = []
    for number in numbers:
        values = [float(s.values[view.name][number]) for s in (view.a, view.b) if s is not None]
        query, delta = session.queries[number], float(deltas[number])
        made.append([query, session.text_of(query), *values, Cell(f"{delta:+.4f}", delta)])
    return Table(heads, made, f"{view.name} by query")
