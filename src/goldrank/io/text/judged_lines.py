"""Judgements in lines of text that are not TREC qrels.

Learning to rank (LETOR, SVMlight, Quepid's LTR export) has `grade qid:query features # document ...`. Ratings without a
header, as in MovieLens (u.data, ratings.dat) and Elliot, are user, item, rating and time, with tabs or `::` between.
The time distinguishes them from TREC qrels, whose fourth column is a grade.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from goldrank.base import ids
from goldrank.base.errors import InputError, Position
from goldrank.base.notes import Note
from goldrank.data.qrels import Grade, Judgements
from goldrank.io.formats import Reading
from goldrank.io.sources import ByteSource
from goldrank.io.text.number_text import grade_of

Judged = tuple[bytes, bytes, Grade]
"""Query, document and grade."""
_LETOR = re.compile(
    rb"\s*+(\S++)\s++qid:(\S++)(?:\s++\d++:\S++)*+\s*+#\s*+(?:docid\s*+=\s*+)?+(\S++).*"  # possessive: one pass
)
EARLIEST = 100_000_000
"""The least number of seconds (1973) that counts as a time."""


def is_rating(line: bytes) -> bool:
    """Whether a line is a user, an item, a rating and a time."""
    cells = _cells(line)
    is_time = len(cells) == 4 and cells[3].isdigit() and int(cells[3][:20]) >= EARLIEST
    return is_time and all(cells) and cells[2].replace(b".", b"", 1).isdigit()


def _cells(line: bytes) -> list[bytes]:
    separator = b"\t"
    if b"::" in line:
        separator = b"::"
    return [cell.strip() for cell in line.split(separator)]


def _rated(line: bytes, where: Position, real_grades: bool) -> Judged | None:
    """A rating as a grade."""
    if not is_rating(line):
        return None
    user, item, rating, _ = _cells(line)
    try:
        return user, item, grade_of(rating, where, real_grades=real_grades)
    except InputError as error:
        hint = "Say from which rating on an item is relevant: --relevant-from 4, or relevant_from=4."
        raise InputError(error.what, where=where, hint=hint, code=error.code) from None


def _ranked(line: bytes, where: Position, real_grades: bool) -> Judged | None:
    """A line of LETOR; the document is the first word of its comment."""
    matched = _LETOR.fullmatch(line) or _LETOR.fullmatch(line.replace(b"#", b" #", 1))  # 46:0.07#doc
    if matched is None:
        return None
    return matched[2], matched[3], grade_of(matched[1], where, real_grades=real_grades)


_FORMATS: dict[str, tuple[Callable[[bytes, Position, bool], Judged | None], str, str]] = {
    "letor": (_ranked, "'grade qid:query ... # document'", "The document's id stands after #."),
    "ratings": (
        _rated, "user, item, rating and time", "Is it a table with names of columns? Then they come first.",
    ),
}  # fmt: skip
"""The function that reads a line, the expected content, and a hint for other lines."""


def read_qrels(source: ByteSource, reading: Reading) -> Judgements:
    """The judgement of every line that is not blank."""
    judged, expected, hint = _FORMATS[reading.format]
    rows: list[Judged] = []
    lines: list[int] = []
    for number, line in source.filled_lines():
        where = Position(source.name, number)
        judgement = judged(line, where, reading.real_grades)
        if judgement is None:
            problem = f"found '{ids.show(line.decode('utf-8', 'replace'), 60)}', expected {expected}"
            raise InputError(problem, where=where, hint=hint)
        query, doc, _ = judgement
        if max(len(query), len(doc)) > ids.MAX_ID_BYTES:
            raise InputError(f"an id has more than {ids.MAX_ID_BYTES:,} bytes", where=where, code="bad-id")
        rows.append(judgement)
        lines.append(number)

    if not rows:
        raise source.empty()

    queries, docs, grades = map(list, zip(*rows, strict=True))
    notes = list(source.notes)
    if reading.format == "ratings" and reading.relevant_from is None:
        notes.append(Note.of("ratings-as-grades"))
    return Judgements(queries, docs, grades, lambda row: Position(source.name, lines[row]), notes)
