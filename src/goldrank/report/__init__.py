"""Anything -> what a person reads. One file per form; each takes a `Comparison` and returns text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldrank.errors import one_of

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


def render(comparison: Comparison, form: str) -> str:
    """A comparison in one of the `FORMS`."""
    one_of(form, FORMS, "form")
    if form == "json":
        return comparison.to_json() + "\n"
    from goldrank.report import csv, html, latex, markdown, terminal

    forms = {
        "text": terminal.render,
        "markdown": markdown.render,
        "latex": latex.render,
        "csv": csv.render,
        "html": html.render,
    }
    return forms[form](comparison)


__all__ = ["ENDINGS", "FORMS", "render"]
