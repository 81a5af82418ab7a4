"""Take away: the content of a page as CSV, Markdown, LaTeX or SVG, by the writers of reports."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING

from goldrank.base import ids
from goldrank.base.errors import InputError
from goldrank.data.table import Cell, Cells, Head, Part, Sentence, Table
from goldrank.explorer import overview_page, queries_page, query_page
from goldrank.explorer.sides import Side
from goldrank.report import charts, latex, markdown, separated
from goldrank.report import comparison as comparison_report

if TYPE_CHECKING:
    from goldrank.explorer.app import Explorer
    from goldrank.explorer.session import Session, View

OF = ("overview", "queries", "query")
KINDS = {"csv": "text/csv", "md": "text/markdown", "tex": "application/x-tex", "svg": "image/svg+xml"}


def written(explorer: Explorer, form: str, params: Mapping[str, str]) -> tuple[str, str]:
    """The text of a file and its type. The parameter `of` is overview, queries or query."""
    if form not in KINDS:
        raise InputError(f"there is no form {ids.show(form)}", hint=f"There are: {', '.join(KINDS)}.")

    session, view = explorer.session, explorer.view(params)
    subject = params.get("of") or "overview"
    if subject not in OF:
        raise InputError(f"there is no {ids.show(subject)} to take", hint=f"There are: {', '.join(OF)}.")

    if form == "svg":
        if subject != "overview":
            raise InputError(f"there is no drawing of {subject}", hint="The overview has one.")
        return _drawing(session, view), KINDS[form]

    if subject == "queries":
        parts: list[Part] = [queries_page.table(session, view, dict(params))]
    elif subject == "query":
        parts = _query(session, view, explorer.find_query(params.get("id", "")))
    else:
        parts = _overview(session, view)

    if form == "md":
        return markdown.write(parts), f"{KINDS[form]}; charset=utf-8"

    table = next(part for part in parts if isinstance(part, Table))
    if form == "csv":
        return separated.write(table), f"{KINDS[form]}; charset=utf-8"
    return latex.write([table]), f"{KINDS[form]}; charset=utf-8"


def _drawing(session: Session, view: View) -> str:
    pair = overview_page.pair_of(session.verdicts.get(None), view)
    if pair is None:
        raise InputError("there is no drawing of one system", hint="Choose two that were compared.")
    values = {system.name: system.values[view.name] for system in session.systems}
    return charts.scatter(pair, values[pair.a], values[pair.b]).alone()


def _overview(session: Session, view: View) -> list[Part]:
    comparison = session.verdicts.get(None)
    if comparison is None:
        rows: list[Cells] = []
        for system in session.systems:
            rows.append([system.name, *(system.mean(measure) for measure in session.measures)])
        return [Table([*Head.names("system"), *Head.numbers(*map(str, session.measures))], rows)]
    return [*comparison_report.parts(comparison)]


def _query(session: Session, view: View, query: str) -> list[Part]:
    """The sentences of the page and both rankings as one table."""
    shown = query_page.values(session, view, query)
    left, right = shown["left"], shown["right"]
    heading = (
        f"{shown['text'] or query} ({query}): {view.name} {left.name} {left.value:.4f}, {right.name} {right.value:.4f}"
    )
    sentences = []
    for words in shown["why"].sentences:
        sentences.append(Sentence("".join(part.text for part in words), "remark"))

    rows: list[Cells] = []
    for i, pair in enumerate(zip_longest(shown["left_rows"], shown["right_rows"]), 1):
        cells: list[Cell | str] = [str(i)]
        for row in pair:
            if row is None:
                cells += ["", "", ""]
            else:
                cells += [row["doc"], row["grade"], row["piece"] or row["move"]]
        rows.append(cells)

    columns = [*Head.texts("rank")]
    side: Side
    for side in (left, right):
        columns += [*Head.names(side.name), *Head.texts("grade", "adds")]

    return [Sentence(heading, "strong"), *sentences, Table(columns, rows)]
