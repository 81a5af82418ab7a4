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
"""The beginning of a cell for a program that splits at another sign than this file."""
_QUOTED = re.compile(r"[\s,;|\"']")


def escape(text: str) -> str:
    """Text in full that no spreadsheet takes for a formula and no build server for a command.

    A formula gets a quote in front; commands and control characters are shown with escapes.
    """
    escaped = _INNER_FORMULA.sub("'", log_line(text, len(text)))
    if _FORMULA.match(escaped) and not _NUMBER.fullmatch(escaped):
        return "'" + escaped
    return escaped


def csv(result: Result) -> str:
    """The rows of a result, with commas."""
    return write(rows_table(result.rows()))


def tsv(result: Result) -> str:
    """The rows of a result, with tabs."""
    return write(rows_table(result.rows()), "\t")


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Flat records as a table of exact numbers; empty where there is no value."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    cells = []
    for row in rows:
        cells.append([_cell(row.get(key)) for key in heads])
    return Table(Head.texts(*heads), cells)


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
    if fields == [""]:
        return '""\n'  # most readers skip an empty line
    return delimiter.join(fields) + "\n"


def _field(cell: Cell | str | float) -> str:
    value: object = cell
    text = str(cell)
    if isinstance(cell, Cell):
        value, text = cell.value, cell.text
    if isinstance(value, float | int):
        return str(value)

    text = escape(text)
    if _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
