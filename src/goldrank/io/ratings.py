"""Ratings without a header, as MovieLens (u.data, ratings.dat) and Elliot have them: user, item, rating, time.

Between them are tabs or `::`. The time tells them from TREC qrels, whose fourth column is a grade.
"""

from __future__ import annotations

from goldrank import ids
from goldrank.data.qrels import Grade, Judgements
from goldrank.errors import InputError, Place
from goldrank.io.formats import Reading
from goldrank.io.numbers import grade_of
from goldrank.io.sources import ByteSource
from goldrank.notes import Note

EARLIEST = 100_000_000
"""The least number of seconds (1973) that is taken for a time."""


def cells_of(line: bytes) -> list[bytes]:
    """The cells of a line."""
    return line.split(b"::") if b"::" in line else line.split(b"\t")


def is_rating(line: bytes) -> bool:
    """Whether a line is a user, an item, a rating and a time."""
    cells = [cell.strip() for cell in cells_of(line)]
    is_time = len(cells) == 4 and cells[3].isdigit() and int(cells[3][:20]) >= EARLIEST
    return is_time and all(cells) and cells[2].replace(b".", b"", 1).isdigit()


def read_qrels(source: ByteSource, how: Reading) -> Judgements:
    """Every rating as a grade."""
    queries: list[bytes] = []
    docs: list[bytes] = []
    grades: list[Grade] = []
    lines: list[int] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        where = Place(source.name, number)
        if not is_rating(line):
            what = f"found '{ids.show(line.decode('utf-8', 'replace'), 60)}', expected user, item, rating and time"
            raise InputError(what, where=where, hint="Is it a table with names of columns? Then they come first.")
        user, item, rating, _ = (cell.strip() for cell in cells_of(line))
        queries.append(user)
        docs.append(item)
        grades.append(_grade(rating, where, how))
        lines.append(number)
    if not queries:
        raise source.empty()
    notes = [*source.notes, *([Note.of("ratings-as-grades")] if how.relevant_from is None else [])]
    return Judgements(queries, docs, grades, lambda row: Place(source.name, lines[row]), notes)


def _grade(rating: bytes, where: Place, how: Reading) -> Grade:
    try:
        return grade_of(rating, where, real_grades=how.real_grades)
    except InputError as error:
        hint = "Say from which rating on an item is relevant: --relevant-from 4, or relevant_from=4."
        raise InputError(error.what, where=where, hint=hint) from None
