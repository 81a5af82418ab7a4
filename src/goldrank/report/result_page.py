"""A result as a page: its sentences, tables and charts. Kinds of results with more to show have their own pages."""

from __future__ import annotations

from goldrank.data.showing import Result
from goldrank.data.table import html
from goldrank.report.html import page


def render(result: Result) -> str:
    """One file for any browser, which loads nothing else and needs no script."""
    return page(result.title, html(result.parts()), result.signatures)
