"""A file of two columns: the id of a part (a chunk, a turn), and the id of its document."""

from __future__ import annotations

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.types import Path
from goldrank.io.sources import open_source


def read_parts(path: Path) -> dict[str, str]:
    """The document of each part. Tabs, commas or blanks separate the columns."""
    source = open_source(path)
    documents: dict[str, str] = {}
    for number, line in source.filled_lines():
        part, document = _cells(ids.decode(line), Position(source.name, number))
        before = documents.setdefault(part, document)
        if before != document:
            problem = f"'{ids.show(part)}' belongs to '{ids.show(document)}' here and to '{ids.show(before)}' above"
            raise InputError(problem, where=Position(source.name, number), hint="A part has one document.")
    return documents


def _cells(line: str, where: Position) -> list[str]:
    separator = next((sign for sign in "\t," if sign in line), None)
    cells = [cell.strip() for cell in line.split(separator)]
    if len(cells) != 2 or not all(cells):
        hint = "Each line has the id of a part and the id of its document."
        raise InputError(f"found {len(cells)} columns in '{ids.show(line, 80)}', expected 2", where=where, hint=hint)
    return cells
