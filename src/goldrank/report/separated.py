"""A table as CSV or TSV, for programs and spreadsheets."""

from __future__ import annotations

import csv
import io
import re

from goldrank import ids
from goldrank.data.table import Cell, Table

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_COMMAND = re.compile(r"[=+@-]|\s*::")


def escape(text: str) -> str:
    """Text in full that no spreadsheet takes for a formula and no build server for a command.

    Such text gets a quote in front; control characters are shown as escapes.
    """
    shown = ids.show(text, len(text))
    return "'" + shown if _COMMAND.match(shown) and not _NUMBER.fullmatch(shown) else shown


def write(table: Table, delimiter: str = ",") -> str:
    """Heads and rows; numbers at full precision."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow([escape(head.text) for head in table.heads])
    writer.writerows([cell if isinstance(cell, float) else _field(cell) for cell in row] for row in table.cells)
    return file.getvalue()


def _field(cell: Cell | str) -> str | float:
    if isinstance(cell, Cell) and cell.value is not None:
        return cell.value
    return escape(cell if isinstance(cell, str) else cell.text)
