"""Judgements of learning to rank (LETOR, SVMlight, Quepid's LTR export): `grade qid:query features # document ...`."""

from __future__ import annotations

import re

from goldrank import ids
from goldrank.data.qrels import Grade, Judgements
from goldrank.errors import InputError, Place
from goldrank.io.formats import Reading
from goldrank.io.numbers import grade_of
from goldrank.io.sources import ByteSource

LINE = re.compile(rb"\s*(\S+)\s+qid:(\S+)((?:\s+\d+:\S+)*)\s*#\s*(?:docid\s*=\s*)?(\S+).*")


def read_qrels(source: ByteSource, how: Reading) -> Judgements:
    """The grade of each line; the document is the first word of its comment."""
    queries: list[bytes] = []
    docs: list[bytes] = []
    grades: list[Grade] = []
    lines: list[int] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        where = Place(source.name, number)
        found = LINE.fullmatch(line)
        if found is None:
            what = f"found '{ids.show(line.decode('utf-8', 'replace'), 60)}', expected 'grade qid:query ... # document'"
            raise InputError(what, where=where, hint="The document's id stands after #.")
        queries.append(found[2])
        docs.append(found[4])
        grades.append(grade_of(found[1], where, real_grades=how.real_grades))
        lines.append(number)
    if not queries:
        raise source.empty()
    return Judgements(queries, docs, grades, lambda row: Place(source.name, lines[row]), list(source.notes))
