"""Judgements of learning to rank (LETOR, SVMlight, Quepid's LTR export): `grade qid:query features # document ...`."""

from __future__ import annotations

import re

from goldrank.data.qrels import Judgements
from goldrank.errors import Place
from goldrank.io.formats import Reading
from goldrank.io.judged_lines import Judged, judgements_of
from goldrank.io.numbers import grade_of
from goldrank.io.sources import ByteSource

LINE = re.compile(rb"\s*(\S+)\s+qid:(\S+)((?:\s+\d+:\S+)*)\s*#\s*(?:docid\s*=\s*)?(\S+).*")


def read_qrels(source: ByteSource, how: Reading) -> Judgements:
    """The grade of each line; the document is the first word of its comment."""

    def judged(line: bytes, where: Place) -> Judged | None:
        found = LINE.fullmatch(line)
        return found and (found[2], found[4], grade_of(found[1], where, real_grades=how.real_grades))

    return judgements_of(source, judged, "'grade qid:query ... # document'", "The document's id stands after #.")
