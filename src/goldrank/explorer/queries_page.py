"""The list of queries: sorted by loss or gain, searched and filtered; each state has its own address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from goldrank.comparison import rank_changes
from goldrank.data.table import Cell, Cells, Head, Table
from goldrank.explorer.addresses import positive_number
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
"""Causes of `rank_changes` in words for people; other causes stay as they are."""
NOTED = {
    "missing-queries": "Missing in a run",
    "empty-rankings": "Empty ranking",
    "no-relevant": "Nothing relevant judged",
    "tied-documents": "Tied scores",
}
"""Codes of notes that are about single queries, in words."""
TEXT = 160


def rows(session: Session, view: View, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """The rows of some queries in the list."""
    deltas = session.deltas(view)
    most = float(np.nanmax(np.abs(deltas), initial=0.0)) or 1.0
    k = cutoff(view.name)
    unjudged = session.unjudged(view, k)
    happened = _happened(session, view, numbers, k)
    retrieved = session.retrieved(view)

    listed = []
    for number in numbers:
        query, delta = session.queries[number], float(deltas[number])
        text = visible(session.text_of(query))
        if len(text) > TEXT:
            text = text[:TEXT] + "…"
        b_value, unjudged_text = None, ""
        if view.b:
            b_value = value(view.b.values[view.name][number])
        if session.has_rankings:
            unjudged_text = f"{unjudged[number]} of {min(k, int(retrieved[number]))}"
        listed.append(
            {
                "query": query,
                "text": text or visible(query)[:TEXT],
                "a": value(view.a.values[view.name][number]),
                "b": b_value,
                "delta": signed(delta),
                "way": way(delta, view.better),
                "bar": bar(delta, most, view.better),
                "happened": happened.get(query, ""),
                "unjudged": unjudged_text,
            }
        )

    return listed


def bar(delta: float, most: float, better: float) -> dict[str, Any]:
    """A bar to the left or right of the middle."""
    if np.isnan(delta):
        return {"x": 0, "width": 0, "class": "fe"}
    size = round(abs(delta) / most * (BAR / 2 - 2), 1)
    x = BAR / 2
    if delta < 0:
        x -= size
    return {"x": round(x, 1), "width": size, "class": {"up": "fu", "down": "fd", "": "fe"}[way(delta, better)]}


def _happened(session: Session, view: View, numbers: Sequence[int], k: int) -> dict[str, str]:
    """For some queries, what happened to most of the relevant documents that explain the query's change."""
    if view.b is None or not numbers or not session.has_rankings:
        return {}
    queries = {session.queries[number] for number in numbers}
    ranks = rank_changes.locate([session.placed(view.a), session.placed(view.b)], queries)
    values: list[dict[str, float]] = []
    for system in (view.a, view.b):
        values.append({query: float(system.values[view.name][session.numbers[query]]) for query in queries})
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
        passing |= masks.get("note:missing-queries", passing)  # this filter shows queries without a value

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
        keys = deltas[numbers]
        if sort == "gain":
            keys = -keys
        numbers = numbers[np.argsort(keys, kind="stable")]

    return numbers.tolist(), counts


def _searched(session: Session, text: str) -> np.ndarray:
    """Queries whose text or id has all words."""
    words = text.casefold().split()
    has_words = np.ones(len(session.queries), bool)
    if not words:
        return has_words
    for i, query in enumerate(session.queries):
        searched = f"{session.text_of(query)} {query}".casefold()
        has_words[i] = all(word in searched for word in words)
    return has_words


def in_slice(session: Session, spelling: str) -> np.ndarray:
    """Which queries are in a slice 'attribute:value'; all without one. An unknown slice has no query."""
    if not spelling:
        return np.ones(len(session.queries), bool)
    attribute, _, value_ = spelling.partition(":")
    groups = session.groups.get(attribute, {})
    return groups.get(value_, np.zeros(len(session.queries), bool))


def page(session: Session, view: View, params: dict[str, str], link: Any) -> dict[str, Any]:
    """The values of the template."""
    numbers, counts = selected(session, view, params)
    per_page = PER_PAGE
    if params.get("all"):
        per_page = max(1, len(numbers))
    last = max(1, -(-len(numbers) // per_page))
    number = min(positive_number(params, "page"), last)
    state = {name: params.get(name) or None for name in ("sort", "show", "unjudged", "empty", "note", "slice", "q")}

    def to(**changed: Any) -> str:
        return str(link("/queries", **{**state, **changed}))

    shows = [ListFilter("All", to(show=None), not state["show"], counts["all"])]
    shows += [ListFilter(name.capitalize(), to(show=name), state["show"] == name, counts[name]) for name in SHOWS]

    switches = []
    for name, words in (("unjudged", "Unjudged in the first ranks"), ("empty", "No result")):
        is_on = bool(state[name])
        switches.append(ListFilter(words, to(**{name: _other_state(1, is_on)}), is_on, counts[name]))
    for code, words in NOTED.items():
        if f"note:{code}" in counts:
            is_on = state["note"] == code
            switches.append(ListFilter(words, to(note=_other_state(code, is_on)), is_on, counts[f"note:{code}"]))

    groups = []
    for attribute, parts in session.groups.items():
        for name, mask in parts.items():
            spelling = f"{attribute}:{name}"
            is_on = state["slice"] == spelling
            groups.append(ListFilter(f"{attribute}: {name}", to(slice=spelling), is_on, int(mask.sum())))

    sort = state["sort"] or "loss"
    sorts = []
    for name, words in SORTS.items():
        sorts.append((words, to(sort=_other_state(name, name == "loss")), sort == name))

    before, after, all_slices, clear = None, None, None, None
    if number > 1:
        before = to(page=_other_state(number - 1, number == 2))
    if number < last:
        after = to(page=number + 1)
    if state["slice"]:
        all_slices = to(slice=None)
    if any(state.values()):
        clear = str(link("/queries"))

    return {
        "rows": rows(session, view, numbers[(number - 1) * per_page : number * per_page]),
        "count": len(numbers),
        "whole": len(session.queries),
        "first": (number - 1) * per_page + 1,
        "last": min(number * per_page, len(numbers)),
        "shows": shows,
        "switches": switches,
        "groups": groups[:24],
        "all_slices": all_slices,
        "sorts": sorts,
        "search": state["q"] or "",
        "search_kept": [(name, text) for name, text in state.items() if text and name != "q"],
        "before": before,
        "after": after,
        "clear": clear,
    }


class ListFilter(NamedTuple):
    """A filter of the list."""

    words: str
    href: str
    is_on: bool
    queries: int
    """How many queries it would leave."""


def _other_state(value: str | int, is_usual: bool) -> str | int | None:
    """A value for an address, which leaves out what is usual or is switched off."""
    if is_usual:
        return None
    return value


def table(session: Session, view: View, params: dict[str, str]) -> Table:
    """The list as a table, all pages of it: for CSV, Markdown and LaTeX."""
    numbers, _ = selected(session, view, params)
    delta_name = "below the ideal"
    if view.b:
        delta_name = "B − A"
    names = [system.name for system in view.systems]
    columns = [*Head.names("query"), *Head.texts("text"), *Head.numbers(*names, delta_name)]

    deltas = session.deltas(view)
    listed: list[Cells] = []
    for number in numbers:
        values = [float(system.values[view.name][number]) for system in view.systems]
        query, delta = session.queries[number], float(deltas[number])
        listed.append([query, session.text_of(query), *values, Cell(f"{delta:+.4f}", delta)])
    return Table(columns, listed, f"{view.name} by query")
