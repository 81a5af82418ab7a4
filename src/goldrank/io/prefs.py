"""TREC text that says more of a document than one grade: by aspect, by judge, or as preferences.

Lines are `query aspect doc grade` (qrels with subtopics or judges in the second column), `query judge doc
level` (qrels read as preferences) or `query judge list doc level` (preferences).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from goldrank import ids
from goldrank.data.aspects import AspectQrels
from goldrank.data.blocks import in_words
from goldrank.data.preferences import Preferences
from goldrank.errors import InputError, Place
from goldrank.io import trec
from goldrank.io.sources import Source


def read_aspects(source: Source) -> AspectQrels:
    """Qrels whose second column is an aspect: a subtopic or a judge."""
    rows, where, notes = _rows(source, ("query", "aspect", "doc", "grade"))
    queries, aspects, docs, texts = rows
    grades = [trec.grade(text, where(i)) for i, text in enumerate(texts)]
    return AspectQrels.from_rows(queries, aspects, docs, grades, name=_name(source), where=where, notes=notes)


def read_preferences(source: Source, layout: str = "prefs") -> Preferences:
    """Preferences, or with `layout="qrels_prefs"` qrels whose grades are read as preferences."""
    fields = ("query", "judge", "list", "doc", "level")
    if layout == "qrels_prefs":
        rows, where, notes = _rows(source, ("query", "judge", "doc", "level"))
        rows.insert(2, [b"0"] * len(rows[0]))
    else:
        rows, where, notes = _rows(source, fields)
    queries, judges, lists, docs, texts = rows
    levels = [_level(text, where(i)) for i, text in enumerate(texts)]
    return Preferences.from_rows(queries, judges, lists, docs, levels, name=_name(source), where=where, notes=notes)


def _name(source: Source) -> str:
    return source.path.name if source.path is not None else source.name


def _rows(source: Source, fields: tuple[str, ...]) -> tuple[list[list[bytes]], Callable[[int], Place], list[str]]:
    """The columns of a file, where each line stands, and what was tolerated."""
    columns: list[list[bytes]] = [[] for _ in fields]
    numbers: list[int] = []
    notes: Counter[str] = Counter()
    for number, line in enumerate(source.read().removesuffix(b"\n").split(b"\n"), 1):
        found = line.split()
        if not found:
            notes["blank lines"] += 1
        elif line.lstrip(trec.BLANKS).startswith(b"#"):
            notes["comment lines"] += 1
        elif len(found) != len(fields):
            shown = ids.show(ids.decode(line.strip()), 80)
            raise InputError(
                f"found {len(found)} columns in '{shown}', expected {len(fields)} ({', '.join(fields)})",
                where=Place(source.name, number, 1),
                hint="Columns are separated by blanks or tabs.",
            )
        else:
            numbers.append(number)
            for column, text in zip(columns, found, strict=True):
                column.append(text)
    if not numbers:
        raise trec.empty(source)
    return columns, lambda i: Place(source.name, numbers[i]), in_words(notes)


def _level(text: bytes, where: Place) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if not math.isfinite(level):
        raise InputError(
            f"level '{ids.show(ids.decode(text))}' is not a number",
            where=where,
            hint="A level is a number; a higher one is preferred, 0 is not relevant.",
        )
    return level
