"""TREC text that says more of a document than one grade: by aspect, by judge, or as preferences.

Lines are `query aspect doc grade` (qrels with subtopics or judges in the second column), `query judge doc
level` (qrels read as preferences) or `query judge list doc level` (preferences).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from goldrank import ids, notes
from goldrank.data.aspects import AspectQrels
from goldrank.data.preferences import Preferences
from goldrank.errors import InputError, Place
from goldrank.io import trec
from goldrank.io.formats import Reading
from goldrank.io.sources import ByteSource
from goldrank.notes import Note


def read_aspects(source: ByteSource, how: Reading) -> AspectQrels:
    """Qrels whose second column is an aspect: a subtopic or a judge."""
    rows, where, noticed = _rows(source, ("query", "aspect", "doc", "grade"))
    queries, aspects, docs, texts = rows
    grades = [trec.grade(text, where(i)) for i, text in enumerate(texts)]
    return AspectQrels.from_rows(queries, aspects, docs, grades, name=source.label, where=where, notes=noticed)


PREFERENCES_LAYOUTS = {
    "prefs": ("query", "judge", "list", "doc", "level"),
    "qrels_prefs": ("query", "judge", "doc", "level"),
}


def read_preferences(source: ByteSource, how: Reading) -> Preferences:
    """Preferences in one of `PREFERENCES_LAYOUTS`. Grades of qrels are read as preferences in one list."""
    layout = PREFERENCES_LAYOUTS[how.format]
    rows, where, noticed = _rows(source, layout)
    if "list" not in layout:
        rows.insert(2, [b"0"] * len(rows[0]))
    queries, judges, lists, docs, texts = rows
    levels = [_level(text, where(i)) for i, text in enumerate(texts)]
    return Preferences.from_rows(queries, judges, lists, docs, levels, name=source.label, where=where, notes=noticed)


def _rows(
    source: ByteSource, fields: tuple[str, ...]
) -> tuple[list[list[bytes]], Callable[[int], Place], tuple[Note, ...]]:
    """The columns of a file, where each line stands, and what was tolerated."""
    layout = trec.Layout(fields, extra=False)
    tidy, numbers, counts = trec.tidy(source.read(lines=True), source.start, source, layout, "judgements")
    if not tidy:
        raise source.empty()
    rows = [line.split(b" ") for line in tidy.removesuffix(b"\n").split(b"\n")]
    columns = [list(column) for column in zip(*rows, strict=True)]
    noticed = (*source.notes, *notes.from_counts(counts))
    return columns, lambda i: Place(source.name, int(numbers[i]) + 1), noticed


def _level(text: bytes, where: Place) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not math.isfinite(level):
        hint = "A level is a number; a higher one is preferred, 0 is not relevant."
        raise InputError(f"level '{ids.show(ids.decode(text))}' is not a number", where=where, hint=hint)
    return level
