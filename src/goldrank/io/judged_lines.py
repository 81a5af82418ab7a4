"""Judgements in lines of text that are no TREC qrels: what LETOR and ratings without a header share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from goldrank import ids
from goldrank.data.qrels import Grade, Judgements
from goldrank.errors import InputError, Place
from goldrank.io.sources import ByteSource
from goldrank.notes import Note

Judged = tuple[bytes, bytes, Grade]
"""Query, document and grade."""


def judgements_of(
    source: ByteSource,
    judged: Callable[[bytes, Place], Judged | None],
    expected: str,
    hint: str,
    notes: Iterable[Note] = (),
) -> Judgements:
    """The judgement of every line that is not blank; a line in which `judged` finds none is an error."""
    rows: list[Judged] = []
    lines: list[int] = []
    for number, line in source.filled_lines():
        where = Place(source.name, number)
        found = judged(line, where)
        if found is None:
            what = f"found '{ids.show(line.decode('utf-8', 'replace'), 60)}', expected {expected}"
            raise InputError(what, where=where, hint=hint)
        query, doc, _ = found
        if max(len(query), len(doc)) > ids.MAX_ID_BYTES:
            raise InputError(f"an id has more than {ids.MAX_ID_BYTES:,} bytes", where=where, code="bad-id")
        rows.append(found)
        lines.append(number)
    if not rows:
        raise source.empty()
    queries, docs, grades = map(list, zip(*rows, strict=True))
    return Judgements(queries, docs, grades, lambda row: Place(source.name, lines[row]), [*source.notes, *notes])
