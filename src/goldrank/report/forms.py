"""The usual forms of a result: tables for people and for Markdown, and rows for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrank.data.table import Cell, Head, Part, Table, plain
from goldrank.report import markdown, separated


def writers(parts: Callable[[Any], list[Part]], *forms: str) -> dict[str, Callable[[Any], str]]:
    """How a `Tabular` result that is shown as these parts is written, by form; with `forms` in only these."""
    every: dict[str, Callable[[Any], str]] = {
        "table": lambda result: plain(parts(result)),
        "markdown": lambda result: markdown.write(parts(result)),
        "csv": lambda result: separated.write(rows_table(result.rows())),
        "json": lambda result: str(result.to_json()),
    }
    return {form: every[form] for form in forms or every}


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Flat records as a table of exact numbers; empty where there is no value."""
    return Table(Head.texts(*rows[0]), [list(map(_cell, row.values())) for row in rows])


def _cell(value: Any) -> Cell | str:
    if isinstance(value, int | float):
        return Cell(str(value), value)
    return "" if value is None else str(value)
