"""Anything -> what a person reads.

A file per thing that is shown makes parts (`goldrank.data.table`) of it; a file per form writes parts: `terminal`,
`markdown`, `separated` (CSV, TSV), `latex`, `html`; plain text is written by `goldrank.data.table.plain`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank.errors import of_type, one_of

if TYPE_CHECKING:
    from goldrank.comparison.result import Comparison

FORMS = {
    "text": "a table for the terminal",
    "markdown": "tables for a pull request or a wiki",
    "latex": "a booktabs table for a paper",
    "csv": "one line per measure and pair",
    "json": "everything but the single queries' values",
    "html": "one file with charts and an explorer of queries, for any browser, offline",
}

ENDINGS = {".txt": "text", ".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json", ".html": "html"}

WIDTH = 120
"""Where sentences of plain text are wrapped."""


def render(comparison: Comparison, form: str) -> str:
    """A comparison in one of the `FORMS`."""
    from goldrank.comparison.result import Comparison

    one_of(form, FORMS, "form")
    of_type(comparison, Comparison, "comparison", "what `compare` returns")
    if form == "json":
        return comparison.to_json() + "\n"
    if form == "html":
        from goldrank.report import comparison_page

        return comparison_page.render(comparison)
    from goldrank.data.table import Table, plain
    from goldrank.report import latex, markdown, separated
    from goldrank.report.comparison import pairs_table, paper_systems, parts

    if form == "csv":
        return separated.write(pairs_table(comparison))
    if form == "text":
        return plain(parts(comparison), WIDTH) + "\n"
    # Pages are narrower than terminals.
    left_out = ("p",) if form == "markdown" else ("p", "verdict")
    narrow = [b.without(*left_out) if isinstance(b, Table) else b for b in parts(comparison, whole=True)]
    if form == "markdown":
        return markdown.write(narrow)
    return latex.write([paper_systems(comparison), *narrow[1:]])


__all__ = ["ENDINGS", "FORMS", "render"]
