"""Ratings without a header, as MovieLens (u.data, ratings.dat) and Elliot have them: user, item, rating, time.

Between them are tabs or `::`. The time tells them from TREC qrels, whose fourth column is a grade.
"""

from __future__ import annotations

from goldrank.data.qrels import Grade, Judgements
from goldrank.errors import InputError, Place
from goldrank.io.formats import Reading
from goldrank.io.judged_lines import Judged, judgements_of
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

    def judged(line: bytes, where: Place) -> Judged | None:
        if not is_rating(line):
            return None
        user, item, rating, _ = (cell.strip() for cell in cells_of(line))
        return user, item, _grade(rating, where, how)

    notes = [Note.of("ratings-as-grades")] if how.relevant_from is None else []
    hint = "Is it a table with names of columns? Then they come first."
    return judgements_of(source, judged, "user, item, rating and time", hint, notes)


def _grade(rating: bytes, where: Place, how: Reading) -> Grade:
    try:
        return grade_of(rating, where, real_grades=how.real_grades)
    except InputError as error:
        hint = "Say from which rating on an item is relevant: --relevant-from 4, or relevant_from=4."
        raise InputError(error.what, where=where, hint=hint) from None
