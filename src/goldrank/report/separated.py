"""A table as CSV or TSV, for programs and spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from goldrank.base.escaping import log_line
from goldrank.data.showing import Result
from goldrank.data.table import Cell, Head, Table

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_FORMULA = re.compile(r"\s*[=+@\-＝＋＠－]")
_INNER_FORMULA = re.compile(r"(?<=[,;|])(?=\s*(?:[=@＝＠]|[+\-＋－](?!\d)))")
"""What would begin a cell for a program that splits at another sign than this file does."""
_QUOTED = re.compile(r"[\s,;|\"']")


def escape(text: str) -> str:
    """Text in full that no spreadsheet takes for a formula and no build server for a command.

    A formula gets a quote in front; commands and control characters are shown with escapes.
    """
    shown = _INNER_FORMULA.sub("'", log_line(text, len(text)))
    if _FORMULA.match(shown) and not _NUMBER.fullmatch(shown):
        return "'" + shown
    return shown


def csv(result: Result) -> str:
    """The rows of a result, with commas."""
    return write(rows_table(result.rows()))


def tsv(result: Result) -> str:
    """The rows of a result, with tabs."""
    return write(rows_table(result.rows()), "\t")


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Flat records as a table of exact numbers; empty where there is no value."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    return Table(Head.texts(*heads), [[_cell(row.get(key)) for key in heads] for row in rows])


def _cell(value: Any) -> Cell | str:
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return Cell(str(value), value)
    return str(value)


def write(table: Table, delimiter: str = ",") -> str:
    """Heads and rows; numbers at full precision."""
    lines = [_line((head.text for head in table.heads), delimiter)]
    lines += (_line(row, delimiter) for row in table.cells)
    return "".join(lines)


def _line(cells: Iterable[Cell | str | float], delimiter: str) -> str:
    fields = list(map(_field, cells))
    return (delimiter.join(fields) if fields != [""] else '""') + "\n"  # an empty line is no row to most readers


def _field(cell: Cell | str | float) -> str:
    value = cell.value if isinstance(cell, Cell) else cell
    if isinstance(value, float | int):
        return str(value)
    text = escape(cell.text if isinstance(cell, Cell) else str(cell))
    if _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
