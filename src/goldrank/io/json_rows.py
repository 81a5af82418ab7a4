"""JSON Lines with one object per document, in files whose lines differ in nothing but their values.

The first line gives a pattern for all others. Where any line is another, nobody vouches for it here: `json` reads the
file record by record.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter

from goldrank import ids
from goldrank.data import budget
from goldrank.errors import InputError
from goldrank.io import aliases
from goldrank.io.scan import PAD
from goldrank.io.sources import ByteSource

ROW = 500
"""Bytes that a row of a run takes beside the record that it comes from."""

_TEXT = r'"[^"\\\x00-\x1f]++"'
_NUMBER = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_FIELD = re.compile(rf"({_TEXT})[ \t]*:[ \t]*({_TEXT}|{_NUMBER})")
_OBJECT = re.compile(rf"[ \t]*\{{[ \t]*{_FIELD.pattern}(?:[ \t]*,[ \t]*{_FIELD.pattern})*[ \t]*\}}[ \t\r]*")
_COLUMNS = ("query", "doc", "score")


def rankings(source: ByteSource) -> dict[str, dict[str, float]] | None:
    """The scores of a run by query and document; None where a line is not like the first, or a document repeats."""
    results: dict[str, dict[str, float]] = {}
    pattern: re.Pattern[str] | None = None
    rows = 0
    try:
        for _, load in source.pieces():
            text = load()[:-PAD].tobytes().decode()
            pattern = pattern or _like(text.partition("\n")[0])
            records = [] if pattern is None else pattern.findall(text)
            if pattern is None or len(records) < text.count("\n") + (not text.endswith("\n")):
                return None
            rows += len(records)
            budget.reserve(ROW * rows, f"a run of {rows:,} records", source.name)
            if list(pattern.groupindex) != list(_COLUMNS):
                in_order = itemgetter(*(pattern.groupindex[name] - 1 for name in _COLUMNS))
                records = list(map(in_order, records))
            last: str | None = None
            row: dict[str, float] = {}
            for query, doc, score in records:
                if query != last:
                    last, row = query, results.setdefault(query, {})
                row[doc] = float(score)
    except (InputError, UnicodeDecodeError):
        return None  # told by who reads record by record, if it is an error there
    if not rows:
        return None  # told by who reads record by record
    longest = max(max(map(len, names)) for names in (results.keys(), *(row.keys() for row in results.values())))
    return None if longest > ids.SHORT or sum(map(len, results.values())) < rows else results


def _like(line: str) -> re.Pattern[str] | None:
    """What lines match that have the fields of this one, written alike; None if it is not made of texts and numbers."""
    if not _OBJECT.fullmatch(line):
        return None
    fields = list(_FIELD.finditer(line))
    names = [json.loads(field[1]) for field in fields]
    wanted = {aliases.find(names, column): column for column in _COLUMNS}
    if len(set(names)) < len(names) or None in wanted or len(wanted) < len(_COLUMNS):
        return None
    if any(len(aliases.all_present(names, aliases.COLUMNS[role])) > 1 for role in ("query", "doc")):
        return None  # values tell which of them are the ids
    parts, at = ["^"], 0
    for name, field in zip(names, fields, strict=True):
        is_text = field[2].startswith('"')
        column = wanted.get(name)
        if column is not None and is_text != (column != "score"):
            return None
        value = _TEXT[1:-1] if is_text else _NUMBER
        opening = field.start(2) + is_text
        parts += [re.escape(line[at:opening]), f"(?P<{column}>{value})" if column else f"(?:{value})"]
        at = field.end(2) - is_text
    return re.compile("".join([*parts, re.escape(line[at:]), "$"]), re.MULTILINE)
